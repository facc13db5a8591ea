"""The learners' base: what scikit-learn expects of estimators, and that it is not imported."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import graftwork as gw

ROWS = np.random.default_rng(0).integers(0, 3, (60, 4))

FIT = """
import sys
import numpy as np
import graftwork as gw
gw.MarkovNetwork(lam=0.05).fit(np.random.default_rng(0).integers(0, 3, (60, 4)))
print(sorted({'sklearn', 'scipy.stats', 'pandas', 'networkx', 'matplotlib'} & set(sys.modules)))
"""


def test_a_fit_imports_none_of_the_slow_libraries():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_parameters_by_name():
    net = gw.MarkovNetwork(lam=0.2)
    assert list(net.get_params(deep=False)) == sorted(net.get_params(deep=False))
    assert net.set_params(lam=0.5, tie=3) is net
    assert (net.lam, net.tie) == (0.5, 3)
    with pytest.raises(ValueError, match=r"Invalid parameter 'lambda' for estimator MarkovNet"):
        net.set_params(**{"lambda": 1.0})


def test_words_are_what_was_chosen():
    assert repr(gw.MarkovNetwork()) == "MarkovNetwork()"
    assert repr(gw.MarkovNetwork(lam=0.1, tie=None)) == "MarkovNetwork(lam=0.1)"
    assert len(repr(gw.MarkovNetwork(knowledge={"penalty_weights": np.ones((50, 50))}))) < 120
    net = gw.MarkovNetwork(lam=0.1).fit(ROWS)
    assert repr(pickle.loads(pickle.dumps(net))) == repr(net)


def test_notebooks_show_the_diagram_of_scikit_learn():
    net = gw.MarkovNetwork(lam=0.1)
    shown = net._repr_mimebundle_()
    assert shown["text/plain"] == "MarkovNetwork(lam=0.1)"
    assert "MarkovNetwork" in shown["text/html"]
    with sklearn.config_context(display="text"):
        assert set(net._repr_mimebundle_()) == {"text/plain"}


def test_names_of_columns_are_kept_if_they_are_text():
    net = gw.MarkovNetwork(lam=0.1).fit(pd.DataFrame(ROWS, columns=list("abcd")))
    assert net.feature_names_in_.tolist() == list("abcd")
    assert net.feature_names_in_.dtype == object
    assert not hasattr(net.fit(ROWS), "feature_names_in_")
    assert not hasattr(net.fit(pd.DataFrame(ROWS)), "feature_names_in_")
    assert not hasattr(net.fit(gw.as_table({"a": [1, 2], "b": [1, 1]})), "feature_names_in_")


@pytest.mark.parametrize("learner", [gw.MarkovNetwork, gw.ChainCRF])
def test_what_needs_a_fit_says_so(learner):
    with pytest.raises(NotFittedError, match=f"This {learner.__name__} instance is not fitted yet"):
        learner().info()


def test_weights_are_routed_where_they_are_asked_for():
    weights = np.arange(60) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        net = gw.MarkovNetwork().set_fit_request(sample_weight=True)
        net.set_score_request(sample_weight="test_weight")
        twin = clone(net)
        assert twin.get_metadata_routing().fit.requests == {"sample_weight": True}
        requests = twin.get_metadata_routing().score.requests
        assert requests == {"sample_weight": "test_weight", "unseen": None}
        assert gw.MarkovNetwork().get_metadata_routing().fit.requests == {"sample_weight": None}
        asked = clone(net).set_score_request(sample_weight=True)
        search = GridSearchCV(asked, {"lam": [0.05, 0.1]}, cv=2).fit(ROWS, sample_weight=weights)
        alone = gw.MarkovNetwork(lam=search.best_params_["lam"]).fit(ROWS, sample_weight=weights)
        assert search.best_estimator_.objective_ == alone.objective_
        assert gw.ChainCRF().set_predict_request(lengths=True).get_metadata_routing()
        with pytest.raises(TypeError, match=r"fit takes \['sample_weight'\] besides X and y"):
            net.set_fit_request(weight=True)
