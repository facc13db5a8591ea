"""Text from files and tables is text wherever it goes."""

import io
import json
import re
import sys
from itertools import pairwise

import numpy as np
import pytest

from graftwork.cli import main
from graftwork.errors import ModelFileError
from graftwork.exchange import export, load
from graftwork.models import PairwiseMRF
from graftwork.report import plot_network, write_edges
from graftwork.text import guarded, harmless, unguarded

from doors.cli import read_groups, read_truth
from doors.report import HeldOut, edge_table, write_records
from support import tampering

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07",
    "$\\frac{1}{",
    "two\nlines",
    "<script>alert(1)</script>",
    "\u202eabc",
    "x" * 10_000,
    "=1+1",
    "'=1+1",
    "\u2028\x9b2J\u200f",
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def hostile_network():
    table = [[1.0, 0.0], [0.0, 1.0]]
    states = {name: ["\x1b[2J", "$\\frac{2}{"] for name in HOSTILE}
    return PairwiseMRF(states, None, dict.fromkeys(pairwise(HOSTILE), table))


def test_harmless_text_of_json_is_the_same_json():
    value = {name: [name, "\U000e0001", "\x7f"] for name in HOSTILE}
    written = json.dumps(value, ensure_ascii=False)
    assert not OBEYED.search(harmless(written))
    assert json.loads(harmless(written)) == value


@pytest.mark.parametrize(
    "argv",
    [
        ["show", "{}", "--centrality", "--communities"],
        ["query", "{}", "--map"],
        ["query", "{}", "--json"],
        ["query", "{}", "--pair", "two\nlines,=1+1"],
        ["query", "{}", "no\x1b[31msuch"],
    ],
    ids=" ".join,
)
def test_names_reach_the_terminal_as_harmless_text(tmp_path, capfd, argv):
    path = tmp_path / "m.gw"
    hostile_network().save(path, info={"method": "\x1b[5m", "data": "d\x07" * 5000})
    code = main([part.format(path) for part in argv])
    said = capfd.readouterr()
    assert code == (2 if "such" in argv[-1] else 0)
    for text in said:
        assert not OBEYED.search(text)
        assert argv[-1] == "--json" or max(map(len, text.splitlines()), default=0) < 2100


def test_rows_on_a_terminal_are_harmless_and_elsewhere_as_they_are(tmp_path, monkeypatch):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a\x1b[2J": ["s\x07", "t"]}).save(path)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for page in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stdout", page)
        assert main(["sample", str(path), "20", "--seed", "1"]) == 0
        assert ("\x1b" in page.getvalue()) == (not page.isatty())


def test_pictures_show_names_as_they_are(tmp_path):
    plot_network(hostile_network(), tmp_path / "n.svg")
    assert "<script>alert" not in (tmp_path / "n.svg").read_text()


def test_formula_cells_are_guarded_and_read_back(tmp_path):
    model = hostile_network()
    edges, groups = tmp_path / "edges.csv", tmp_path / "groups.csv"
    write_edges(edges, edge_table(model))
    assert "'=1+1" in edges.read_text()
    assert "\n=" not in edges.read_text()
    assert ",=" not in edges.read_text()
    found = {frozenset(pair) for pair in read_truth(model.names, edges)}
    assert found == {frozenset(pair) for pair in model.edges}
    records = [{"variable": name, "community": k} for k, name in enumerate(model.names)]
    write_records(groups, records)
    assert read_groups(model.names, groups) == {n: str(k) for k, n in enumerate(model.names)}
    export(model, tmp_path / "gephi.csv")
    assert ",=" not in (tmp_path / "gephi.csv").read_text()


@pytest.mark.parametrize("cell", [*HOSTILE, "-", "-1", "+x", "@a", "''=1", "'", "-1e5", "\t=1"])
def test_unguarded_is_the_inverse_of_guarded(cell):
    assert unguarded(guarded(cell)) == cell


@pytest.mark.parametrize("cell", ["-1", "+.5", "-1e-3", "-", "+", "a=b", "it's", -1, None, "-inf"])
def test_numbers_and_signs_are_no_formulas(cell):
    assert guarded(cell) is cell


def test_a_network_without_edges_has_learned_no_noise():
    words = HeldOut(2.0005, 2.0, 10, 2, n_edges=0).words()
    assert "no edges" in words
    assert "WORSE" not in words
    assert "larger lambda" not in words


def test_an_empty_folder_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n" + "0,1\n1,0\n" * 20)
    assert main(["learn", "t.csv", "--out", ""]) == 2
    assert "--out" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_vectors_are_those_that_numpy_reads(tmp_path):
    path = tmp_path / "m.gw"
    model = PairwiseMRF({"a": [0, 1]}, {"a": [0.1, -0.0]})
    model.save(path)
    found = np.load(io.BytesIO(tampering.members_of(path)["unary.npy"]))
    assert found.tobytes() == load(path).potentials.weights.tobytes()


def test_errors_about_files_are_short(tmp_path):
    path = tmp_path / "m.gw"
    PairwiseMRF({"a": [0, 1]}).save(path)

    def change(header):
        header["variables"][0]["name"] = ["str", list(range(5000))]

    tampering.rewrite(path, change)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert len(str(caught.value)) < 600 + len(str(path))


FIELDS = ("data", "rows", "files", "missing", "method", "settings", "choice", "exchange", "tying",
          "held_out", "certificate", "tests", "fdr", "edge_tests", "unseen_states",
          "shapes_tested", "lam", "penalty", "start", "loss", "embedded")  # fmt: skip
VALUES = (None, True, 5, -1.5, "text", [], [1, [2]], {}, {"cells": "x", "rounds": 1, "how": []})


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_show_takes_info_of_any_types(tmp_path, capsys, value):
    path = tmp_path / "m.gw"
    model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1.0, 0.0], [0.0, 1.0]]})
    infos = [{name: value} for name in FIELDS] + [dict.fromkeys(FIELDS, value)]
    for info in infos:
        model.save(path, info=info)
        assert main(["show", str(path), "--edges", str(tmp_path / "e.csv")]) == 0, info
    assert capsys.readouterr().err == ""
