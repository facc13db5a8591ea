"""Grafting-Light, section 6.2: the structure of handwritten letters, by loopy BP and otherwise."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np

from experiments.engine import Context, Found, Size, Step
from experiments.engine.observers import CpuClock, curve_of
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT
from experiments.grafting_light.made import made_letters
from graftwork.comparing import corner_of, rehearse
from graftwork.data import Table
from graftwork.datasets import Letters, load_ocr_letters
from graftwork.errors import ApproximationWarning, ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.presets import settings_of
from graftwork.grafting.certificate import Certificate
from graftwork.models import PairwiseMRF

LETTERS = "acmsig"
#: Features a round.
UNIT = 20
TOL = 1e-4
CURVE = ("evaluations", "objective", "loss", "edges")
#: How letters are learned beside the paper's way: the same features, a loss that is exact.
PSEUDO: dict[str, dict[str, Any]] = {
    f"pseudo-{LIGHT}": {"method": LIGHT, "method_options": {"count": UNIT}, "penalty": "l1"},
    f"pseudo-{FULL}": {"method": FULL, "penalty": "l1"},
}


@dataclass(frozen=True, slots=True)
class LetterSize:
    """Sizes of the letters' study.

    Attributes
    ----------
    letters : str
    strengths : tuple of float
        Lambdas for the likelihood by BP, which converges on most letters at the first only.
    pseudo : float
        Lambda for the pseudo-likelihood.
    default : float or "auto"
        Lambda for our defaults; they choose it, which takes longer.
    sweep : str
        The letter whose select units are compared; the paper's has been lost.
    units : tuple of int
        Select units.
    n_samples : int
        Drawn by Gibbs sampling, for mean images.
    max_evaluations : int
        Evaluations of the loss, with its gradient, after which a run ends.
    repeats : int
        Runs of each select unit, which take less than a second: the least CPU time counts.
    """

    letters: str = LETTERS
    strengths: tuple[float, ...] = (0.1, 0.05)
    pseudo: float = 0.02
    default: float | Literal["auto"] = "auto"
    sweep: str = "s"
    units: tuple[int, ...] = (1, 10, 30, 50, 70, 90, 110)
    n_samples: int = 1_000
    max_evaluations: int = 5_000
    repeats: int = 3


SIZES = {
    "full": LetterSize(),
    "quick": LetterSize("sm", (0.1, 0.05), 0.05, 0.05, "s", (1, 10, 30, 70), 200, 300, 1),
    "tiny": LetterSize("sm", (0.1, 0.07), 0.1, 0.1, "s", (1, 5, 20), 50, 150, 1),
}


def letter_steps(size: Size) -> list[Step]:
    """Return the steps: the data, every letter by every method, one letter by select units."""
    sizes = SIZES[size]
    look = partial(look_at, letters=LETTERS)
    out = [Step("letters-data", "letters, sizes and means", look, {"letters": LETTERS})]
    for letter in sizes.letters:
        for lam in sizes.strengths:
            for method in (LIGHT, GRAFTING, FULL):
                key = f"letters-{letter}-bp{lam:g}-{method}"
                out.append(_step(key, letter, paper_settings(method, UNIT), lam, sizes))
        for name, settings in PSEUDO.items():
            key = f"letters-{letter}-{name}"
            out.append(_step(key, letter, settings, sizes.pseudo, sizes))
        out.append(_default_step(letter, sizes))
    first = sizes.strengths[0]
    for method in (LIGHT, GRAFTING, FULL):
        settings = {**paper_settings(method, UNIT), "penalty_options": {"unary": True}}
        out.append(_step(f"letters-penalised-{method}", sizes.sweep, settings, first, sizes))
    for method in (LIGHT, GRAFTING):
        for unit in sizes.units:
            settings = paper_settings(method, unit)
            key = f"letters-units-{method}-{unit}"
            out.append(_step(key, sizes.sweep, settings, first, sizes, sizes.repeats))
    return out


def paper_settings(method: str, unit: int) -> dict[str, Any]:
    """Return a method in the paper's setting: single features, likelihood by loopy BP.

    Examples
    --------
    >>> paper_settings("grafting", 10)["method_options"]
    {'count': 10}
    """
    options = {} if method == FULL else {"count": unit}
    paper = settings_of("grafting-light-paper")
    del paper["lam"]  # a comparison has one for all methods
    return {**paper, "method": method, "method_options": options}


def _step(
    key: str,
    letter: str,
    settings: dict[str, Any],
    lam: float,
    sizes: LetterSize,
    repeats: int = 1,
) -> Step:
    options = {**settings.get("method_options", {}), "max_evaluations": sizes.max_evaluations}
    about: dict[str, Any] = {
        "letter": letter,
        "settings": {**settings, "method_options": options},
        "lam": lam,
        "n_samples": sizes.n_samples,
        "repeats": repeats,
    }
    words = f"letters, {key.removeprefix('letters-')}"
    return Step(key, words, partial(run_letter, **about), {**about, "tol": TOL})


def _default_step(letter: str, sizes: LetterSize) -> Step:
    about: dict[str, Any] = {
        "letter": letter, "lam": sizes.default, "n_samples": sizes.n_samples,
    }  # fmt: skip
    work = partial(run_default, **about)
    return Step(f"letters-{letter}-default", f"letters, {letter}, our defaults", work, about)


def look_at(context: Context, *, letters: str) -> Found:
    """Return how many images of each letter there are, and what is constant in them."""
    whole = _letters(context)
    out: Found = {}
    for letter in letters:
        images = whole.images[whole.labels == letter]
        mean = images.mean(axis=0)
        out[letter] = {
            "images": len(images),
            "constant": int(((mean == 0) | (mean == 1)).sum()),
            "mean": _rounded(mean),
        }
    return out


def run_letter(
    context: Context,
    *,
    letter: str,
    settings: Mapping[str, Any],
    lam: float,
    n_samples: int,
    repeats: int = 1,
) -> Found:
    """Return what a method makes of one letter: half of its images to learn from."""
    train, test = _halves(context, letter)
    given = {**settings, "lam": lam, "tol": TOL, "random_state": context.seed}
    given["n_jobs"] = context.n_jobs
    rehearse(given, train)
    times = []
    for _ in range(repeats):
        clock = CpuClock(context.observer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            net = MarkovNetwork(**given, verbose=clock).fit(train)
        times.append(clock.seconds)
    last, certificate = net.trace_[-1], net.certificate_
    return {
        "letter": letter,
        "method": settings["method"],
        "loss": settings.get("loss", "pseudolikelihood"),
        "select": settings["method_options"].get("count"),
        "lam": lam,
        "cpu_seconds": min(times),
        "evaluations": last.evaluations,
        "objective": certificate.objective,
        "edges": certificate.n_edges,
        "rounds": len(net.trace_),
        **_end(net.model_, certificate, test, n_samples, context),
        "curve": curve_of([record.to_dict() for record in net.trace_], CURVE),
    }


def run_default(
    context: Context, *, letter: str, lam: float | Literal["auto"], n_samples: int
) -> Found:
    """Return what our defaults make of one letter, choosing lambda unless it is given.

    Times are those of the whole fit, the choice of lambda among them; evaluations and rounds are
    those of the network chosen.
    """
    train, test = _halves(context, letter)
    net = MarkovNetwork(
        lam=lam, random_state=context.seed, n_jobs=context.n_jobs, verbose=context.observer
    )
    net.fit(corner_of(train))  # what is compiled is compiled here
    began = time.process_time()
    net.fit(train)
    cpu_seconds = time.process_time() - began
    last = net.trace_[-1]
    return {
        "letter": letter,
        "method": net.method_,
        "loss": net.loss,
        "select": None,
        "lam": net.lam_,
        "cpu_seconds": cpu_seconds,
        "evaluations": last.evaluations,
        "objective": last.objective,
        "edges": net.model_.n_edges,
        "rounds": len(net.trace_),
        **_end(net.model_, net.certificate_, test, n_samples, context),
        "curve": curve_of([record.to_dict() for record in net.trace_], CURVE),
    }


def _end(
    model: PairwiseMRF, certificate: Certificate, test: Table, n_samples: int, context: Context
) -> Found:
    """Return what a network is worth, and how its run ended."""
    return {
        "features": count_features(model),
        "train_loss": certificate.loss / test.n_variables,
        "test_nlpl": -float(np.mean(model.log_pseudo_likelihood(test))) / test.n_variables,
        **judge_images(model, test, n_samples, context),
        "converged": bool(certificate.converged),
        "stop": certificate.stop,
        "untrusted": certificate.n_untrusted,
    }


def _halves(context: Context, letter: str) -> tuple[Table, Table]:
    """Return images to learn from, and others."""
    return lively(_letters(context).table(letter)).split(0.5, context.seed)


def count_features(model: PairwiseMRF) -> int:
    """Return how many entries of edges' tables are not zero."""
    potentials = model.potentials
    return int(np.count_nonzero(potentials.weights[potentials.layout.n_unary :]))


