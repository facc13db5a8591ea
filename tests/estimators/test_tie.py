"""tie=K in the estimator, in summaries and in comparisons."""

import numpy as np
import pytest
from sklearn.base import clone

import graftwork as gw
from graftwork.errors import ParameterError
from graftwork.parameters import gather
from graftwork.recipes import RECIPES
from graftwork.report import summary

from support.problems import random_table

TABLE = random_table(3, n=6, rows=300, most=3)


def different(model):
    weights = model.potentials.weights
    return np.unique(weights[weights != 0])


class Watch:
    """Counts tying rounds, and interrupts at one of them."""

    def __init__(self, stop=None):
        self.stop, self.rounds = stop, 0

    def on_stage(self, text, step, steps):
        if text.startswith("tying"):
            self.rounds += 1
            if self.rounds == self.stop:
                raise KeyboardInterrupt

    def on_round(self, record):
        pass

    def on_network(self, potentials):
        pass

    def on_search(self, tested, total):
        pass


@pytest.mark.some(4)
@pytest.mark.parametrize("method", RECIPES)
@pytest.mark.parametrize("penalty", ["group-l1", "l1"])
def test_every_method_can_be_tied(method, penalty):
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


@pytest.mark.some(3)
@pytest.mark.parametrize("lam", [0.03, "auto"])
@pytest.mark.parametrize("unary", [False, True])
@pytest.mark.parametrize("inference", [None, "exact", "bp"])
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


@pytest.mark.parametrize(
    "tie", [0, -3, 2.5, True, np.True_, "10", "auto", float("nan"), [1]], ids=repr
)
def test_counts_that_mean_nothing_get_one_sentence(tie):
    with pytest.raises(ParameterError, match="tie must be a whole number at least 1, got"):
        gw.MarkovNetwork(lam=0.03, tie=tie).fit(TABLE)


def test_numpy_integers_are_whole_numbers():
    assert len(different(gw.MarkovNetwork(lam=0.03, tie=np.int64(2)).fit(TABLE).model_)) <= 2


def test_clone_params_info_and_file(tmp_path):
    net = gw.MarkovNetwork(lam=0.03, tie=5)
    assert clone(net).tie == 5
    assert net.get_params()["tie"] == 5
    net.fit(TABLE).save(tmp_path / "m.gw")
    assert gw.load(tmp_path / "m.gw") == net.model_
    assert net.info()["tying"] == net.tying_.to_dict()
    assert net.info()["tying"]["values"] == len(different(net.model_)) == 5


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


ODD = {
    "one row": [["a", "b"]],
    "one column": [["a"], ["b"], ["a"], ["c"]],
    "all constant": [["a", "x"]] * 5,
    "constant column": [["a", "x", i % 2] for i in range(20)] + [["b", "x", 0]] * 9,
    "300 states": [[i, -i, i % 3] for i in range(300)],
    "unicode": [["\u00e4", "\u65e5\u672c"], ["\u00f6", "\u65e5\u672c"], ["\u00e4", "\u4e2d"]] * 4,
    "copies": [[i % 2, i % 2, 1 - i % 2] for i in range(40)],
}


@pytest.mark.parametrize("rows", ODD.values(), ids=ODD)
@pytest.mark.parametrize("lam", [0.05, "auto"])
@pytest.mark.parametrize("tie", [1, 3])
@pytest.mark.filterwarnings("ignore:Column:graftwork.errors.DataWarning")  # of 300 states
def test_odd_tables(rows, lam, tie, tmp_path):
    net = gw.MarkovNetwork(lam=lam, tie=tie, random_state=0).fit(rows)
    assert np.isfinite(net.score(rows))
    assert len(different(net.model_)) <= tie
    net.save(tmp_path / "m.gw")
    assert gw.load(tmp_path / "m.gw") == net.model_
    assert gw.describe(net.tying_)


def test_rows_of_weight_zero_do_not_matter():
    rows = TABLE.codes.T.tolist()
    weights = np.ones(len(rows) + 5)
    weights[-5:] = 0.0
    plain = gw.MarkovNetwork(lam=0.03, tie=3, random_state=0).fit(rows)
    padded = gw.MarkovNetwork(lam=0.03, tie=3, random_state=0)
    padded.fit(rows + rows[:5], sample_weight=weights)
    assert padded.model_ == plain.model_


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
