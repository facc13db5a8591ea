"""--preset: a paper's settings, which options that are typed override."""

import itertools

import numpy as np
import pytest

import graftwork as gw
from graftwork.models import load, read_info

from doors.groups import compare_groups

QUICK = ["--no-plot", "--jobs", "1", "--holdout", "0", "-q"]
LAMS = dict.fromkeys(("priority-paper", "l1-markov-paper", "grafting-light-paper"), 0.05)


@pytest.fixture
def chain_csv(tmp_path):
    """A file of 300 rows of 4 binary columns, a - b - c and d, so weak that BP converges."""
    rng = np.random.default_rng(0)
    a, d = rng.integers(2, size=(2, 300))
    b = np.where(rng.random(300) < 0.75, a, 1 - a)
    c = np.where(rng.random(300) < 0.75, b, 1 - b)
    path = tmp_path / "weak.csv"
    lines = [",".join(map(str, row)) for row in zip(a, b, c, d, strict=True)]
    path.write_text("\n".join(["a,b,c,d", *lines]) + "\n")
    return path


@pytest.fixture
def settings_of(graftwork, chain_csv, tmp_path):
    """Learn with some options; return the settings in the model's file."""

    def learn(*words, data=chain_csv):
        result = graftwork("learn", data, "--out", tmp_path / "run", *words, *QUICK)
        assert result.code == 0, result.err
        return read_info(tmp_path / "run" / "model.gw")["settings"]

    return learn


def lam_of(name):
    return ["--lam", LAMS[name]] if name in LAMS else []


@pytest.mark.parametrize("name", ["best-choice-paper", "priority-paper", "forced-pruning-paper"])
def test_a_preset_learns_what_it_learns_in_python(settings_of, chain_csv, tmp_path, name):
    found = settings_of("--preset", name, *lam_of(name))
    expected = gw.preset(name, 4, lam=LAMS.get(name))
    assert {key: found.get(key) for key in expected} == expected
    given = gw.MarkovNetwork(**expected, random_state=0, n_jobs=1).fit(str(chain_csv)).model_
    model = load(tmp_path / "run" / "model.gw")
    assert model.edges == given.edges
    np.testing.assert_array_equal(model.potentials.weights, given.potentials.weights)


def test_a_preset_is_what_its_options_are(settings_of):
    short = settings_of("--preset", "best-choice-paper")
    words = ["--method", "best-choice:tests=2", "--loss", "likelihood", "--lam", "0.05"]
    words += ["--inference", "bp:rule=product", "--l2", "0.75", "--penalize-unary"]
    assert short == settings_of(*words)


def test_typed_defaults_override_a_preset(settings_of):
    paper = settings_of("--preset", "best-choice-paper")
    # the options' own defaults, and what stands for them
    words = ["--l2", "0", "--unary-lam", "0", "--inference", "auto", "--loss", "pseudolikelihood"]
    words += ["--penalty", "group-l1", "--lam", "0.02"]
    found = settings_of(*words, "--preset", "best-choice-paper")
    assert found == settings_of(*words, "--method", "best-choice:tests=2")
    assert "penalty_options" not in found
    assert paper["penalty_options"] == {"l2": 0.75, "unary": True}


@pytest.mark.parametrize(
    ("preset", "method", "expected"),
    [
        ("priority", "priority:central=2", {"central": 2, "density": 0.05, "epsilon": 1e-4}),
        ("best-choice", "best-choice:alpha=1", {"tests": 2, "alpha": 1}),
        ("best-choice", "best-choice:tests=none", {"tests": None}),
        ("best-choice", "first-hit", None),
        ("priority", "best-choice:alpha=0", {"alpha": 0}),
        ("l1-markov", "grafting", None),
    ],
)
def test_options_of_a_method_are_added_to_those_of_the_same(settings_of, preset, method, expected):
    name = f"{preset}-paper"
    found = settings_of("--preset", name, "--method", method, *lam_of(name))
    assert found["method"] == method.split(":")[0]
    assert found.get("method_options") == expected
    assert found["loss"] == "likelihood"


