import csv
import json
import os
import signal
import subprocess
import sys

import pytest

from doors.cli import CHAIN_METHODS
from doors.estimators import METHODS, ChainCRF

SMALL = [
    "--sequences", "60", "--test-sequences", "30", "--length", "4", "--inputs", "12",
    "--relevant", "3", "--jobs", "1",
]  # fmt: skip
FILES = {"comparison.csv", "rounds.csv", "comparison.txt", "comparison.json", "comparison.png"}


@pytest.fixture
def sentences(tmp_path):
    """Sentences with words, tags and chunks, to learn from and to test on."""
    one = "The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n"
    two = "Dogs NNS B-NP\nbark VBP B-VP\nat IN B-PP\nthe DT B-NP\nman NN I-NP\n"
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    train.write_text("\n".join([one, two] * 6))
    test.write_text(f"{one}\nThe DT B-NP\nman NN I-NP\nsays VBZ B-VP\nno UH B-INTJ\n")
    return train, test


def table_of(folder):
    with (folder / "comparison.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_methods_are_those_of_the_estimator():
    assert CHAIN_METHODS == METHODS


def test_the_synthetic_chain_with_select_units(graftwork, tmp_path):
    out = tmp_path / "deep" / "compare"
    words = ["-m", "grafting-light, grafting:tol=0.001", "-m", "full", "--select", "1, 5"]
    result = graftwork("compare-chains", *SMALL, *words, "--lam", "0.1", "--out", out)
    assert result.code == 0, result.err
    assert {p.name for p in out.iterdir()} == FILES
    assert (out / "comparison.txt").read_text() in result.out
    assert "Lambda is 0.1 on the mean loss of a sequence, 6 on the sum" in result.out
    assert result.lines[:2] == [
        "drawing sequences",
        "comparing on 60 sequences, 240 positions, 12 attributes",
    ]
    labels = [
        "grafting-light:select=1", "grafting-light:select=5",
        "grafting:tol=0.001:select=1", "grafting:tol=0.001:select=5", "full",
    ]  # fmt: skip
    assert [line.rpartition(": ")[0] for line in result.lines[2:7]] == labels
    rows = table_of(out)
    assert [row["method"] for row in rows] == labels
    assert [row["select"] for row in rows] == ["1", "5", "1", "5", ""]
    assert [row["converged"] for row in rows] == ["True"] * 5


def test_nothing_given_is_the_setting_of_the_paper(graftwork, tmp_path, monkeypatch):
    from graftwork.datasets import labelled_chains

    asked = {}

    def draw(*sizes, random_state):
        asked["sizes"] = sizes, random_state
        return labelled_chains(3001, 2, 3, 1, random_state=0)

    monkeypatch.setattr("graftwork.datasets.labelled_chains", draw)
    words = ["-m", "full", "--seed", "7", "--out", tmp_path, "--no-plot", "-q"]
    assert graftwork("compare-chains", *words).code == 0
    assert asked["sizes"] == ((5000, 8, 1000, 100, 2), 7)
    stored = json.loads((tmp_path / "comparison.json").read_text())
    assert stored["sequences"] == 3000
    assert stored["lam"] * 3000 == pytest.approx(64)


@pytest.mark.parametrize("strength", [["--c1", "0.6"], ["--lam", "0.05"]])
def test_sentences_of_files(graftwork, sentences, tmp_path, strength):
    train, test = sentences
    out = tmp_path / "out"
    words = ["--test", test, "-m", "full", "--out", out, "--no-plot", "--jobs", "1"]
    result = graftwork("compare-chains", train, *words, *strength)
    assert result.code == 0, result.err
    stored = json.loads((out / "comparison.json").read_text())
    assert stored["lam"] == pytest.approx(0.05)
    assert stored["sequences"] == 12
    # six of seven tokens are easy; nobody has seen the chunk of the last one
    assert float(table_of(out)[0]["test_error"]) == pytest.approx(1 / 7)
    assert "comparison.png" not in {p.name for p in out.iterdir()}


def test_templates(graftwork, sentences, tmp_path):
    train, _ = sentences
    words = ["compare-chains", train, "-m", "full", "--out", tmp_path / "o", "--no-plot", "-q"]
    template = tmp_path / "my.tpl"
    template.write_text("word[0]\ntransitions\n")
    assert graftwork(*words, "--template", template).code == 0
    stored = json.loads((tmp_path / "o" / "comparison.json").read_text())
    assert stored["attributes"] == 8
    template.write_text("word[0]\n")
    result = graftwork(*words[:-1], "--template", template)
    assert result.code == 0
    assert "a chain always learns which label follows which" in result.err
    alone = tmp_path / "words.txt"
    alone.write_text("the D\ndog N\n\nbark V\n")
    assert graftwork("compare-chains", alone, *words[2:]).code == 0


def test_types_and_separators(graftwork, sentences, tmp_path):
    files = []
    for path in sentences:
        files.append(tmp_path / f"tabs-{path.name}")
        files[-1].write_text(path.read_text().replace(" ", "|"))
    words = ["--types", "VP", "--sep", "|", "-m", "full", "--lam", "0.05", "--jobs", "1"]
    out = ["--out", tmp_path / "o", "--no-plot"]
    result = graftwork("compare-chains", files[0], "--test", files[1], *words, *out)
    assert result.code == 0, result.err
    stored = json.loads((tmp_path / "o" / "comparison.json").read_text())
    assert stored["labels"] == 2
    assert stored["test_sequences"] == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["absent.txt"], "no such file"),
        (["absent.txt", "-m", "best-choice"], "there is no method 'best-choice'"),
        (["-m", "grafting-lite"], "did you mean 'grafting-light'"),
        (["-m", ","], "name some of grafting-light, full"),
        (["-m", "full:count=1"], "full has no option 'count'"),
        (["-m", "grafting:lam=1"], "lam"),
        (["-m", "full:select=3", *SMALL], "leave out --select 3"),
        (["-m", "grafting:select=x", *SMALL], "--select must be"),
        (["--select", "1,x"], "no list of whole numbers"),
        (["--select", "0"], "no list of whole numbers"),
        (["--lam", "0.1", "--c1", "1"], "leave one out"),
        (["--lam", "0", *SMALL], "--lam must be"),
        (["--lam", "-1"], "'--lam'"),
        (["--test", "x.txt"], "--test needs a file to learn from"),
        (["--template", "words"], "--template needs a file to learn from"),
        (["--types", "NP"], "--types needs a file to learn from"),
        (["{txt}", "--types", "XP"], "there is no chunk type 'XP'"),
        (["{txt}", "--test", "{narrow}"], "narrow.txt: there are 2 columns, but train.txt has 3"),
        (["{txt}", "--test-sequences", "5"], "--test-sequences is for synthetic sequences"),
        (["{txt}", "--template", "magic"], "magic"),
        (["{txt}", "--test", "absent.txt"], "absent.txt: there is no such file"),
        (["--relevant", "9", "--inputs", "3"], "n_relevant"),
        (["--out", "{txt}"], "--out"),
    ],
)
def test_compare_chains_refuses_in_one_sentence(
    graftwork, sentences, tmp_path, words, told, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    narrow = tmp_path / "narrow.txt"
    narrow.write_text("The B-NP\ndog I-NP\n")
    files = {"{txt}": str(sentences[0]), "{narrow}": str(narrow)}
    filled = [files.get(word, word) for word in words]
    result = graftwork("compare-chains", *filled, "--no-plot")
    assert result.code == 2
    assert result.out == ""
    errors = [line for line in result.lines if line.startswith("error: ")]
    assert errors == result.lines[-1:]
    assert told in errors[0]


def test_a_method_that_fails_is_told(graftwork, tmp_path, monkeypatch):
    from graftwork.errors import TooLargeError

    fit = ChainCRF.fit

    def failing(self, X, *rest):
        if self.method == "grafting" and len(X) > 40:
            raise TooLargeError("this is too large.")
        return fit(self, X, *rest)

    monkeypatch.setattr(ChainCRF, "fit", failing)
    words = ["-m", "grafting,full", "--out", tmp_path, "--no-plot"]
    result = graftwork("compare-chains", *SMALL, *words)
    assert result.code == 2
    assert result.lines[-1] == "grafting is missing: this is too large."
    assert [row["method"] for row in table_of(tmp_path)] == ["full"]


def test_help_has_examples(graftwork):
    result = graftwork("compare-chains", "--help")
    assert result.code == 0
    assert "graftwork compare-chains train.txt --test test.txt" in result.out
    assert "compare-chains" in graftwork("--help").out


def test_interrupt_writes_what_there_is(tmp_path):
    code = (
        "import sys; from graftwork.cli import progress, main; progress._PAUSE = 0.0; "
        "sys.exit(main(sys.argv[1:]))"
    )
    words = ["compare-chains", *SMALL, "--sequences", "600", "--no-plot", "--tol", "1e-9",
             "-m", "grafting-light:select=1:max-iter=2,gauss-seidel:select=1",
             "-m", "grafting"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    while not (line := process.stderr.readline()).startswith("gauss-seidel:select=1 (stage"):
        assert process.poll() is None
        assert line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert err.splitlines()[-2:] == [
        "grafting is missing: not run, because of the interrupt",
        "interrupted; the results so far are in compare.",
    ]
    assert "features, objective" in err
    assert [row["stop"] for row in table_of(tmp_path / "compare")] == ["rounds", "interrupted"]
    assert "did not converge: it was interrupted" in " ".join(out.split())


def test_interrupt_before_comparing(tmp_path, monkeypatch, capsys):
    from graftwork.cli import main

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graftwork.cli.compare_chains.draw", interrupted)
    assert main(["compare-chains"]) == 130
    assert "interrupted before there was anything to compare" in capsys.readouterr().err
