"""Sizes are checked before they are believed: refused with the limit and how to raise it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import read_table
from graftwork.errors import DataError, ParameterError, TooLargeError
from graftwork.limits import Limit, read_bytes

from doors.datasets import labelled_chains
from doors.estimators import check_pairs


def test_a_line_without_an_end_is_refused_before_it_is_split(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("graftwork.data.sources.LINE", Limit(1_000_000))
    path = tmp_path / "line.csv"
    path.write_text("1," * 600_000 + "1\n")
    with pytest.raises(TooLargeError, match=r"line\.csv: a line has .* GRAFTWORK_LIMITS=2"):
        read_table(path)
    monkeypatch.setenv("GRAFTWORK_LIMITS", "2")
    with pytest.raises(TooLargeError, match=r"600,001 columns .* of 400,000.* GRAFTWORK_LIMITS=4"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\n", "bytes in a row are blank"), (b",", "a line has at least"), (b"0,1\n", "unpacks to")],
)
def test_compressed_bombs_are_refused(tmp_path, content: bytes, words: str) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(content * (48 * 2**20 // len(content)), 9))
    with pytest.raises(TooLargeError, match=words):
        read_table(path)


def test_ordinary_compressed_files_are_read(tmp_path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (20_000, 20))
    text = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert np.array_equal(read_table(path, header=False).codes.T, rows)


def test_what_does_not_end_is_refused(monkeypatch) -> None:
    monkeypatch.setattr("graftwork.limits.PIPE", Limit(10_000_000))
    monkeypatch.setattr("graftwork.data.sources.LINE", Limit(10_000_000))
    for device in ("/dev/zero", "/dev/urandom"):
        with pytest.raises(TooLargeError, match="GRAFTWORK_LIMITS="):
            read_table(device)
        with pytest.raises(TooLargeError, match="not ended after 1"):
            read_bytes(Path(device))


def test_columns_that_are_chosen_count(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("graftwork.data.files.COLUMNS", Limit(2))
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\nx,y,z\nu,v,w\n")
    with pytest.raises(TooLargeError, match="3 columns are to be read, more than the limit of 2"):
        read_table(path)
    assert read_table(path, columns=["a", "c"]).names == ("a", "c")


@pytest.mark.parametrize("given", ["many", "0", "-1", "inf", "nan"])
def test_a_factor_of_limits_is_a_number(given, monkeypatch) -> None:
    monkeypatch.setenv("GRAFTWORK_LIMITS", given)
    with pytest.raises(ParameterError, match=f"GRAFTWORK_LIMITS={given}"):
        Limit(10).value()


def test_more_pairs_than_can_be_tested_are_refused(monkeypatch) -> None:
    with pytest.raises(TooLargeError, match=r"4,999,950,000 pairs.*GRAFTWORK_LIMITS=25"):
        check_pairs(100_000, True)
    monkeypatch.setattr("graftwork.estimators.sizes.PAIRS", Limit(2))
    rows = np.random.default_rng(0).integers(0, 2, (50, 3))
    with pytest.raises(TooLargeError, match="3 pairs"):
        gw.MarkovNetwork().fit(rows)
    assert gw.MarkovNetwork(lam=0.1).fit(rows)


def test_more_draws_than_fit_are_refused() -> None:
    model = gw.PairwiseMRF({"a": [0, 1]})
    with pytest.raises(TooLargeError, match=r"2\.0 TB"):
        model.sample(10**12)
    with pytest.raises(TooLargeError, match="GRAFTWORK_LIMITS="):
        labelled_chains(10, 10**9, 1000, 10)


def test_parts_of_a_sample_are_the_rows_of_one_call(monkeypatch) -> None:
    table = [[1.0, 0.0], [0.0, 1.0]]
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): table})
    monkeypatch.setattr("graftwork.models.pairwise.PART_BLOCKS", 1)
    parts = [part.codes for part in model.sample_parts(150_000, random_state=3)]
    assert len(parts) == 3
    whole = model.sample(150_000, random_state=3).codes
    assert np.array_equal(np.concatenate(parts, axis=1), whole)


def test_a_whole_weight_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(DataError, match="weight"):
        gw.MarkovNetwork(lam=0.1).fit([[0, 1], [1, 0]], sample_weight=[10**400, 1])
