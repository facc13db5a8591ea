"""What is released: sdist and wheel hold what belongs in them, and the wheel works alone."""

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

import graftwork

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "graftwork"
NAME = f"graftwork-{graftwork.__version__}"
# Files of the package that are not Python: data sets, the explorer's page, the mark of types.
ASSETS = {
    "py.typed",
    "datasets/adhd.csv.gz",
    "datasets/boredom.csv.gz",
    "datasets/mushroom.csv.gz",
    "report/explorer/explorer.css",
    "report/explorer/explorer.js",
}
# What the sdist has beside the package and the sources of the explorer's page.
PAPERS = {
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "hatch_build.py",
    "pyproject.toml",
}
LARGEST = 3_000_000  # bytes; each is about 1.2 MB


def run(*words, **options):
    """Run a command and return what it prints."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def modules():
    """Return the Python files of the package, as paths in it."""
    return {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}


def names_in_wheel(wheel):
    return set(zipfile.ZipFile(wheel).namelist())


def names_in_sdist(sdist):
    with tarfile.open(sdist) as archive:
        names = {each.name for each in archive.getmembers() if each.isfile()}
    assert all(name.startswith(f"{NAME}/") for name in names)
    return {name.removeprefix(f"{NAME}/") for name in names}


def test_names_and_sizes(built):
    sdist, wheel = built
    assert sdist.name == f"{NAME}.tar.gz"
    assert wheel.name == f"{NAME}-py3-none-any.whl"
    assert max(path.stat().st_size for path in built) < LARGEST


def test_twine_accepts_both(built):
    run(sys.executable, "-m", "twine", "check", "--strict", *built)


def test_the_wheel_holds_the_package_and_nothing_else(built):
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    wanted = {f"graftwork/{name}" for name in modules() | ASSETS}
    assert names_in_wheel(built[1]) == wanted | {f"{NAME}.dist-info/{name}" for name in about}


def test_the_sdist_holds_sources_and_papers_and_nothing_else(built):
    names = names_in_sdist(built[0])
    page = {name for name in names if name.startswith("explorer/")}
    wanted = {f"src/graftwork/{name}" for name in modules() | ASSETS}
    assert names - page == wanted | PAPERS
    assert {"explorer/package.json", "explorer/src/main.ts"} <= page
    assert not any("node_modules" in name for name in page)


def test_the_metadata_say_what_users_look_for(built):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = zipfile.ZipFile(built[1]).read(f"{NAME}.dist-info/METADATA").decode()
    said = email.message_from_string(text)
    assert said["Version"] == graftwork.__version__
    assert said["License-Expression"] == "MIT"
    assert said["Requires-Python"] == ">=3.11"
    assert set(said.get_all("Provides-Extra")) == set(project["optional-dependencies"])
    assert said.get_all("Project-URL") is None  # there is no public address yet


@pytest.mark.slow
def test_the_wheel_works_in_a_clean_environment(built, tmp_path):
    """Only the wheel and what it requires: no extras, no checkout."""
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    python, locked = scripts / "python", ROOT / "requirements" / "dev.lock"
    run(python, "-m", "pip", "install", "--quiet", "-c", locked, built[1])
    run(python, "-m", "pip", "check")
    elsewhere = {"cwd": tmp_path}
    assert run(python, "-m", "graftwork", "--version", **elsewhere).split()[1] == NAME[10:]
    learned = run(scripts / "graftwork", "learn", "mushroom", "--out", "run", **elsewhere)
    assert "edges" in learned
    assert {"model.gw", "edges.csv"} <= {path.name for path in (tmp_path / "run").iterdir()}
    code = """
import graftwork as gw
from pathlib import Path
assert "site-packages" in gw.__file__
for name in gw.__all__:
    getattr(gw, name)
