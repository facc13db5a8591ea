import json
import os
import subprocess
import warnings

import numpy as np
import pytest

from graftwork.data import Table, read_table
from graftwork.errors import DataError, DataWarning
from graftwork.estimators import MarkovNetwork
from graftwork.models import load, read_info

from doors.cli import measure

FAST = ["--lam", "0.05", "--jobs", "1"]


def test_learn_writes_everything(graftwork, chain_csv, tmp_path):
    out = tmp_path / "deep" / "run"
    result = graftwork("learn", chain_csv, "--out", out, *FAST)
    assert result.code == 0, result.err
    assert {p.name for p in out.iterdir()} == {
        "model.gw", "summary.txt", "edges.csv", "trace.jsonl", "predictability.csv",
        "centrality.csv", "network.png",
    }  # fmt: skip
    summary = (out / "summary.txt").read_text()
    assert summary in result.out
    for part in ("300 rows of 4 variables", "30 rows held out", "weight +", "Optimal within"):
        assert part in summary
    model = load(out / "model.gw")
    assert {("a", "b"), ("b", "c")} <= set(model.edges)
    assert model.states == {"a": ("no", "yes"), "b": (0, 1), "c": (False, True), "d": (0, 1)}
    assert model.n_edges == len((out / "edges.csv").read_text().splitlines()) - 1
    info = read_info(out / "model.gw")
    assert info["lam"] == 0.05
    assert (info["held_out"]["rows"], info["held_out"]["learned_from"]) == (30, 270)
    rounds = [json.loads(line) for line in (out / "trace.jsonl").read_text().splitlines()]
    assert rounds[-1]["edges"] == model.n_edges


def test_learned_model_scores_its_own_file(graftwork, chain_csv, tmp_path):
    assert graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", "-q", *FAST).code == 0
    assert not (tmp_path / "network.png").exists()
    result = graftwork("score", tmp_path / "model.gw", chain_csv)
    assert result.code == 0, result.err
    assert "300" in result.out
    shown = graftwork("show", tmp_path / "model.gw").out
    assert "chain.csv, 300 rows" in shown
    assert "on 30 rows of a network learned from 270 others" in " ".join(shown.split())
    assert "Optimal within" in shown


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
@pytest.mark.parametrize(
    "words", [["learn", "--no-plot", *FAST], ["bootstrap", "--n", "2", "--jobs", "1"], ["score"]]
)
def test_rows_may_come_through_a_pipe(start, graftwork, chain_csv, tmp_path, words):
    """A pipe gives its bytes once: nobody may look at its beginning."""
    assert graftwork("learn", chain_csv, "--out", tmp_path / "m", "--no-plot", *FAST).code == 0
    command, *more = words
    first = [tmp_path / "m" / "model.gw"] if command == "score" else []
    more += [] if command == "score" else ["--out", "out"]
    os.mkfifo(tmp_path / "pipe")
    for name in ("-", "/dev/stdin", "pipe"):
        process = start(command, *first, name, *more, cwd=tmp_path, stdin=subprocess.PIPE)
        if name == "pipe":
            (tmp_path / "pipe").write_text(chain_csv.read_text())
        said, err = process.communicate(
            "" if name == "pipe" else chain_csv.read_text(), timeout=120
        )
        assert process.returncode == 0, err
        assert "300" in said + err


def test_strings_stay_strings(graftwork, chain_csv, tmp_path):
    graftwork("learn", chain_csv, "--out", tmp_path, "--strings", "--no-plot", *FAST)
    assert load(tmp_path / "model.gw").states["b"] == ("0", "1")
    assert graftwork("query", tmp_path / "model.gw", "a", "--given", "b=1").code == 0
    assert graftwork("score", tmp_path / "model.gw", chain_csv).code == 0


