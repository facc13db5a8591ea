"""The commands in the documentation run as written: quick ones on made data, others are parsed."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pycrfsuite
import pytest
import typer
from bench.__main__ import parse as parse_bench

from experiments import PAPERS
from experiments import __main__ as papers
from graftwork import PairwiseMRF, count_pairs
from graftwork.cli import main

from doors.cli import app as program
from doors.data import write_conll
from support.made_sets import SENTENCE, write_sets

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PROGRAMS = ("graftwork", "make", "python", ".venv/bin/python")
#: Scripts that are quick with tiny data sets; of the others only the arguments are checked.
QUICK_SCRIPTS = ("standard_splits", "tying", "chains")
#: Targets of make that start no Python: they install a browser, and bundle the explorer's script.
WITHOUT_PYTHON = ("browser", "explorer")
#: What makes a command shorter; of an option given twice the last counts.
SHORTER = {
    "bootstrap": ("--n", "3"),
    "compare-groups": ("--permutations", "2"),
}


@dataclass(frozen=True)
class Command:
    """A command as a page has it; ``shown`` if it stands in a block, not in a sentence."""

    page: Path
    line: int
    words: tuple[str, ...]
    shown: bool

    def __str__(self) -> str:
        return f"{short(self.page)}:{self.line}: {' '.join(self.words)}"

    @property
    def is_mention(self) -> bool:
        """Whether a sentence only names a command, perhaps with options without their values."""
        return not self.shown and all(word.startswith("-") for word in self.words[2:])


def prose_of(page: Path) -> str:
    """Return a page with its fenced blocks blanked, line numbers kept."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```", blank, text, flags=re.DOTALL | re.MULTILINE)


def blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def commands_of(page: Path) -> list[Command]:
    """Return the commands of a page, in order: lines of indented blocks, and code in sentences."""
    text, found = prose_of(page), []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("    ") and starts(line.strip()):
            found.append(Command(page, number, words_of(line), shown=True))
    for match in re.finditer(r"`([^`]+)`", text):
        if starts(match[1]):
            number = text.count("\n", 0, match.start()) + 1
            found.append(Command(page, number, words_of(match[1]), shown=False))
    return sorted(found, key=lambda command: command.line)


def starts(code: str) -> bool:
    """Whether this is a call of one of the programs."""
    first, _, rest = code.partition(" ")
    return first in PROGRAMS and bool(rest)


def words_of(code: str) -> tuple[str, ...]:
    return tuple(shlex.split(code, comments=True))


def short(page: Path) -> str:
    return str(page.relative_to(ROOT))


COMMANDS = [command for page in PAGES for command in commands_of(page)]


def of_program(*names: str) -> list[Command]:
    return [command for command in COMMANDS if command.words[0] in names]


def test_the_pages_have_commands_of_every_kind():
    assert all(of_program(name) for name in PROGRAMS)
    assert {command.page.name for command in COMMANDS} >= {"README.md", "tying.md", "priority.md"}


# ---- graftwork -------------------------------------------------------------------------------


