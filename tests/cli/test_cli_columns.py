"""--columns and --drop, in every command that reads a table."""

import pytest

from graftwork.models import load

from doors.cli import chosen

FAST = ["--lam", "0.05", "--jobs", "1", "--no-plot"]


@pytest.fixture
def survey(chain_csv, tmp_path):
    """The chain with an id, a name that has a comma, and a column no network can have."""
    lines = chain_csv.read_text().splitlines()
    head = f'id,"name, first",many,{lines[0]}'
    rest = [f'{i},"P, {i}",{i % 70_000},{line}' for i, line in enumerate(lines[1:])]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join([head, *rest]) + "\n")
    return path


COMMANDS = {
    "learn": ["learn"],
    "bootstrap": ["bootstrap", "-n", "2", "--no-case-dropping"],
}


@pytest.mark.some(4)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    "options",
    [
        ["--drop", "id", "--drop", "name, first", "--drop", "many"],
        ["--drop", 'id,"name, first",many'],
        ["--columns", "a,b", "--columns", "c, d"],
        ["--columns", "a,b,c,d,id", "--drop", "id"],
    ],
)
def test_columns_are_chosen(graftwork, survey, tmp_path, name, options):
    command, *more = COMMANDS[name]
    result = graftwork(command, survey, "--out", tmp_path, *more, *options, *FAST)
    assert result.code == 0, result.err
    assert "300 rows of 4 variables" in result.err
    assert "warning" not in result.err


def test_the_command_line_says_what_to_drop(graftwork, survey, tmp_path):
    result = graftwork("learn", survey, "--out", tmp_path, *FAST, "--max-edges", "1")
    assert result.code == 0, result.err
    told = [line for line in result.lines if line.startswith("warning: ")]
    assert len(told) == 1
    assert """Columns 'id', 'name, first', 'many' have a value""" in told[0]
    assert """leave them out (--drop 'id,"name, first",many' when""" in told[0]
    assert "Remarks Columns 'id', 'name, first', 'many' have" in " ".join(result.out.split())
    drop = told[0].partition("--drop '")[2].partition("' when")[0]
    again = graftwork("learn", survey, "--out", tmp_path, "--drop", drop, *FAST)
    assert (again.code, "warning" in again.err, "Columns" in again.out) == (0, False, False)
    assert load(tmp_path / "model.gw").names == ("a", "b", "c", "d")
    # columns that the model does not have are not read
    scored = graftwork("score", tmp_path / "model.gw", survey)
    assert scored.code == 0, scored.err
    assert scored.err == ""


def test_columns_of_embedded_data(graftwork, tmp_path):
    words = ["learn", "mushroom", "--out", tmp_path, "--holdout", "0", *FAST]
    result = graftwork(*words, "--columns", "class,odor,habitat")
    assert result.code == 0, result.err
    assert load(tmp_path / "model.gw").names == ("class", "odor", "habitat")
    refused = graftwork(*words, "--drop", "odour")
    assert "did you mean 'odor'?" in refused.err


def test_texts_of_options():
    names = ["a", "b", "c,d"]
    assert chosen(None) is None
    assert chosen(["a,b"])(names) == ["a", "b"]
    assert chosen(["c,d", "a"])(names) == ["c,d", "a"]
    assert chosen(['"c,d", a'])(names) == ["c,d", "a"]
