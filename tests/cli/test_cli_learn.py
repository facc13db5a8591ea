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


def test_same_seed_same_files(graftwork, chain_csv, tmp_path):
    for name in ("one", "two"):
        graftwork("learn", chain_csv, "--out", tmp_path / name, "--seed", 5, *FAST)
    for name in ("model.gw", "edges.csv", "summary.txt", "network.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


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


def test_the_network_stays_if_it_cannot_be_measured(graftwork, chain_csv, tmp_path, monkeypatch):
    def fail(*_):
        raise DataError("a column is empty.")

    monkeypatch.setattr(measure, "_measure", fail)
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0
    assert "could not be measured: a column is empty." in " ".join(result.out.split())
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


def test_tiny_tables_hold_nothing_out(graftwork, tmp_path):
    data = tmp_path / "tiny.csv"
    data.write_text("a,b\nx,1\ny,2\nx,1\n")
    result = graftwork("learn", data, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0, result.err
    assert "3 are too few to spare some" in result.out


@pytest.mark.parametrize("policy", ["state", "drop-rows", "available-case"])
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


#: Options of methods and losses, and what learn and show say of them.
TOLD = {
    "--tie 2": (["take 2 values"], ["before its weights were tied"]),
    "--penalty none --lam auto --holdout 0": (
        ["There is no penalty.", "No rows were held out."], ["6 edges among 4 variables"],
    ),
    "--method chow-liu --lam auto --loss likelihood": (
        ["no sparsity penalty", "its edges were given"], ["chow-liu"],
    ),
    "--method grafting-light:count=20:memory=false --penalty l1": (
        ["features left out were tested", "single entries of their tables"],
        ["grafting-light (count 20, memory False)", "penalty l1"],
    ),
    "--method first-hit --max-edges 1 --holdout 0.2": (
        ["the edge budget was reached", "60 rows held out"], ["first-hit"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("options", TOLD)
def test_what_learn_and_show_say_of_methods(graftwork, chain_csv, tmp_path, options):
    words = ["--out", tmp_path, "--no-plot", *FAST, *options.split()]
    result = graftwork("learn", chain_csv, *words)
    assert result.code == 0, result.err
    shown = graftwork("show", tmp_path / "model.gw").out
    for said, parts in zip((result.out, shown), TOLD[options], strict=True):
        for part in parts:
            assert part in " ".join(said.split())


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
    assert graftwork(*common, "--ordinal", "a:never,rarely,often", "--ordinal", "n:3,1,2").code == 0
    assert load(tmp_path / "model.gw").scores == {"a": ranks, "n": (1.0, 2.0, 0.0)}


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
