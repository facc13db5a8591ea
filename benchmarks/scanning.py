"""Parquet scanned (states found, rows packed on the disk) beside the time that reading it takes.

python benchmarks/scanning.py [rows] [columns]

Half the columns hold texts, half integers, of 2 to 5 states; row groups have 1,000,000 rows. Both
read with one thread, in batches of as many rows. Unpacking all parts is measured too.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from arguments import numbers_parser

import graftwork as gw
from graftwork.data.scanning.pieces import batch_rows

GROUP = 1_000_000
MEMORY = 2 * 10**9
WORDS = np.array(["never", "rarely", "sometimes", "often", "always"])


def write(path: Path, rows: int, columns: int) -> None:
    """Write a table, row group by row group."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, GROUP):
        count = min(GROUP, rows - start)
        cells = {}
        for j in range(columns):
            codes = rng.integers(0, 2 + j // 2 % 4, count)
            cells[f"x{j}"] = pa.array(WORDS[codes]) if j % 2 else pa.array(codes)
        table = pa.table(cells)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    writer.close()


def read(path: Path, dictionaries: bool) -> int:
    """Return the rows of a file that pyarrow reads, texts by their dictionaries or not."""
    names = pq.read_schema(path).names
    kept = [name for name in names if dictionaries and int(name[1:]) % 2]
    with pq.ParquetFile(path, read_dictionary=kept) as file:
        most = batch_rows(MEMORY, len(names))
        batches = file.iter_batches(most, use_threads=False)
        return sum(batch.num_rows for batch in batches)


def store(path: Path) -> gw.StoredTable:
    return gw.scan(path, memory=MEMORY).store()


def seconds(action, repeats=3):
    """Return the shortest of some times, and what the action gave."""
    times, found = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        found = action()
        times.append(time.perf_counter() - start)
    return min(times), found


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return numbers_parser(__doc__, rows=5_000_000, columns=40).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        small, path = Path(folder, "small.parquet"), Path(folder, "rows.parquet")
        write(small, 1000, chosen.columns)
        write(path, chosen.rows, chosen.columns)
        with store(small) as stored:  # compiles outside the clock
            stored.part(0)
        plain, rows = seconds(lambda: read(path, False))
        quick, _ = seconds(lambda: read(path, True))
        spent, stored = seconds(lambda: store(path))
        assert stored.n_rows == rows == chosen.rows
        packed = sum(file.stat().st_size for file in stored.paths.iterdir())
        loaded, _ = seconds(lambda: [stored.part(k).n_rows for k in range(stored.n_parts)])
        print(f"{rows:,} rows of {chosen.columns} columns, {path.stat().st_size / 1e6:,.0f} MB")
        print(f"read by pyarrow                  {plain:7.2f} s")
        print(f"read by pyarrow, as dictionaries {quick:7.2f} s")
        print(f"scan(path).store()               {spent:7.2f} s, {packed / 1e6:,.0f} MB packed")
        print(f"all parts unpacked               {loaded:7.2f} s")
        print(f"speed of scan beside reading     {plain / spent:7.2f}")
        print(f"speed beside reading as dictionaries {quick / spent:.2f}")
        stored.close()


if __name__ == "__main__":
    main(parse())
