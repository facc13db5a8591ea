"""Try cases for some minutes: ``make fuzz MINUTES=10``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

from fuzz.cases import keep, try_case
from fuzz.targets import TARGETS


def main() -> int:
    """Return 0 if everything held."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="for the same cases again")
    parser.add_argument("--only", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    given = parser.parse_args()
    seed = int(time.time()) if given.seed is None else given.seed
    rng = np.random.default_rng(seed)
    weights = np.array([TARGETS[name].weight for name in given.only])
    found: Counter[tuple[str, str]] = Counter()
    seen: Counter[str] = Counter()
    slowest = (0.0, "")
    end = time.monotonic() + 60 * given.minutes
    print(f"seed {seed}, {', '.join(given.only)}")
    while time.monotonic() < end:
        name = given.only[int(rng.choice(len(given.only), p=weights / weights.sum()))]
        target = TARGETS[name]
        number = int(rng.integers(2**63))
        case = target.make(np.random.default_rng(number))
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                found[name, try_case(target, case, Path(folder))] += 1
            except (Exception, SystemExit) as error:
                found[name, "failed"] += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(where.filename).name}:{where.name}"
                what = f"{name}: {type(error).__name__} in {place}: {str(error)[:40]}"
                seen[what] += 1
                if seen[what] <= 2:
                    path = keep(name, case, f"{what}{str(error)[40:300]}")
                    print(f"FAILED {what!r}\n  kept as {path}", flush=True)
        slowest = max(slowest, (time.monotonic() - began, f"{name} {number}"))
    for name in given.only:
        told = ", ".join(f"{found[name, how]:,} {how}" for how in ("held", "refused", "failed"))
        print(f"{name:<12} {told}")
    failed, (seconds, which) = sum(seen.values()), slowest
    print(f"{sum(found.values()):,} cases, {failed:,} failures; slowest {seconds:.1f} s ({which})")
    return int(failed > 0)


sys.exit(main())
