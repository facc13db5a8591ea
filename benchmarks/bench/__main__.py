"""Measure graftwork beside its peers: python -m bench [PROBLEM ...] [--smoke]."""

from __future__ import annotations

import argparse
import json
import math
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import against, report
from bench import ledger as books
from bench.harness import Harness, end_with_signals, one_line
from bench.ledger import Ledger
from bench.problems import PROBLEMS
from bench.runs import Problem, Run
from graftwork.errors import DataError, DataMissingError

ROOT = Path(__file__).parents[2]
FLOORS = ROOT / "benchmarks" / "floors.py"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help="default: all (see --list)")
    parser.add_argument("--smoke", action="store_true", help="small sizes: does everything run?")
    parser.add_argument(
        "--data",
        type=Path,
        help="folder of data sets (default: GRAFTWORK_DATA); without it they are skipped",
    )
    parser.add_argument("--out", type=Path, help="folder of the results")
    parser.add_argument(
        "--peers",
        default=str(ROOT / ".venv-peers" / "bin" / "python"),
        help="Python of the peers' environment (make peers)",
    )
    parser.add_argument(
        "--limit", type=float, default=math.inf, help="most seconds of any contender"
    )
    parser.add_argument(
        "--continue",
        dest="resume",
        action="store_true",
        help="leave out problems that results.json has complete, whatever code they are from",
    )
    parser.add_argument("--list", action="store_true", help="list problems and contenders")
    parser.add_argument(
        "--against", type=Path, help="another checkout: compare it with this one, without peers"
    )
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.problems if name not in PROBLEMS]
    if unknown:
        parser.error(f"no problem named {', '.join(unknown)}; --list has them all")
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; results are written after every contender."""
    chosen = parse(arguments)
    size = "smoke" if chosen.smoke else "full"
    if chosen.list:
        print_list(size)
        return 0
    if chosen.against is not None:
        harness = Harness(size, chosen.data, None, chosen.limit)
        problems = [PROBLEMS[name] for name in chosen.problems or PROBLEMS]
        against.compare(problems, harness, chosen.against.resolve())
        return 0
    folder = "out/bench-smoke" if chosen.smoke else "benchmarks/results"
    out = chosen.out or ROOT / folder
    ledger = books.read(out / "results.json", size)
    ledger.machine = books.describe_machine() | books.describe_code(ROOT)
    harness = Harness(size, chosen.data, chosen.peers, chosen.limit)
    code = 0
    try:
        for name in chosen.problems or PROBLEMS:
            if chosen.resume and name in ledger.complete:
                print(f"{name}: complete", flush=True)
                continue
            run_problem(PROBLEMS[name], harness, ledger, out)
        if not chosen.problems:
            ledger.floors = measure_floors(size)
            ledger.origins["floors"] = ledger.machine
    except KeyboardInterrupt as interrupt:
        print("interrupted; what is done is kept, --continue goes on", flush=True)
        code = 128 + (interrupt.args or (signal.SIGINT,))[0]
    books.save(ledger, out / "results.json")
    report.write(ledger, out)
    print_targets(ledger)
    print(f"written: {out / 'RESULTS.md'}")
    return code


def run_problem(problem: Problem, harness: Harness, ledger: Ledger, out: Path) -> None:
    """Run every contender of a problem and note what it did."""
    print(f"{problem.name}: {problem.words}", flush=True)
    begun = False
    try:
        for run in harness.run(problem):
            if not begun:
                ledger.begin(problem.name, problem.words)
                begun = True
            ledger.runs[problem.name].append(run)
            books.save(ledger, out / "results.json")
            print(f"    {line(run)}", flush=True)
    except (DataMissingError, DataError) as error:
        ledger.skip(problem.name, reason_for_results(error))
        print(f"    skipped: {error}", flush=True)
        return
    ledger.finish(problem.name)


def reason_for_results(error: DataMissingError | DataError) -> str:
    """Return why a problem is skipped without the folders of this machine."""
    if isinstance(error, DataMissingError):
        return f"no data set {error.data} (--data, or GRAFTWORK_DATA, says where data sets are)"
    return str(error)


def line(run: Run) -> str:
    """Return a run in one line."""
    if not run.timed:
        return f"{run.entry:32} {report.remark(run)}"
    quality = [
        f"{name} {run.figures[name]:.3f}" for name in ("f1", "f1_nodes") if name in run.figures
    ]
    cpu, wall = (report.seconds(run, value) for value in (run.cpu, run.wall))
    said = [f"CPU {cpu} s, wall {wall} s", *quality, report.remark(run)]
    return f"{run.entry:32} " + "; ".join(text for text in said if text)


def measure_floors(size: str) -> list[dict]:
    """Return the table of benchmarks/floors.py, if that is there and works."""
    if size != "full" or not FLOORS.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "floors.json"
        done = subprocess.run(
            [sys.executable, str(FLOORS), "--json", str(path)], capture_output=True, text=True
        )
        if done.returncode or not path.exists():
            print(f"floors.py failed: {one_line(done.stderr[-160:])}")
            return []
        return json.loads(path.read_text())


def print_targets(ledger: Ledger) -> None:
    """Print target, measured, verdict."""
    for target in report.judge(ledger):
        print(f"{target.verdict:12} {target.target}: {target.measured}")


def print_list(size: str) -> None:
    """Print every problem with its contenders."""
    for problem in PROBLEMS.values():
        print(f"{problem.name}: {problem.words}")
        for entry in problem.entries(size):
            print(f"    {entry.name} ({entry.contender}, at most {entry.limit:,.0f} s)")


if __name__ == "__main__":
    end_with_signals()
    sys.exit(main())
