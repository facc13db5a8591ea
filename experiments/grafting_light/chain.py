"""Grafting-Light, section 6.1.1: a synthetic chain, six criteria against the select unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Any

from experiments.engine import Context, Figure, Found, Size, Step
from experiments.engine.panels import draw_criteria
from experiments.grafting_light.learners import learn_chains
from graftwork.datasets import LabelledChains, labelled_chains

LIGHT, GRAFTING, SEIDEL, FULL = "grafting-light", "grafting", "gauss-seidel", "full"
#: The six criteria, CPU seconds for time.
CRITERIA = (
    ("cpu_seconds", "training time (CPU seconds)"),
    ("nll", "negative log-likelihood (training)"),
    ("test_error", "error rate (test)"),
    ("features", "features in the end"),
    ("selected", "features selected on the way"),
    ("evaluations", "gradient evaluations"),
)


@dataclass(frozen=True, slots=True)
class ChainSize:
    """Sizes of the synthetic chain.

    Attributes
    ----------
    n_train, n_test, length, n_inputs, n_relevant : int
    state_sd : float
        Of the weights of inputs that matter; the paper does not say.
    c1 : float
        The penalty's strength on the summed loss.
    units : tuple of int
        The select units M.
    max_evaluations : int
        Evaluations of the loss, with its gradient, after which a run ends.
    ridge : float
        l2 of the control, as a share of lambda.
    """

    n_train: int = 3_000
    n_test: int = 2_000
    length: int = 8
    n_inputs: int = 1_000
    n_relevant: int = 100
    state_sd: float = 0.25
    c1: float = 64.0
    units: tuple[int, ...] = (1, *range(10, 111, 10))
    max_evaluations: int = 2_000
    ridge: float = 0.1


# With fewer inputs that matter each weighs more, so that labels are told as well.
SIZES = {
    "full": ChainSize(),
    "quick": ChainSize(400, 400, 8, 120, 12, 0.7, 16.0, (1, 10, 50), 500),
    "tiny": ChainSize(60, 40, 6, 20, 4, 1.0, 4.0, (1, 3, 9), 300),
}


def chain_steps(size: Size) -> list[Step]:
    """Return the steps: every method with every select unit, everything at once, a control."""
    sizes = SIZES[size]
    out = [_step(f"chain-{FULL}", FULL, None, sizes)]
    for method in (LIGHT, GRAFTING, SEIDEL):
        out += [_step(key_of(method, unit), method, unit, sizes) for unit in sizes.units]
    out.append(_step(f"chain-ridge-{FULL}", FULL, None, sizes, sizes.ridge))
    out.append(_step(f"chain-ridge-{LIGHT}", LIGHT, sizes.units[0], sizes, sizes.ridge))
    return out


def key_of(method: str, unit: int) -> str:
    """Return the key of a step.

    Examples
    --------
    >>> key_of("grafting", 10)
    'chain-grafting-10'
    """
    return f"chain-{method}-{unit}"


def _step(key: str, method: str, unit: int | None, sizes: ChainSize, ridge: float = 0.0) -> Step:
    words = f"synthetic chain, {method}" + (f", M = {unit}" if unit else "")
    of_others = ("units", "ridge")
    settings = {name: value for name, value in asdict(sizes).items() if name not in of_others}
    settings |= {"method": method, "select": unit, "l2 over lam": ridge}
    return Step(
        key,
        words + (", with a ridge" if ridge else ""),
        partial(run_chain, method=method, unit=unit, sizes=sizes, ridge=ridge),
        settings,
        "feature",
    )


def run_chain(
    context: Context, *, method: str, unit: int | None, sizes: ChainSize, ridge: float = 0.0
) -> Found:
    """Return the six criteria of a method on the synthetic chain, and its way there."""
    train, test = chain_data(sizes, context.seed)
    lam = sizes.c1 / sizes.n_train
    net, found = learn_chains(
        context,
        train.X,
        train.y,
        (test.X, test.y),
        method=method,
        select=unit,
        lam=lam,
        l2=ridge * lam,
        max_evaluations=sizes.max_evaluations,
    )
    curve = found.pop("curve")
    return {
        "method": method,
        "select": unit,
        **found,
        "inputs": len(net.model_.attributes),
        "n_train": sizes.n_train,
        "curve": curve,
    }


@lru_cache(maxsize=1)
def chain_data(sizes: ChainSize, seed: int) -> tuple[LabelledChains, LabelledChains]:
    """Return sequences to learn from and to test on."""
    made = labelled_chains(
        sizes.n_train + sizes.n_test,
        sizes.length,
        sizes.n_inputs,
        sizes.n_relevant,
        state_sd=sizes.state_sd,
        random_state=seed,
    )
    return made.split(sizes.n_train)


def chain_lines(found: Mapping[str, Found]) -> dict[str, list[Found]]:
    """Return the runs by method, in the order of select units; controls are left out."""
    lines: dict[str, list[Found]] = {}
    for key, run in found.items():
        if key.startswith("chain-") and not key.startswith("chain-ridge-"):
            lines.setdefault(run["method"], []).append(run)
    return {
        method: sorted(lines[method], key=lambda run: run["select"] or 0)
        for method in (LIGHT, GRAFTING, SEIDEL, FULL)
        if method in lines
    }


def chain_table(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """Return one line a run."""
    return [
        {"run": key, **{name: cell for name, cell in run.items() if name != "curve"}}
        for key, run in found.items()
        if key.startswith("chain-")
    ]


def chain_figures(found: Mapping[str, Found]) -> Sequence[Figure]:
    """Return the paper's Figure 2."""
    lines = chain_lines(found)
    if not lines:
        return []
    title = f"Synthetic chain, {next(iter(lines.values()))[0]['n_train']:,} sequences"

    def draw(canvas: Any) -> None:
        draw_criteria(
            canvas, lines, CRITERIA, across="select", label="features a round (M)", title=title
        )

    caption = (
        "Figure 2: six criteria against the select unit M. ChainCRF's own choice is M = 50. "
        "Runs that the limit of evaluations ended are not at the optimum."
    )
    return [Figure("chain", caption, draw, (12.5, 7.2))]
