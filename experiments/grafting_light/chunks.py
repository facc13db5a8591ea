"""Grafting-Light, section 6.1.2: noun phrases of CoNLL-2000, millions of candidate features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any

from experiments.engine import Context, Figure, Found, Size, Step
from experiments.engine.panels import draw_criteria
from experiments.grafting_light.chain import CRITERIA, FULL, GRAFTING, LIGHT, SEIDEL
from experiments.grafting_light.learners import learn_chains
from experiments.grafting_light.made import made_corpus
from graftwork.data.chains import Sequences, as_sequences
from graftwork.datasets import LabelledSentences, load_conll2000
from graftwork.report.chunks import chunk_scores

#: The criteria with F1 in place of the error rate.
PANELS = tuple(
    ("f1", "F1 of noun phrases (test)") if name == "test_error" else (name, words)
    for name, words in CRITERIA
)
#: Features of two labels before each, and of all attributes with all labels.
ORDER, CANDIDATES = 2, "all"
#: Accuracy of the optimum, as a share of lambda.
TOL = 0.05
#: That of all features with a normal prior.
TOL_ALL = 1e-4


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """Sizes of the chunking task.

    Attributes
    ----------
    n_train, n_test : int or None
        Sentences, the first ones; None for all.
    strengths : tuple of float
        Penalties on the summed loss for the path; the race is run with the first.
    units : tuple of int
        Select units of the race.
    most, most_batch, most_alone : int
        Evaluations of the loss after which a run of the race ends; that of all features at once,
        whose evaluations take a second each; and any of the others, which reach their optimum.
    """

    n_train: int | None = None
    n_test: int | None = None
    strengths: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    units: tuple[int, ...] = (100, 1_000, 10_000)
    most: int = 150
    most_batch: int = 300
    most_alone: int = 2_000


SIZES = {
    "full": ChunkSize(),
    "quick": ChunkSize(300, 300, (1.0, 4.0), (20, 200), 60, 1_000, 1_000),
    "tiny": ChunkSize(40, 20, (0.2, 0.5), (5, 50), 20, 300, 300),
}


@dataclass(frozen=True, slots=True)
class Learner:
    """How chunks are learned.

    Attributes
    ----------
    method, penalty : str
    c1 : float
        Strength on the summed loss.
    select : int or None
        The select unit; None for ChainCRF's own choice.
    most : int
        Evaluations of the loss after which it ends.
    """

    method: str
    penalty: str
    c1: float
    select: int | None
    most: int


def chunk_steps(size: Size) -> list[Step]:
    """Return the steps: all features, a path of penalties, a race of methods."""
    sizes = SIZES[size]
    prior = Learner(FULL, "l2", 0.5, None, sizes.most_alone)
    out = [_step("chunks-all", "all features, a normal prior", prior, sizes)]
    light = Learner(LIGHT, "l1", 0.0, None, sizes.most_alone)
    for c1 in sizes.strengths:
        key, words = f"chunks-path-{c1:g}", f"{LIGHT}, {c1:g} on the sum"
        out.append(_step(key, words, replace(light, c1=c1), sizes))
    first = sizes.strengths[0]
    batch = Learner(FULL, "l1", first, None, sizes.most_batch)
    out.append(_step(f"chunks-race-{FULL}", "all features at once, l1", batch, sizes))
    for method in (LIGHT, GRAFTING, SEIDEL):
        for unit in sizes.units:
            racer = Learner(method, "l1", first, unit, sizes.most)
            words = f"{method}, M = {unit:,}"
            out.append(_step(f"chunks-race-{method}-{unit}", words, racer, sizes))
    return out


def _step(key: str, words: str, learner: Learner, sizes: ChunkSize) -> Step:
    tol = TOL_ALL if learner.penalty == "l2" else TOL
    settings = {**asdict(learner), "n_train": sizes.n_train, "n_test": sizes.n_test}
    settings |= {"tol": tol, "order": ORDER, "candidates": CANDIDATES}
    work = partial(run_chunks, learner=learner, sizes=sizes)
    return Step(key, f"noun phrases, {words}", work, settings, "feature")


def run_chunks(context: Context, *, learner: Learner, sizes: ChunkSize) -> Found:
    """Return the six criteria of a learner of noun phrases, second order, and its way there."""
    folder = None if context.folder is None else str(context.folder)
    made = context.size == "tiny"
    (X, y), (X_test, y_test) = chunk_data(folder, sizes.n_train, sizes.n_test, made=made)
    lam = learner.c1 / len(y)
    net, found = learn_chains(
        context,
        X,
        y,
        method=learner.method,
        select=learner.select,
        lam=lam,
        penalty=learner.penalty,
        order=ORDER,
        candidates=CANDIDATES,
        tol=TOL_ALL if learner.penalty == "l2" else TOL * lam,
        max_evaluations=learner.most,
    )
    curve, certificate = found.pop("curve"), net.certificate_
    candidates = certificate.n_edges + certificate.n_inactive
    return {
        "method": learner.method,
        "penalty": learner.penalty,
        "c1": learner.c1,
        "select": learner.select,
        "f1": 100 * chunk_scores(y_test, net.model_.predict(X_test, None, context.n_jobs)).f1,
        **found,
        "candidates": candidates,
        "dropped": 1.0 - found["features"] / candidates,
        "n_train": len(y),
        "curve": curve,
    }


Labelled = tuple[Sequences, list[list[str]]]


@lru_cache(maxsize=1)
def chunk_data(
    folder: str | None, n_train: int | None, n_test: int | None, *, made: bool = False
) -> tuple[Labelled, Labelled]:
    """Return attributes and labels to learn from and to test on: the first sentences of each."""
    corpus = made_corpus() if made else load_conll2000(folder, np_only=True)
    parts = ((corpus.train, n_train), (corpus.test, n_test))
    train, test = (
        LabelledSentences(part.tokens[:count], part.labels[:count]) for part, count in parts
    )
    return (as_sequences(train.attributes()), train.labels), (
        as_sequences(test.attributes()),
        test.labels,
    )


def race_lines(found: Mapping[str, Found]) -> dict[str, list[Found]]:
    """Return the runs of the race by method, in the order of select units."""
    runs = [run for key, run in found.items() if key.startswith("chunks-race-")]
    lines = {
        method: sorted(
            (run for run in runs if run["method"] == method), key=lambda run: run["select"] or 0
        )
        for method in (LIGHT, GRAFTING, SEIDEL, FULL)
    }
    return {method: line for method, line in lines.items() if line}


def path_runs(found: Mapping[str, Found]) -> list[Found]:
    """Return the runs of the path, the weakest penalty first."""
    runs = [run for key, run in found.items() if key.startswith("chunks-path-")]
    return sorted(runs, key=lambda run: run["c1"])


def chunk_table(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """Return one line a run."""
    return [
        {"run": key, **{name: cell for name, cell in run.items() if name != "curve"}}
        for key, run in found.items()
        if key.startswith("chunks-")
    ]


def chunk_figures(found: Mapping[str, Found]) -> Sequence[Figure]:
    """Return the paper's Figure 3, and F1 against the number of features."""
    figures = []
    lines, path = race_lines(found), path_runs(found)
    if lines:
        title = f"Noun phrases, {lines[next(iter(lines))][0]['n_train']:,} sentences"

        def race(canvas: Any) -> None:
            draw_criteria(
                canvas, lines, PANELS, across="select", label="features a round (M)", title=title
            )

        caption = (
            "Figure 3: six criteria against the select unit; a limit of evaluations ends runs."
        )
        figures.append(Figure("chunks", caption, race, (12.5, 7.2)))
    if path:
        batch = found.get("chunks-all")
        caption = "F1 of noun phrases against the features kept, from strong to weak penalties."
        figures.append(Figure("chunks-path", caption, partial(_draw_path, path, batch), (7.5, 4.5)))
    return figures


def _draw_path(path: Sequence[Found], batch: Found | None, canvas: Any) -> None:
    lines = {"grafting-light": [{"kept": run["features"], "f1": run["f1"]} for run in path]}
    if batch:
        lines["all features, normal prior"] = [{"kept": None, "f1": batch["f1"]}]
    draw_criteria(
        canvas,
        lines,
        (("f1", "F1 (test)"),),
        across="kept",
        label="features with a weight",
        title=f"{path[0]['candidates']:,} candidate features",
        columns=1,
    )
