"""The size and shape of the code base, beside that of another checkout.

python benchmarks/house.py [--against CHECKOUT]

Counts are of ``src``; what calls pass through is found by running them, so that both checkouts need
the installed dependencies. Functions that numba compiled are not seen by the profiler: their
modules are counted where the Python function that calls them is.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from arguments import parser_of

HERE = Path(__file__).resolve().parents[1]
#: A run of this many lines that occurs elsewhere counts as a duplicate place.
RUN = 6
COMPLEX = 10
#: Learn a small table, and say which files of the package ran.
PROBE = """
import sys, threading, json, os, pathlib, tempfile
import numpy as np
root = os.path.join(os.environ["HOUSE"], "src", "graftwork")
rows = np.random.default_rng(0).integers(0, 2, (300, 6))
rows[:, 1] = np.where(rows[:, 2] > 0, rows[:, 0], rows[:, 1])
folder = pathlib.Path(tempfile.mkdtemp())
lines = ["a,b,c,d,e,f"] + [",".join(map(str, row)) for row in rows.tolist()]
(folder / "t.csv").write_text("\\n".join(lines) + "\\n")
import graftwork as gw
from graftwork.cli.app import main
what = sys.argv[1]
def work():
    if what == "fit":
        gw.MarkovNetwork(lam=0.05, n_jobs=1).fit(rows)
    elif what == "structure":
        gw.MarkovNetwork(n_jobs=1).fit(rows)
    else:
        out = str(folder / "o")
        sys.argv = ["graftwork", "learn", str(folder / "t.csv"), "--out", out, "--quiet"]
        try:
            main()
        except SystemExit as ended:
            assert not ended.code, ended.code
work()  # what is only imported does not count
seen = set()
def note(frame, event, arg):
    if event == "call":
        seen.add(frame.f_code.co_filename)
threading.setprofile(note)
sys.setprofile(note)
work()
sys.setprofile(None)
threading.setprofile(None)
print(json.dumps(sorted(f for f in seen if f.startswith(root))))
"""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, for a column before")
    return parser.parse_args(arguments)


def main(given: argparse.Namespace) -> None:
    """Print the table."""
    columns = {} if given.against is None else {"before": measure(given.against.resolve())}
    columns["now"] = measure(HERE)
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for name in columns["now"]:
        cells = [f"{column[name]:,}" for column in columns.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")


def measure(root: Path) -> dict[str, int]:
    """Return what is counted in a checkout, by name."""
    files = sorted((root / "src").rglob("*.py"))
    texts = {path: path.read_text() for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    experiments = list((root / "experiments").rglob("*.py"))
    single = sum(n == 1 for n in importers(root, trees).values())
    return {
        "source files": len(files),
        "source lines": sum(text.count("\n") for text in texts.values()),
        "lines of experiments outside of the package": sum(
            path.read_text().count("\n") for path in experiments
        ),
        "public top-level names": sum(len(list(public(tree))) for tree in trees.values()),
        "modules with one importer": single,
        "`Any`": sum(isinstance(n, ast.Name) and n.id == "Any" for n in nodes(trees)),
        "parameters of MarkovNetwork": parameters(trees, "MarkovNetwork"),
        "parameters of ChainCRF": parameters(trees, "ChainCRF"),
        f"functions of complexity above {COMPLEX}": complex_functions(root),
        f"places of {RUN} lines or more that occur twice": duplicates(texts),
        "files that fit(lam=0.05) passes": passed(root, "fit"),
        "files that fit() passes": passed(root, "structure"),
        "files that graftwork learn passes": passed(root, "learn"),
    }


def nodes(trees: dict[Path, ast.Module]) -> Iterator[ast.AST]:
    """Return every node of all trees."""
    for tree in trees.values():
        yield from ast.walk(tree)


def public(tree: ast.Module) -> Iterator[str]:
    """Return the names that a module defines at its top, without those that begin with _."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found = [node.name]
        elif isinstance(node, ast.Assign):
            found = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = [node.target.id]
        else:
            found = []
        yield from (name for name in found if not name.startswith("_"))


def importers(root: Path, trees: dict[Path, ast.Module]) -> dict[str, int]:
    """Return how many other modules import each module of the package."""
    names = {path: _dotted(root, path) for path in trees}
    known, found = set(names.values()), defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                for module in wanted & known:
                    found[module].add(names[path])
    packages = {name for path, name in names.items() if path.name == "__init__.py"}
    return {name: len(found[name]) for name in known - packages}


def _dotted(root: Path, path: Path) -> str:
    name = ".".join(path.relative_to(root / "src").with_suffix("").parts)
    return name.removesuffix(".__init__")


def parameters(trees: dict[Path, ast.Module], wanted: str) -> int:
    """Return how many parameters a class's constructor has."""
    for node in nodes(trees):
        if isinstance(node, ast.ClassDef) and node.name == wanted:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    return len(part.args.args) + len(part.args.kwonlyargs) - 1
    return 0


def complex_functions(root: Path) -> int:
    """Return how many functions have a cyclomatic complexity above the limit."""
    rule = ["--select", "C901", "--config", f"lint.mccabe.max-complexity={COMPLEX}"]
    ruff = Path(sys.executable).with_name("ruff")
    call = [str(ruff), "check", "--isolated", *rule, "--output-format", "json", str(root / "src")]
    found = subprocess.run(call, capture_output=True, text=True, check=False)
    return len(json.loads(found.stdout))


def duplicates(texts: dict[Path, str]) -> int:
    """Return how many runs of lines occur in two places; imports and blank lines aside."""
    runs = Counter()
    for text in texts.values():
        lines = [line.strip() for line in text.splitlines()]
        kept = [s for s in lines if len(s) > 3 and not s.startswith(("from ", "import ", "#"))]
        last = -RUN
        for k in range(len(kept) - RUN + 1):
            run = tuple(kept[k : k + RUN])
            runs[run] += 1
            if runs[run] > 1 and k >= last + RUN:
                runs["places"] += 1
                last = k
    return runs["places"]


def passed(root: Path, what: str) -> int:
    """Return how many files of the package a call passes through."""
    env = os.environ | {"PYTHONPATH": str(root / "src"), "HOUSE": str(root)}
    call = [sys.executable, "-W", "ignore", "-c", PROBE, what]
    found = subprocess.run(call, capture_output=True, text=True, check=True, env=env)
    return len(json.loads(found.stdout.strip().splitlines()[-1]))


if __name__ == "__main__":
    main(parse())
