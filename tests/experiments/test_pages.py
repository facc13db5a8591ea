"""The committed pages of the papers are those of the studies as they are now."""

import csv
import json
import re
import subprocess
from pathlib import Path

import pytest

from experiments import PAPERS, find_study
from experiments.engine.runner import settings_of
from graftwork.version import __version__

PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"


def made(paper):
    return json.loads((PAGES / paper / "settings.json").read_text())


@pytest.mark.parametrize("paper", PAPERS)
def test_no_page_is_older_than_its_study(paper):
    """A page whose study has other settings by now must be made again: make reproduce PAPER=..."""
    ours = made(paper)
    now = settings_of(find_study(paper).steps("full"))
    assert (ours["study"], ours["size"], ours["graftwork"]) == (paper, "full", __version__)
    assert ours["settings"].keys() == now.keys()
    changed = {key for key in now if ours["settings"][key] != now[key]}
    assert not changed


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_says_with_what_it_was_made_and_misses_nothing(paper):
    ours, page = made(paper), (PAGES / paper / "page.md").read_text()
    stamp = page.splitlines()[2]
    for word in (f"--seed {ours['seed']}", ours["graftwork"], ours["date"], *ours["commits"]):
        assert word in stamp
    assert ours["commits"]
    assert not any("dirty" in commit for commit in ours["commits"])
    assert not re.search(r"^(Not run|Failed): ", page, flags=re.MULTILINE)
    assert "| not run" not in page


def git(*words):
    """What git says of this checkout: exit code and text; none without git or a repository."""
    try:
        done = subprocess.run(["git", "-C", str(PAGES), *words], capture_output=True, text=True)
    except OSError:
        return None, ""
    return done.returncode, done.stdout.strip()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_was_made_by_commits_of_this_history(paper):
    if git("rev-parse", "--is-shallow-repository") != (0, "false"):
        pytest.skip("there is no whole history here")
    for commit in made(paper)["commits"]:
        assert git("merge-base", "--is-ancestor", commit, "HEAD")[0] == 0, commit


@pytest.mark.parametrize("paper", PAPERS)
def test_the_files_of_a_page_are_those_it_names(paper):
    folder, page = PAGES / paper, (PAGES / paper / "page.md").read_text()
    named = set(re.findall(r"\]\(([^)]+\.(?:png|csv))\)", page))
    tables = set(re.findall(r"^## (.+)$", page, flags=re.MULTILINE))
    expected = named | {f"{table}.csv" for table in tables} | {"claims.csv", "settings.json"}
    assert {file.name for file in folder.iterdir()} == expected | {"page.md"}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_the_verdicts_of_its_table(paper):
    page = (PAGES / paper / "page.md").read_text().splitlines()
    with (PAGES / paper / "claims.csv").open(newline="", encoding="utf8") as file:
        claims = list(csv.DictReader(file))
    first = page.index("| what | printed | ours | threshold | verdict |") + 2
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page[first : first + len(claims)]]
    found = [[cell.strip() for cell in line] for line in lines]
    names = ("what", "printed", "ours", "threshold")
    texts = [[claim[name].replace("|", "\\|") for name in names] for claim in claims]
    assert [line[:4] for line in found] == texts
    for line, claim in zip(found, claims, strict=True):
        assert line[4].startswith(claim["verdict"])
        assert claim["threshold"]
    assert len(claims) == int(page[4].split()[0])
    counts = {claim["verdict"]: 0 for claim in claims}
    for claim in claims:
        counts[claim["verdict"]] += 1
    assert all(f"{count} {verdict}" in page[4] for verdict, count in counts.items())
