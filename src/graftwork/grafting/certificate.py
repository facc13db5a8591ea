"""The certificate: what was checked at the end, and what it says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

STOPS = {
    "optimal": "nothing more is wanted",
    "edges": "the edge budget was reached",
    "given": "its edges were given, by a tree or another start, and no others were looked for",
    "searched": "its number of edges was given, and which they are was found by a search, which is "
    "not certified",
    "rounds": "the round budget was reached",
    "tests": "the budget of tests was reached",
    "seconds": "the time budget was reached",
    "interrupted": "it was interrupted",
    "stalled": "no step improved it any further before the solver gave up",
    "pruned": "small weights that the optimum has were dropped at the end",
}


@dataclass(frozen=True, slots=True)
class Certificate:
    """How close to optimal a penalised network is, and how much of that was checked.

    Attributes
    ----------
    max_violation : float
        Largest amount by which an inactive pair's score exceeds lam (times the pair's factor, if it
        has one), over the pairs tested at the final point (0 when none does, NaN when none was
        tested).
    stationarity : float
        Largest distance to stationarity over the active blocks and the unaries.
    tolerance : float
        What both had to stay under.
    objective, loss, lam : float
        Loss plus penalty, the loss alone, and the penalty's strength.
    n_edges, n_inactive, n_tested : int
        Active edges; inactive blocks (pairs, or features); how many of those were tested at the
        final point.
    exact : bool
        Whether every number here is exact: no approximate inference in losses or scores.
    trusted : bool
        Whether the inference behind the final gradient converged.
    n_untrusted : int
        Rounds whose last gradient came from inference that had not converged.
    method : str
        How the loss and the scores were computed, in words.
    unit : str
        What a block is: "pair" or "feature".
    n_absent : int
        Variables that never arrived (see ``arrivals``): their pairs do not count above.
    noun : str
        What ``n_edges`` counts: edges, or features of chains.
    n_barred : int
        Pairs that prior knowledge keeps out of the network: they do not count above.
    converged : bool
        Everything was checked and is within the tolerance.
    stop : str
        Why the run ended: a key of ``STOPS``.
    """

    max_violation: float
    stationarity: float
    tolerance: float
    objective: float
    loss: float
    lam: float
    n_edges: int
    n_inactive: int
    n_tested: int
    exact: bool
    converged: bool
    stop: str
    trusted: bool = True
    n_untrusted: int = 0
    method: str = ""
    unit: str = "pair"
    n_absent: int = 0
    noun: str = "edge"
    n_barred: int = 0

    @property
    def coverage(self) -> float:
        """Share of the inactive blocks that were tested at the final point."""
        return self.n_tested / self.n_inactive if self.n_inactive else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a plain dictionary; what is unknown is None."""
        plain = {**asdict(self), "coverage": self.coverage}
        return {k: None if v != v else v for k, v in plain.items()}

    def words(self) -> str:
        """Return the certificate in plain sentences."""
        parts = [
            f"Optimal within {self.tolerance:g}"
            + ("." if self.exact else ", as far as approximate inference can tell.")
            if self.converged
            else f"Not certified optimal: {self._reason()}.",
        ]
        if self.n_inactive == 0:
            parts.append(f"No {self.unit} was left out.")
        elif self.n_tested == 0:
            parts.append(
                f"None of the {self.n_inactive:,} {self.unit}s left out was tested at the final "
                "weights."
            )
        elif self.n_tested == self.n_inactive:
            tested = f"All {self.n_inactive:,} {self.unit}s left out were"
            if self.n_inactive == 1:
                tested = f"The only {self.unit} left out was"
            parts.append(
                f"{tested} tested at the final weights; {self._wanted()} (largest violation "
                f"{self.max_violation:.2g} at lambda {self.lam:.4g})."
            )
        else:
            parts.append(
                f"{self.n_tested:,} of {self.n_inactive:,} {self.unit}s left out "
                f"({self.coverage:.1%}) were tested at the final weights "
                f"(largest violation {self.max_violation:.2g})."
            )
        kept = {0: "The unaries are", 1: f"The {self.noun} kept is"}.get(
            self.n_edges, f"The {self.n_edges:,} {self.noun}s kept are"
        )
        if self.n_edges == 0 and self.noun != "edge":
            parts.append(f"No {self.noun} is kept.")
        else:
            parts.append(f"{kept} stationary to {self.stationarity:.2g}.")
        if self.n_barred:
            one = "1 pair that may not be an edge"
            several = f"{self.n_barred:,} pairs that may not be edges"
            parts.append(f"Not looked at: {one if self.n_barred == 1 else several}.")
        if self.n_absent:
            parts.append(f"Not looked at: {self.n_absent:,} variables that never arrived.")
        parts.append(self._words_of_inference())
        return " ".join(parts)

    def _wanted(self) -> str:
        if self.max_violation <= self.tolerance:
            return "none wants in"
        if self.stop == "searched":
            return f"more {self.noun}s would improve it further"
        return "some still want in" if self.n_inactive > 1 else "it still wants in"

    def _reason(self) -> str:
        if self.stop == "stalled" and not self.exact and (self.n_untrusted or not self.trusted):
            return "approximate inference did not converge, so that no step could be relied on"
        if self.stop == "stalled" and not self.exact and self.stationarity <= self.tolerance:
            return (
                "what violates by the rule for inactive pairs does not lower the loss, because "
                "the two approximate inference in different ways"
            )
        return STOPS[self.stop].replace("edge budget", f"{self.noun} budget")

    def _words_of_inference(self) -> str:
        if self.exact:
            return "Every number given is exact."
        text = f"Some numbers are approximate ({self.method or 'inference'})."
        if not self.trusted:
            text += " The inference behind the final gradient did not converge, even damped."
        elif self.n_untrusted:
            text += f" Inference did not converge in {self.n_untrusted:,} of the rounds before."
        return text
