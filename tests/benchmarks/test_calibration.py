"""The table of calibration: its truths are what they say, drawn as they say, and counted right."""

import json
from itertools import combinations

import numpy as np
import pytest
from calibration import added, is_high, main, shares_of
from situations import SITUATIONS, Truth, blocks, chain, copies, grid, hubs, three_way, truth_of


def enumerated(truth):
    """The joint distribution, cell by cell."""
    joint = np.empty(truth.cards)
    for cell in np.ndindex(*truth.cards):
        joint[cell] = sum(
            table[tuple(cell[i] for i in own)] for own, table in truth.factors.items()
        )
    joint = np.exp(joint)
    return joint / joint.sum()


def dependent(joint, i, j):
    """Whether two variables depend on each other given all others, by their odds ratios."""
    log = np.moveaxis(np.log(joint), (i, j), (0, 1))
    log = log.reshape(*log.shape[:2], -1)
    ratios = log - log[:1] - log[:, :1] + log[:1, :1]
    return np.abs(ratios).max() > 1e-6


def made():
    rng = np.random.default_rng(0)
    return {
        "grid": truth_of(2, 6, grid(2, 3), rng, 1.0),
        "blocks": truth_of(2, 6, blocks(2, 3), rng, 0.9, signs=(1.0,)),
        "hubs": truth_of(2, 8, hubs(8), rng, 1.0),
        "chain of three states": truth_of(3, 5, chain(5), rng, 0.6),
        "copies": copies(3, 0.95),
        "three-way": Truth((2, 3, 2, 2), {(2, 0, 1): rng.normal(size=(2, 2, 3)),
                                          (1, 3): rng.normal(size=(3, 2))}),
    }  # fmt: skip


@pytest.mark.parametrize("name", made())
def test_pairs_without_an_edge_are_independent_given_the_rest_and_no_others(name):
    truth = made()[name]
    joint = enumerated(truth)
    found = {pair for pair in combinations(range(len(truth.cards)), 2) if dependent(joint, *pair)}
    assert found == truth.edges
    if name == "copies":
        assert np.trace(joint.sum(axis=(2, 3))) == pytest.approx(0.95)


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "Gibbs"])
@pytest.mark.parametrize("name", ["grid", "chain of three states", "three-way"])
def test_rows_have_the_frequencies_of_the_truth(name, listed):
    truth, rng, count = made()[name], np.random.default_rng(1), 20_000
    joint = enumerated(truth).ravel()
    if listed:
        rows = truth.draw(count, rng)
    else:
        rows = np.empty((count, len(truth.cards)), dtype=int)
        truth.sample(rows, list(range(len(truth.cards))), rng, sweeps=30)
    seen = np.bincount(np.ravel_multi_index(rows.T, truth.cards), minlength=len(joint))
    chi = ((seen - count * joint) ** 2 / (count * joint)).sum()
    assert abs(chi - len(joint)) < 5.0 * np.sqrt(2.0 * len(joint))


def test_every_situation_can_be_drawn():
    for lines in SITUATIONS.values():
        for one in lines:
            case = one.make(60, np.random.default_rng(2))
            again = one.make(60, np.random.default_rng(2))
            assert len(case.rows) == 60
            assert np.array_equal(case.rows, again.rows)
            assert all(0 <= i < j < case.rows.shape[1] for i, j in case.edges)
            assert case.weights is None or (case.weights > 0).all()
    assert not three_way(10, np.random.default_rng(0)).edges - {(0, 2), (9, 11)} - chain(12)


def test_weights_have_the_design_effect_that_their_line_names():
    for one in SITUATIONS["weights"]:
        if "effect" in one.name:
            weights = one.make(3000, np.random.default_rng(3)).weights
            effect = len(weights) * (weights**2).sum() / weights.sum() ** 2
            assert effect == pytest.approx(float(one.name.split("effect ")[1][:3]), rel=0.06)
            assert weights.mean() == pytest.approx(25 if "25" in one.name else 1, rel=0.06)


def test_seeds_that_are_split_add_up_to_the_same_table(tmp_path, monkeypatch, capsys):
    one = SITUATIONS["null"][0]
    small = type(one)("tiny", (60,), lambda n, rng: one.make(n, rng))
    monkeypatch.setitem(SITUATIONS, "null", [small])
    whole = main(["null", "--repeats", "4"])
    for k, seeds in enumerate(("0:1", "1:4")):
        main(["null", "--seeds", seeds, "--json", str(tmp_path / f"{k}.json")])
    capsys.readouterr()
    both = main(["--add", str(tmp_path / "0.json"), str(tmp_path / "1.json")])
    assert both == whole
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert json.loads((tmp_path / "0.json").read_text())[0]["tables"] == 1


def test_lines_are_judged_by_the_rate_and_by_their_errors():
    shares = [0.0, 0.0, 0.1, 0.1]
    line = {
        "group": "g", "name": "n", "rows": 1, "pairwise": True, "tables": 4,
        "true": 9, "low": 0, "nulls": 9,
        "false": [sum(shares)] * 3, "squares": [sum(s * s for s in shares)] * 3, "recall": [1] * 3,
    }  # fmt: skip
    mean, error = shares_of(line)
    assert mean[0] == pytest.approx(np.mean(shares))
    assert error[0] == pytest.approx(np.std(shares, ddof=1) / 2)
    assert not is_high(line)  # .05 is above 1.3 times .01, but not by two errors of .029
    assert is_high(line, errors=1.0)
    assert is_high(added([dict(line) for _ in range(9)])[0])
