"""graftwork learn from a file of counts."""

import pytest

import graftwork as gw


@pytest.fixture
def counts(chain_csv, tmp_path, monkeypatch):
    """Counts of the chain in a folder of their own, with a model that holds none."""
    monkeypatch.chdir(tmp_path)
    gw.count_pairs(chain_csv).save("counts.gwc")
    gw.PairwiseMRF({"coin": ["head", "tail"]}).save("model.gw")
    return gw.read_table(chain_csv)


def test_a_network_is_learned_from_counts(graftwork, counts):
    words = ("--loss", "likelihood", "--lam", "0.02", "--out", "run")
    result = graftwork("learn", "counts.gwc", *words)
    assert (result.code, "warning" in result.err) == (0, False)
    assert "Learned from counts of pairs of states" in result.out
    assert "predictability.csv" not in result.out
    rows = gw.MarkovNetwork(loss="likelihood", lam=0.02, random_state=0).fit(counts)
    assert gw.load("run/model.gw").edges == rows.model_.edges
    for others in (["--criterion", "ebic"], ["--method", "chow-liu"]):
        assert graftwork("learn", "counts.gwc", "--loss", "likelihood", *others).code == 0