def test_lambda_can_be_chosen(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", "--jobs", "1")
    assert result.code == 0, result.err
    assert (tmp_path / "path.csv").read_text().startswith("lam,n_edges,")
    assert set(load(tmp_path / "model.gw").edges) == {("a", "b"), ("b", "c")}


def test_same_seed_same_files(graftwork, chain_csv, tmp_path):
    for name in ("one", "two"):
        graftwork("learn", chain_csv, "--out", tmp_path / name, "--seed", 5, *FAST)
    for name in ("model.gw", "edges.csv", "summary.txt", "network.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_options_reach_the_learner(graftwork, chain_csv, tmp_path):
    options = ["--method", "first-hit", "--penalty", "l1", "--l2", "0.01", "--max-edges", "1",
               "--loss", "likelihood", "--inference", "exact"]  # fmt: skip
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", *options, *FAST)
    assert result.code == 0, result.err
    assert load(tmp_path / "model.gw").n_edges == 1
    assert "the edge budget was reached" in " ".join(result.out.split())
    settings = read_info(tmp_path / "model.gw")["settings"]
    assert (settings["method"], settings["loss"]) == ("first-hit", "likelihood")


def test_an_option_without_effect_is_refused(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--lam", "0.1", "--fdr", "0.2")
    assert result.code == 2
    said = "--fdr 0.2 has no effect where lam is a number: it is for --lam auto. Leave it out."
    assert said in result.err


def test_a_feature_method_reads_well(graftwork, chain_csv, tmp_path):
    options = ["--method", "grafting-light:count=20:memory=false", "--penalty", "l1", "--no-plot"]
    result = graftwork("learn", chain_csv, "--out", tmp_path, *options, *FAST)
    assert result.code == 0, result.err
    text = " ".join(result.out.split())
    assert "features left out were tested" in text
    assert "single entries of their tables" in text
    settings = read_info(tmp_path / "model.gw")["settings"]
    assert settings["method_options"] == {"count": 20, "memory": False}
    shown = graftwork("show", tmp_path / "model.gw").out
    assert "grafting-light (count 20, memory False)" in shown
    assert "penalty       l1\n" in shown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ["--method", "gain", "--penalty", "elastic-net", "--l2", "0.1"],
            {"penalty_options": {"l2": 0.1}},
        ),
        (["--penalize-unary"], {"penalty_options": {"unary": True}}),
        (["--penalize-unary", "--unary-lam", "0.3"], {"penalty_options": {"unary": 0.3}}),
        (["--tie", "3"], {"tie": 3}),
        (["--loss", "likelihood", "--inference", "trw"], {"inference": "trw"}),
        (
            ["--loss", "likelihood", "--inference", "bp:rule=product"],
            {"inference": "bp:rule=product"},
        ),
        (["--penalty", "l2"], {"penalty": "l2"}),
        (["--method", "best-choice:alpha=1", "--edges", "1"], {"max_edges": 1}),
    ],
)
def test_options_are_the_estimators_arguments(graftwork, chain_csv, tmp_path, options, expected):
    words = ["--out", tmp_path, "--no-plot", "-q", "--holdout", "0", *options, *FAST]
    assert graftwork("learn", chain_csv, *words).code == 0
    settings = read_info(tmp_path / "model.gw")["settings"]
    assert settings == settings | expected
    settings = {name: value for name, value in settings.items() if value is not None}
    net = MarkovNetwork(**settings).fit(read_table(chain_csv))
    assert load(tmp_path / "model.gw") == net.model_


