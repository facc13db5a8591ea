import csv
import json
import os
import signal
import subprocess
import sys

import pytest

from graftwork.models import PairwiseMRF

from doors.cli import METHODS

FAST = ["--lam", "0.05", "--jobs", "1"]
FILES = {"comparison.csv", "rounds.csv", "comparison.txt", "comparison.json", "comparison.png"}


@pytest.fixture
def truth_csv(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("first,second,strength\na,b,1.0\nc,b,2.0\n")
    return path


def table_of(folder):
    with (folder / "comparison.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_compare_writes_everything(graftwork, chain_csv, truth_csv, tmp_path):
    out = tmp_path / "deep" / "compare"
    result = graftwork(
        "compare", chain_csv, "--methods", "best-choice, edge-grafting", "-m", "first-hit",
        "--truth", truth_csv, "--holdout", "0.2", "--out", out, *FAST,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert {p.name for p in out.iterdir()} == FILES
    assert (out / "comparison.txt").read_text() in result.out
    for part in ("240 rows, 4 variables", "60 test rows", "2 true edges", "agree"):
        assert part in result.out
    assert result.lines[:2] == [
        f"reading {chain_csv}",
        "comparing on 240 rows of 4 variables",
    ]
    assert [line.split(":")[0] for line in result.lines[2:5]] == [
        "best-choice", "edge-grafting", "first-hit",
    ]  # fmt: skip
    rows = table_of(out)
    assert [row["recall"] for row in rows] == ["1.0"] * 3
    assert [row["converged"] for row in rows] == ["True"] * 3


def test_embedded_data_and_the_usual_methods(graftwork, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = graftwork(
        "compare", "mushroom", "--lam", "0.15", "--jobs", "1", "--max-edges", "3", "--no-plot", "-q"
    )
    assert (result.code, result.out, result.err) == (0, "", "")
    assert {p.name for p in (tmp_path / "compare").iterdir()} == FILES - {"comparison.png"}
    assert [row["method"] for row in table_of(tmp_path / "compare")] == [
        "best-choice", "edge-grafting", "first-hit", "grafting-light",
    ]  # fmt: skip


def test_all_methods_can_be_asked_for(graftwork, chain_csv, tmp_path):
    words = ["-m", "all,grafting-light:count=3", "--penalty", "l1", "--out", tmp_path, "--no-plot"]
    result = graftwork("compare", chain_csv, *words, *FAST)
    assert result.code == 0, result.err
    rows = table_of(tmp_path)
    assert [row["method"] for row in rows] == [*METHODS, "grafting-light:count=3"]
    assert {row["method"] for row in rows if row["converged"] != "True"} == {"chow-liu"}
    assert "The 13 methods that converged agree" in result.out
    assert "chow-liu is not certified optimal: its edges were given" in result.out.replace(
        "\n", " "
    )


def test_methods_have_options_of_their_own(graftwork, chain_csv, tmp_path):
    methods = "best-choice:alpha=1:structure=false,best-choice,best-choice,first-hit:max-edges=1"
    result = graftwork("compare", chain_csv, "-m", methods, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0, result.err
    stored = json.loads((tmp_path / "comparison.json").read_text())["methods"]
    assert [record["method"] for record in stored] == [
        "best-choice:alpha=1:structure=false",
        "best-choice",
        "best-choice (2)",
        "first-hit:max-edges=1",
    ]
    assert stored[0]["settings"]["method_options"] == {"alpha": 1, "structure": False}
    assert stored[1]["settings"]["method_options"] is None
    assert stored[3]["edges"] == 1
    assert "did not converge: the edge budget was reached" in " ".join(result.out.split())


@pytest.mark.parametrize("text", ["a,b\nb,c\n", "b;a\nc;b\n", "von\tnach\na\tb\nb\tc\n"])
def test_truth_files(graftwork, chain_csv, tmp_path, text):
    truth = tmp_path / "edges.txt"
    truth.write_text(text)
    out = tmp_path / "out"
    words = ["compare", chain_csv, "-m", "first-hit", "--out", out, "--no-plot", "-q", *FAST]
    assert graftwork(*words, "--truth", truth).code == 0
    by_file = table_of(out)[0]
    model = PairwiseMRF(
        {name: [0, 1] for name in "abcd"},
        None,
        {("a", "b"): [[1, 0], [0, 1]], ("b", "c"): [[1, 0], [0, 1]]},
    )
    model.save(tmp_path / "truth.gw")
    assert graftwork(*words, "--truth", tmp_path / "truth.gw").code == 0
    for name in ("recall", "precision", "f1"):
        assert table_of(out)[0][name] == by_file[name]
    assert by_file["recall"] == "1.0"


def test_edges_of_learn_are_a_truth(graftwork, chain_csv, tmp_path):
    graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", "--holdout", "0", *FAST)
    words = ["--truth", tmp_path / "edges.csv", "--out", tmp_path, "--holdout", "0", "--no-plot"]
    assert graftwork("compare", chain_csv, "-m", "edge-grafting", *words, *FAST).code == 0
    assert table_of(tmp_path)[0]["f1"] == "1.0"


def test_lambda_can_be_chosen_and_tiny_tables_hold_nothing_out(graftwork, tmp_path):
    data = tmp_path / "tiny.csv"
    data.write_text("größe,b\nx,1\ny,2\nx,1\n")
    result = graftwork("compare", data, "--out", tmp_path, "--jobs", "1")
    assert result.code == 0, result.err
    assert "3 are too few to spare some" in result.out
    assert "test rows" not in result.out


def test_without_matplotlib_the_rest_is_written(graftwork, chain_csv, tmp_path, no_matplotlib):
    result = graftwork("compare", chain_csv, "-m", "first-hit", "--out", tmp_path / "o", *FAST)
    assert result.code == 0
    assert "pip install 'graftwork[plot]'" in result.err
    assert {p.name for p in (tmp_path / "o").iterdir()} == FILES - {"comparison.png"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["absent.csv"], "no such file"),
        (["absent.csv", "-m", "magic"], "best-choice"),
        (["{csv}", "--methods", "best-choise"], "did you mean 'best-choice'"),
        (["absent.csv", "--methods", ","], "name some of"),
        (["absent.csv", "--methods", "full:alpha=1"], "full has no option 'alpha'"),
        (["{csv}", "--methods", "best-choice:alpha"], "NAME:OPTION=VALUE"),
        (["{csv}", "--methods", "best-choice:alpa=1"], "alpha"),
        (["{csv}", "--methods", "best-choice:alpha=x"], "alpha"),
        (["{csv}", "--methods", "best-choice:lam=1"], "lam"),
        (["{csv}", "--lam", "few"], "'--lam'"),
        (["{csv}", "--penalty", "l2"], "--lam must be a number with --penalty l2"),
        (["{csv}", "--holdout", "2"], "'--holdout'"),
        (["{csv}", "--out", "{csv}"], "--out"),
        (["{csv}", "--truth", "absent.csv"], "'absent.csv': no such file"),
        (["{csv}", "--truth", "."], "is a directory"),
        (["{csv}", "--truth", "{csv}"], "no variable"),
        (["{csv}", "--truth", "bad.csv"], "bad.csv: line 3: there is no variable 'aa'; did you"),
        (["{csv}", "--truth", "one.csv"], "one.csv: line 1 does not have two names"),
        (["{csv}", "--truth", "loop.csv"], "itself"),
        (["{csv}", "--truth", "broken.gw"], "broken.gw"),
        ([], "Missing argument"),
    ],
)
def test_compare_refuses_in_one_sentence(graftwork, chain_csv, tmp_path, words, told, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("from,to\na,b\naa,b\n")
    (tmp_path / "one.csv").write_text("a\nb\n")
    (tmp_path / "loop.csv").write_text("a,a\n")
    (tmp_path / "broken.gw").write_text("no model")
    filled = [word.replace("{csv}", str(chain_csv)) for word in words]
    result = graftwork("compare", *filled, "--no-plot")
    assert result.code == 2
    assert result.out == ""
    errors = [line for line in result.lines if line.startswith("error: ")]
    assert errors == result.lines[-1:]
    assert told in errors[0]
    assert "Traceback" not in result.err


def test_a_method_that_fails_is_told(graftwork, chain_csv, tmp_path, monkeypatch):
    from graftwork.errors import TooLargeError
    from graftwork.estimators import MarkovNetwork

    fit = MarkovNetwork.fit

    def failing(self, X, *rest):
        if self.method == "first-hit" and len(X) > 100:
            raise TooLargeError("this is too large.")
        return fit(self, X, *rest)

    monkeypatch.setattr(MarkovNetwork, "fit", failing)
    words = ["-m", "first-hit,best-choice", "--out", tmp_path, "--no-plot", *FAST]
    result = graftwork("compare", chain_csv, *words)
    assert result.code == 2
    assert result.lines[-1] == "first-hit is missing: this is too large."
    assert [row["method"] for row in table_of(tmp_path)] == ["best-choice"]


def test_help_has_examples(graftwork):
    result = graftwork("compare", "--help")
    assert result.code == 0
    assert "graftwork compare mushroom" in result.out
    assert "compare" in graftwork("--help").out


def test_interrupt_writes_what_there_is(tmp_path):
    code = (
        "import sys; from graftwork.cli import progress, main; progress._PAUSE = 0.0; "
        "sys.exit(main(sys.argv[1:]))"
    )
    # A network of nearly all pairs, solved to the last digit: long enough to be stopped.
    words = ["compare", "mushroom", "--lam", "0.0005", "--no-plot", "--jobs", "1", "--tol", "1e-9",
             "--methods", "first-hit:max-edges=5,best-choice,edge-grafting"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    while not (line := process.stderr.readline()).startswith("best-choice (stage"):
        assert process.poll() is None
        assert line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert err.splitlines()[-2:] == [
        "edge-grafting is missing: not run, because of the interrupt",
        "interrupted; the results so far are in compare.",
    ]
    assert "best-choice did not converge: it was interrupted." in out
    rows = table_of(tmp_path / "compare")
    assert [row["stop"] for row in rows] == ["edges", "interrupted"]


def test_interrupt_before_comparing(tmp_path, monkeypatch, capsys):
    from graftwork.cli import main

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graftwork.cli.compare.read_source", interrupted)
    assert main(["compare", "mushroom"]) == 130
    assert "interrupted before there was anything to compare" in capsys.readouterr().err


def test_methods_may_have_starts_of_their_own(graftwork, chain_csv, tmp_path):
    methods = "best-choice,best-choice:start=chow-liu,chow-liu:max-edges=1"
    result = graftwork("compare", chain_csv, "-m", methods, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0, result.err
    stored = json.loads((tmp_path / "comparison.json").read_text())["methods"]
    assert [record["settings"]["start"] for record in stored] == [None, "chow-liu", None]
    assert abs(stored[0]["objective"] - stored[1]["objective"]) < 1e-6
    assert stored[2]["edges"] == 1
    wrong = graftwork(
        "compare", chain_csv, "-m", "best-choice:start=tree", "--out", tmp_path, *FAST
    )
    assert wrong.code != 0
    assert "--start tree is not known" in wrong.err
