"""Prior knowledge on the command line: files, pairs, weights."""

import pytest

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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--required", "a-b"), "'a-b' is neither a pair A~B nor a file"),
        (("--forbidden", "a~e"), "--forbidden: there is no variable 'e'"),
        (("--required", "a~b", "--forbidden", "b~a"), "both required and forbidden"),
        (("--penalty-weights", "none.csv"), "'none.csv' is no file"),
        (("--penalty-weights", "two.csv"), "two.csv: line 1 has no factor"),
        (("--penalty-weights", "word.csv"), "word.csv: line 2 has no factor"),
        (("--penalty-weights", "twice.csv"), "line 2 gives b and a another factor"),
        (("--penalty-weights", "minus.csv"), "got -1.0"),
    ],
)
def test_wrong_knowledge_is_refused(graftwork, chain_csv, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    files = {
        "two": "a,b\n",
        "word": "a,b,1\nb,c,x\n",
        "twice": "a,b,1\nb,a,2\n",
        "minus": "a,b,-1\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    result = graftwork("learn", chain_csv, "--out", "out", "--lam", "0.05", *words)
    assert result.code != 0
    assert told in " ".join(result.err.replace("│", " ").split())
