"""Trees on standard data sets, against reference figures. Run by make test-slow."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import graftwork as gw

pytestmark = pytest.mark.slow

FOLDER = Path(os.environ.get("GRAFTWORK_DATA", Path(__file__).parents[3] / "shared" / "data"))


def standard_split(name, part):
    path = FOLDER / "debd" / f"{name}.{part}.data.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there; set GRAFTWORK_DATA to a folder that has debd/")
    with gzip.open(path, "rt") as lines:
        return np.loadtxt(lines, delimiter=",", dtype=np.int8)


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
