"""Grafting-Light (2010): a synthetic chain, noun phrases, and the structure of letters."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.engine import Found, Report, Size, Step, Study
from experiments.grafting_light.chain import chain_figures, chain_steps, chain_table
from experiments.grafting_light.chunks import chunk_figures, chunk_steps, chunk_table
from experiments.grafting_light.chunks_claims import chunk_claims
from experiments.grafting_light.claims import chain_claims
from experiments.grafting_light.letters import letter_steps
from experiments.grafting_light.letters_claims import letter_claims
from experiments.grafting_light.letters_figures import letter_figures, letter_table
from experiments.grafting_light.units_claims import unit_claims

PAPER = (
    "Zhu, Lao and Xing (2010), Grafting-Light: fast, incremental feature selection and structure "
    "learning of Markov random fields, KDD"
)


def steps(size: Size) -> list[Step]:
    """Return the steps: the chain, letters, noun phrases."""
    return [*chain_steps(size), *letter_steps(size), *chunk_steps(size)]


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and figures of what there is."""
    return Report(
        [
            *chain_claims(found),
            *chunk_claims(found),
            *letter_claims(found),
            *unit_claims(found),
        ],
        {
            "chain": chain_table(found),
            "chunks": chunk_table(found),
            "letters": letter_table(found),
        },
        [*chain_figures(found), *chunk_figures(found), *letter_figures(found)],
    )


STUDY = Study("grafting-light", PAPER, steps, report, ("conll2000", "ocr_letters"))
