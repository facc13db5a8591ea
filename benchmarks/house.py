"""How much there is to learn in this repository: numbers that fall, or rise with a reason.

Run: python benchmarks/house.py [--reason TEXT]

The numbers are kept in docs/house.csv. Where one fell, the file is written again; where one rose,
the program names it and ends with 1, unless a reason is given, which is written to the file.
They count what a reader meets, not the length of files or functions.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from arguments import parser_of

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "docs" / "house.csv"
#: Tokens that a reader does not count as a line of code.
QUIET = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
#: A command of the command line and its options.
OPTIONS = """
import typer
from graftwork.cli.app import app
commands = typer.main.get_command(app).commands.values()
print(sum(o.param_type_name == "option" for c in commands for o in c.params))
"""


def measure(root: Path = ROOT) -> dict[str, int]:
    """Return the numbers by name."""
    found: Counter[str] = Counter()
    for path in sorted((root / "src").rglob("*.py")):
        text = path.read_text(encoding="utf8")
        found["files"] += 1
        found["lines of code"] += code_lines(text)
        found.update(concepts(ast.parse(text)))
    for path in sorted((root / "tests" / "doors").glob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf8")))
        imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
        found["names of files that tests know"] += sum(len(node.names) for node in imports)
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found["imports against the order of rooms"] = sum(
        len(contract.get("ignore_imports", [])) for contract in contracts
    )
    rows = list(ideas(root))
    found["ideas in more than one file"] = sum(len(files) > 1 for _, files, _ in rows)
    named = {file for _, files, _ in rows for file in files}
    found["files over 40 lines that no idea names"] = sum(
        not any(str(path).endswith(f"graftwork/{file}") for file in named)
        for path in (root / "src").rglob("*.py")
        if path.read_text(encoding="utf8").count("\n") > 40
    )
    done = subprocess.run(
        [sys.executable, "-c", OPTIONS], capture_output=True, text=True, check=True
    )
    found["options of commands"] = int(done.stdout)
    return dict(found)


def code_lines(text: str) -> int:
    """Return the number of lines without docstrings, comments and blanks."""
    docs: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(getattr(node, "value", None), ast.Constant) and isinstance(node, ast.Expr):
            docs |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in QUIET and token.string:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docs)


def concepts(tree: ast.Module) -> Iterator[str]:
    """Return the names of what is counted, once for each time that a module has it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "Any":
            yield "Any"
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            yield "isinstance"
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            yield from ["branches on where rows are"] * ast.unparse(node.left).endswith("parts")
    for item in tree.body:
        if isinstance(item, ast.FunctionDef | ast.ClassDef) and not item.name.startswith("_"):
            yield "public names"
        bases = map(ast.unparse, item.bases if isinstance(item, ast.ClassDef) else [])
        if any(base.startswith(("Protocol", "ABC")) for base in bases):
            yield "protocols and base classes"
        if isinstance(item, ast.Assign | ast.AnnAssign) and item.value is not None:
            yield from ["tuned constants"] * tuned(item)


def tuned(item: ast.Assign | ast.AnnAssign) -> int:
    """Return how many names in capitals an assignment gives numbers."""
    constants = [n.value for n in ast.walk(item.value or item) if isinstance(n, ast.Constant)]
    if not constants or not all(type(value) in (int, float) for value in constants):
        return 0
    targets = item.targets if isinstance(item, ast.Assign) else [item.target]
    names = [t for x in targets for t in (x.elts if isinstance(x, ast.Tuple) else [x])]
    return sum(isinstance(t, ast.Name) and t.id.isupper() for t in names)


def ideas(root: Path = ROOT) -> Iterator[tuple[str, dict[str, list[str]], str]]:
    """Return each idea of ARCHITECTURE.md, its files with the names in them, and its test."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf8")
    part = text[text.index("## Where is ...?") : text.index("## The mathematics")]
    for line in [row for row in part.splitlines() if row.startswith("| ")][1:]:
        idea, where, proof = line.strip("| ").split(" | ")
        files: dict[str, list[str]] = {}
        for word in re.findall(r"`([^`]+)`", where):
            if "/" in word or word.endswith((".py", ".ts")):
                files[word] = []
            elif files:
                files[list(files)[-1]].append(word)
        yield idea, files, proof.strip("`")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--reason", help="why numbers rose")
    return parser.parse_args(arguments)


def main(reason: str | None) -> int:
    now = measure()
    kept = {row["what"]: row for row in csv.DictReader(BOOK.open())} if BOOK.exists() else {}
    rose = [what for what in now if what in kept and now[what] > int(kept[what]["number"])]
    for what in rose:
        print(f"{what}: {int(kept[what]['number']):,} -> {now[what]:,}")
    if rose and not reason:
        print("These rose: take something away, or say why: make house REASON='...'")
        return 1
    with BOOK.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["what", "number", "why it rose last"])
        for what, number in now.items():
            old = kept.get(what, {}).get("why it rose last", "")
            rows.writerow([what, number, reason if what in rose else old])
            print(f"{what:45}{number:>9,}")
    return 0


if __name__ == "__main__":
    sys.exit(main(parse().reason))
