"""Which arguments of the learners each option stands for: read alone, and nothing is learned."""

import pytest

from graftwork.data import Template, read_table
from graftwork.estimators import ChainCRF, MarkovNetwork
from graftwork.models import load, load_chain, read_info

LEARN = {
    "--lam 0.05": {"lam": 0.05},
    "--lam auto": {"lam": "auto"},
    "--method gain --l2 0.1": {"method": "gain", "penalty_options": {"l2": 0.1}},
    "--method best-choice:alpha=1 --edges 1": {"method_options": {"alpha": 1}, "max_edges": 1},
    "--max-edges 3 --max-seconds 7": {"max_edges": 3, "max_seconds": 7},
    "--penalize-unary": {"penalty_options": {"unary": True}},
    "--penalize-unary --unary-lam 0.3": {"penalty_options": {"unary": 0.3}},
    "--lam 0.1 --start chow-liu": {"method_options": {"start": "chow-liu"}},
    "--tie 3": {"tie": 3},
    "--lam 0.1 --loss likelihood --inference trw": {"loss": "likelihood", "inference": "trw"},
    "--lam 0.1 --loss likelihood --inference bp:rule=product": {"inference": "bp:rule=product"},
    "--penalty l2 --lam 0.1": {"penalty": "l2"},
    "--fdr 0.2": {"fdr": 0.2},
    "--goal prediction --criterion k-fold:folds=3": {
        "goal": "prediction", "criterion": "k-fold", "criterion_options": {"folds": 3},
    },
    "--missing impute --tol 1e-4": {"missing": "impute", "tol": 1e-4},
    "--jobs 3 --seed 4": {"n_jobs": 3},
    "--bins 4": {"bins": 4},
    "--bins age:5": {"bins": {"age": 5}},
    "--ordinal all": {"ordinal": True},
    "--ordinal a,b --ordinal c:x,y": {"ordinal": {"a": None, "b": None, "c": ["x", "y"]}},
    "--required a~b --forbidden b~c": {
        "knowledge": {"required": ["a~b"], "forbidden": ["b~c"]},
    },
    "--table-memory 2GB": {"table_memory": "2GB"},
}  # fmt: skip
CRF = {
    "--lam 0.02": {"lam": 0.02},
    "--method grafting --select 3": {"method": "grafting", "select": 3},
    "--method grafting-light:steps=2": {"method_options": {"steps": 2}},
    "--order 2": {"order": 2},
    "--penalty elastic-net --l2 0.01": {"penalty": "elastic-net", "l2": 0.01},
    "--candidates all --min-count 2": {"candidates": "all", "min_count": 2},
    "--max-features 5 --max-seconds 0": {"max_features": 5, "max_seconds": 0},
    "--max-iter 2 --tol 0.0001 --jobs 2": {"max_iter": 2, "tol": 0.0001, "n_jobs": 2},
}
BOOTSTRAP = {
    "--n 3 --lam 0.1 --method gain": {"lam": 0.1, "method": "gain"},
    "--required a~d --candidates a~b": {"knowledge": {"required": ["a~d"], "candidates": ["a~b"]}},
    "--goal prediction --criterion ebic": {"goal": "prediction", "criterion": "ebic"},
}
OPTIONS = [("learn", words, expected) for words, expected in LEARN.items()]
OPTIONS += [("crf", words, expected) for words, expected in CRF.items()]
OPTIONS += [("bootstrap", words, expected) for words, expected in BOOTSTRAP.items()]


@pytest.mark.parametrize(("command", "words", "expected"), OPTIONS, ids=str)
def test_options_are_the_estimators_arguments(graftwork, monkeypatch, command, words, expected):
    seen = {}
    monkeypatch.setattr(
        f"graftwork.cli.{command}.run", lambda plan, settings: seen.update(settings) or 0
    )
    result = graftwork(command, "data.csv", *words.split())
    assert result.code == 0, result.err
    assert {name: seen.get(name) for name in expected} == expected
    (ChainCRF if command == "crf" else MarkovNetwork)(**seen)


def test_the_models_are_those_of_the_arguments(graftwork, chain_csv, tmp_path):
    words = ["--method", "best-choice:alpha=1", "--lam", "0.02", "--edges", "2", "--tie", "3"]
    words += ["--holdout", "0", "--no-plot", "--jobs", "1", "--seed", "5"]
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--quiet", *words)
    assert (result.code, result.out, result.err) == (0, "", "")
    settings = read_info(tmp_path / "model.gw")["settings"]
    settings = {name: value for name, value in settings.items() if value is not None}
    net = MarkovNetwork(**settings).fit(read_table(chain_csv))
    assert load(tmp_path / "model.gw") == net.model_
    sentences = [[("the", "D"), ("dog", "N")], [("dogs", "N"), ("bark", "V")]] * 3
    text = "\n\n".join("\n".join(map(" ".join, sentence)) for sentence in sentences)
    (tmp_path / "train.txt").write_text(text + "\n")
    words = ["crf", tmp_path / "train.txt", "--out", tmp_path / "chain", "--order", "2", "--quiet"]
    result = graftwork(*words, "--lam", "0.02", "--candidates", "all")
    assert (result.code, result.out, result.err) == (0, "", "")
    settings = read_info(tmp_path / "chain" / "model.gw")["settings"]
    X = Template.named("words").attributes([[token[:-1] for token in s] for s in sentences])
    crf = ChainCRF(**settings).fit(X, [[token[-1] for token in s] for s in sentences])
    assert load_chain(tmp_path / "chain" / "model.gw").records() == crf.model_.records()
