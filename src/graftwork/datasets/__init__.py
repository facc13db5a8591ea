"""Data sets that come with the package, by name, and generators of artificial ones."""

from collections.abc import Callable

from graftwork.data import Table
from graftwork.datasets.bernoulli import bernoulli_network, make_bernoulli
from graftwork.datasets.chain import make_planted_chain, planted_chain
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.mixing import Mixing, effective_size, split_rhat
from graftwork.datasets.mushroom import MUSHROOM_MEANINGS, load_mushroom
from graftwork.datasets.scale_free import make_scale_free, scale_free_network
from graftwork.datasets.sequences import LabelledChains, labelled_chains

EMBEDDED: dict[str, Callable[[], Table]] = {"mushroom": load_mushroom}

__all__ = [
    "EMBEDDED",
    "MUSHROOM_MEANINGS",
    "Drawn",
    "LabelledChains",
    "Mixing",
    "bernoulli_network",
    "draw",
    "effective_size",
    "labelled_chains",
    "load_mushroom",
    "make_bernoulli",
    "make_planted_chain",
    "make_scale_free",
    "planted_chain",
    "scale_free_network",
    "split_rhat",
]
