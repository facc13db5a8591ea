"""tie=K in the estimator, in summaries and in comparisons."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.parameters import gather
from graftwork.report import summary

from doors.grafting import Silence
from support.problems import random_table

TABLE = random_table(3, n=6, rows=300, most=3)


def different(model):
    weights = model.potentials.weights
    return np.unique(weights[weights != 0])


class Watch(Silence):
    """Counts tying rounds, and interrupts at one of them."""

    def __init__(self, stop=None):
        self.stop, self.rounds = stop, 0

    def on_stage(self, text, step, steps):
        if text.startswith("tying"):
            self.rounds += 1
            if self.rounds == self.stop:
                raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("method", "penalty"),
    [("best-choice", "group-l1"), ("grafting", "l1"), ("chow-liu", "l1"), ("full", "l1")],
)
def test_every_kind_of_method_can_be_tied(method, penalty):
    options = {"penalty": penalty, "lam": 0.03, "random_state": 0, "n_jobs": 1}
    alone = gw.MarkovNetwork(method, **gather(options)).fit(TABLE)
    tied = gw.MarkovNetwork(method, tie=4, **gather(options)).fit(TABLE)
    assert len(different(tied.model_)) <= 4
    assert tied.objective_ == alone.objective_
    assert repr(tied.certificate_) == repr(alone.certificate_)  # NaN is not equal to itself
    assert tied.model_.edges == alone.model_.edges
    assert tied.tying_.loss_before == pytest.approx(-alone.score(TABLE), abs=1e-9)
    assert tied.tying_.loss_after == pytest.approx(-tied.score(TABLE), abs=1e-9)
    assert alone.tying_ is None


@pytest.mark.parametrize(
    ("lam", "unary", "inference"),
    [(0.03, True, None), ("auto", False, None), (0.03, False, "exact"), (0.03, True, "bp")],
)
def test_losses_and_penalised_unaries(lam, unary, inference):
    loss = {"loss": "likelihood", "inference": inference} if inference else {}
    options = {"lam": lam, "unary": unary, "random_state": 0, **loss}
    alone = gw.MarkovNetwork(**gather(options)).fit(TABLE)
    tied = gw.MarkovNetwork(tie=8, **gather(options)).fit(TABLE)
    assert len(different(tied.model_)) <= 8
    assert -tied.score(TABLE) < -alone.score(TABLE) * 1.1


def test_a_huge_count_changes_nothing_at_all():
    alone = gw.MarkovNetwork(lam=0.03, random_state=0).fit(TABLE)
    tied = gw.MarkovNetwork(lam=0.03, random_state=0, tie=10**12).fit(TABLE)
    assert tied.model_ == alone.model_
    assert tied.tying_.rounds == 0


def test_numpy_integers_are_whole_numbers():
    assert len(different(gw.MarkovNetwork(lam=0.03, tie=np.int64(2)).fit(TABLE).model_)) <= 2


@pytest.mark.parametrize("lam", [0.03, "auto"])
def test_an_interrupt_while_tying_leaves_the_learned_network(lam):
    alone = gw.MarkovNetwork(lam=lam, random_state=0).fit(TABLE)
    watch = Watch(stop=3)
    net = gw.MarkovNetwork(lam=lam, random_state=0, tie=4, verbose=watch)
    with pytest.raises(KeyboardInterrupt):
        net.fit(TABLE)
    assert watch.rounds == 3
    # Only the unaries of what was not interrupted are calibrated.
    mine, theirs = (each.model_.potentials for each in (net, alone))
    tables = slice(mine.layout.n_unary if lam == "auto" else 0, None)
    np.testing.assert_array_equal(mine.weights[tables], theirs.weights[tables])
    assert net.tying_ is None
    assert net.certificate_ == alone.certificate_
    assert "Interrupted before the weights were tied" in summary(net, TABLE)


def test_states_that_never_occur_keep_a_value_of_their_own():
    states = {"a": ["x", "y", "never"], "b": [0, 1]}
    rows = [["x", 0], ["x", 0], ["y", 1], ["y", 0]] * 30
    data = {"a": [r[0] for r in rows], "b": [r[1] for r in rows]}
    net = gw.MarkovNetwork(lam=0.01, tie=2, states=states).fit(data)
    assert len(net.tying_.values) <= 2
    assert len(different(net.model_)) == len(net.tying_.values) + 1
    table = gw.as_table(data, states=states)
    words = " ".join(summary(net, table).split())
    assert "keeps one more value for them" in words


def test_the_summary_says_whose_certificate_it_is():
    tied = gw.MarkovNetwork(lam=0.03, tie=4).fit(TABLE)
    words = " ".join(summary(tied, TABLE).split())
    assert "Tying " + gw.describe(tied.tying_) in words
    assert "Of the network before its weights were tied: Optimal within" in words
    plain = summary(gw.MarkovNetwork(lam=0.03).fit(TABLE), TABLE)
    assert "Tying" not in plain
    assert "tied:" not in plain
