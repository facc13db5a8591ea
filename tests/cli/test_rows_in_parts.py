"""Rows that are read in parts on the command line tell the same story as in memory."""

import csv
import itertools
import json
import math
import re
import shutil
import sys

import numpy as np
import pytest

from graftwork.models import load, read_info

from doors.cli import Bar, Lines, parts
from doors.cli import memory as free

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS, CUTS = 40_000, (0, 17_000, 21_000, 40_000)
# The least memory makes parts of 16,384 rows: three of them.
SMALL = ["--memory", "1MB", "--jobs", "1"]
FILES = ("edges.csv", "predictability.csv", "centrality.csv", "path.csv")


def _columns():
    rng = np.random.default_rng(0)

    def follow(x, k, p=0.7):
        return np.where(rng.random(ROWS) < p, x % k, rng.integers(0, k, ROWS))

    shop = rng.integers(0, 3, ROWS)
    rating = follow(shop, 3)
    return {
        "shop": np.array(["north", "south", "west"])[shop],
        "rating": rating + 1,
        "returned": follow(rating, 2) > 0,
        "lone": rng.integers(0, 2, ROWS),
        "n": rng.integers(1, 4, ROWS),
        "price": (rng.gamma(2, 10, ROWS) + 5 * rating).round(),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """all.csv, the same rows in three Parquet files, and with gaps in CSV files."""
    where = tmp_path_factory.mktemp("rows")
    table = pa.table(_columns())
    rng = np.random.default_rng(1)
    texts = [list(map(str, table[name].to_pylist())) for name in table.column_names[:4]]
    gaps = [
        ["" if gone else text for text, gone in zip(own, rng.random(ROWS) < 0.03, strict=True)]
        for own in texts
    ]
    whole = [list(map(str, table[name].to_pylist())) for name in table.column_names]
    (where / "sales").mkdir()
    (where / "gaps").mkdir()
    for k, (start, stop) in enumerate(itertools.pairwise(CUTS)):
        piece = table.slice(start, stop - start)
        pq.write_table(piece, where / "sales" / f"{k}.parquet", row_group_size=5000)
        _write(where / "gaps" / f"{k}.csv", table.column_names[:4], gaps, start, stop)
    _write(where / "all.csv", table.column_names, whole, 0, ROWS)
    _write(where / "gaps.csv", table.column_names[:4], gaps, 0, ROWS)
    return where


def _write(path, names, columns, start, stop):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(own[start:stop] for own in columns), strict=True))


