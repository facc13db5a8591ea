"""Trees and forced pruning on standard data sets, against figures. Run by make test-slow."""

import pytest

import graftwork as gw
from graftwork.parameters import gather

from support.problems import standard_split

pytestmark = pytest.mark.slow

# data set, test NLPL of the pseudo-likelihood tree, mean test log-likelihood, edges of the tree
TREES = [
    ("nltcs", 5.8007, -6.759, 15),
    ("msnbc", 6.3262, -6.540, 16),
    ("plants", 12.5458, -16.524, 67),  # one column never changes in the training rows
]


@pytest.mark.parametrize("penalty", ["group-l1", "none"])
@pytest.mark.parametrize(("name", "nlpl", "log_likelihood", "edges"), TREES)
def test_chow_liu_trees(name, nlpl, log_likelihood, edges, penalty):
    train, test = standard_split(name, "ts"), standard_split(name, "test")
    net = gw.MarkovNetwork("chow-liu", penalty=penalty).fit(train)
    assert net.model_.n_edges == edges
    assert abs(-net.score(test) - nlpl) < 0.005
    net = gw.MarkovNetwork("chow-liu", penalty=penalty, loss="likelihood").fit(train)
    assert net.model_.n_edges == edges
    assert abs(net.model_.log_prob(test).mean() - log_likelihood) < 0.02


# data set, edges beside those of the tree, test NLPL of only ever adding the best pair
SIZES = [
    ("nltcs", 15, 5.2022),
    ("nltcs", 30, 5.0448),
    ("nltcs", 60, 4.9704),
    ("msnbc", 15, 6.1791),
    ("msnbc", 30, 6.1168),
    ("msnbc", 60, 6.0683),
    ("plants", 15, 11.4759),
    ("plants", 60, 10.4981),
]
# The best any pairwise network fitted to the test rows themselves can do.
BOUNDS = {"nltcs": 4.9003, "msnbc": 6.0563, "plants": 0.0}


@pytest.mark.parametrize(("name", "more", "nlpl"), SIZES)
def test_exchanges_improve_on_only_adding(name, more, nlpl):
    train, test = standard_split(name, "ts"), standard_split(name, "test")
    edges = {known: n for known, _, _, n in TREES}[name] + more
    net = gw.MarkovNetwork("forced-pruning", max_edges=edges, random_state=0).fit(train)
    assert net.model_.n_edges == edges
    assert BOUNDS[name] < -net.score(test) <= nlpl
    assert net.certificate_.stationarity <= 1e-6
    assert net.exchange_.best < net.exchange_.first
    fit = {"method": "chow-liu", "start": net, "max_edges": edges, "random_state": 0}
    tied = gw.MarkovNetwork(tie=10, **gather(fit)).fit(train)
    assert tied.model_.n_edges == edges
    assert tied.score(test) > 1.02 * net.score(test)
    free = gw.MarkovNetwork(tie=tied.tying_.n_weights, **gather(fit)).fit(train)
    assert free.score(test) == pytest.approx(net.score(test), abs=1e-6)


def test_the_same_seed_gives_the_same_network_whatever_the_threads():
    train = standard_split("plants", "ts")
    options = {"max_edges": 97, "random_state": 3, "method_options": {"rounds": 3, "exchange": 10}}
    one, two = (
        gw.MarkovNetwork("forced-pruning", n_jobs=n_jobs, **gather(options)).fit(train).model_
        for n_jobs in (1, 2)
    )
    assert one == two
