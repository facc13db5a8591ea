"""graftwork: sparse Markov networks from categorical data, with a certificate.

>>> import graftwork as gw
>>> rows = [["sun", "dry"], ["rain", "wet"]] * 50
>>> net = gw.MarkovNetwork(lam=0.01).fit(rows)
>>> net.model_.marginals(evidence={"x0": "rain"})["x1"].round(1)
array([0., 1.])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from graftwork.version import __version__

if TYPE_CHECKING:
    from graftwork import datasets as datasets
    from graftwork import exchange as exchange
    from graftwork.comparing import compare as compare
    from graftwork.contingency import PairTables as PairTables
    from graftwork.contingency import count_pairs as count_pairs
    from graftwork.data import Table as Table
    from graftwork.data import Template as Template
    from graftwork.data import as_table as as_table
    from graftwork.data import read_conll as read_conll
    from graftwork.data import read_table as read_table
    from graftwork.data.scanning import Scan as Scan
    from graftwork.data.scanning import StoredTable as StoredTable
    from graftwork.data.scanning import scan as scan
    from graftwork.errors import ApproximationWarning as ApproximationWarning
    from graftwork.errors import ConvergenceWarning as ConvergenceWarning
    from graftwork.errors import DataError as DataError
    from graftwork.errors import DataMissingError as DataMissingError
    from graftwork.errors import DataWarning as DataWarning
    from graftwork.errors import GraftworkError as GraftworkError
    from graftwork.errors import ModelFileError as ModelFileError
    from graftwork.errors import ParameterError as ParameterError
    from graftwork.errors import TooLargeError as TooLargeError
    from graftwork.estimators import ChainCRF as ChainCRF
    from graftwork.estimators import MarkovNetwork as MarkovNetwork
    from graftwork.estimators.bootstrap import Bootstrap as Bootstrap
    from graftwork.estimators.estimate import CostEstimate as CostEstimate
    from graftwork.estimators.knowledge import PriorKnowledge as PriorKnowledge
    from graftwork.estimators.predictability import Predictability as Predictability
    from graftwork.estimators.presets import PRESETS as PRESETS
    from graftwork.estimators.presets import preset as preset
    from graftwork.exchange import load as load
    from graftwork.groups import GroupComparison as GroupComparison
    from graftwork.groups.compare import compare_groups as compare_groups
    from graftwork.models import ChainModel as ChainModel
    from graftwork.models import PairwiseMRF as PairwiseMRF
    from graftwork.report import Scores as Scores
    from graftwork.report import chunk_scores as chunk_scores
    from graftwork.report import compare_edges as compare_edges
    from graftwork.report import describe as describe
    from graftwork.report import evaluate as evaluate
    from graftwork.report import label_scores as label_scores
    from graftwork.report import network_layout as network_layout
    from graftwork.report import plot_network as plot_network
    from graftwork.report import plot_pair as plot_pair

# Names are imported when first used: `import graftwork` and the command line's help stay quick.
_HOMES = {
    "ApproximationWarning": "graftwork.errors",
    "Bootstrap": "graftwork.estimators.bootstrap",
    "ChainCRF": "graftwork.estimators",
    "ChainModel": "graftwork.models",
    "ConvergenceWarning": "graftwork.errors",
    "CostEstimate": "graftwork.estimators.estimate",
    "DataError": "graftwork.errors",
    "DataMissingError": "graftwork.errors",
    "DataWarning": "graftwork.errors",
    "GraftworkError": "graftwork.errors",
    "GroupComparison": "graftwork.groups",
    "MarkovNetwork": "graftwork.estimators",
    "ModelFileError": "graftwork.errors",
    "PairTables": "graftwork.contingency",
    "PairwiseMRF": "graftwork.models",
    "ParameterError": "graftwork.errors",
    "Predictability": "graftwork.estimators.predictability",
    "PriorKnowledge": "graftwork.estimators.knowledge",
    "Scan": "graftwork.data.scanning",
    "Scores": "graftwork.report",
    "StoredTable": "graftwork.data.scanning",
    "Table": "graftwork.data",
    "Template": "graftwork.data",
    "TooLargeError": "graftwork.errors",
    "as_table": "graftwork.data",
    "chunk_scores": "graftwork.report",
    "compare": "graftwork.comparing",
    "compare_edges": "graftwork.report",
    "compare_groups": "graftwork.groups.compare",
    "count_pairs": "graftwork.contingency",
    "describe": "graftwork.report",
    "evaluate": "graftwork.report",
    "label_scores": "graftwork.report",
    "load": "graftwork.exchange",
    "network_layout": "graftwork.report",
    "plot_network": "graftwork.report",
    "plot_pair": "graftwork.report",
    "PRESETS": "graftwork.estimators.presets",
    "preset": "graftwork.estimators.presets",
    "read_conll": "graftwork.data",
    "read_table": "graftwork.data",
    "scan": "graftwork.data.scanning",
}

__all__ = [
    "PRESETS",
    "ApproximationWarning",
    "Bootstrap",
    "ChainCRF",
    "ChainModel",
    "ConvergenceWarning",
    "CostEstimate",
    "DataError",
    "DataMissingError",
    "DataWarning",
    "GraftworkError",
    "GroupComparison",
    "MarkovNetwork",
    "ModelFileError",
    "PairTables",
    "PairwiseMRF",
    "ParameterError",
    "Predictability",
    "PriorKnowledge",
    "Scan",
    "Scores",
    "StoredTable",
    "Table",
    "Template",
    "TooLargeError",
    "__version__",
    "as_table",
    "chunk_scores",
    "compare",
    "compare_edges",
    "compare_groups",
    "count_pairs",
    "datasets",
    "describe",
    "evaluate",
    "exchange",
    "label_scores",
    "load",
    "network_layout",
    "plot_network",
    "plot_pair",
    "preset",
    "read_conll",
    "read_table",
    "scan",
]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "exchange"):
        return importlib.import_module(f"graftwork.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'graftwork' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
