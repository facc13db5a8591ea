"""graftwork crf: read sentences, learn a chain, say what was found, write the files."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import crf_options as own
from graftwork.cli import options as opt
from graftwork.cli.failures import INTERRUPTED, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import TOO_EARLY, fit_or_leave, plain_values, prepare, say_files
from graftwork.cli.methods import parse_chain_method
from graftwork.cli.progress import progress_for
from graftwork.cli.sentences import (
    Corpus,
    Files,
    Material,
    Verdict,
    parse_types,
    read_material,
    refuse_two_strengths,
)

if TYPE_CHECKING:
    from graftwork.estimators import ChainCRF

EXAMPLES = """Examples:
graftwork crf train.txt --test test.txt --out run
graftwork crf train.txt.gz --c1 2 --types NP --max-seconds 600
graftwork crf train.txt --template template.txt --order 2 --lam 0.001
graftwork crf train.txt --penalty group-l1 --candidates all --min-count 3
graftwork crf train.conllu --label xpos --test test.conllu
graftwork tag run/model.gw new.txt --out tagged.txt

Ctrl-C stops and keeps the best model so far; a second one does not wait for the step under way."""


#: What is left of a test on other sentences.
TEST_FILES = ("predictions.txt", "scores.json")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do around the learning itself."""

    files: Files
    c1: float | None
    out: Path
    quiet: bool


def crf(
    train: own.Train,
    test: own.Test = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path("out"),
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write the files and print nothing.")
    ] = False,
    template: own.TemplateOption = None,
    types: own.Types = None,
    sep: own.Sep = None,
    label: own.Label = None,
    method: own.Method = "grafting-light",
    lam: own.Lam = None,
    c1: own.C1 = None,
    penalty: own.PenaltyOption = "l1",
    l2: opt.L2 = 0.0,
    select: own.Select = None,
    order: own.Order = 1,
    candidates: own.CandidatesOption = own.Candidates.OBSERVED,
    min_count: own.MinCount = 1,
    tol: opt.ChainTol = None,
    jobs: opt.Jobs = None,
    max_features: own.MaxFeatures = None,
    max_seconds: opt.MaxSeconds = None,
    max_iter: own.MaxIter = None,
) -> None:
    """Learn a sparse linear-chain CRF from labelled sentences; write model, weights and scores."""
    settings = {
        "lam": lam, "l2": l2, "penalty": str(penalty), "select": select, "order": order,
        "candidates": str(candidates), "min_count": min_count, "tol": tol, "n_jobs": jobs,
        "max_features": max_features, "max_seconds": max_seconds, "max_iter": max_iter,
    }  # fmt: skip
    settings |= parse_chain_method(method)
    check_settings(settings, c1)  # refused before a long file is read
    plan = Plan(Files(train, test, template, parse_types(types), sep, label), c1, out, quiet)
    try:
        code = run(plan, settings)
    except KeyboardInterrupt:  # while reading, or before the first round
        say(TOO_EARLY)
        code = INTERRUPTED
    raise typer.Exit(code)


def check_settings(settings: dict[str, Any], c1: float | None) -> None:
    """Refuse settings that mean nothing."""
    from graftwork.estimators import ChainCRF
    from graftwork.estimators.chain_parts import check_parameters
    from graftwork.parameters import number

    refuse_two_strengths(settings["lam"], c1)
    if c1 is not None:
        number("c1", c1, 0.0, above=settings["penalty"] not in ("none", "l2"))
    check_parameters(ChainCRF(**settings))


