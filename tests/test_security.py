"""Nothing that is read is ever run: what SECURITY.md promises, looked for in the syntax trees."""

import ast
from pathlib import Path

import pytest

import graftwork

SOURCES = sorted(Path(graftwork.__file__).parent.rglob("*.py"))
RUNS = {"eval", "exec", "compile", "__import__"}
SHELLS = {
    ("os", "system"), ("os", "popen"), ("subprocess", "getoutput"), ("yaml", "load"),
    ("yaml", "unsafe_load"), ("yaml", "full_load"),
}  # fmt: skip
# Messages between a program and the workers it started itself; never a file.
MESSAGES = {"data/engines/dask.py", "data/engines/processes.py", "estimators/pool.py"}
UNSAFE = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}


def dangers(text):
    """Yield what a source does that it should not."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in UNSAFE)
        elif isinstance(node, ast.ImportFrom) and node.module in UNSAFE:
            yield node.module
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in RUNS:
                yield called.id
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                name = called.value.id, called.attr
                if name in SHELLS:
                    yield ".".join(name)
            for each in node.keywords:
                true = isinstance(each.value, ast.Constant) and each.value.value is True
                if each.arg in ("shell", "allow_pickle") and true:
                    yield each.arg


def test_sources_run_nothing_they_read():
    assert len(SOURCES) > 100
    root = Path(graftwork.__file__).parent
    found = {}
    for path in SOURCES:
        name, seen = path.relative_to(root).as_posix(), set(dangers(path.read_text("utf-8")))
        if name in MESSAGES:
            seen -= {"pickle"}
        if seen:
            found[name] = seen
    assert found == {}


@pytest.mark.parametrize(
    "text",
    ["eval('1')", "import pickle", "from marshal import loads", "run('ls', shell=True)",
     "os.system('ls')", "yaml.load(file)", "np.load(file, allow_pickle=True)"],
)  # fmt: skip
def test_dangers_are_seen(text):
    assert list(dangers(text))
