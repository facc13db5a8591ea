"""Communities in words: of a network, and how stable a bootstrap finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from graftwork.estimators.bootstrap import Bootstrap
from graftwork.estimators.centrality import edge_arrays
from graftwork.inference.layout import Ints
from graftwork.models import PairwiseMRF
from graftwork.models.communities import modularity
from graftwork.report.trace import write_records
from graftwork.text import count, names, percent, verb

#: Christensen and Golino: a variable that is in its community less often is not to be assigned.
STABLE_MEMBER = 0.75
#: Newman and Girvan: networks with communities have at least about this modularity.
_LEAST_MODULARITY = 0.3


def community_text(model: PairwiseMRF, found: Mapping[Any, int | None]) -> str:
    """Return the communities of a network, in plain sentences."""
    parts: dict[int, list[Any]] = {}
    for name, number in found.items():
        if number is not None:
            parts.setdefault(number, []).append(name)
    if not parts:
        return "There are no edges, and so no communities."
    membership = np.array([(found[name] or 0) - 1 for name in model.names], dtype=np.int64)
    _, edges, strengths = edge_arrays(model)
    value = modularity(edges, strengths, membership)
    noun = "1 community" if len(parts) == 1 else f"{len(parts):,} communities"
    text = f"{noun}, found by Louvain's algorithm (modularity {value:.2f}). "
    text += " ".join(f"{number}: {names(parts[number])}." for number in sorted(parts))
    alone = [name for name, number in found.items() if number is None]
    if alone:
        text += f" In none, without an edge: {names(alone)}."
    if value < _LEAST_MODULARITY:
        text += f" A modularity below {_LEAST_MODULARITY} is weak evidence of communities."
    return text


def write_communities(path: str | PathLike[str], found: Mapping[Any, int | None]) -> None:
    """Write the community of each variable as CSV, and return None; none stays empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "communities.csv")
    >>> write_communities(path, {"a": 1, "b": None})
    >>> path.read_text()
    'variable,community\\na,1\\nb,\\n'
    """
    records = [{"variable": name, "community": number} for name, number in found.items()]
    write_records(path, records)


def community_words(boot: Bootstrap) -> list[str]:
    """Return how stable communities are, in sentences; none if they were not looked at."""
    if boot.membership is None or boot.membership_draws is None:
        return []
    if not boot.n_done:
        return ["No resample was done, so nothing is known about the communities."]
    own = _number(boot.membership)
    if not own:
        return ["The network has no edges, and so no communities."]
    numbers = np.array([_number(each) for each in boot.membership_draws])
    same = float((numbers == own).mean())
    noun = "1 community" if own == 1 else f"{own:,} communities"
    out = [
        f"The network has {noun}; {percent(same)} of the resamples have as many{_range(numbers)}."
    ]
    return out + _members(boot)


def _number(membership: Ints) -> int:
    """Return how many communities there are."""
    return len(np.unique(membership[membership >= 0]))


def _range(numbers: Any) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return f" (from {low:,} to {high:,})" if low < high else ""


def _members(boot: Bootstrap) -> list[str]:
    """Return which variables change their community, in sentences."""
    records = [record for record in boot.communities() if record["community"] is not None]
    loose = sorted(
        (record for record in records if record["stability"] < STABLE_MEMBER),
        key=lambda record: record["stability"],
    )
    if not loose:
        return [
            f"Every variable with an edge is in its community in at least {STABLE_MEMBER:.0%} of "
            "the resamples."
        ]
    return [
        f"{count(len(loose), 'variable')} of {len(records):,} {verb(len(loose))} in "
        f"{verb(len(loose), 'its', 'their')} community in less than {STABLE_MEMBER:.0%} of the "
        f"resamples: {_listed(loose)}. Do not rely on {verb(len(loose), 'its', 'their')} place."
    ]


def _listed(records: Sequence[Mapping[str, Any]]) -> str:
    return names([f"{record['variable']} ({percent(record['stability'])})" for record in records])