def test_tied_weights_are_told_and_shown(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", "--tie", "2", *FAST)
    assert result.code == 0, result.err
    weights = load(tmp_path / "model.gw").potentials.weights
    assert len(set(weights[weights != 0].tolist())) == 2
    assert "Tying\n" in result.out
    assert "take 2 values" in result.out
    shown = graftwork("show", tmp_path / "model.gw").out
    assert "weights to 2 values; the loss rose from" in shown
    assert "before its weights were tied" in " ".join(shown.split())


def test_without_a_penalty_no_lambda_is_needed(graftwork, chain_csv, tmp_path):
    words = ["--penalty", "none", "--out", tmp_path, "--no-plot", "--jobs", "1", "--holdout", "0"]
    result = graftwork("learn", chain_csv, *words)
    assert result.code == 0, result.err
    assert load(tmp_path / "model.gw").n_edges == 6
    assert "Penalty\n  There is no penalty." in result.out
    assert "lambda " not in graftwork("show", tmp_path / "model.gw").out.split("certificate")[0]


def test_quiet_prints_nothing(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--quiet", "--no-plot", *FAST)
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.parametrize("share", ["0", "0.2"])
def test_holdout_can_be_set(graftwork, chain_csv, tmp_path, share):
    result = graftwork(
        "learn", chain_csv, "--out", tmp_path, "--holdout", share, "--no-plot", *FAST
    )
    assert "learning from 300 rows" in result.err
    again = "learning once more from 240 rows, to predict 60 others"
    assert (again in result.err) == (share == "0.2")
    assert ("No rows were held out." in result.out) == (share == "0")


def test_the_network_is_that_of_all_rows_and_the_measure_of_another(graftwork, chain_csv, tmp_path):
    words = ["learn", chain_csv, "--out", tmp_path, "--no-plot", "--jobs", "1", "--seed", "3"]
    result = graftwork(*words)
    assert result.code == 0, result.err
    net = MarkovNetwork(random_state=3, n_jobs=1).fit(chain_csv)
    assert load(tmp_path / "model.gw") == net.model_
    written = (tmp_path / "edges.csv").read_text().splitlines()[1:]
    assert [tuple(line.split(",")[:2]) for line in written] == [
        (record["first"], record["second"]) for record in net.edges_.to_dict("records")
    ]
    test, train = read_table(chain_csv).split(0.1, 3)
    other = MarkovNetwork(random_state=3, n_jobs=1).fit(train)
    held = read_info(tmp_path / "model.gw")["held_out"]
    assert held["nlpl"] == -other.score(test)
    assert f"from the other 270 has a negative log pseudo-likelihood of {held['nlpl']:.4f}" in (
        " ".join(result.out.split())
    )
    assert "The network described here is learned from all rows." in " ".join(result.out.split())


@pytest.mark.parametrize(
    ("trouble", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "How well it predicts new rows was not measured"),
        (DataError("a column is empty."), 0, "could not be measured: a column is empty."),
    ],
)
def test_the_network_stays_whatever_happens_to_the_measure(
    graftwork, chain_csv, tmp_path, monkeypatch, trouble, code, told
):
    def fail(*_):
        raise trouble

    monkeypatch.setattr(measure, "_measure", fail)
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == code
    assert told in " ".join(result.out.split())
    whole = MarkovNetwork(lam=0.05, random_state=0, n_jobs=1).fit(chain_csv)
    assert load(tmp_path / "model.gw") == whole.model_
    assert read_info(tmp_path / "model.gw")["held_out"] is None


def test_whole_weights_are_held_out_like_repeated_rows():
    table = Table(("a",), ((0, 1),), [[0, 1, 1]], np.array([60.0, 30.0, 10.0]))
    train, test, why_not = measure.hold_out(table, 0.2, 0)
    assert (train.total_weight, test.total_weight, why_not) == (80.0, 20.0, "")
    assert (np.add(*(part.observed()[0] for part in (train, test))) == [60, 40]).all()
    again = measure.hold_out(table, 0.2, 0)[1]
    assert (again.codes == test.codes).all()
    assert (again.weights == test.weights).all()
    shares = [measure.hold_out(table, 0.2, seed)[1].observed()[0][0] for seed in range(200)]
    assert np.mean(shares) == pytest.approx(12, abs=0.5)  # a fifth of 60
    other = table.take_rows([0, 1, 2] * 10).with_weights(np.linspace(0.1, 0.9, 30))
    train, test, _ = measure.hold_out(other, 0.2, 0)
    assert (train.n_rows, test.n_rows) == (24, 6)
    assert train.total_weight + test.total_weight == pytest.approx(15)


def test_limits_are_for_each_of_the_two_networks(graftwork, chain_csv, tmp_path):
    words = ["--max-edges", "1", "--out", tmp_path, "--no-plot", *FAST]
    result = graftwork("learn", chain_csv, *words)
    assert result.code == 0, result.err
    table = read_table(chain_csv)
    test, train = table.split(0.1, 0)
    other = MarkovNetwork(lam=0.05, random_state=0, n_jobs=1, max_edges=1).fit(train)
    assert read_info(tmp_path / "model.gw")["held_out"]["nlpl"] == -other.score(test)


def test_tiny_tables_hold_nothing_out(graftwork, tmp_path):
    data = tmp_path / "tiny.csv"
    data.write_text("a,b\nx,1\ny,2\nx,1\n")
    result = graftwork("learn", data, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0, result.err
    assert "3 are too few to spare some" in result.out


@pytest.mark.parametrize("policy", ["state", "drop-rows", "available-case", "impute"])
def test_missing_cells(graftwork, chain_csv, tmp_path, policy):
    lines = chain_csv.read_text().splitlines()
    lines[5:300:9] = [line[line.index(",") :] for line in lines[5:300:9]]  # no first cell
    data = tmp_path / "gaps.csv"
    data.write_text("\n".join(lines) + "\n")
    common = ["--out", tmp_path, "--no-plot", "--holdout", "0.2", *FAST]
    refused = graftwork("learn", data, *common)
    assert refused.code == 2
    assert "recommended is --missing available-case, which learns from every obs" in refused.err
    assert "others are 'state', 'drop-rows' and 'impute'" in refused.err
    result = graftwork("learn", data, *common, "--missing", policy)
    assert result.code == 0, result.err
    model = load(tmp_path / "model.gw")
    assert ("(missing)" in model.states["a"]) == (policy == "state")
    assert ("left out because" in result.out) == (policy == "drop-rows")
    assert "missing" in result.out
    assert "On " in result.out
    assert "a - b" in result.out
    net = MarkovNetwork(lam=0.05, random_state=0, n_jobs=1, missing=policy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of rows that are left out
        score = net.fit(data).score(data)
        assert load(tmp_path / "model.gw").score(data) == score
    scored = graftwork("score", tmp_path / "model.gw", data, "--json")
    assert scored.code == 0, scored.err
    assert json.loads(scored.out)["nlpl"] == -score
    assert ("left out" in scored.err) == (policy == "drop-rows")
    if policy != "state":
        refused = graftwork("score", tmp_path / "model.gw", data, "--missing", "error")
        assert "gaps.csv: row 5 has no a, and a missing cell is not a state" in refused.err
        assert "--missing available-case lets the observed cells" in refused.err
        shown = graftwork("show", tmp_path / "model.gw").out
        assert f"missing       {policy}: 33 cells, in 33 rows" in shown


def test_texts_that_mean_missing_are_taken_over(graftwork, chain_csv, tmp_path):
    lines = chain_csv.read_text().splitlines()
    lines[5:300:9] = ["?" + line[line.index(",") :] for line in lines[5:300:9]]
    data = tmp_path / "gaps.csv"
    data.write_text("\n".join(lines) + "\n")
    words = ["--missing", "available-case", "--missing-values", "?", "--no-plot", *FAST]
    assert graftwork("learn", data, "--out", tmp_path, *words).code == 0
    scored = graftwork("score", tmp_path / "model.gw", data)
    assert scored.code == 0, scored.err
    assert "(33 lack cells; the observed ones count)" in scored.out
    rows = tmp_path / "rows.csv"
    words = ["--missing", "drop-rows", "--per-row", rows]
    assert graftwork("score", tmp_path / "model.gw", data, *words).code == 0
    numbers = [line.split(",")[0] for line in rows.read_text().splitlines()[1:]]
    assert len(numbers) == 300 - 33
    assert numbers[3:6] == ["4", "6", "7"]


def test_weights_and_missing_values(graftwork, tmp_path):
    data = tmp_path / "w.csv"
    data.write_text("a,b,n\nx,?,30\ny,NA,20\nx,NA,10\n")
    common = ["--weights", "n", "--out", tmp_path, "--no-plot", "--holdout", "0", *FAST]
    refused = graftwork("learn", data, *common)
    assert refused.code == 2
    assert "--keep-missing" in refused.err
    assert "missing_values" not in refused.err
    assert graftwork("learn", data, *common, "--keep-missing").code == 0
    assert load(tmp_path / "model.gw").states == {"a": ("x", "y"), "b": ("?", "NA")}
    refused = graftwork("learn", data, *common, "--missing-values", "?")
    assert "line 2" in refused.err


def test_embedded_data_has_words(graftwork, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["learn", "mushroom", "--lam", "0.15", "--jobs", "1", "--no-plot", "--max-edges", "3"]
    result = graftwork(*words)
    assert result.code == 0, result.err
    assert "goes with" in result.out
    assert load("out/model.gw").n_variables == 23
    asked = graftwork("query", "out/model.gw", "class", "--given", "odor=foul")
    assert "p (poisonous)" in asked.out
    assert graftwork(*words, "--sep", ",").code == 2
    (tmp_path / "mushroom").write_text("a,b\nx,1\ny,2\n")
    assert "learning from 2 rows" in graftwork(*words).err


def test_warnings_are_one_line(graftwork, tmp_path):
    data = tmp_path / "c.csv"
    data.write_text("a,b\n" + "".join(f"{i / 7:.4f},{i % 2}\n" for i in range(120)))
    result = graftwork("learn", data, "--out", tmp_path, "--no-plot", *FAST, "--max-edges", "0")
    told = [line for line in result.lines if line.startswith("warning: ")]
    assert len(told) == 1
    assert "'a'" in told[0]


def test_without_matplotlib_the_rest_is_written(graftwork, chain_csv, tmp_path, no_matplotlib):
    result = graftwork("learn", chain_csv, "--out", tmp_path, *FAST)
    assert result.code == 0
    assert "pip install 'graftwork[plot]'" in result.err
    assert not (tmp_path / "network.png").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["absent.csv"], "no such file"),
        (["absent"], "mushroom"),
        (["nothing/*.csv"], "no file matches 'nothing/*.csv'"),
        (["{csv}", "--lam", "few"], "'--lam'"),
        (["{csv}", "--lam", "-1"], "'--lam'"),
        (["absent.csv", "--method", "magic"], "best-choice"),
        (["absent.csv", "--method", "grafting-ligth"], "did you mean 'grafting-light'?"),
        (["absent.csv", "--method", "grafting-light:cuont=3"], "did you mean 'count'?"),
        (["{csv}", "--penalty", "l2"], "--lam must be a number with --penalty l2, got 'auto'"),
        (["{csv}", "--penalty", "l3"], "--penalty l3 is not known"),
        (["{csv}", "--unary-lam", "-1"], "'--unary-lam'"),
        (["{csv}", "--tie", "0"], "'--tie'"),
        (["{csv}", "--tie", "2.5"], "'--tie'"),
        (["{csv}", "--jobs", "0"], "--jobs must be"),
        (["{csv}", "--holdout", "2"], "'--holdout'"),
        (["{csv}", "--tol", "0"], "--tol must be"),
        (["{csv}", "--weights", "m"], "'m'"),
        (["{csv}", "--sep", "ab"], "one character"),
        (["{csv}", "--out", "{csv}"], "--out"),
        (["{csv}", "--out", "{csv}/deep"], "--out"),
        (["{csv}", "--speed", "9"], "--speed"),
        ([], "Missing argument"),
    ],
)
def test_learn_refuses_in_one_sentence(graftwork, chain_csv, tmp_path, words, told, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled = [word.replace("{csv}", str(chain_csv)) for word in words]
    result = graftwork("learn", *filled)
    assert result.code == 2
    assert result.out == ""
    errors = [line for line in result.lines if line.startswith("error: ")]
    assert errors == result.lines[-1:]
    assert told in errors[0]
    assert "Traceback" not in result.err


def test_a_tree_is_learned_and_told_as_one(graftwork, chain_csv, tmp_path):
    words = ["learn", chain_csv, "--out", tmp_path, "--no-plot", "--jobs", "1"]
    result = graftwork(*words, "--method", "chow-liu", "--loss", "likelihood")
    assert result.code == 0, result.err
    assert load(tmp_path / "model.gw").n_edges == 3
    assert "Lambda" not in result.out
    assert "no sparsity penalty" in " ".join(result.out.split())
    assert "its edges were given" in " ".join(result.out.split())
    shown = graftwork("show", tmp_path / "model.gw").out
    assert "chow-liu" in shown
    assert "lambda" not in shown


def test_learning_starts_from_a_tree_a_model_or_edges(graftwork, chain_csv, tmp_path):
    words = ["learn", chain_csv, "--no-plot", *FAST]
    assert graftwork(*words, "--out", tmp_path / "cold").code == 0
    (tmp_path / "edges.csv").write_text("first,second\na,d\nc,b\n")
    starts = {
        "chow-liu": "chow-liu",
        tmp_path / "cold" / "model.gw": " of a model",
        tmp_path / "edges.csv": "2 given edges",
        tmp_path / "cold" / "edges.csv": " given edges",
    }
    cold = read_info(tmp_path / "cold" / "model.gw")
    assert "start" not in cold["settings"]
    for start, told in starts.items():
        result = graftwork(*words, "--out", tmp_path / "warm", "--start", start)
        assert result.code == 0, result.err
        info = read_info(tmp_path / "warm" / "model.gw")
        assert told in info["start"]
        assert info["settings"]["method_options"]["start"] == str(start)
        assert abs(info["objective"] - cold["objective"]) < 1e-6
        first = (tmp_path / "warm" / "trace.jsonl").read_text().splitlines()[0]
        assert json.loads(first)["edges"] > 0
    assert "given edges" in graftwork("show", tmp_path / "warm" / "model.gw").out


@pytest.mark.parametrize(
    ("start", "lam", "words"),
    [
        ("chowliu", "0.05", "neither chow-liu nor a file"),
        ("chow-liu", "auto", "begins without edges"),
        ("edges.csv", "0.05", "no variable"),
        ("empty.csv", "0.05", "the file is empty"),
    ],
)
def test_wrong_starts_are_refused(graftwork, chain_csv, tmp_path, monkeypatch, start, lam, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("a,b\na,nobody\n")
    (tmp_path / "empty.csv").write_text("")
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--start", start, "--lam", lam)
    assert result.code == 2
    assert words in " ".join(result.err.replace("│", " ").split())


def test_a_given_number_of_edges(graftwork, chain_csv, tmp_path):
    words = ["learn", chain_csv, "--out", tmp_path, "--jobs", "1", "--method"]
    own = "forced-pruning:exchange=2:delete=descent"
    result = graftwork(*words, own, "--edges", 3, "--tie", 4)
    assert result.code == 0, result.err
    said = " ".join(result.out.split())
    for part in ("Exchange ", "cheapest edges did not improve it", "Tying "):
        assert part in said
    model = load(tmp_path / "model.gw")
    assert model.n_edges == 3
    assert {("a", "b"), ("b", "c")} <= set(model.edges)
    info = read_info(tmp_path / "model.gw")
    assert info["method_options"] == {"exchange": 2, "delete": "descent"}
    assert info["exchange"]["rounds"] >= 1
    rounds = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert len(rounds) == len({record["index"] for record in rounds})
    assert "forced-pruning" in graftwork("show", tmp_path / "model.gw").out
    result = graftwork(*words, "forced-pruning", "--edges", 99)
    assert "fewer than the 99 edges asked for: there are no more pairs" in " ".join(
        result.out.split()
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "auto:exchange=2"], "auto has no option 'exchange'"),
        (["--method", "forced-pruning:delete=worst"], "descent, greedy, rejection, mcmc"),
        (["--method", "forced-pruning:exchange=0"], "exchange"),
    ],
)
def test_options_of_exchanges_that_mean_nothing(graftwork, chain_csv, tmp_path, words, said):
    result = graftwork("learn", chain_csv, "--out", tmp_path / "run", *words)
    assert result.code == 2
    assert said in " ".join(result.err.split())
    assert not (tmp_path / "run").exists()


