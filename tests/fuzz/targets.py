"""All targets by name."""

from __future__ import annotations

from fuzz import analyses, files, fits
from fuzz.cases import Target

TARGETS: dict[str, Target] = {**files.TARGETS, **fits.TARGETS, **analyses.TARGETS}
