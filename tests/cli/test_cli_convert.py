"""graftwork convert, explain, and queries of networks from elsewhere."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import graftwork as gw
from graftwork.exchange import FORMATS

GOLDEN = Path(__file__).parents[1] / "exchange" / "golden"


@pytest.fixture
def model_file(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=300)
    rows = {"a": a, "b": np.where(rng.random(300) < 0.9, a, 1 - a), "c": rng.integers(3, size=300)}
    gw.MarkovNetwork(random_state=0).fit(rows).save(tmp_path / "model.gw")
    return tmp_path / "model.gw"


def test_models_go_there_and_back(graftwork, model_file, tmp_path):
    result = graftwork("convert", model_file, tmp_path / "net.uai")
    assert result.code == 0
    assert result.out.startswith(
        f"{tmp_path / 'net.uai'} (uai), with net.uai.names.json next to it"
    )
    assert "Not in it: how it was learned" in result.out.replace("\n", " ")
    assert graftwork("convert", tmp_path / "net.uai", tmp_path / "back.gw").code == 0
    there, back = gw.load(model_file), gw.load(tmp_path / "back.gw")
    assert there.states == back.states
    np.testing.assert_allclose(there.potentials.weights, back.potentials.weights, atol=1e-12)


def test_p_values_of_saved_networks_are_in_graphs(graftwork, model_file, tmp_path):
    assert graftwork("convert", model_file, tmp_path / "net.graphml").code == 0
    graph = nx.read_graphml(tmp_path / "net.graphml")
    assert graph.edges["a", "b"]["p_value"] < 1e-6
    assert graph.edges["a", "b"]["sign"] == 1


def test_formats_can_be_named(graftwork, model_file, tmp_path):
    assert graftwork("convert", model_file, tmp_path / "x.txt", "--to", "uai").code == 0
    result = graftwork("convert", tmp_path / "x.txt", tmp_path / "y.csv", "--from", "uai",
                       "--to", "qgraph")  # fmt: skip
    assert result.code == 0
    assert (tmp_path / "y.csv").read_text().startswith("Source,Target,Weight\n")


def test_help_lists_the_formats(graftwork):
    text = " ".join(graftwork("convert", "--help").out.split())
    for name in FORMATS:
        assert f"{name}: {FORMATS.entry(name).traits['suffixes'][0]}, " in text


def test_queries_of_networks_from_elsewhere(graftwork, tmp_path):
    path = tmp_path / "net.uai"
    path.write_text("MARKOV 2 2 2 1 2 0 1 4 1 2 3 4")
    (tmp_path / "net.uai.evid").write_text("1 0 1")
    words = ("--evidence", tmp_path / "net.uai.evid", "--mar", tmp_path / "MAR", "--pr",
             tmp_path / "PR", "--json")  # fmt: skip
    result = graftwork("query", path, *words)
    assert result.code == 0
    found = json.loads(result.out)["marginals"]["x1"]["probabilities"]
    assert found == pytest.approx([3 / 7, 4 / 7])
    words = [float(w) for w in (tmp_path / "MAR").read_text().split()[1:]]
    assert words == pytest.approx([2, 2, 0, 1, 2, 3 / 7, 4 / 7])
    assert float((tmp_path / "PR").read_text().split()[1]) == pytest.approx(np.log10(7))
    assert graftwork("show", path).code == 0
    assert graftwork("sample", path, "3", "--seed", "0").out.count("\n") == 4
    (tmp_path / "net.uai.evid").write_text("2\n1 0 1\n1 0 0")
    result = graftwork("query", path, "--evidence", tmp_path / "net.uai.evid")
    assert "has 2 samples of evidence, and a query takes one" in result.err


# ---- explain ---------------------------------------------------------------------------------


@pytest.fixture
def sentences(tmp_path):
    lines = ["the D", "dog N", "", "dog N", "barks V", ""]
    (tmp_path / "train.txt").write_text("\n".join(lines * 15) + "\n")
    return tmp_path / "train.txt"


@pytest.fixture
def chunker(graftwork, sentences, tmp_path):
    words = ("crf", sentences, "--out", tmp_path / "run", "--lam", "0.01")
    assert graftwork(*words).code == 0
    return tmp_path / "run" / "model.gw"


def test_explain_prints_a_sentence(graftwork, chunker, sentences, tmp_path):
    result = graftwork("explain", chunker, sentences)
    assert result.code == 0
    assert result.out.startswith("1 the: D (")
    assert "the first of 30 sentences" in result.err
    result = graftwork("explain", chunker, sentences, "--sentence", 2, "--sentence", 1, "--out",
                       tmp_path / "explained.csv", "--top", 1, "--labels", 3)  # fmt: skip
    first, second = result.out.split("\n\n")
    assert first.startswith("1 dog: N (")
    assert second.startswith("1 the: D (")
    assert len(second.strip().splitlines()) == 2 * 4
    with (tmp_path / "explained.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["sentence"] for row in rows} == {"1", "2"}
    chain, score = gw.load(chunker), 0.0
    for row in rows:
        if (row["sentence"], row["position"], row["label"]) == ("1", "0", "D"):
            score += float(row["contribution"])
    template = gw.Template.parse(gw.exchange.read_info(chunker)["template"])
    found = chain.explain(template.attributes([[("the",), ("dog",)]])[0])
    assert score == pytest.approx(found.scores[0, chain.labels.index("D")])
    result = graftwork("explain", chunker, sentences, "--sentence", 99)
    assert result.lines == ["error: there is no sentence 99: train.txt has 30."]


def test_models_of_crfsuite_need_a_template(graftwork, sentences, tmp_path):
    import pycrfsuite

    template = gw.Template.named("words")
    tokens = [[("the",), ("dog",)], [("dog",), ("barks",)]] * 15
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, labels in zip(
        template.attributes(tokens), [["D", "N"], ["N", "V"]] * 15, strict=True
    ):
        trainer.append(items, labels)
    trainer.train(str(tmp_path / "tagger.crfsuite"))
    result = graftwork("tag", tmp_path / "tagger.crfsuite", sentences)
    assert result.code == 2
    assert "say it with --template" in result.err
    result = graftwork("tag", tmp_path / "tagger.crfsuite", sentences, "--template", "words")
    assert result.code == 0
    assert result.out.splitlines()[:2] == ["the D D", "dog N N"]
    shutil.copy(tmp_path / "tagger.crfsuite", tmp_path / "tagger")
    result = graftwork("explain", tmp_path / "tagger", sentences, "--template", "words")
    assert result.out.startswith("1 the: D (")
    assert graftwork("show", tmp_path / "tagger.crfsuite").code == 0