def test_errors_of_order_and_bins_speak_the_command_line(graftwork, tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("mood,age\n" + "low,31\nhigh,44\nmid,22\n" * 10)
    common = ["learn", data, "--out", tmp_path, "--no-plot", "--holdout", "0", *FAST]
    for options, words in (
        (["--ordinal", "all"], "write --ordinal mood:lowest,...,highest"),
        (["--ordinal", "moods"], "--ordinal names 'moods', which is not a column; did you mean"),
        (["--ordinal", "all"], "or --ordinal 'lowest < ... < highest' for every column"),
        (["--ordinal", "mood:low,high"], "--ordinal: 'mood' has the states"),
        (["--ordinal", "a < b"], "--ordinal 'a < b' orders nothing: no column has these answers"),
        (["--ordinal", "mood:low,low"], "--ordinal: 'mood' has the state 'low' in two places"),
        (["--ordinal", "age", "--penalty", "l1"], "--ordinal goes with --penalty group-l1"),
        (["--bins", "1"], "--bins must be a whole number greater than or equal to 2"),
        (["--bins", "1"], "by column (--bins age:5)"),
        (["--bins", "age:1"], "--bins of 'age' must be a whole number"),
        (["--bins", "mood:3"], "--bins names 'mood', which is not a column of numbers"),
        (["--bins", "ages:3"], "--bins names 'ages', which is not a column; did you mean 'age'"),
    ):
        refused = graftwork(*common, *options)
        assert refused.code == 2
        assert words in refused.err
        for python in ("ordinal=", "bins=", "states=", "dict", "['", "{'"):
            assert python not in refused.err
    assert (
        graftwork(*common, "--ordinal", "mood:low,mid,high", "--ordinal", "age:22,31,44").code == 0
    )
    assert load(tmp_path / "model.gw").scores == {"mood": (2.0, 0.0, 1.0), "age": (0.0, 1.0, 2.0)}


def test_one_scale_on_the_command_line_orders_all_items_with_its_answers(graftwork, tmp_path):
    data = tmp_path / "t.csv"
    rows = ["never,often,x,1", "often,rarely,y,2", "rarely,never,z,3", "often,often,x,3"]
    data.write_text("\n".join(["a,b,town,n", *rows * 10]))
    common = ["learn", data, "--out", tmp_path, "--no-plot", "--holdout", "0", *FAST]
    told = graftwork(*common, "--ordinal", "never < rarely < often", "--ordinal", "n")
    assert told.code == 0, told.err
    ranks = (0.0, 2.0, 1.0)  # never, often, rarely
    known = {"a": ranks, "b": ranks, "n": (1.0, 2.0, 3.0)}
    assert load(tmp_path / "model.gw").scores == known


def test_texts_that_mean_missing_add_to_the_usual_ones(graftwork, tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("mood,age\n" + "1,31\n2,44\n3,9\n9,22\n,\n2,?\n" * 10)
    common = ["learn", data, "--out", tmp_path, "--no-plot", "--holdout", "0", *FAST]
    common += ["--missing", "available-case"]
    told = graftwork(*common)
    assert told.code == 0
    assert "missing, --missing-values mood:9 says so" not in told.out  # the file has 9 as an age
    assert "Column 'mood' has 9 among other answers" in " ".join(told.out.split())
    assert "--missing-values mood:9 says so when a file is read" in " ".join(told.out.split())
    assert graftwork(*common, "--missing-values", "?", "--missing-values", "mood:9").code == 0
    assert load(tmp_path / "model.gw").states == {"mood": (1, 2, 3), "age": (9, 22, 31, 44)}
    scored = graftwork("score", tmp_path / "model.gw", data)  # as in learning
    assert scored.code == 0, scored.err
    only = graftwork(*common, "--missing-values", "?", "--keep-missing")
    assert only.code == 0
    assert load(tmp_path / "model.gw").states["mood"] == ("", "1", "2", "3", "9")
