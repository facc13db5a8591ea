"""Data sets that come with the package, loaders of others, and generators of artificial ones.

`DATASETS` has them all by name (and ``DATASETS[name].cite`` says what to cite), `EMBEDDED` the
loaders of those that come with the package. A new one is a new module here with a ``DATASET``
(`graftwork.datasets.registry`). Loaders of others look in a folder, and raise `DataMissingError`,
which says where to get a file that is not there, or `DataError` for a damaged file.

Examples
--------
>>> import graftwork as gw
>>> gw.datasets.load_boredom().n_rows
986
>>> sorted(gw.datasets.EMBEDDED)
['adhd', 'boredom', 'mushroom']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graftwork.data import Table
from graftwork.datasets.adhd import ADHD_DOMAINS, load_adhd
from graftwork.datasets.boredom import load_boredom
from graftwork.datasets.conll2000 import Corpus, LabelledSentences, load_conll2000
from graftwork.datasets.debd import DEBD_NAMES, load_debd
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.hapmap import Genotypes, load_hapmap
from graftwork.datasets.jester import load_jester
from graftwork.datasets.mixing import Mixing, effective_size, split_rhat
from graftwork.datasets.mnist import Digits, load_mnist
from graftwork.datasets.mushroom import MUSHROOM_MEANINGS, load_mushroom
from graftwork.datasets.networks import (
    bernoulli_network,
    make_bernoulli,
    make_planted_chain,
    make_scale_free,
    planted_chain,
    scale_free_network,
)
from graftwork.datasets.ocr_letters import Letters, load_ocr_letters
from graftwork.datasets.parts import Parts
from graftwork.datasets.registry import Dataset, discover
from graftwork.datasets.sequences import LabelledChains, labelled_chains
from graftwork.datasets.yummly import load_yummly

DATASETS: dict[str, Dataset]
EMBEDDED: dict[str, Callable[[], Table]]

__all__ = [
    "ADHD_DOMAINS",
    "DATASETS",
    "DEBD_NAMES",
    "EMBEDDED",
    "MUSHROOM_MEANINGS",
    "Corpus",
    "Dataset",
    "Digits",
    "Drawn",
    "Genotypes",
    "LabelledChains",
    "LabelledSentences",
    "Letters",
    "Mixing",
    "Parts",
    "bernoulli_network",
    "draw",
    "effective_size",
    "labelled_chains",
    "load_adhd",
    "load_boredom",
    "load_conll2000",
    "load_debd",
    "load_hapmap",
    "load_jester",
    "load_mnist",
    "load_mushroom",
    "load_ocr_letters",
    "load_yummly",
    "make_bernoulli",
    "make_planted_chain",
    "make_scale_free",
    "planted_chain",
    "scale_free_network",
    "split_rhat",
]


def __getattr__(name: str) -> Any:
    # Looked up when asked for, so that modules need not be listed.
    sets = discover() if name in ("DATASETS", "EMBEDDED") or name.startswith("load_") else {}
    if name == "DATASETS":
        return sets
    if name == "EMBEDDED":
        return {each.name: each.load for each in sets.values() if each.embedded}
    if name.removeprefix("load_") in sets:
        return sets[name.removeprefix("load_")].load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
