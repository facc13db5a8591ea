import csv
import io
import json
import re

import numpy as np
import pytest
import scipy.stats

import graftwork as gw


def test_query_prints_marginals(graftwork, model, model_file):
    result = graftwork("query", model_file, "visits", "--given", "wet=true")
    assert result.code == 0
    assert "given wet = True" in result.out
    p = model.marginals({"wet": True})["visits"]
    assert [f"{value:.4f}" in result.out for value in p] == [True] * 3
    assert "rain" not in result.out
    assert result.err == ""


def test_query_without_variables_prints_all_that_is_not_given(graftwork, model_file):
    out = graftwork("query", model_file, "--given", "rain=yes").out
    assert "visits\n" in out
    assert "\nrain\n" not in out


def test_query_json_keeps_types(graftwork, model, model_file):
    result = graftwork(
        "query", model_file, "visits", "--given", "wet=True", "--map", "--pair", "rain,visits",
        "--log-partition", "--json",
    )  # fmt: skip
    answer = json.loads(result.out)
    evidence = {"wet": True}
    assert answer["given"] == evidence
    assert answer["marginals"]["visits"]["states"] == [0, 1, 2]
    expected = model.marginals(evidence)["visits"]
    np.testing.assert_allclose(answer["marginals"]["visits"]["probabilities"], expected)
    assert answer["map"] == model.map(evidence)
    table = model.pair_marginal("rain", "visits", evidence)
    np.testing.assert_allclose(answer["pair"]["probabilities"], table)
    assert answer["log_partition"] == pytest.approx(model.log_partition(evidence))


def test_query_map_and_pair_as_text(graftwork, model, model_file):
    result = graftwork("query", model_file, "--map", "--pair", "rain,wet", "--log-partition")
    assert "most probable joint state" in result.out
    assert "rain (down) and wet (across)" in result.out
    assert f"{model.log_partition():.6f}" in result.out


def test_query_shows_what_the_rows_say_of_a_pair_and_which_weights_answer(graftwork, tmp_path):
    rows = [["sun", "dry"], ["rain", "wet"], ["rain", "dry"], ["rain", "dry"]] * 50
    model = gw.MarkovNetwork().fit(rows).model_
    for network, words in ((model, "unaries calibrated"), (model.refit(), "by the likelihood")):
        network.save(tmp_path / "model.gw")
        told = graftwork("query", tmp_path / "model.gw", "x0", "--pair", "x1,x0").out
        assert any(line.startswith("weights: ") and words in line for line in told.splitlines())
        assert [line.split()[-2:] for line in told.splitlines()[-2:]] == [
            ["50.0%", "25.0%"], ["25.0%", "0.0%"]
        ]  # fmt: skip
    found = json.loads(graftwork("query", tmp_path / "model.gw", "--pair", "x1,x0", "--json").out)
    assert found["pair"]["data"] == [[0.5, 0.25], [0.25, 0.0]]
    given = graftwork("query", tmp_path / "model.gw", "--pair", "x1,x0", "--given", "x0=rain").out
    assert "data" not in given


def test_query_by_tree_reweighted_propagation(graftwork, model_file):
    result = graftwork("query", model_file, "--log-partition", "--inference", "trw")
    assert result.code == 0, result.err
    exact = graftwork("query", model_file, "--log-partition").out
    assert result.out.endswith(", an upper bound\n")
    assert float(result.out.split()[3].rstrip(",")) >= float(exact.split()[3])


def test_sample_then_score(graftwork, model, model_file, tmp_path):
    rows = tmp_path / "rows.csv"
    assert graftwork("sample", model_file, 50, "--seed", 1, "--out", rows).code == 0
    scores = tmp_path / "scores.csv"
    result = graftwork("score", model_file, rows, "--log-likelihood", "--per-row", scores)
    assert result.code == 0, result.err
    table = model.sample(50, None, 1)
    nlpl = -model.log_pseudo_likelihood(table)
    assert f"{nlpl.mean():.6f} nats per row" in result.out
    assert f"{model.log_prob(table).mean():.6f} nats per row, exact" in result.out
    with open(scores, newline="") as file:
        written = list(csv.DictReader(file))
    np.testing.assert_allclose([float(row["nlpl"]) for row in written], nlpl)
    assert [row["row"] for row in written[:2]] == ["1", "2"]


