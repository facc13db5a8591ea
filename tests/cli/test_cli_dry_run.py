import pytest

from graftwork.estimators import MarkovNetwork

FAST = ["--lam", "0.05", "--jobs", "1"]


def test_dry_run_says_the_cost_and_writes_nothing(graftwork, chain_csv, tmp_path):
    out = tmp_path / "run"
    result = graftwork("learn", chain_csv, "--dry-run", "--out", out, *FAST)
    assert result.code == 0, result.err
    assert not out.exists()
    for part in ("300 rows of 4 variables", "6 pairs", "Memory "):
        assert part in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 88


@pytest.mark.parametrize(
    ("content", "loss", "policy"),
    [
        ("a,b\n" + "1,\n2,3\n1,4\n" * 20, "pseudolikelihood", "available-case"),
        ("a,b\n" + "1,\n2,3\n1,4\n" * 20, "likelihood", "impute"),
        ("a,b\n" + "1,\n2,\n2,4\n" * 20, "pseudolikelihood", "state"),
    ],
)
def test_dry_run_recommends_what_to_do_about_missing_cells(
    graftwork, tmp_path, content, loss, policy
):
    path = tmp_path / "t.csv"
    path.write_text(content)
    result = graftwork("learn", path, "--dry-run", "--loss", loss, *FAST)
    assert result.code == 0, result.err
    text, gaps = " ".join(result.out.split()), content.count(",\n")
    assert text.startswith(f"Missing cells {gaps} cells are missing in {gaps} of 60 rows")
    assert f"Recommended is --missing {policy}, " in text
    cost = MarkovNetwork(lam=0.05, loss=loss).estimate(path)
    assert (cost.missing_cells, cost.incomplete_rows, cost.missing) == (gaps, gaps, policy)


def test_ctrl_c_ends_a_dry_run(graftwork, chain_csv, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MarkovNetwork, "estimate", interrupted)
    result = graftwork("learn", chain_csv, "--dry-run", *FAST)
    assert result.code == 130
    assert "interrupted" in result.err
    with pytest.raises(KeyboardInterrupt):
        MarkovNetwork().estimate([["a"]])
