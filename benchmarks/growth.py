"""How CPU time and memory grow with the number of variables, from 500 to 10,000.

python benchmarks/growth.py [--sizes N ...] [--limit SECONDS] [--ways NAME ...] [--out FOLDER]
                            [--edge-sd SD]

Rows (5,000 by default) are drawn from scale-free networks of binary variables. Log-potentials of
edges have a standard deviation of .5: with 1 the Gibbs chains of 5,000 variables do not mix, and
rows of chains that are stuck have dependences that no network of few edges has. R-hat is written
with each run; --edge-sd 1 (with --out) measures such rows all the same. Every fit runs in a
process of its own with one thread, after a small one that loads the compiled kernels. Written are
growth.json and growth.png; runs of the same data that are there and not asked for stay. A fit that
takes longer than the limit (of CPU time) is a lower bound.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from arguments import parser_of

import graftwork as gw

SIZES = (500, 1000, 2000, 5000, 10_000)
LAM = 0.03
EDGE_SD = 0.5
#: What is measured: a line of the picture, and the parameters that differ from the defaults.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "fixed": (f"lam={LAM}, default method", {"lam": LAM}),
    "structure": ('goal="structure", default method', {}),
    "working-set": (f"lam={LAM}, working set", {"lam": LAM, "method": "working-set"}),
    "best-choice": (f"lam={LAM}, best-choice", {"lam": LAM, "method": "best-choice"}),
    "first-edges": (
        f"lam={LAM}, best-choice, the first n/4 edges",
        {"lam": LAM, "method": "best-choice"},
    ),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--edge-sd", type=float, default=EDGE_SD)
    parser.add_argument("--limit", type=int, default=1250, help="CPU seconds of one fit")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def measure(way: str, file: Path) -> dict[str, Any]:
    """Return what one fit takes, in this process."""
    rows, options = np.load(file), dict(WAYS[way][1])
    gw.MarkovNetwork(**options, n_jobs=1, random_state=0).fit(rows[:300, :12])
    if way == "first-edges":
        options["max_edges"] = rows.shape[1] // 4
    before = time.process_time()
    net = gw.MarkovNetwork(**options, n_jobs=1, random_state=0).fit(rows)
    return {
        "seconds": time.process_time() - before,
        "edges": net.model_.n_edges,
        "objective": net.certificate_.objective,
        "stop": net.certificate_.stop,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def run(way: str, size: int, file: Path, limit: int) -> dict[str, Any]:
    """Return what one fit takes, in a process of its own; a lower bound if that was ended."""

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))

    ended = subprocess.run(
        [sys.executable, __file__, "--one", way, str(file)],
        capture_output=True, text=True, check=False, preexec_fn=restrict,
    )  # fmt: skip
    found: dict[str, Any] = {"way": way, "size": size, "limit": limit}
    if ended.returncode == 0:
        return found | json.loads(ended.stdout)
    if ended.returncode < 0:
        return found | {"seconds": float(limit), "stop": "limit"}
    return found | {"stop": "error", "error": ended.stderr.strip().splitlines()[-1:]}


def exponent(runs: list[dict[str, Any]], name: str) -> float:
    """Return the slope of log(time or memory) over log(variables)."""
    done = [run for run in runs if run["stop"] not in ("limit", "error")]
    if len({run["size"] for run in done}) < 2:
        return float("nan")
    sizes, values = (np.log([run[key] for run in done]) for key in ("size", name))
    return float(np.polyfit(sizes, values, 1)[0])


def draw(runs: list[dict[str, Any]], rows: int, file: Path) -> None:
    """Draw time and memory over the number of variables."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for way, (label, _) in WAYS.items():
        own = sorted((r for r in runs if r["way"] == way), key=lambda r: r["size"])
        done = [r for r in own if r["stop"] not in ("limit", "error")]
        over = [r for r in own if r["stop"] == "limit"]
        for axes, name in ((left, "seconds"), (right, "gigabytes")):
            slope = exponent(own, name)
            text = label if np.isnan(slope) else f"{label}: n^{slope:.1f}"
            [line] = axes.plot([r["size"] for r in done], [r[name] for r in done], "o-", label=text)
            if name == "seconds" and over:
                sizes, seconds = [r["size"] for r in over], [r[name] for r in over]
                axes.plot(sizes, seconds, "^", color=line.get_color(), fillstyle="none")
    for axes, title in ((left, "CPU seconds (triangles: ended at the limit)"), (right, "GB")):
        axes.set(
            xscale="log", yscale="log", xlabel=f"binary variables ({rows:,} rows)", title=title
        )
        axes.legend(fontsize=7)
    figure.savefig(file, dpi=130)


def main(chosen: argparse.Namespace) -> None:
    """Measure, write, draw."""
    if chosen.one:
        print(json.dumps(measure(chosen.one[0], Path(chosen.one[1]))))
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    written = chosen.out / "growth.json"
    data = {"rows": chosen.rows, "edge_sd": chosen.edge_sd}
    known = json.loads(written.read_text()) if written.exists() else {"runs": []}
    same = all(known.get(name) == value for name, value in data.items())
    runs = {(run["way"], run["size"]): run for run in known["runs"] if same}
    for size in chosen.sizes:
        file = chosen.out / f"growth-{size}.npy"
        made = gw.datasets.make_scale_free(
            size, 2, edge_sd=chosen.edge_sd, n_rows=chosen.rows, random_state=0
        )
        np.save(file, np.ascontiguousarray(made.data.codes.T))
        for way in chosen.ways:
            found = run(way, size, file, chosen.limit) | {"rhat": made.mixing.rhat}
            runs[way, size] = found
            print(found, flush=True)
            listed = [runs[key] for key in sorted(runs)]
            written.write_text(json.dumps(data | {"runs": listed}, indent=1) + "\n")
        file.unlink()
    listed = list(runs.values())
    draw(listed, chosen.rows, chosen.out / "growth.png")
    for way in WAYS:
        own = [run for run in listed if run["way"] == way]
        print(f"{way}: time n^{exponent(own, 'seconds'):.2f}, memory "
              f"n^{exponent(own, 'gigabytes'):.2f}")  # fmt: skip


if __name__ == "__main__":
    main(parse())
