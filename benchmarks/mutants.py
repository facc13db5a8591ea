"""How many small defects the tests of a room find: the share of seeded mutants that they kill.

Run: python benchmarks/mutants.py [--rooms NAME ...] [--n N] [--seed N] [--jobs N] [--out FILE.csv]

A mutant is the package with one small defect: a comparison that takes in its border or leaves it
out, another arithmetic operator, a constant plus one or doubled, "and" for "or", a condition
negated, a "not" left out, None returned, a statement deleted. Text, annotations, decorators,
errors and compiled functions stay as they are. The tests of its room run on a copy of the package,
those first that name what is changed, up to the first failure. A mutant that takes more than twice
the package's CPU time is killed too. A seed gives the same mutants of the same code.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import itertools
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from arguments import parser_of

CHECKOUT = Path(__file__).resolve().parents[1]
#: The folders of tests of each room of the package.
ROOMS = {
    "penalties": ["penalties"],
    "solvers": ["solvers"],
    "objectives": ["objectives", "chains"],
    "significance": ["significance"],
    "inference": ["inference"],
    "models": ["models", "chains"],
}
#: Tests that start processes or need PyTorch: their answers are those of others in this process.
LEFT_OUT, LEFT_OUT_TESTS = "device", "not dask and not processes"
#: What a fork keeps: rooms below all others, in which nothing is changed.
KEPT = re.compile(r"graftwork\.(kernels|errors)\b")
MEMORY = 8 << 30
#: Exit code of a fork whose tests say nothing about the mutant.
NOT_TESTED = 70
SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of a file: bytes from begin to end become new, inside functions of these names."""

    file: str
    line: int
    kind: str
    begin: int
    end: int
    new: str
    names: tuple[str, ...]

    def text(self, old: bytes) -> bytes:
        """Return the file's text with the change."""
        return old[: self.begin] + self.new.encode() + old[self.end :]


class Task(NamedTuple):
    """Mutants of a room for one process."""

    room: str
    mutants: list[Mutant]
    doctests: bool
    parent: int


class Row(NamedTuple):
    """What is found about a mutant: the test that kills it, and the CPU seconds of its tests."""

    room: str
    file: str
    line: int
    kind: str
    change: str
    killed: str
    test: str
    seconds: float


def changes(node: Any, inside: bool) -> Iterator[tuple[str, Any, str]]:
    """Yield kinds of change, what is changed, and the text in its place."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            ops = [*node.ops[:k], SWAPPED[type(op)](), *node.ops[k + 1 :]]
            new = ast.Compare(node.left, ops, node.comparators)
            yield "comparison", node, f"({ast.unparse(new)})"
    elif isinstance(node, ast.BoolOp):
        new = ast.BoolOp(SWAPPED[type(node.op)](), node.values)
        yield "and/or", node, f"({ast.unparse(new)})"
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        new = ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
        yield "arithmetic", node, f"({ast.unparse(new)})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not left out", node, f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant + 1", node, repr(node.value + 1)
        if node.value:
            yield "constant * 2", node, repr(node.value * 2)
    elif isinstance(node, ast.Return) and node.value is not None:
        value = getattr(node.value, "value", ...)
        if value is not None:
            yield "return", node, f"return {not value if isinstance(value, bool) else None}"
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else []
    for test in tests + (node.ifs if isinstance(node, ast.comprehension) else []):
        yield "condition negated", test, f"(not ({ast.unparse(test)}))"
    if isinstance(node, ast.AugAssign) and type(node.op) in SWAPPED:
        new = ast.AugAssign(node.target, SWAPPED[type(node.op)](), node.value)
        yield "arithmetic", node, ast.unparse(new)
    statement = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr)
    if inside and statement and node.value is not None:
        yield "statement deleted", node, "pass"


def stays(node: Any) -> bool:
    """Return whether nothing in a node is changed: texts, errors, warnings, compiled functions."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in ("warn", "TypeVar", "cast")
    if isinstance(node, ast.ClassDef):
        return any("Protocol" in ast.unparse(base) for base in node.bases)
    if isinstance(node, ast.FunctionDef):
        return any("jit" in ast.unparse(each) for each in node.decorator_list)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__all__"
    return isinstance(node, ast.JoinedStr | ast.Raise)