@pytest.fixture(autouse=True)
def _here(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder of temporary files."""
    where = tmp_path / "scratch"
    where.mkdir()
    monkeypatch.setenv("TMPDIR", str(where))
    monkeypatch.setattr("tempfile.tempdir", None)
    return where


def _cells(path):
    with path.open(newline="") as file:
        return [cell for row in csv.reader(file) for cell in row]


def _alike(one, other):
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-9)
    except (TypeError, ValueError):
        return False


def _sentences(path):
    text = " ".join(path.read_text().split())
    text = re.sub(r" They were read in parts, from \d files? \([^)]*\)\.", "", text)
    return re.sub(r"No rows were held out[^.]*(\.1\))?\.", "", text)


@pytest.mark.parametrize(
    ("one", "many", "words"),
    [
        ("all.csv", "sales/*.parquet", ["--drop", "n,price"]),
        ("all.csv", "sales", ["--weights", "n", "--columns", "shop,rating,returned"]),
        (
            "all.csv",
            "sales",
            ["--bins", "price:4", "--drop", "n", "--ordinal", "price,rating", "--lam", "0.02"],
        ),
        ("gaps.csv", "gaps", ["--missing", "available-case", "--lam", "0.02"]),
        ("gaps.csv", "gaps", ["--missing", "drop-rows", "--strings", "--lam", "0.02"]),
        (
            "gaps.csv",
            "gaps",
            ["--missing", "state", "--forbidden", "shop~lone", "--max-edges", "2"],
        ),
    ],
)
def test_every_file_is_that_of_rows_in_memory(graftwork, tmp_path, one, many, words):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    words = [*words, "--no-plot", "--communities"]
    first = graftwork("learn", one, "--out", whole, "--holdout", 0, "--jobs", 1, *words)
    second = graftwork("learn", many, "--out", parts, *SMALL, *words)
    assert (first.code, second.code) == (0, 0), second.err
    assert {p.name for p in whole.iterdir()} == {p.name for p in parts.iterdir()}
    for name in (*FILES, "communities.csv"):
        if (whole / name).exists():
            pairs = zip(_cells(whole / name), _cells(parts / name), strict=True)
            assert all(_alike(*pair) for pair in pairs), name
    assert _sentences(whole / "summary.txt") == _sentences(parts / "summary.txt")
    assert load(whole / "model.gw").states == load(parts / "model.gw").states
    told = [[line for line in each.lines if "warning" in line] for each in (first, second)]
    assert told[0] == told[1]


def test_files_are_told_of(graftwork, tmp_path):
    words = ["--out", tmp_path, "--lam", 0.05, "--no-plot", "--drop", "n,price", *SMALL]
    found = graftwork("learn", *(f"sales/{k}.parquet" for k in range(3)), *words)
    assert found.code == 0, found.err
    assert "40,000 rows of 4 variables" in found.out
    text = " ".join(found.out.split())
    assert "read in parts, from 3 files (0.parquet, 1.parquet and 1 more)" in text
    assert "No rows were held out: of rows that are read in parts" in text
    info = read_info(tmp_path / "model.gw")
    assert (info["files"], info["rows"], info["held_out"]) == (3, ROWS, None)
    shown = " ".join(graftwork("show", tmp_path / "model.gw").out.split())
    assert "0.parquet, 1.parquet and 1 more (read in parts, 3 files), 40000 rows" in shown
    assert graftwork("explore", tmp_path).code == 0


def test_rows_are_held_out_when_asked_for(graftwork, tmp_path, monkeypatch):
    monkeypatch.setattr("graftwork.cli.measure.MOST_ROWS", 3000)
    words = ["--lam", 0.02, "--no-plot", "--drop", "n,price"]
    found = graftwork("learn", "sales", "--out", tmp_path / "a", "--holdout", 0.1, *words, *SMALL)
    assert found.code == 0, found.err
    held = read_info(tmp_path / "a" / "model.gw")["held_out"]
    assert held["rows"] + held["learned_from"] == ROWS
    assert 2700 < held["rows"] < 3300
    graftwork("learn", "all.csv", "--out", tmp_path / "b", *words)
    other = read_info(tmp_path / "b" / "model.gw")["held_out"]
    assert held["nlpl"] == pytest.approx(other["nlpl"], rel=0.02)
    assert held["independent_nlpl"] == pytest.approx(other["independent_nlpl"], rel=0.01)
    refused = graftwork("learn", "sales", "--weights", "n", "--holdout", 0.1, "--out", tmp_path)
    assert refused.code == 2
    assert "leave out --holdout" in refused.err


def test_packed_rows_are_used_again(graftwork, tmp_path, monkeypatch):
    words = ["--lam", 0.05, "--no-plot", "--workdir", tmp_path / "packed", "--drop", "n", *SMALL]
    assert graftwork("learn", "sales", "--out", tmp_path / "a", *words).code == 0
    kept = sorted((tmp_path / "packed").iterdir())
    assert len(kept) == 1
    monkeypatch.setattr("graftwork.data.scanning.scans.encode_piece", None)
    again = graftwork("learn", "sales", "--out", tmp_path / "b", *words)
    assert again.code == 0, again.err
    assert sorted((tmp_path / "packed").iterdir()) == kept
    assert (tmp_path / "a/edges.csv").read_text() == (tmp_path / "b/edges.csv").read_text()


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_engines_give_the_same_network(graftwork, tmp_path, scratch, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    words = ["--lam", 0.02, "--no-plot", "--drop", "n,price", "--memory", "1MB"]
    graftwork("learn", "sales", "--out", tmp_path / "a", *words)
    found = graftwork(
        "learn", "sales", "--out", tmp_path / "b", "--engine", engine, "--jobs", 2, *words
    )
    assert found.code == 0, found.err
    for name in ("edges.csv", "predictability.csv"):
        pairs = zip(_cells(tmp_path / "a" / name), _cells(tmp_path / "b" / name), strict=True)
        assert all(_alike(*pair) for pair in pairs)
    assert list(scratch.iterdir()) == []


def test_cost_of_rows_in_parts(graftwork, scratch):
    found = graftwork("learn", "gaps", "--dry-run", *SMALL)
    assert found.code == 0, found.err
    text = " ".join(found.out.split())
    assert "40,000 rows of 4 variables" in text
    assert "Recommended is --missing available-case" in text
    assert "--ordinal rating says so" in text
    assert "--holdout" not in text
    assert list(scratch.iterdir()) == []


def test_equal_columns_are_noted(graftwork, tmp_path):
    rows = [f"{k % 3},{k % 3},{k % 2}" for k in range(20_000)]
    for name, own in (("a.csv", rows[:9000]), ("b.csv", rows[9000:])):
        (tmp_path / name).write_text("\n".join(["x,y,z", *own]) + "\n")
    found = graftwork("learn", tmp_path, "--dry-run", *SMALL)
    assert "The same in every row: x and y." in " ".join(found.out.split())


@pytest.mark.parametrize("words", [[], ["--missing", "drop-rows"]])
def test_scores_of_rows_in_parts(graftwork, tmp_path, words):
    learned = ["--missing", "available-case", "--lam", 0.02, "--no-plot", "-q"]
    graftwork("learn", "gaps.csv", "--out", tmp_path, "--holdout", 0, *learned)
    found = []
    for data in (["gaps.csv"], ["gaps/*.csv", "--memory", "1MB"]):
        rows, table = tmp_path / f"rows{len(data)}.csv", tmp_path / f"table{len(data)}.csv"
        more = ["--per-row", rows, "--predictability", table, "--all", "--json"]
        told = graftwork("score", tmp_path / "model.gw", *data, *words, *more)
        assert told.code == 0, told.err
        found.append((json.loads(told.out), told.lines, _cells(rows), _cells(table)))
    (one, lines, rows, table), (other, other_lines, other_rows, other_table) = found
    assert one.keys() == other.keys()
    assert all(_alike(one[name], other[name]) for name in one)
    assert lines == other_lines
    for own, others in ((rows, other_rows), (table, other_table)):
        assert all(_alike(*pair) for pair in zip(own, others, strict=True))


def test_scores_refuse_what_the_model_does_not_know(graftwork, tmp_path):
    words = ["--columns", "shop,rating", "--lam", 0.02, "--no-plot", "-q", "--out", tmp_path]
    graftwork("learn", "all.csv", "--holdout", 0, *words)
    with (tmp_path / "more.csv").open("w") as file:
        file.write("shop,rating\n" + "north,1\n" * 17_000 + "east,1\n")
    found = graftwork("score", tmp_path / "model.gw", tmp_path / "more.csv", "--memory", "1MB")
    assert found.code == 2
    where = f"{tmp_path / 'more.csv'}, line 17002"
    assert f"{where} has shop = 'east', a state the model does not have" in found.err
    found = graftwork("score", tmp_path / "model.gw", "gaps/*.csv")
    assert re.search(r"error: gaps/\w+\.csv, line \d+ has no ", found.err)


def test_a_large_file_is_read_in_parts_by_itself(graftwork, tmp_path, monkeypatch):
    monkeypatch.setattr(free, "_SMALL", 1000)
    monkeypatch.setattr(parts, "free_memory", lambda: 2_000_000)
    shutil.copy("sales/2.parquet", tmp_path / "one.parquet")
    words = ["--lam", 0.02, "--no-plot", "--drop", "n,price", "--out", tmp_path]
    for name in ("all.csv", tmp_path / "one.parquet"):
        found = graftwork("learn", name, *words)
        assert found.code == 0, found.err
        assert "is read in parts: in memory it would take about" in found.lines[1]
        assert "from 1 file" in found.out
    monkeypatch.setattr(parts, "free_memory", lambda: 10**12)
    assert "in parts" not in graftwork("learn", "all.csv", "--holdout", 0, *words).out


def test_memory_that_files_need(tmp_path):
    pq.write_table(pa.table({"a": [1] * 3_000_000, "b": [2.5] * 3_000_000}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a;b\n" + "1;2\n" * 3_000_000)
    assert free.bytes_needed(tmp_path / "t.csv") == pytest.approx(25 * 6_000_000, rel=0.01)
    assert free.bytes_needed(tmp_path / "t.parquet") is None  # small
    assert free.bytes_needed(tmp_path / "absent") is None
    assert free.free_memory() > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing/*.parquet"], "no file matches 'nothing/*.parquet'"),
        (["absent.parquet", "all.csv"], "absent.parquet: there is no such file"),
        (["empty"], "the folder 'empty' has no Parquet, Arrow, CSV or TSV files"),
        (["all.csv", "sales"], "have different formats"),
        (["sales", "--memory", "many"], "'many' is no amount of 1MB or more, such as 2GB"),
        (["sales", "--drop", "nn"], "there is no column 'nn' to drop; did you mean 'n'?"),
        (["sales", "--sheet", "a"], "--sheet is for Excel files"),
        (["a.xlsx", "--memory", "1GB"], "Excel and SPSS files cannot be read in parts"),
        (["-", "--memory", "1GB"], "standard input cannot be read in parts"),
        (["mushroom", "--memory", "1GB"], "mushroom comes with graftwork"),
        (["mushroom", "sales"], "learned from by itself"),
        (["sales", "--goal", "prediction"], "use --goal structure, --criterion ebic, or set --lam"),
        (["sales", "--workdir", "all.csv"], "'--workdir'"),
        (["sales", "--engine", "threads"], "'--engine'"),
        (["sales", "--engine", "processes", "--scheduler", "tcp://x:1"], "'--scheduler'"),
        (["gaps", "--lam", "0.1"], "gaps/0.csv, line"),
        (["broken"], "broken/1.parquet, row group 1: cannot be read"),
        (["drift"], "add it here, or drop it everywhere (--drop rating)"),
    ],
)
def test_refusals_in_one_sentence(graftwork, folder, scratch, words, told, tmp_path):
    for name in ("empty", "broken", "drift"):
        (folder / name).mkdir(exist_ok=True)
    shutil.copy("sales/0.parquet", "broken/0.parquet")
    content = bytearray((folder / "sales/2.parquet").read_bytes())
    start = pq.read_metadata("sales/2.parquet").row_group(1).column(0).dictionary_page_offset
    content[start : start + 40] = b"\x55" * 40
    (folder / "broken/1.parquet").write_bytes(content)
    (folder / "drift/0.csv").write_text("shop,rating\na,1\nb,2\n")
    (folder / "drift/1.csv").write_text("shop,rank\na,1\nb,2\n")
    found = graftwork("learn", *words, "--out", tmp_path / "out")
    assert found.code == 2
    errors = [line for line in found.lines if line.startswith("error: ")]
    assert errors == found.lines[-1:]
    assert told in errors[0]
    assert list(scratch.iterdir()) == []


def test_dask_that_is_not_there(graftwork, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = graftwork("learn", "sales", "--engine", "dask", "--out", tmp_path)
    assert found.code == 2
    assert "--engine dask needs Dask, which is not installed" in found.err


def test_other_commands_need_one_file(graftwork):
    found = graftwork("bootstrap", "sales/*.parquet")
    assert found.code == 2
    assert "this command needs all rows in memory" in found.err


def test_a_full_disk(graftwork, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graftwork.data.scanning.folder.write_arrays", full)
    found = graftwork("learn", "sales", "--workdir", tmp_path / "packed", "--out", tmp_path)
    assert found.code == 2
    assert "is full" in found.err
    assert "give --workdir a folder on a larger disk" in found.err
    assert list((tmp_path / "packed").iterdir()) == []


def test_progress_of_rows(capsys):
    lines = Lines(pause=0.0)
    lines.on_rows(2000, 10_000)
    lines.on_stage("grafting", 0, 3)
    lines.on_part(2, 4)
    lines.on_part(1, 1)
    assert capsys.readouterr().err.splitlines() == [
        "reading: 2,000 of 10,000 rows",
        "grafting (stage 1 of 3): part 2 of 4 of the rows",
    ]
    with Bar() as bar:
        bar.on_rows(10, None)
        bar.on_part(1, 2)
