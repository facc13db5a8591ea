"""The certificate: what was checked at the end, and what it says, in numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from graftwork.notebooks import repr_html

#: Why a run ended: nothing violates any more; as many edges (or features) as may be; the edges were
#: given; their number was given and a local search found which; a budget of rounds, of tests, of
#: seconds or of evaluations; Ctrl-C; no step improved it any further; small weights of the optimum
#: were dropped.
Stop = Literal[
    "optimal", "edges", "given", "searched", "rounds", "tests", "seconds", "evaluations",
    "interrupted", "stalled", "pruned",
]  # fmt: skip
STOPS: tuple[Stop, ...] = get_args(Stop)
#: Budgets after which the weights are left as they are: solving them would use more of the same.
HURRIED: tuple[Stop, ...] = ("seconds", "evaluations")


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """How close to optimal a penalised network is, and how much of that was checked."""

    # largest amount by which an inactive pair's score exceeds lam (times the pair's factor, if it
    # has one), over the pairs tested at the final point (0 when none does, NaN when none was
    # tested)
    max_violation: float
    stationarity: float  # largest distance to stationarity over the active blocks and the unaries
    tolerance: float  # what both had to stay under
    # objective, loss, lam: loss plus penalty, the loss alone, and the penalty's strength
    objective: float
    loss: float
    lam: float
    # n_edges, n_inactive, n_tested: active edges; inactive blocks (pairs, or features); how many
    # of those were tested at the final point
    n_edges: int
    n_inactive: int
    n_tested: int
    exact: bool  # whether every number here is exact: no approximate inference in losses or scores
    converged: bool  # everything was checked and is within the tolerance
    stop: Stop  # why the run ended: one of ``STOPS``
    trusted: bool = True  # whether the inference behind the final gradient converged
    n_untrusted: int = 0  # rounds whose last gradient came from inference that had not converged
    method: str = ""  # how the loss and the scores were computed
    unit: str = "pair"  # what a block is: "pair" or "feature"
    noun: str = "edge"  # what ``n_edges`` counts: edges, or features of chains
    # pairs that prior knowledge keeps out of the network: they do not count above
    n_barred: int = 0

    _repr_html_ = repr_html

    @property
    def coverage(self) -> float:
        """Share of the inactive blocks that were tested at the final point."""
        return self.n_tested / self.n_inactive if self.n_inactive else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a plain dictionary; what is unknown is None."""
        plain = {**asdict(self), "coverage": self.coverage}
        return {k: None if v != v else v for k, v in plain.items()}

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> Certificate:
        """Return the certificate that `to_dict` made a dictionary of."""
        known: dict[str, Any] = {}
        for name in (field.name for field in fields(Certificate) if field.name in plain):
            known[name] = math.nan if plain[name] is None else plain[name]
        return Certificate(**known)

    def __repr__(self) -> str:
        return (
            f"Certificate(converged={self.converged}, stop={self.stop!r}, n_edges={self.n_edges}, "
            f"n_tested={self.n_tested}, n_inactive={self.n_inactive}, "
            f"max_violation={self.max_violation:.3g}, stationarity={self.stationarity:.3g}, "
            f"tolerance={self.tolerance:g}, lam={self.lam:.4g}, objective={self.objective:.6g}, "
            f"exact={self.exact})"
        )