def run(plan: Plan, settings: dict[str, Any]) -> int:
    """Learn, say what was found, write the files, and return the exit code."""
    began = time.monotonic()
    noun = "row" if settings["penalty"] == "group-l1" else "feature"
    with Interrupts() as interrupts:
        with progress_for(quiet=plan.quiet, noun=noun) as progress:
            prepare(plan.out)
            found = read_material(plan.files, progress.note)
            if plan.c1 is not None:
                settings = settings | {"lam": plan.c1 / len(found.train.tokens)}
            progress.note(f"learning from {found.train.size()}")
            interrupts.waits = True
            learned = fit(found, settings, Stoppable(progress, interrupts))
        stopped = interrupts.seen
        text, written = conclude(plan, found, learned, settings, stopped)
    if not plan.quiet:
        say_files(text, plan.out, written, time.monotonic() - began)
    if stopped:
        say(f"interrupted; the best model so far is in {plan.out / 'model.gw'}.")
    return INTERRUPTED if stopped else 0


def fit(found: Material, settings: dict[str, Any], observer: Stoppable) -> ChainCRF:
    """Return the fitted estimator; after an interrupt, with the best model so far."""
    from graftwork.estimators import ChainCRF

    learner = ChainCRF(**settings, verbose=observer)
    fit_or_leave(learner, found.sequences, found.train.labels)
    return learner


def conclude(
    plan: Plan, found: Material, learned: ChainCRF, settings: dict[str, Any], stopped: bool
) -> tuple[str, Sequence[str]]:
    """Test the model, write the files; return the summary and the names of the files."""
    from graftwork.data.atomic import replacing_together
    from graftwork.report import chain_summary

    tags, verdict = None, None
    if found.test is not None:
        tags = learned.predict(found.template.attributes(found.test.tokens))
        verdict = Verdict.of(found.test, tags, learned.classes_)
    text = chain_summary(
        learned,
        template=found.template_words,
        prediction="No sentences to test on were given." if verdict is None else verdict.words(),
    )
    if stopped:
        text = f"Interrupted: this is the best model so far.\n\n{text}"
    info = facts(plan, found, learned, settings, verdict)
    with replacing_together(plan.out, TEST_FILES) as out:
        written = write_files(out, learned, text, info)
        written += write_test_files(plan, out, found.test, tags, verdict)
    return text, written


def facts(
    plan: Plan,
    found: Material,
    learned: ChainCRF,
    settings: dict[str, Any],
    verdict: Verdict | None,
) -> dict[str, Any]:
    """Return what the model file keeps: how the model came about, and how to use it."""
    tested = None
    if verdict is not None:
        tested = {"file": verdict.name, "accuracy": verdict.scores.accuracy}
        f1 = getattr(verdict.scores, "f1", None)
        tested |= {} if f1 is None else {"f1": f1}
    return plain_values(
        {
            **learned.info(),
            "data": found.train.name,
            "sentences": len(found.train.tokens),
            "tokens": found.train.n_tokens,
            "template": found.template.text(),
            "columns": found.train.width,
            "types": list(plan.files.types),
            "sep": plan.files.sep,
            "label": plan.files.label,
            "settings": settings,
            "tested": tested,
        }
    )


def write_files(out: Path, learned: ChainCRF, text: str, info: dict[str, Any]) -> list[str]:
    """Write model, summary, weights and trace, and return the names of the files."""
    from graftwork.report import write_trace, write_weights
    from graftwork.report.trace import write_text

    learned.model_.save(out / "model.gw", info=info)
    write_text(out / "summary.txt", text)
    write_weights(out / "weights.csv", learned.model_)
    write_trace(out / "trace.jsonl", learned.trace_)
    return ["model.gw", "summary.txt", "weights.csv", "trace.jsonl"]


def write_test_files(
    plan: Plan,
    out: Path,
    test: Corpus | None,
    tags: list[list[str]] | None,
    verdict: Verdict | None,
) -> list[str]:
    """Write predictions and scores if there are any, and return the names of the files."""
    from graftwork.data.chains import write_conll
    from graftwork.report.trace import write_text

    if test is None or tags is None or verdict is None:
        return []
    write_conll(out / TEST_FILES[0], test.with_columns(tags), sep=plan.files.sep)
    scores = json.dumps(verdict.to_dict(), indent=1, ensure_ascii=False)
    write_text(out / TEST_FILES[1], scores + "\n")
    return [*TEST_FILES]
