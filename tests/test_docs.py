"""The examples of the documentation run, and say what they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.filterwarnings("ignore::graftwork.errors.ApproximationWarning")  # said in the text
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples write files
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {"__name__": "example"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", sorted({*PAGES, *ROOT.glob("*.md")}), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_readme_names_every_method():
    from graftwork.recipes import RECIPES

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, factory in RECIPES.items():
        assert f"`{name}`" in text
        assert f"recipes/{factory.__module__.rsplit('.', 1)[-1]}.py" in text