def test_score_takes_columns_by_name_and_weights(graftwork, model, model_file, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("n,other,wet,visits,rain\n3,,true,2.0,yes\n1,q,false,0,no\n")
    result = graftwork("score", model_file, rows, "--weights", "n")
    values = -model.log_pseudo_likelihood([["yes", 2, True], ["no", 0, False]])
    assert f"{np.average(values, weights=[3, 1]):.6f}" in result.out


def test_sample_to_stdout_obeys_evidence_and_seed(graftwork, model_file):
    one = graftwork("sample", model_file, 20, "--given", "visits=2", "--seed", 3)
    rows = list(csv.DictReader(io.StringIO(one.out)))
    assert len(rows) == 20
    assert {row["visits"] for row in rows} == {"2"}
    again = graftwork("sample", model_file, 20, "--given", "visits=2", "--seed", 3)
    assert one.out == again.out
    assert graftwork("sample", model_file, 0).code == 2
    assert graftwork("sample", model_file, 5, "--method", "gibbs", "--seed", 0).code == 0


def test_show_says_what_is_there(graftwork, model_file, tmp_path):
    picture, edges = tmp_path / "n.png", tmp_path / "e.csv"
    result = graftwork("show", model_file, "--plot", picture, "--edges", edges)
    assert result.code == 0
    for part in ("2 edges among 3 variables", "rain.csv, 12 rows", "0, 1, 2", "goes with"):
        assert part in result.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(edges.read_text().splitlines()) == 3
    assert graftwork("show", model_file, "--plot", tmp_path / "n.docx").code == 2


def test_show_writes_the_couplings_of_all_pairs(graftwork, model_file, tmp_path):
    assert graftwork("show", model_file, "--couplings", tmp_path / "c.csv").code == 0
    with open(tmp_path / "c.csv", newline="") as lines:
        written = list(csv.DictReader(lines))
    expected = gw.load(model_file).couplings("apc").to_dict("records")
    assert [(r["first"], r["second"]) for r in written] == [
        (r["first"], r["second"]) for r in expected
    ]
    assert [float(r["apc"]) for r in written] == [r["apc"] for r in expected]
    assert len(written) == 3


def test_show_tells_of_tests_what_the_summary_tells(graftwork, chain_csv, tmp_path):
    run = tmp_path / "run"
    learned = graftwork("learn", chain_csv, "--out", run, "--holdout", 0, "--no-plot", "--quiet")
    assert learned.code == 0
    summary = (run / "summary.txt").read_text()
    shown = graftwork("show", run / "model.gw", "--edges", tmp_path / "edges.csv").out
    start = summary.index("What the numbers mean")
    meaning = summary[start : summary.index("\n\n", start)]
    assert "q = " in meaning
    assert meaning in shown
    edges = [line for line in summary.splitlines() if ", p = " in line]
    assert edges
    assert all(line in shown for line in edges)
    assert "at a false discovery rate of 0.01" in " ".join(shown.split())
    assert (tmp_path / "edges.csv").read_text() == (run / "edges.csv").read_text()


def test_show_tells_order_and_shape_and_edges_csv_has_the_tests(graftwork, tmp_path):
    scores = np.arange(4) - 1.5
    tables = {
        ("mood", "sleep"): 0.5 * np.outer(scores, scores),
        ("work", "rest"): 0.5 * np.outer(scores**2 - 1.25, scores**2 - 1.25),
    }
    words = ["never", "rarely", "often", "always"]
    states = dict.fromkeys(("mood", "sleep", "work", "rest"), words) | {"town": ["x", "y", "z"]}
    rows = gw.PairwiseMRF(states, None, tables).sample(500, random_state=0)
    rows.write_csv(tmp_path / "rows.csv")
    order = [f"--ordinal={name}:{','.join(words)}" for name in list(states)[:4]]
    run = tmp_path / "run"
    out = graftwork(
        "learn", tmp_path / "rows.csv", "--out", run, *order, "--holdout", 0, "--no-plot"
    )
    assert out.code == 0
    shown = graftwork("show", run / "model.gw").out
    assert "mood   never < rarely < often < always" in shown
    assert "town   x, y, z" in shown
    shape = out.out[out.out.index("Shape") : out.out.index("What the numbers")]
    assert "is not linear and has a whole table: work - rest" in " ".join(shape.split())
    assert shape in shown
    assert re.search(r"work - rest  strength [\d.]+, weight [^:]+ not linear, p = ", shown)
    with (run / "edges.csv").open(encoding="utf-8") as file:
        edges = {(row["first"], row["second"]): row for row in csv.DictReader(file)}
    straight, bent = edges["mood", "sleep"], edges["work", "rest"]
    assert float(straight["df"]) == 1.0
    assert float(bent["df"]) > 1.0
    for row in (straight, bent):  # the p-value is the tail of the statistic
        tail = scipy.stats.chi2.sf(float(row["statistic"]), float(row["df"]))
        assert np.log(tail) == pytest.approx(np.log(float(row["p_value"])), rel=1e-6)
    assert float(straight["linear_share"]) == pytest.approx(1.0)
    assert float(bent["linear_share"]) < 0.5


def test_show_says_that_a_file_keeps_no_p_values(graftwork, chain_csv, tmp_path):
    net = gw.MarkovNetwork().fit(gw.read_table(chain_csv))
    info = net.info()
    del info["edge_tests"]
    net.model_.save(tmp_path / "old.gw", info=info)
    shown = graftwork("show", tmp_path / "old.gw")
    assert shown.code == 0
    assert "The p-values of its edges are not in this file" in shown.out
    net = gw.MarkovNetwork(lam=0.05).fit(gw.read_table(chain_csv))
    net.save(tmp_path / "given.gw")
    assert "p-value" not in graftwork("show", tmp_path / "given.gw").out


@pytest.mark.parametrize(
    "info",
    [
        {"edge_tests": 3, "choice": [], "tests": 1, "fdr": "x"},
        {
            "edge_tests": [[1]],
            "choice": {"how": "tests", "tests": {"a": 1}},
            "tests": 2,
            "fdr": 0.1,
        },
    ],
)
def test_show_bears_any_info(graftwork, tmp_path, info):
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, pairwise={("a", "b"): [[1, 0], [0, 1]]})
    model.save(tmp_path / "odd.gw", info=info)
    assert graftwork("show", tmp_path / "odd.gw").code == 0


def test_show_takes_the_folder_of_a_model(graftwork, model, tmp_path):
    model.save(tmp_path / "model.gw")
    shown = graftwork("show", tmp_path)
    assert (shown.code, shown.out) == (0, graftwork("show", tmp_path / "model.gw").out)
    (tmp_path / "model.gw").rename(tmp_path / "model-1.gw")
    refused = graftwork("show", tmp_path)
    assert refused.code == 2
    assert "is a folder without a model.gw; name one of its files: model-1.gw." in refused.err