def test_the_order_of_words_makes_no_difference(settings_of):
    words = (["--preset", "priority-paper"], ["--lam", "0.2"], ["--l2", "0.1"])
    found = [settings_of(*itertools.chain(*order)) for order in itertools.permutations(words)]
    assert all(one == found[0] for one in found)
    assert (found[0]["lam"], found[0]["penalty_options"]) == (0.2, {"l2": 0.1, "unary": True})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["best-choise-paper"], "not known; did you mean 'best-choice-paper'? The choices are"),
        (["l1-markov-paper"], "give --lam too, for example --lam 0.05."),
        (["grafting-light-paper"], "give --lam too, for example --lam 0.05."),
        (["grafting-light-paper", "--lam", "auto"], "give --lam too, for example --lam 0.05."),
        (["forced-pruning-paper", "--lam", "0.1"], "--lam 0.1 has no effect with --preset"),
        (
            ["best-choice-paper", "--loss", "pseudolikelihood"],
            "--inference bp:rule=product has no effect on the pseudo-likelihood: it is for --loss "
            "likelihood. Leave it out. The options that were not given are those of --preset "
            "best-choice-paper.",
        ),
    ],
)
def test_refusals_come_before_the_file_is_read(graftwork, tmp_path, words, said):
    for command in ("learn", "bootstrap", "compare-groups"):
        by = ["--by", "a"] if command == "compare-groups" else []
        result = graftwork(command, tmp_path / "no.csv", *by, "--preset", *words)
        assert result.code == 2
        assert said in result.lines[-1]


def test_resamples_have_the_preset(graftwork, chain_csv, tmp_path):
    words = ["--preset", "best-choice-paper", "--lam", "0.1", "--n", "2", "--no-case-dropping"]
    out = tmp_path / "boot"
    result = graftwork(
        "bootstrap", chain_csv, *words, "--out", out, "--no-plot", "--jobs", "1", "-q"
    )
    assert result.code == 0, result.err
    settings = gw.preset("best-choice-paper", 4, lam=0.1)
    expected = gw.MarkovNetwork(**settings, random_state=0).fit(str(chain_csv)).model_
    found = load(out / "reference.gw")
    np.testing.assert_array_equal(found.potentials.weights, expected.potentials.weights)


def test_groups_have_the_preset_of_the_other_columns(graftwork, tmp_path, monkeypatch):
    seen = {}

    def watched(*arguments, **settings):
        seen.update(settings)
        return compare_groups(*arguments, **settings)

    monkeypatch.setattr("graftwork.groups.compare.compare_groups", watched)
    rows = np.random.default_rng(0).integers(2, size=(200, 9))
    path = tmp_path / "rows.csv"
    names = "a,b,c,d,e,f,g,h,by"  # floor(sqrt(8)) is 2, and of all columns it would be 3
    path.write_text("\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n")
    words = ["--by", "by", "--preset", "best-choice-paper", "--fdr", "0.1", "--edge-fdr", "0.01"]
    result = graftwork(
        "compare-groups", path, *words, "--out", tmp_path / "out", "--no-plot", "--jobs", "1", "-q"
    )
    assert result.code == 0, result.err
    expected = gw.preset("best-choice-paper", 8)
    assert {key: seen[key] for key in expected} == expected
    assert (seen["fdr"], seen["edge_fdr"]) == (0.1, 0.01)


def test_counts_and_rows_in_parts_have_the_preset(settings_of, graftwork, chain_csv, tmp_path):
    words = ["--preset", "best-choice-paper"]
    expected = settings_of(*words)
    assert settings_of(*words, "--memory", "200MB") == expected
    counts = tmp_path / "counts.gwc"
    gw.count_pairs(chain_csv).save(counts)
    assert settings_of(*words, data=counts) == expected


def test_dry_run_and_measuring_have_the_preset(graftwork, chain_csv, tmp_path):
    words = ["learn", chain_csv, "--preset", "best-choice-paper", "--jobs", "1"]
    result = graftwork(*words, "--dry-run")
    assert result.code == 0, result.err
    assert "Memory" in result.out
    result = graftwork(*words, "--holdout", "0.2", "--out", tmp_path, "--no-plot")
    assert result.code == 0, result.err
    assert "60 rows held out" in " ".join(result.out.split())
    shown = graftwork("show", tmp_path / "model.gw").out
    assert "best-choice (tests 2)" in shown


def test_help_names_presets_and_their_defaults(graftwork):
    text = graftwork("learn", "--help").out
    assert all(name in text for name in gw.PRESETS)
    text = graftwork("learn", "--preset", "best-choice-paper", "--help").out
    assert "[default: 0.75]" in text
    assert "[default: likelihood]" in text
