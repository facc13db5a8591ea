"""Data sets that come with the package, loaders of others, and generators of artificial ones."""

from collections.abc import Callable

from graftwork.data import Table
from graftwork.datasets.bernoulli import bernoulli_network, make_bernoulli
from graftwork.datasets.chain import make_planted_chain, planted_chain
from graftwork.datasets.conll2000 import Corpus, LabelledSentences, load_conll2000
from graftwork.datasets.debd import DEBD_NAMES, load_debd
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.hapmap import Genotypes, load_hapmap
from graftwork.datasets.jester import load_jester
from graftwork.datasets.mixing import Mixing, effective_size, split_rhat
from graftwork.datasets.mnist import Digits, load_mnist
from graftwork.datasets.mushroom import MUSHROOM_MEANINGS, load_mushroom
from graftwork.datasets.ocr_letters import Letters, load_ocr_letters
from graftwork.datasets.parts import Parts
from graftwork.datasets.scale_free import make_scale_free, scale_free_network
from graftwork.datasets.sequences import LabelledChains, labelled_chains
from graftwork.datasets.yummly import load_yummly

EMBEDDED: dict[str, Callable[[], Table]] = {"mushroom": load_mushroom}

__all__ = [
    "DEBD_NAMES",
    "EMBEDDED",
    "MUSHROOM_MEANINGS",
    "Corpus",
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
