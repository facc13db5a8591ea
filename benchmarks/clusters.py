"""Engines beside one process: what workers gain, what they cost, and what travels.

python benchmarks/clusters.py [--rows N] [--columns N] [--repeats N] [--folder FOLDER]

Parquet files of 1,000,000 rows (2 to 5 states, a scale-free network, Gibbs sampling) are made once
in the folder. Measured is goal="structure" of all of them: one part after the other in this process
with one thread (here), Dask with one worker and with two, Processes(1) and Processes(2), each in
a process of its own and with kernels loaded before. The way "counted" runs one process again and
keeps, for each operation, how often it ran, the bytes of its arguments and of a part's result,
pickled, and its seconds for each million rows. Repeats take turns, and the least time counts, since
the machine may be busy. Written is clusters.json.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import streaming
from arguments import parser_of

import graftwork as gw
from graftwork.data.engines import Here, Processes

#: Rows of the fit that loads the kernels.
WARM_ROWS = 240_000
#: What is measured, in this order.
WAYS = ("here", "dask-1", "dask-2", "processes-1", "processes-2", "counted")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("out/clusters"))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


class Counting(Here):
    """One part after the other, with what travels and how long it takes."""

    def __init__(self) -> None:
        super().__init__(1)
        self.found: dict[str, dict[str, Any]] = defaultdict(
            lambda: {"runs": 0, "bytes out": 0, "bytes back": 0, "seconds": 0.0}
        )

    def total(self, handles: Any, function: Any, *arguments: Any, add: Any = None) -> Any:
        inner = [one for one in arguments[:1] + arguments[3:4] if callable(one)]
        name = ".".join(one.__name__ for one in [function, *inner])
        kept = self.found[name]
        kept["runs"] += 1
        kept["bytes out"] += len(pickle.dumps((function, arguments), 5))

        def measured(part: Any, *more: Any) -> Any:
            began = time.perf_counter()
            result = function(part, *more)
            kept["seconds"] += time.perf_counter() - began
            kept["bytes back"] += len(pickle.dumps(result, 5)) / len(handles)
            return result

        return super().total(handles, measured, *arguments, add=add)


def measure(way: str, files: list[Path]) -> dict[str, Any]:
    """Return what one way takes."""
    kind, _, count = way.partition("-")
    with ExitStack() as stack:
        engine: Any = Here(1)
        if kind == "counted":
            engine = Counting()
        elif kind == "processes":
            engine = stack.enter_context(Processes(int(count)))
        elif kind == "dask":
            from distributed import Client, LocalCluster

            from graftwork.data.engines.dask import DaskEngine

            options = {"threads_per_worker": 1, "dashboard_address": ":0"}
            cluster = stack.enter_context(LocalCluster(n_workers=int(count), **options))
            engine = DaskEngine(stack.enter_context(Client(cluster)))
        some = pq.read_table(files[0]).slice(0, WARM_ROWS)  # enough to need every kernel
        warm = [some.slice(k * WARM_ROWS // 4, WARM_ROWS // 4).to_pydict() for k in range(4)]
        gw.MarkovNetwork(n_jobs=1).fit(gw.scan(warm, engine=engine))
        if kind == "counted":
            engine.found.clear()
        began, before = time.perf_counter(), time.process_time()
        net = gw.MarkovNetwork(n_jobs=1).fit(gw.scan([str(f) for f in files], engine=engine))
        found = {
            "seconds": time.perf_counter() - began,
            "CPU seconds here": time.process_time() - before,
            "edges": len(net.model_.edges),
            "objective": net.certificate_.objective,
            "peak gigabytes here": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        }
        if kind == "counted":
            found["operations"] = dict(engine.found)
    return found


def main() -> None:
    """Measure what is asked for."""
    given = parse()
    streaming.COLUMNS = given.columns
    files = streaming.make(given.folder, given.rows)
    if given.one:
        print(json.dumps(measure(given.one, files)))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "clusters.json"
    known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    fresh: dict[str, Any] = {}
    for _ in range(given.repeats):
        for way in given.ways:
            if way == "counted" and way in fresh:
                continue
            command = [sys.executable, __file__, "--one", way, "--rows", str(given.rows)]
            command += ["--columns", str(given.columns), "--folder", str(given.folder)]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            run = json.loads(ended.stdout.splitlines()[-1])
            times = [*fresh.get(way, {}).get("all seconds", []), run["seconds"]]
            fresh[way] = run | {"seconds": min(times), "all seconds": times, "rows": given.rows}
            known |= fresh
            file.write_text(json.dumps(known, indent=1) + "\n")
            print(f"{way:12} {run['seconds']:8.1f} s", flush=True)
    seconds = {way: run["seconds"] for way, run in known.items()}
    for more, one in (("dask-2", "dask-1"), ("processes-2", "processes-1")):
        if more in seconds and one in seconds:
            print(f"{more} against {one}: {seconds[one] / seconds[more]:.2f} times as fast")
    for one in ("dask-1", "processes-1"):
        if one in seconds and "here" in seconds:
            print(f"{one} against one process: {seconds[one] / seconds['here']:.2f} times the time")


if __name__ == "__main__":
    main()
