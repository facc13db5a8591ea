"""Data sets that come with the package, loaders of others, and generators of artificial ones.

`DATASETS` has them all by name (and ``DATASETS[name].cite`` says what to cite), `EMBEDDED` the
loaders of those that come with the package. Loaders of others look in a folder, and raise
`DataMissingError`, which says where to get a file that is not there, or `DataError` for a damaged
file.

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

from graftwork.data import Table
from graftwork.datasets import adhd, boredom, mushroom
from graftwork.datasets.adhd import ADHD_DOMAINS, load_adhd
from graftwork.datasets.boredom import load_boredom
from graftwork.datasets.drawing import Drawn, draw
from graftwork.datasets.files import (
    DEBD_NAMES,
    IN_FILES,
    Corpus,
    Dataset,
    Digits,
    Genotypes,
    LabelledSentences,
    Letters,
    Parts,
    load_conll2000,
    load_debd,
    load_hapmap,
    load_jester,
    load_mnist,
    load_ocr_letters,
    load_yummly,
)
from graftwork.datasets.mixing import Mixing, effective_size, split_rhat
from graftwork.datasets.mushroom import MUSHROOM_MEANINGS, load_mushroom
from graftwork.datasets.networks import (
    bernoulli_network,
    make_bernoulli,
    make_planted_chain,
    make_scale_free,
    planted_chain,
    scale_free_network,
)
from graftwork.datasets.sequences import LabelledChains, labelled_chains

_EMBEDDED = (adhd.DATASET, boredom.DATASET, mushroom.DATASET)
DATASETS: dict[str, Dataset] = {each.name: each for each in (*_EMBEDDED, *IN_FILES)}
EMBEDDED: dict[str, Callable[[], Table]] = {each.name: each.load for each in _EMBEDDED}

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