def judge_images(model: PairwiseMRF, test: Table, n_samples: int, context: Context) -> Found:
    """Return mean images of a network beside those of other images, and their likelihood by BP."""
    true = image_of(test.names, np.asarray(test.codes, dtype=np.float64).mean(axis=1))
    with warnings.catch_warnings():  # what BP says of a network with loops is approximate
        warnings.simplefilter("ignore", ApproximationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        beliefs = model.marginals(inference="bp")
        nll = -float(model.log_prob(test, "bp").mean())
    drawn = model.sample(n_samples, random_state=context.seed, n_jobs=context.n_jobs)
    believed = image_of(model.names, np.array([beliefs[name][1] for name in model.names]))
    sampled = image_of(drawn.names, np.asarray(drawn.codes, dtype=np.float64).mean(axis=1))
    return {
        "test_nll": nll / test.n_variables,
        "belief_error": _distance(believed, true),
        "sample_error": _distance(sampled, true),
        "beliefs": _rounded(believed),
        "samples": _rounded(sampled),
    }


def lively(table: Table) -> Table:
    """Return a table of pixels with the least constant ones first.

    What is tried first, so that nothing is compiled while a clock runs, are the first columns.
    """
    ones = np.asarray(table.codes, dtype=np.float64).mean(axis=1)
    order = np.argsort(np.abs(ones - 0.5), kind="stable")
    names = tuple(table.names[k] for k in order)
    return Table(names, tuple(table.states[k] for k in order), table.codes[order])


def image_of(names: Any, values: Any) -> Any:
    """Return values of all pixels of a square as an image; names are like "r3c5".

    Examples
    --------
    >>> image_of(["r0c1", "r1c1", "r0c0", "r1c0"], [0.5, 2.0, 1.0, 3.0]).tolist()
    [[1.0, 0.5], [3.0, 2.0]]
    """
    side = math.isqrt(len(names))
    image = np.zeros((side, side))
    for name, value in zip(names, values, strict=True):
        row, column = name[1:].split("c")
        image[int(row), int(column)] = value
    return image


@lru_cache(maxsize=1)
def letters_of(folder: str | None) -> Letters:
    """Return the letters of the paper, in the middle of 20 x 20 pixels."""
    return load_ocr_letters(folder, LETTERS, padded=True)


def _letters(context: Context) -> Letters:
    """Return the letters of the paper, or made ones in tiny size."""
    if context.size == "tiny":
        return made_letters(LETTERS)
    return letters_of(None if context.folder is None else str(context.folder))


def _distance(image: Any, other: Any) -> float:
    """Return the root mean square difference."""
    return float(np.sqrt(((image - other) ** 2).mean()))


def _rounded(image: Any) -> list[list[float]]:
    rows: list[list[float]] = np.round(image, 3).tolist()
    return rows
