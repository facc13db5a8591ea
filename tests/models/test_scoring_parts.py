"""Scores of rows in parts: what is not in the network is not looked at."""

import numpy as np
import pandas as pd
import pytest

import graftwork as gw


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
