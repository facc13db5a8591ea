"""ARCHITECTURE.md's table of ideas: what it names is there."""

import ast
from pathlib import Path

import pytest
from house import ideas

ROOT = Path(__file__).resolve().parents[1]
ROWS = {idea: (files, proof) for idea, files, proof in ideas()}


def place(file: str) -> Path:
    """Return where a file of the table is: most are in the package."""
    own = ROOT / "src" / "graftwork" / file
    return own if own.exists() else ROOT / file


def names_of(path: Path) -> set[str]:
    """Return what a module defines, and the members of its classes after a dot."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        targets = getattr(node, "targets", [getattr(node, "target", node)])
        own = {getattr(t, "name", getattr(t, "id", "")) for t in targets}
        inner = node.body if isinstance(node, ast.ClassDef) else []
        members = {getattr(n, "name", getattr(getattr(n, "target", n), "id", "")) for n in inner}
        found |= own | {f"{a}.{b}" for a in own for b in members if b}
    return found


@pytest.mark.parametrize("idea", ROWS)
def test_ideas_are_where_the_table_says(idea):
    files, proof = ROWS[idea]
    assert files
    assert (ROOT / "tests" / proof).exists(), proof
    for file, names in files.items():
        assert place(file).exists(), file
        if file.endswith(".py"):
            assert set(names) <= names_of(place(file)), file
