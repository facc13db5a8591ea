"""Margins of networks beside those of rows: said where they differ, and right."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.report.margins import margins_text

SYMPTOMS = [name for name in gw.datasets.load_adhd().names if name != "group"]


def test_the_largest_difference_is_told():
    table = gw.datasets.load_adhd().take_columns(SYMPTOMS)
    net = gw.MarkovNetwork(n_jobs=1).fit(table)
    found = net.model_.marginals(inference="exact")
    seen = {name: np.bincount(table[name], minlength=2) / table.n_rows for name in SYMPTOMS}
    apart = {name: abs(found[name][1] - seen[name][1]) for name in SYMPTOMS}
    worst = max(apart, key=apart.__getitem__)
    assert apart[worst] > 0.05
    own, rows = found[worst][0], seen[worst][0]
    text = " ".join(net.summary().split())
    wanted = f"{worst} = 0: {own:.2f} in the network, {rows:.2f} in the rows.".replace("0.", ".")
    assert wanted in text


def test_nothing_is_said_of_a_likelihood_or_of_close_margins():
    table = gw.datasets.load_adhd().take_columns(SYMPTOMS[:6])
    net = gw.MarkovNetwork(n_jobs=1, loss="likelihood").fit(table)
    assert "Margins" not in net.summary()
    data = LearnedFrom.of(table)
    assert margins_text(net.model_, data) == ""


@pytest.mark.parametrize("policy", ["state", "available-case"])
def test_missing_cells(policy):
    rows = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(object)
    rows[::9, 1] = None
    net = gw.MarkovNetwork(n_jobs=1, missing=policy, random_state=0).fit(rows)
    assert "Margins" not in net.summary()
