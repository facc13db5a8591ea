"""What learners refuse: one table of arguments and of what the sentence says for each of them."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.errors import ParameterError
from graftwork.inference import JunctionTree
from graftwork.parameters import gather

from doors.recipes import grafting
from support.problems import random_table


def name(case):
    """Return a case in words, the same in every process."""
    return re.sub(r" at 0x\w+", "", str(case))


TABLE = random_table(21, n=6, rows=200, most=3)  # v0 to v5
X, Y = [[["a"], ["b"]], [["b"]]] * 3, [["A", "B"], ["B"]] * 3


def refused(words, call, *given, **more):
    """The call must be refused in one sentence that says this."""
    with pytest.raises(ParameterError, match=words) as caught:
        call(*given, **more)
    assert "\n" not in str(caught.value)


VALUES = [
    ({"method": "best-choise"}, "did you mean 'best-choice'"),
    ({"loss": "pseudo"}, "loss='pseudo'"),
    ({"penalty": "ridge"}, "penalty='ridge'"),
    ({"inference": "magic", "loss": "likelihood"}, "inference='magic'"),
    ({"lam": "automatic"}, "such as 0.01; got 'automatic'"),
    ({"lam": -1.0}, "lam must be"),
    ({"lam": 0.0}, "lam must be"),
    ({"lam": float("nan")}, "lam must be"),
    ({"lam": None}, "lam must be"),
    ({"l2": -0.1}, "l2 must be"),
    ({"tol": 0.0}, "tol must be"),
    ({"tol": 1e-300}, "tol must be a number greater than 1e-15"),
    ({"lam": 10**400}, "lam must be a number of at most 1e.100"),
    ({"lam": 1e200}, "lam must be a number of at most 1e.100"),
    ({"unary": 1e200}, "unary must be a number of at most 1e.100"),
    ({"knowledge": {"penalty_weights": {("v0", "v1"): 1e200}}}, "to 1e.100, or infinity"),
    ({"knowledge": {"penalty_weights": {("v0", "v1"): 10**400}}}, "to 1e.100, or infinity"),
    ({"method_options": {"alpha": 2.0}}, "alpha must"),
    ({"max_edges": -1}, "max_edges must be"),
    ({"max_edges": 1.5}, "max_edges must be"),
    ({"n_jobs": 0}, "n_jobs must"),
    ({"method_options": {"tests": 0}}, "at least 1"),
    ({"unary": -0.1}, "unary must be"),
    ({"unary": "yes"}, "unary must be"),
    ({"unary": float("nan")}, "unary must be"),
    ({"penalty": "l2", "lam": "auto"}, "lam must be a number with penalty"),
    ({"penalty": "l2", "lam": -1.0}, "lam must be a number at least 0"),
    ({"penalty": "elastic-nett"}, "did you mean 'elastic-net'"),
    ({"method_options": [1]}, "method_options"),
]
WITHOUT_EFFECT = [
    ({"lam": 0.1, "fdr": 0.2}, "fdr=0.2 has no effect where lam is a number"),
    ({"lam": 0.1, "goal": "prediction"}, "goal='prediction' has no effect"),
    ({"lam": 0.1, "criterion": "ebic"}, "criterion='ebic' has no effect"),
    ({"goal": "prediction", "fdr": 0.2}, "fdr=0.2 has no effect where edges are not tested"),
    ({"criterion": "ebic", "fdr": 0.2}, "fdr=0.2 has no effect where edges are not tested"),
    ({"method": "chow-liu", "fdr": 0.2}, "with the method 'chow-liu'"),
    ({"penalty": "none", "goal": "prediction"}, "with penalty='none'"),
    ({"penalty": "none", "l2": 0.1}, "l2=0.1 has no effect with penalty='none'"),
    ({"penalty": "none", "unary": True}, "unary=True has no effect"),
    ({"inference": "bp", "lam": 0.1}, "it is for loss='likelihood'"),
    ({"inference": JunctionTree(), "lam": 0.1}, "it is for loss='likelihood'"),
]
METHODS = [
    ("grafting-light", {"cuont": 3}, "did you mean 'count'"),
    (
        "grafting-light",
        {"alpha": 0.5},
        "The choices are 'count', 'steps', 'memory', 'features'",
    ),
    ("priority", {"centre": 3}, "did you mean 'central'"),
    ("full", {"count": 3}, "'count' is not known"),
    ("grafting", {"count": 0}, "count must be a whole number of at least 1"),
    ("grafting-light", {"steps": 0}, "steps must be a whole number of at least 1"),
    ("grafting", {"count": "3"}, "grafting"),
    ("grafting", {"count": 2.5}, "count"),
    ("grafting-light", {"steps": 1.5}, "steps"),
    (grafting(), {"count": 3}, "this one is a Recipe"),
]
EXCHANGES = [
    ({"method_options": {"delete": "best"}}, "descent, greedy, rejection, mcmc"),
    ({"method_options": {"exchange": 0}}, "exchange"),
    ({"method_options": {"swap": 3}}, "exchange"),
    ({"max_edges": -1}, "max_edges"),
    ({"max_edges": 2.5}, "max_edges"),
]
STARTS = [
    ("chowliu", "did you mean 'chow-liu'"),
    (3, "start is a int"),
    ({"v0": "v1"}, "start is a dict"),
    ((pair for pair in [("v0", "v1")]), "start is a generator"),
    ([("v0", "v9")], "no variable 'v9'"),
    ([("v0", "v0")], "joins a column to itself"),
    ([("v0", "v1", "v2")], "not a pair of column names"),
    (["ab"], "not a pair of column names"),
    ([7], "not a pair of column names"),
    (nx.Graph([("v0", "w")]), "no variable 'w'"),
    (gw.PairwiseMRF({"w": [0, 1]}), "shares no variable"),
    (gw.MarkovNetwork(), "not fitted yet"),
]
KNOWLEDGE = [
    ({"required": [("v0", "V1")]}, "required: there is no variable 'V1'. The variables are"),
    ({"forbidden": [("v0", "v0")]}, "forbidden: .* joins a column to itself"),
    ({"forbidden": ["v0v1"]}, "'v0v1' is not a pair"),
    ({"required": ("v0", "v1")}, "'v0' is not a pair"),
    ({"required": [("v0", "v1", "v2")]}, r"is not a pair of column names \(first, second\)"),
    ({"candidates": "v0"}, "candidates must be a list of pairs"),
    ({"candidates": 3}, "candidates must be a list of pairs"),
    ({"candidates": {("v0", "v1"): 1}}, "candidates must be a list of pairs"),
    ({"forbidden": lambda a, b: None}, "must say True or False .* it says None"),
    ({"required": [("v1", "v0")], "forbidden": [("v0", "v1")]}, "'v0' and 'v1' is both"),
    (
        {"required": [("v1", "v0")], "penalty_weights": {("v0", "v1"): np.inf}},
        "both required and forbidden",
    ),
    ({"penalty_weights": {("v0", "v1"): -1}}, "from 0 .* got -1"),
    ({"penalty_weights": {("v0", "v1"): np.nan}}, "got nan"),
    ({"penalty_weights": {("v0", "v1"): "2"}}, "got '2'"),
    ({"penalty_weights": {("v0", "v1"): True}}, "got True"),
    ({"penalty_weights": {("v0", "v1"): 1, ("v1", "v0"): 2}}, "twice, with 1 and 2"),
    ({"penalty_weights": {"v0": 1}}, "'v0' is not a pair"),
    ({"penalty_weights": lambda a, b: 1.0 + (a < b)}, "must not depend on the order"),
    ({"penalty_weights": np.ones((5, 5))}, r"shape \(6, 6\); got shape \(5, 5\)"),
    ({"penalty_weights": 2.0}, "got a float"),
    ({"penalty_weights": "v0"}, "got a str"),
    ({"penalty_weights": np.triu(np.ones((6, 6)))}, "not symmetric: 'v0' and 'v1' have 1"),
    ({"penalty_weights": -np.ones((6, 6))}, "got -1"),
    ({"penalty_weights": pd.DataFrame(np.ones((2, 2)), ["v0", "q"], ["v0", "q"])}, "'q'"),
    (
        {"penalty_weights": pd.DataFrame(np.ones((2, 2)), ["v0", "v1"], ["v0", "v2"])},
        "the same names",
    ),
]
NETWORKS = [
    *VALUES,
    *WITHOUT_EFFECT,
    *(({"penalty": "l1", "lam": 0.02, "method": method, "method_options": own}, words)
      for method, own, words in METHODS),
    *(({"method": "forced-pruning", "max_edges": 6} | own, words) for own, words in EXCHANGES),
    *(({"lam": 0.1, "method_options": {"start": start}}, words) for start, words in STARTS),
    *(({"lam": 0.03} | own, words) for own, words in KNOWLEDGE),
    *(({"lam": 0.03, "tie": tie}, "tie must be a whole number at least 1, got")
      for tie in (0, 2.5, True, np.True_, "10", float("nan"), [1])),
    ({"missing": "available"}, "did you mean 'available-case'"),
    ({"missing": "available-case", "loss": "likelihood"}, "with loss='pseudolikelihood'.*'impute'"),
    ({"start": "chow-liu"}, "begins without edges"),
    ({"method": "chow-liu", "lam": "best"}, "got 'best'"),
    ({"ordinal": True, "penalty": "l1", "lam": 0.1}, "ordinal goes with penalty='group-l1'"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "words"), NETWORKS, ids=name)
def test_networks(options, words):
    refused(words, gw.MarkovNetwork(**gather(options)).fit, TABLE)


CHAINS = [
    ({"method": "graftin"}, "did you mean 'grafting'"),
    ({"method": "best-choice"}, "method='best-choice' is not known"),
    ({"method": None}, "method=None is not known"),
    ({"method_options": 3}, "method_options must be a dict"),
    ({"method_options": {"stps": 1}}, "did you mean 'steps'"),
    ({"method_options": {"steps": 0}}, "steps must be a whole number of at least 1"),
    ({"method_options": {"count": 2}, "select": 2}, "are the same; give one"),
    ({"method": "full", "select": 2}, "leave out select=2"),
    ({"penalty": "L1"}, "penalty='L1' is not known"),
    ({"candidates": "some"}, "candidates='some' is not known"),
    ({"lam": 0}, "lam must be a number greater than 0"),
    ({"lam": "auto"}, "lam must be a number"),
    ({"lam": True}, "lam must be a number"),
    ({"lam": np.nan}, "lam must be a number"),
    ({"lam": -1, "penalty": "l2"}, "lam must be a number at least 0"),
    ({"l2": -1}, "l2 must be a number at least 0"),
    ({"order": 3}, "order must be 1 or 2, got 3"),
    ({"order": 1.0}, "order must be 1 or 2"),
    ({"order": True}, "order must be 1 or 2"),
    ({"order": "1"}, "order must be 1 or 2"),
    ({"order": np.array([1, 2])}, "order must be 1 or 2"),
    ({"min_count": 0}, "min_count must be a whole number of at least 1"),
    ({"select": 0}, "select must be a whole number of at least 1"),
    ({"select": 2.5}, "select must be a whole number"),
    ({"max_features": -1}, "max_features must be a whole number of at least 0"),
    ({"max_seconds": "a"}, "max_seconds must be a number"),
    ({"max_iter": 1.5}, "max_iter must be a whole number"),
    ({"tol": 0}, "tol must be a number greater than 1e-15"),
    ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
    ({"n_jobs": True}, "n_jobs must be a whole number other than 0"),
    ({"n_jobs": 1.5}, "n_jobs must be a whole number other than 0"),
    ({"verbose": "on"}, "verbose must be 0, 1 or have the methods of .*; str has no on_"),
    ({"method": grafting(3), "select": 2}, "is a Recipe"),
    ({"method": grafting(3), "method_options": {"count": 2}}, "is a Recipe"),
]


@pytest.mark.parametrize(("options", "words"), CHAINS, ids=name)
def test_chains(options, words):
    refused(words, gw.ChainCRF(**options).fit, X, Y)


BOOTSTRAPS = [
    ({"n": 0}, "n must be a whole number"),
    ({"n": 2.5}, "n must be a whole number"),
    ({"n": 2, "n_jobs": 0}, "n_jobs"),
    ({"n": 2, "random_state": "x"}, "not a seed"),
    ({"n": 2, "case_dropping": [0.5, 1.0]}, "between 0 and 1"),
    ({"n": 2, "case_dropping": 0.5}, "between 0 and 1"),
    ({"n": 2, "case_dropping": [0.0]}, "greater than 0"),
    ({"n": 2, "observer": object()}, "verbose must be"),
]


@pytest.mark.parametrize(("settings", "words"), BOOTSTRAPS, ids=name)
def test_bootstraps(settings, words):
    refused(words, gw.MarkovNetwork(lam=0.05).bootstrap, TABLE, **settings)


def test_chains_translate_names_of_parameters_of_crfsuite():
    for name, words in {
        "c1": r"there is no parameter c1; use lam=c1 / len\(X\)",
        "c2": r"l2=c2 / len\(X\) with penalty=\"elastic-net\"",
        "max_iterations": "max_evaluations",
        "min_freq": "min_count",
        "all_possible_transitions": "candidates=",
    }.items():
        refused(words, gw.ChainCRF, **{name: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda_'"):
        gw.ChainCRF(lambda_=1)
