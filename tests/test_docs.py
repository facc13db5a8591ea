"""The examples of the documentation run, and say what they say."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import graftwork as gw
from graftwork import datasets

from doors.estimators import bootstrap
from support.made_sets import write_sets

ROOT = Path(__file__).parents[1]
EVERY_PAGE = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


PAGES = [page for page in EVERY_PAGE if python_blocks(page)]


def short(page):
    return str(page.relative_to(ROOT))


def test_how_to_pages_have_examples():
    pages = {*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "coming-from").glob("*.md")}
    assert {ROOT / "README.md", *pages} - {ROOT / "docs" / "coming-from" / "index.md"} <= set(PAGES)


def test_the_readme_shows_what_its_code_prints(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n((?: {4}[^\n]*\n)+)", text, re.DOTALL).groups()
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == re.sub("^    ", "", shown, flags=re.MULTILINE)


def test_every_column_of_a_bootstrap_is_explained():
    page = (ROOT / "docs" / "bootstrap.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.M))))
    assert explained == set(bootstrap.COLUMNS)


@pytest.mark.parametrize("page", EVERY_PAGE, ids=short)
def test_every_fenced_block_is_python(page):
    """Commands stand in indented blocks, where tests/test_commands.py finds them."""
    fences = re.findall(r"^ *```(.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert fences == ["python", ""] * (len(fences) // 2)


@pytest.mark.filterwarnings("ignore::graftwork.errors.ApproximationWarning")  # said in the text
@pytest.mark.parametrize("page", PAGES, ids=short)
def test_every_python_block_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples write files
    write_sets(tmp_path / "data")  # which one of them reads
    from graftwork.registry import RECIPES

    monkeypatch.setattr(RECIPES, "_entries", dict(RECIPES._entries))  # one page adds a method
    names: dict[str, object] = {"__name__": "example"}
    for block in python_blocks(page):
        exec(compile(block, str(page), "exec"), names)


def test_loaders_take_the_arguments_that_their_page_gives_them():
    text = (ROOT / "docs" / "data-sets.md").read_text(encoding="utf-8")
    calls = re.findall(r"`(load_\w+\(.*?\))`", text)
    called = set()
    for call in calls:
        node = ast.parse(call, mode="eval").body
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        inspect.signature(getattr(datasets, node.func.id)).bind(*node.args, **options)
        called.add(node.func.id)
    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert called == loaders


@pytest.mark.parametrize("page", EVERY_PAGE, ids=short)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", text):
        if "://" not in target:
            there = page.parent / target if target else page
            assert there.exists(), target
            assert not heading or heading in anchors(there), f"{target}#{heading}"


def anchors(page):
    """Return what the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [p for p in EVERY_PAGE if p.name != "CHANGELOG.md"], ids=short)
def test_files_of_the_checkout_that_are_named_exist(page):
    """Code in sentences that looks like a path: from the root, or within the package or tests."""
    places = [ROOT, ROOT / "src/graftwork", ROOT / "tests", ROOT / "benchmarks/bench", page.parent]
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:[\w.-]+/)+[\w.*-]+\.(?:py|md|lock|png))`", text):
        if not path.startswith(("out/", "run/")):
            assert any(list(place.glob(path)) for place in places), path


def test_the_page_on_methods_names_every_method():
    from graftwork.recipes import RECIPES

    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    for name, factory in RECIPES.items():
        assert f"`{name}`" in text
        assert f"recipes/{factory.__module__.rsplit('.', 1)[-1]}.py" in text


def documented(names, home):
    """Return those that can have a docstring of their own: not constants."""
    return [name for name in names if callable(getattr(home, name))]


@pytest.mark.parametrize("name", [*documented(gw.__all__, gw), "datasets", "exchange"])
def test_every_exported_name_has_an_example(name):
    text = inspect.getdoc(getattr(gw, name))
    assert "Examples\n--------" in text
    assert ">>>" in text.partition("Examples\n--------")[2]


def test_every_exported_name_is_in_the_reference():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    exported = {*gw.__all__, *gw.datasets.__all__, *gw.exchange.__all__}
    assert listed >= exported - {"datasets", "exchange", "__version__"}
