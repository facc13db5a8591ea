"""Scores of rows in parts: what is not in the network is not looked at."""

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.errors import DataError, DataWarning


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for number in range(2):
        first = rng.integers(0, 3, 1000)
        rows = {"id": np.arange(1000) + 1000 * number, "a": first, "b": (first > 0).astype(int)}
        pd.DataFrame(rows).to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


def test_columns_that_the_network_lacks_are_not_read(folder):
    every = pd.concat([pd.read_parquet(file) for file in sorted(folder.iterdir())])
    net = gw.MarkovNetwork(lam=0.01).fit(every[["a", "b"]])
    assert np.isclose(net.score(str(folder / "*.parquet")), net.score(every), rtol=1e-12)
    assert np.isclose(net.model_.score(gw.scan(folder)), net.score(every), rtol=1e-12)


def test_lists_of_files_are_read_in_parts(folder):
    files = [str(file) for file in sorted(folder.iterdir())]
    net = gw.MarkovNetwork(lam=0.01).fit(gw.scan(files, drop=["id"]))
    assert len(net.model_.edges) == 1
    assert gw.count_pairs(gw.scan(files, drop=["id"])).n_rows == 2000
    with pytest.warns(gw.errors.DataWarning, match="id"):
        assert gw.count_pairs(files).n_rows == 2000
    with pytest.raises(gw.errors.DataError, match="1D array"):
        gw.MarkovNetwork().fit(["no file", "nor this"])


def _odd_files(folder, column, row, value):
    """Write three files of three row groups, with a value in one row of the second file."""
    rng = np.random.default_rng(0)
    for k in range(3):
        rows = pd.DataFrame({
            "a": pd.array(rng.integers(0, 3, 300), dtype="Int64"),
            "b": rng.choice(["x", "y"], 300),
        })  # fmt: skip
        if k == 1:
            rows.loc[row, column] = value
        rows.to_parquet(folder / f"{k}.parquet", row_group_size=100)
    return folder


@pytest.mark.parametrize("way", ["here", "processes", "dask", "packed before"])
def test_errors_say_where(way, tmp_path, request):
    model = gw.PairwiseMRF({"a": [0, 1, 2], "b": ["x", "y"]})
    for name in ("odd", "gap", "packed"):
        (tmp_path / name).mkdir()
    odd = _odd_files(tmp_path / "odd", "b", 250, "z")
    gap = _odd_files(tmp_path / "gap", "a", 120, None)

    def rows(folder):
        if way != "packed before":
            return gw.scan(folder, engine=request.getfixturevalue(f"{way}_engine"))
        options = {"workdir": tmp_path / "packed" / folder.name}
        gw.scan(folder, **options).store(missing="state")
        return gw.scan(folder, **options)  # what was packed is used again

    told = r"column 'b', .*1\.parquet, row group 2, row 250: the state 'z' is not one of"
    with pytest.raises(DataError, match=told):
        model.score(rows(odd))
    told = r"1 in 1 column, the first in column 'a', .*1\.parquet, row group 1, row 120; "
    with pytest.raises(DataError, match=told):
        model.score(rows(gap), missing="error")
    assert model.score(rows(gap), missing="available-case") < 0
    with pytest.warns(DataWarning, match="1 of 900 rows were left out"):
        model.score(rows(gap), missing="drop-rows")


def test_states_find_bins_and_equal_numbers_as_in_memory():
    model = gw.PairwiseMRF({"age": ["<= 20", "> 20"], "n": [0, 1], "yes": [False, True]})
    rows = {"age": [3, 40, 20], "n": [1.0, 0.0, 1.0], "yes": [1, 0, 1]}
    assert model.score(gw.scan(rows)) == pytest.approx(model.score(rows))
