"""What targets are, how a case is tried, and the corpus of cases that failed once."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.errors import (
    ApproximationWarning,
    ConvergenceWarning,
    DataWarning,
    GraftworkError,
)

CORPUS = Path(__file__).parents[1] / "corpus"
Case = dict[str, Any]

#: What a text must not hold where a terminal shows it.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
#: The longest error: a path, a name, a sentence.
MOST_SAID = 5000


@dataclass(frozen=True)
class Target:
    """Something to attack.

    Attributes
    ----------
    make : function of a random generator
        Returns a case.
    check : function of a case and an empty folder
        Raises where an invariant does not hold. `GraftworkError` is a refusal, which may be.
    weight : float
        Its share of the cases, relative to others.
    """

    make: Callable[[np.random.Generator], Case]
    check: Callable[[Case, Path], None]
    weight: float = 1.0


def try_case(target: Target, case: Case, folder: Path) -> str:
    """Return "held", or "refused" for a documented error; raise for all else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in (ApproximationWarning, ConvergenceWarning, DataWarning):
            warnings.simplefilter("ignore", known)
        try:
            target.check(case, folder)
        except GraftworkError as error:
            require(0 < len(str(error)) < MOST_SAID, f"an error of {len(str(error))} characters")
            return "refused"
    return "held"


def keep(name: str, case: Case, why: str) -> Path:
    """Write a case to the corpus, and return its file."""
    text = json.dumps({"why": why, "case": case}, indent=1)
    mark = hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:12]
    path = CORPUS / name / f"{mark}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    return path


def require(holds: Any, what: str) -> None:
    """Raise unless something holds."""
    if not holds:
        raise AssertionError(what)