def survey(n_rows: int = 240) -> list[list[str]]:
    """Rows of people: bad sleep and a low mood go together, smoking and coughing too."""
    rng = np.random.default_rng(0)

    def follow(codes):
        return np.where(rng.random(n_rows) < 0.85, codes, rng.integers(0, 2, n_rows))

    sleep, smokes = rng.integers(0, 2, (2, n_rows))
    cough = follow(smokes)
    columns = {
        "age": np.array(["20-29", "30-39", "40-49"])[rng.integers(0, 3, n_rows)],
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n_rows)],
        "sleep": np.array(["bad", "good"])[sleep],
        "mood": np.array(["low", "high"])[follow(sleep)],
        "smokes": np.array(["no", "yes"])[smokes],
        "cough": np.array(["no", "yes"])[cough],
        "fever": np.array(["no", "yes"])[follow(cough)],
    }
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def people(n_rows: int = 200) -> str:
    """Rows of numbers, and of who is in what mood, as CSV."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, n_rows)
    income = rng.lognormal(9 + age / 60, 0.5).round(2)
    mood = np.where(rng.random(n_rows) < 0.7, age > 50, age < 50)
    cells = zip(age, income, np.where(mood, "high", "low"), strict=True)
    return "\n".join(["age,income,mood", *(f"{a},{b},{c}" for a, b, c in cells)])


def write_tagger(path: Path) -> None:
    """Write a model of CRFsuite whose attributes are those of the template."""
    words, labels = [row[0] for row in SENTENCE], [row[-1] for row in SENTENCE]
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([[f"word[0]={word}"] for word in words], labels)
    trainer.train(str(path))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that commands name, small ones, to run them in."""
    rows = survey()
    table = "\n".join(map(",".join, rows))
    for name in ("survey", "data", "more", "new", "test", "made"):
        (tmp_path / f"{name}.csv").write_text(table)
    count_pairs(tmp_path / "survey.csv").save(tmp_path / "north.gwc")
    for name in ("known", "near", "true-edges"):
        (tmp_path / f"{name}.csv").write_text("sleep,mood\nsmokes,cough\n")
    (tmp_path / "people.csv").write_text(people())
    (tmp_path / "sales").mkdir()
    columns = {name: list(cells) for name, *cells in zip(*rows, strict=True)}
    sales = pa.table({"shop": ["north", "south"] * 120} | columns)
    for month in ("april", "may", "june"):
        pq.write_table(sales, tmp_path / "sales" / f"{month}.parquet")
    groups = {"sleep": "mind", "mood": "mind", "age": "", "sex": ""}
    lines = [f"{name},{groups.get(name, 'lungs')}" for name in rows[0]]
    (tmp_path / "groups.csv").write_text("\n".join(lines))
    (tmp_path / "never.csv").write_text("sex,fever\n")
    (tmp_path / "weights.csv").write_text("cough,fever,0.5\n")
    states = {name: sorted(set(cells)) for name, *cells in zip(*rows, strict=True)}
    truth = PairwiseMRF(states, pairwise={("sleep", "mood"): [[1.0, -1.0], [-1.0, 1.0]]})
    truth.save(tmp_path / "truth.gw")
    for name in ("train", "test", "new"):
        write_conll(tmp_path / f"{name}.txt", [SENTENCE[k:] for k in (0, 1, 0, 2)] * 5)
        (tmp_path / f"{name}.conllu").write_text(
            "".join(
                f"{k}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_\n"
                for k, (word, tag, *_) in enumerate(SENTENCE, 1)
            )
            + "\n"
        )
    write_tagger(tmp_path / "tagger.crfsuite")
    truth.export(tmp_path / "grid.uai")
    for name in ("grid", "network"):
        (tmp_path / f"{name}.uai.evid").write_text("1 2 0\n")
    (tmp_path / "template.txt").write_text("word[-1..1]\ntag[0]\ntransitions\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)
    return tmp_path


@pytest.fixture
def parsed(monkeypatch):
    """The command line that reads its arguments and then does nothing: words to exit code."""

    def idle(callback):
        @functools.wraps(callback)
        def nothing(*args, **options):
            return None

        return nothing

    for command in program.app.registered_commands:
        monkeypatch.setattr(command, "callback", idle(command.callback))
    return main


CALLS = [command for command in of_program("graftwork") if not command.is_mention]
MENTIONS = [command for command in of_program("graftwork") if command.is_mention]
EXAMPLES = [
    line.partition("graftwork ")[2]
    for epilog in [program.app.info.epilog, *(c.epilog for c in program.app.registered_commands)]
    for line in epilog.splitlines()
    if "graftwork " in line and "COMMAND" not in line
]


@pytest.mark.parametrize("page", sorted({call.page for call in CALLS}), ids=short)
def test_commands_of_a_page_run_in_order(page, place, capsys):
    for call in CALLS:
        if call.page == page:
            words = [*call.words[1:], *SHORTER.get(call.words[1], ())]
            assert main(words) == 0, f"{call}\n{capsys.readouterr().err}"


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_help_are_understood(example, parsed, capsys):
    assert parsed(words_of(example)) == 0, capsys.readouterr().err


def options_of(command: typer.core.TyperCommand) -> set[str]:
    return {name for option in command.params for name in option.opts} | {"--help"}


@pytest.mark.parametrize("mention", MENTIONS, ids=str)
def test_commands_that_are_mentioned_exist(mention):
    known = typer.main.get_command(program.app).commands
    if mention.words[1].startswith("-"):
        assert set(mention.words[1:]) <= {"--help", "--version"}
        return
    assert mention.words[1] in known
    assert set(mention.words[2:]) <= options_of(known[mention.words[1]])


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_options_that_are_mentioned_exist(page):
    """Those of any command, of a benchmark, or of fuzzing."""
    commands = typer.main.get_command(program.app).commands.values()
    known = set().union(*map(options_of, commands))
    known |= options_of(typer.main.get_command(papers.app))
    fuzz = ROOT / "tests" / "fuzz" / "__main__.py"
    for script in (*(ROOT / "benchmarks").rglob("*.py"), fuzz):
        known.update(re.findall(r'"(--[a-z-]+)"', script.read_text(encoding="utf-8")))
    mentioned = {match[1] for match in re.finditer(r"`(--[a-z][a-z0-9-]*)", prose_of(page))}
    assert mentioned <= known


# ---- make and benchmarks ---------------------------------------------------------------------


def understand(words: tuple[str, ...], parsed) -> None:
    """Check the arguments of a command as make would start it."""
    name, rest = Path(words[0]).name, words[1:]
    if name == "graftwork":
        assert parsed(list(rest)) == 0, words
    elif rest[:2] == ("-m", "bench"):
        parse_bench(rest[2:])
    elif rest[:2] == ("-m", "experiments"):
        understand_papers(rest[2:])
    elif rest[0].startswith("benchmarks/"):
        script_of(rest[0]).parse(list(rest[1:]))
    else:
        assert importlib.util.find_spec(rest[1]), words


def understand_papers(words: tuple[str, ...]) -> None:
    """Check the arguments of the papers' experiments."""
    command = typer.main.get_command(papers.app)
    given = command.make_context("experiments", list(words)).params
    assert given["listed"] or given["papers"], words
    assert set(given["papers"] or ()) <= {*PAPERS, papers.ALL}


def script_of(path: str):
    """Return a script of the benchmarks as a module."""
    assert (ROOT / path).exists(), path
    return importlib.import_module(Path(path).stem)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not there")
@pytest.mark.parametrize("command", of_program("make"), ids=str)
def test_make_knows_its_targets_and_what_they_start_is_understood(command, parsed):
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    dry = ["make", "--dry-run", "--always-make", "PYTHON=python3", *command.words[1:]]
    done = subprocess.run(dry, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    started = [shlex.split(re.sub(r"^[A-Z]+=\S+ ", "", line)) for line in lines_of(done.stdout)]
    started = [words for words in started if words[0].startswith(".venv")]
    assert started or command.words[1] in WITHOUT_PYTHON
    for words in started:
        if Path(words[0]).name in ("graftwork", "python"):
            understand(tuple(words), parsed)


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("command", of_program("python", ".venv/bin/python"), ids=str)
def test_arguments_of_python_are_understood(command, parsed):
    understand(command.words, parsed)


def quick_scripts() -> list[tuple[str, ...]]:
    calls = {command.words[1:] for command in of_program("python", ".venv/bin/python")}
    return sorted(call for call in calls if Path(call[0]).stem in QUICK_SCRIPTS)


@pytest.mark.parametrize("call", quick_scripts(), ids=" ".join)
def test_benchmarks_of_data_sets_run_on_tiny_ones(call, tmp_path, monkeypatch, capsys):
    write_sets(tmp_path / "FOLDER")
    monkeypatch.chdir(tmp_path)
    script = script_of(call[0])
    script.main(script.parse(list(call[1:])))
    assert capsys.readouterr().out


def test_every_benchmark_says_what_it_takes(capsys):
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        if "def main(" in path.read_text(encoding="utf-8"):
            with pytest.raises(SystemExit) as ended:
                script_of(f"benchmarks/{path.name}").parse(["--help"])
            assert ended.value.code == 0
            assert f"python benchmarks/{path.name}" in capsys.readouterr().out
