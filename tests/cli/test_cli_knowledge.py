"""Prior knowledge on the command line: files, pairs, weights."""

from graftwork.models import load, read_info


def test_pairs_and_files_of_pairs_are_heard(graftwork, chain_csv, tmp_path):
    (tmp_path / "never.csv").write_text("first,second\nb,a\n", encoding="utf-8")
    (tmp_path / "weights.csv").write_text("one,two,weight\nb,c,0.5\nc,d,inf\n", encoding="utf-8")
    result = graftwork(
        "learn", chain_csv, "--out", tmp_path / "out", "--lam", "0.05", "--no-plot",
        "--required", "a~d", "--required", "d~b", "--forbidden", tmp_path / "never.csv",
        "--penalty-weights", tmp_path / "weights.csv",
    )  # fmt: skip
    assert result.code == 0
    model, info = load(tmp_path / "out" / "model.gw"), read_info(tmp_path / "out" / "model.gw")
    edges = {frozenset(edge) for edge in model.edges}
    assert {frozenset("ad"), frozenset("bd")} <= edges
    assert not edges & {frozenset("ab"), frozenset("cd")}
    assert info["knowledge"] == {"required": 2, "forbidden": 2, "weighted": 1}
    assert info["settings"]["knowledge"]["required"] == ["a~d", "d~b"]
    assert "2 pairs that may not be edges" in " ".join(result.out.split())


def test_only_candidates_become_edges(graftwork, chain_csv, tmp_path):
    words = ("learn", chain_csv, "--out", tmp_path, "--lam", "0.01", "--no-plot")
    assert graftwork(*words, "--candidates", "a~b", "--candidates", "c~d").code == 0
    model = load(tmp_path / "model.gw")
    assert {frozenset(edge) for edge in model.edges} <= {frozenset("ab"), frozenset("cd")}
