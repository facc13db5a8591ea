"""graftwork explain: which features spoke for the labels of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graftwork.cli import crf_options as own
from graftwork.cli.failures import say, tell
from graftwork.cli.tag import ModelTemplate, chain_and_template
from graftwork.errors import DataError
from graftwork.text import count

EXAMPLES = """Examples:
graftwork explain out/model.gw new.txt
graftwork explain out/model.gw new.txt --sentence 3 --sentence 7 --top 10 --labels 3
graftwork explain out/model.gw new.txt --out explained.csv
graftwork explain tagger.crfsuite new.txt --template template.txt

Each label is followed by its probability, its score, and the features that make up the score: logs
of odds, where all other tokens are labelled as predicted."""


def explain(
    model: Annotated[Path, typer.Argument(help="A chain: model.gw of crf, or of CRFsuite.")],
    file: own.Untagged,
    sentence: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Which sentence, from 1; may be repeated.", min=1),
    ] = None,
    top: Annotated[int, typer.Option(help="How many features to name for each label.", min=0)] = 5,
    labels: Annotated[
        int, typer.Option(help="How many labels to explain for each token.", min=1)
    ] = 2,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all contributions to this CSV file."),
    ] = None,
    template: ModelTemplate = None,
    sep: own.Sep = None,
) -> None:
    """Show for each token which features support the predicted label, and the runners-up."""
    from graftwork.report.explanation import write_explanations

    chain, _, made_by, layout = chain_and_template(model, template, sep)
    corpus = layout.read(file)
    n = len(corpus.tokens)
    if sentence is None and n > 1:
        say(f"note: this is the first of {count(n, 'sentence')}; --sentence says which.")
    chosen = sentence or [1]
    if max(chosen) > n:
        raise DataError(f"there is no sentence {max(chosen)}: {corpus.name} has {n}.")
    found = []
    for number in chosen:
        tokens = corpus.tokens[number - 1]
        attributes = made_by.attributes([tokens])[0]
        found.append((number, chain.explain(attributes, [token[0] for token in tokens])))
    texts = [each.summary(top=top, labels=labels) for _, each in found]
    tell("\n\n".join(texts))
    if out is not None:
        write_explanations(out, found)
