"""Rows past memory: a planted network learned from Parquet files that are read in parts.

python benchmarks/streaming.py [--rows N] [--memory TEXT] [--folder FOLDER] [--out FOLDER]

Files of 1,000,000 rows and 40 columns (2 to 5 states, a scale-free network, Gibbs sampling) are
made once in the folder. Measured are, each in a process of its own with one thread: reading the
files with pyarrow alone; scanning them (states found, rows encoded and packed); learning with
goal="structure" from the first 2,000,000 rows in memory, and from all rows in parts. Written is
streaming.json.
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

COLUMNS, FILE_ROWS, IN_MEMORY = 40, 1_000_000, 2_000_000
#: What is measured, in this order.
WAYS = ("read", "scan", "memory", "parts")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--memory", default="1.5GB")
    parser.add_argument("--folder", type=Path, default=Path("out/streaming"))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def network() -> gw.PairwiseMRF:
    """Return the network that rows are drawn from."""
    cards = np.random.default_rng(0).integers(2, 6, COLUMNS)
    drawn = gw.datasets.make_scale_free(
        COLUMNS, cards.tolist(), n_rows=10, n_test=10, random_state=0
    )
    return drawn.model


def make(folder: Path, rows: int) -> list[Path]:
    """Return the files, written where they are not there yet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    model, files = network(), []
    for number in range(-(-rows // FILE_ROWS)):
        size = min(FILE_ROWS, rows - number * FILE_ROWS)
        file = folder / f"{number:04d}-{size}.parquet"
        files.append(file)
        if not file.exists():
            codes = model.sample(size, method="gibbs", random_state=number).codes
            columns = {f"v{j:02d}": pa.array(row.astype(np.int8)) for j, row in enumerate(codes)}
            part = file.with_suffix(".part")
            pq.write_table(pa.table(columns), part)
            part.rename(file)
    return files


def measure(way: str, files: list[Path], memory: str) -> dict[str, Any]:
    """Return what one way takes, in this process."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    paths = [str(file) for file in files]
    some = {f"v{j}": np.random.default_rng(j).integers(0, 3, 300) for j in range(6)}
    gw.MarkovNetwork(n_jobs=1).fit(gw.scan(some, part_rows=100))  # loads the kernels
    before, began = time.process_time(), time.perf_counter()
    found: dict[str, Any] = {"way": way, "rows": sum(pq.read_metadata(f).num_rows for f in files)}
    if way == "read":
        for path in paths:
            with pq.ParquetFile(path) as file:
                for _ in file.iter_batches(1 << 17, use_threads=False):
                    pass
    elif way == "scan":
        with gw.scan(paths, memory=memory).store() as stored:
            packed = sum(file.stat().st_size for file in Path(stored.paths).iterdir())
            found["gigabytes on the disk"] = packed / 1e9
    else:
        rows = gw.scan(paths, memory=memory)
        if way == "memory":
            columns = pa.concat_tables([pq.read_table(path) for path in paths])
            rows = gw.as_table({name: columns[name].to_numpy() for name in columns.column_names})
            del columns
            before, began = time.process_time(), time.perf_counter()
        net = gw.MarkovNetwork(n_jobs=1).fit(rows)
        truth = {tuple(sorted(edge)) for edge in network().edges}
        names = {f"v{j:02d}": name for j, name in enumerate(network().names)}
        edges = {tuple(sorted((names[a], names[b]))) for a, b in net.model_.edges}
        found |= {
            "edges": len(edges),
            "right": len(edges & truth),
            "true edges": len(truth),
            "objective": net.certificate_.objective,
            "stop": net.certificate_.stop,
        }
    found["CPU seconds"] = time.process_time() - before
    found["seconds"] = time.perf_counter() - began
    found["peak gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return found


def main() -> None:
    """Measure what is asked for."""
    given = parse()
    files = make(given.folder, given.rows)
    if given.one:
        some = files[: IN_MEMORY // FILE_ROWS] if given.one == "memory" else files
        print(json.dumps(measure(given.one, some, given.memory)))
        return
    file = given.out / "streaming.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    for way in given.ways:
        command = [sys.executable, __file__, "--one", way, "--rows", str(given.rows)]
        command += ["--folder", str(given.folder), "--memory", given.memory]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        known[way] = json.loads(ended.stdout)
        print(known[way], flush=True)
        file.write_text(json.dumps(known, indent=1) + "\n")
    rates = {way: run["CPU seconds"] / run["rows"] for way, run in known.items()}
    print(f"scan against pyarrow: {rates['scan'] / rates['read']:.2f} times the CPU time")
    print(f"a row in parts against one in memory: {rates['parts'] / rates['memory']:.2f} times")


if __name__ == "__main__":
    main()
