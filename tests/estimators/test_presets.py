"""The papers' settings: each fits at its paper's penalty, or asks for a lambda."""

import math

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import ParameterError

from support.problems import random_table

TABLE = random_table(3, n=4, rows=300, most=3)
ASKING = ("l1-markov-paper", "grafting-light-paper")
LAMS = dict.fromkeys(ASKING, 0.05) | {"priority-paper": 0.05}


def penalty_of(model, settings):
    """The penalty of a network's own weights, by its formula."""
    options = settings.get("penalty_options", {})
    groups = [(model.table(*pair), 1.0) for pair in model.edges]
    groups += [(model.unary(name), float(options.get("unary", False))) for name in model.names]
    total = 0.0
    for table, factor in groups:
        table = np.asarray(table)
        size = np.abs(table).sum()
        if settings["penalty"] == "group-l1":
            size = math.sqrt(table.size) * np.linalg.norm(table)
        total += factor * (settings["lam"] * size + options.get("l2", 0.0) * (table**2).sum())
    return total


@pytest.mark.parametrize("name", gw.PRESETS)
def test_every_preset_fits_at_its_own_penalty(name):
    settings = gw.preset(name, TABLE.n_variables, lam=LAMS.get(name))
    net = gw.MarkovNetwork(**settings, random_state=0, n_jobs=1).fit(TABLE)
    assert net.model_.n_edges > 0
    assert not net.refitted_
    assert net.choice_.how == ("sized" if name == "forced-pruning-paper" else "given")
    if name == "forced-pruning-paper":
        assert net.certificate_.stop == "searched"
        weights = net.model_.potentials.weights
        assert 1 < len(np.unique(weights[weights != 0])) <= 7
        return
    assert net.certificate_.converged
    assert net.certificate_.lam == settings["lam"]
    penalty = net.objective_ - net.certificate_.loss
    assert penalty == pytest.approx(penalty_of(net.model_, settings), abs=1e-9)


@pytest.mark.parametrize("name", ASKING)
def test_lambda_is_asked_for_where_that_of_the_paper_is_not_known(name):
    with pytest.raises(ParameterError, match=f"'{name}' .* give lam= too, for example lam=0.05"):
        gw.preset(name)
    assert gw.preset(name, lam=0.2)["lam"] == 0.2


@pytest.mark.parametrize(
    ("name", "lam"),
    [("best-choice-paper", 0.05), ("exhaustive-paper", 0.05), ("first-hit-paper", 0.05),
     ("priority-paper", 0.7)],
)  # fmt: skip
def test_the_authors_lambda_can_be_replaced(name, lam):
    assert gw.preset(name)["lam"] == lam
    assert gw.preset(name, lam=0.2) == gw.preset(name) | {"lam": 0.2}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "best-choise-paper"}, "did you mean 'best-choice-paper'"),
        ({"name": "forced-pruning-paper", "lam": 0.1}, "lam=0.1 has no effect"),
        ({"name": "l1-markov-paper", "lam": "auto"}, "lam must be a number"),
        ({"name": "priority-paper", "lam": 0}, "lam must be a number greater than 0"),
        ({"name": "best-choice-paper", "n_variables": 0}, "n_variables must be a whole number"),
        ({"name": "best-choice-paper", "n_variables": 2.5}, "n_variables must be a whole number"),
        ({"name": "priority-paper", "n_variables": True}, "n_variables must be a whole number"),
    ],
)
def test_what_no_preset_can_be_made_of(arguments, said):
    with pytest.raises(ParameterError, match=said):
        gw.preset(**arguments)


def test_lambda_is_passed_by_name():
    with pytest.raises(TypeError):
        gw.preset("best-choice-paper", 400, 0.05)


def test_draws_depend_on_the_number_of_variables():
    assert gw.preset("best-choice-paper", 399)["method_options"] == {"tests": 19}
    assert "method_options" not in gw.preset("best-choice-paper")
    others = set(gw.PRESETS) - {"best-choice-paper"}
    for name in others:
        lam = LAMS.get(name)
        assert gw.preset(name, 400, lam=lam) == gw.preset(name, lam=lam)


def test_a_preset_that_is_changed_stays_as_it_was():
    gw.preset("best-choice-paper")["penalty_options"]["l2"] = 9
    gw.preset("priority-paper")["method_options"]["central"] = 9
    assert gw.preset("first-hit-paper")["penalty_options"]["l2"] == 0.75
    assert gw.preset("best-choice-paper")["penalty_options"]["l2"] == 0.75
    assert gw.preset("priority-paper")["method_options"]["central"] == 4