table = gw.datasets.load_mushroom()
net = gw.MarkovNetwork(lam=0.05).fit(table)
net.explore("net.html")
gw.datasets.load_adhd(), gw.datasets.load_boredom()
print(len(net.edges_), Path("net.html").stat().st_size)
"""
    edges, size = map(int, run(python, "-W", "error", "-c", code, **elsewhere).split())
    assert edges > 0
    assert size > 50_000


# ---- files that must agree ---------------------------------------------------------------------


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def locked(name):
    (version,) = re.findall(rf"^{name}==([\w.]+)", text_of("requirements/dev.lock"), re.M)
    return version


def test_setup_installs_the_locked_versions_by_their_hashes():
    hashed = text_of("requirements/dev.hashes").replace(" \\\n", "").splitlines()
    pins = [re.sub(r"\s+--hash=sha256:[0-9a-f]{64}", "", line) for line in hashed]
    assert pins == text_of("requirements/dev.lock").splitlines()
    for line, pin in zip(hashed, pins, strict=True):
        assert pin.startswith("#") or "--hash=sha256:" in line
    assert "--require-hashes -r requirements/dev.hashes" in text_of("Makefile")


def test_one_version_everywhere():
    cited = yaml.safe_load(text_of("CITATION.cff"))
    versions = re.findall(r"^## (\d\S+) \((.+)\)$", text_of("CHANGELOG.md"), re.M)
    assert cited["version"] == versions[0][0] == graftwork.__version__
    assert str(cited["date-released"]) == versions[0][1]
    assert f"version = {{{graftwork.__version__}}}" in text_of("docs/cite.rst")
    assert f'version: "{graftwork.__version__}"' in text_of("recipe/recipe.yaml")
    assert text_of("CHANGELOG.md").startswith("# Changelog\n")


def test_hooks_use_the_locked_tools():
    hooks = yaml.safe_load(text_of(".pre-commit-config.yaml"))
    revisions = {repo["repo"].split("/")[-1]: repo["rev"] for repo in hooks["repos"]}
    assert revisions["ruff-pre-commit"] == f"v{locked('ruff')}"


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda p: p.name)
def test_github_reads_its_files(path):
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.parent.name == "workflows":
        assert told["permissions"] == {"contents": "read"}
        for job in told["jobs"].values():
            for step in job["steps"]:
                assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1"))
                check_targets(step.get("run", ""))


def check_targets(script):
    """Check that make has the targets that a step names."""
    phony = re.search(r"^\.PHONY: (.+)$", text_of("Makefile"), re.M)[1].split()
    for targets in re.findall(r"^make ([a-z -]+)$", script, re.M):
        assert set(targets.split()) <= set(phony)


def test_the_recipe_asks_for_what_the_package_requires():
    recipe = yaml.safe_load(text_of("recipe/recipe.yaml"))
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    wanted = {re.sub(r"(?=>=)", " ", each) for each in project["dependencies"]}
    asked = set(recipe["requirements"]["run"])
    assert wanted <= asked
    assert len(asked - wanted) == 1  # Python itself


def test_the_five_papers_are_cited():
    cited = yaml.safe_load(text_of("CITATION.cff"))["references"]
    assert len(cited) == 5
    page = re.sub(r"\s+", " ", text_of("docs/cite.rst")).lower()
    for paper in cited:
        assert paper["title"].lower() in page


def test_the_readme_of_the_package_has_no_links_to_files_that_are_not_with_it(built):
    name = f"{NAME}.dist-info/METADATA"
    text = email.message_from_bytes(zipfile.ZipFile(built[1]).read(name)).get_payload()
    assert len(re.findall(r"\]\(", text_of("README.md"))) > 20
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]*)\)", text))
    assert "Start here" in text


def test_nothing_names_an_address_that_is_not_ours():
    """No account and no page of an index is the project's."""
    places = (
        "*.md",
        "*.toml",
        "*.cff",
        "*.py",
        ".github/**/*.yml",
        "docs/**/*",
        "recipe/*",
        "paper/*.md",
    )
    for path in (path for place in places for path in ROOT.glob(place) if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="ignore")
        found = re.findall(r"github\.com/graftwork|pypi\.org/\S*graftwork", text)
        assert not found, path