def walk(
    node: Any, inside: bool = False, names: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any, str, tuple[str, ...]]]:
    """Yield the changes in a node, with the names of the classes and functions around them."""
    if stays(node):
        return
    yield from ((*change, names) for change in changes(node, inside))
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        names = (*names, node.name)
        inside = isinstance(node, ast.FunctionDef)
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list", "bases"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from walk(part, inside, names)


def mutants_of(text: bytes, file: str) -> Iterator[Mutant]:
    """Yield all mutants of a file, whether or not they are Python."""
    starts = [0, *itertools.accumulate(map(len, text.splitlines(keepends=True)))]
    for kind, node, new, names in walk(ast.parse(text)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        yield Mutant(file, node.lineno, kind, begin, end, new, names)


def is_python(text: bytes) -> bool:
    """Return whether a text can be compiled."""
    try:
        return bool(compile(text, "a mutant", "exec"))
    except SyntaxError:
        return False


def chosen(room: str, n: int, seed: int) -> list[Mutant]:
    """Return n mutants of a room, drawn from all."""
    package = CHECKOUT / "src" / "graftwork" / room
    found: list[Mutant] = []
    texts = {}
    for path in sorted(package.rglob("*.py")):
        if LEFT_OUT not in path.parts:
            file = path.relative_to(CHECKOUT).as_posix()
            texts[file] = path.read_bytes()
            found += mutants_of(texts[file], file)
    random.Random(f"{seed} {room}").shuffle(found)
    return list(itertools.islice((m for m in found if is_python(m.text(texts[m.file]))), n))


class Watcher:
    """A plugin of pytest that keeps the first failure, and how long each file took."""

    def __init__(self) -> None:
        self.failed = ""
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or f"import of {report.nodeid}"


def run_tests(copy: Path, files: list[str]) -> tuple[str, Counter[str]]:
    """Run files of tests in a copy of the checkout; return the first failure and seconds."""
    import pytest

    os.chdir(copy)
    output = os.open(copy / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    sys.stdout.flush()
    screen = [os.dup(1), os.dup(2)]
    os.dup2(output, 1), os.dup2(output, 2)
    watcher = Watcher()
    options = ["-x", "-q", "-m", "not slow", "-k", LEFT_OUT_TESTS, f"--basetemp={copy}/tmp"]
    options += ["-p", "no:cacheprovider", "--hypothesis-seed=0"]
    code = pytest.main([*options, *files], [watcher])
    sys.stdout.flush()
    os.dup2(screen[0], 1), os.dup2(screen[1], 2)
    tested = getattr(sys.modules.get("graftwork"), "__file__", None) or copy
    assert Path(tested).is_relative_to(copy), f"{tested} was tested in place of {copy}"
    return watcher.failed or ("" if code == 0 else f"exit code {int(code)}"), watcher.seconds


def killer(copy: Path, files: list[str], limit: int) -> tuple[str, float]:
    """Return the test that fails in a copy, or nothing, and the CPU seconds taken.

    The tests run in a fork of a process that has run them before. Kernels stay loaded there, with
    what was compiled; all else of the package is imported again.
    """
    pid = os.fork()
    if not pid:
        status = NOT_TESTED
        try:
            os.setsid()
            signal.alarm(10 * limit)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            sys.dont_write_bytecode = True
            for name, module in list(sys.modules.items()):
                ours = str(getattr(module, "__file__", "")).startswith(str(copy))
                if not KEPT.match(name) and (ours or name.partition(".")[0] in ("tests", "src")):
                    del sys.modules[name]
            failed, _ = run_tests(copy, files)
            (copy / "failed.txt").write_text(failed)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    try:
        _, status, used = os.wait4(pid, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # it, or what its tests have started
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        ended = signal.Signals(os.WTERMSIG(status))
        late = ended in (signal.SIGXCPU, signal.SIGALRM)
        return ("time" if late else ended.name), seconds
    if os.WEXITSTATUS(status) == NOT_TESTED:
        raise RuntimeError(f"{copy} was not tested: see above")
    return (copy / "failed.txt").read_text(), seconds


def first_those_that_name(mutant: Mutant, copy: Path, seconds: Counter[str]) -> list[str]:
    """Return files of tests: those that name the changed function, then its file's names, then all.

    Among equals the quicker ones come first.
    """
    body = ast.parse((copy / mutant.file).read_bytes()).body
    here = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]

    def order(file: str) -> tuple[bool, bool, float]:
        words = set(re.findall(r"\w+", (copy / file).read_text(encoding="utf-8")))
        return words.isdisjoint(mutant.names), words.isdisjoint(here), seconds[file]

    return sorted(seconds, key=order)


def run(task: Task) -> list[Row]:
    """Test mutants of a room in a copy of the checkout, and say of each which test killed it."""
    with tempfile.TemporaryDirectory(prefix="graftwork-mutants-") as name:
        copy = Path(name)
        for path in CHECKOUT.iterdir():
            if path.name in ("src", "tests"):
                shutil.copytree(path, copy / path.name)  # with times, by which caches are known
            elif path.name != "out" and not path.name.startswith("."):
                (copy / path.name).symlink_to(path)
        sys.path.insert(0, str(copy / "src"))
        os.environ["PYTHONPATH"] = str(copy / "src")
        folders = [copy / "tests" / room for room in ROOMS[task.room]]
        files = [str(p.relative_to(copy)) for f in folders for p in sorted(f.rglob("test_*.py"))]
        sys.dont_write_bytecode = False  # the forks read what is written now
        began = time.process_time()
        failed, seconds = run_tests(copy, files)
        limit = 20 + 2 * round(time.process_time() - began)
        failed = failed or killer(copy, files, limit)[0]
        if failed:
            said = (copy / "output.txt").read_text()[-2000:]
            raise RuntimeError(f"the tests must pass without a mutant: {failed}\n{said}")
        rows = []
        for k, mutant in enumerate(task.mutants):
            if os.getppid() != task.parent:
                raise SystemExit("the process that wants to know has ended")
            path = copy / mutant.file
            old, times = path.read_bytes(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
            path.write_bytes(mutant.text(old))
            os.utime(path, (k, k))  # so that no bytecode is taken for this text's
            order = first_those_that_name(mutant, copy, seconds)
            by, spent = killer(copy, [mutant.file] * task.doctests + order, limit)
            path.write_bytes(old)
            os.utime(path, ns=times)
            change = f"{old[mutant.begin : mutant.end].decode()} -> {mutant.new}"
            where = (task.room, mutant.file, mutant.line, mutant.kind, " ".join(change.split()))
            rows.append(Row(*where, "yes" if by else "no", by, round(spent, 1)))
            print(*rows[-1], sep=", ", flush=True)
    return rows


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS), metavar="NAME",
                        help=", ".join(ROOMS))  # fmt: skip
    parser.add_argument("--n", type=int, default=40, help="mutants of each room (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="chooses the mutants (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--doctests", action="store_true", help="run a changed file's doctests too")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="a line for each mutant")
    return parser.parse_args(arguments)


def main(given: argparse.Namespace) -> None:
    """Test the mutants and print a table."""
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    tasks = []
    for room in given.rooms:
        mutants = chosen(room, given.n, given.seed)
        parts = [mutants[k :: given.jobs] for k in range(given.jobs)]
        tasks += [Task(room, part, given.doctests, os.getpid()) for part in parts if part]
    rows: list[Row] = []
    # A process for each task: what one room's tests have imported is not there for the next.
    with get_context("spawn").Pool(given.jobs, maxtasksperchild=1) as pool:
        for found in pool.imap(run, tasks, chunksize=1):
            rows += found
            if given.out is not None:
                with given.out.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([Row._fields, *rows])
    print("| room | mutants | killed | share |")
    print("|---|---:|---:|---:|")
    for room in [*given.rooms, "all"]:
        killed = [row.killed == "yes" for row in rows if room in (row.room, "all")]
        print(f"| {room} | {len(killed)} | {sum(killed)} | {sum(killed) / len(killed):.0%} |")


if __name__ == "__main__":
    main(parse())
