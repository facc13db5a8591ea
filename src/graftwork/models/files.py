"""Model files in and out: a documented zip that holds numbers and JSON, never code."""

from __future__ import annotations

from graftwork.models.archive import (
    CHAIN,
    NETWORK,
    Opened,
    PathLike,
    open_archive,
    read_info,
    refusing,
)
from graftwork.models.chain import ChainModel
from graftwork.models.chain_file import read_chain
from graftwork.models.container import read
from graftwork.models.pairwise import PairwiseMRF

__all__ = ["load", "load_chain", "load_network", "read_info"]


def load(path: PathLike) -> PairwiseMRF | ChainModel:
    """Return the model in a file, the same bit for bit as the one saved.

    Returns
    -------
    PairwiseMRF or ChainModel
        Whichever the file holds; `load_network` and `load_chain` want one of them.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, inconsistent, or of a newer format.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.gw")
    >>> coin = PairwiseMRF({"coin": ["head", "tail"]}, {"coin": [0.1, 0.2]})
    >>> coin.save(path, info={"why": "an example"})
    >>> load(path) == coin, read_info(path)
    (True, {'why': 'an example'})
    """
    opened = open_archive(path)
    return _chain(path, opened) if opened.kind is CHAIN else _network(path, opened)


def load_network(path: PathLike) -> PairwiseMRF:
    """Return the network in a file, the same bit for bit as the one saved.

    Raises
    ------
    ModelFileError
        As `load` does, and if the file holds a chain.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.gw")
    >>> PairwiseMRF({"coin": ["head", "tail"]}).save(path)
    >>> load_network(path)
    PairwiseMRF: 1 variable, 0 edges
    """
    return _network(path, open_archive(path, NETWORK))


def load_chain(path: PathLike) -> ChainModel:
    """Return the chain in a file, the same bit for bit as the one saved.

    Raises
    ------
    ModelFileError
        As `load` does, and if the file holds a network.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "network.gw")
    >>> PairwiseMRF({"coin": ["head", "tail"]}).save(path)
    >>> load_chain(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    graftwork.errors.ModelFileError: ...network.gw' holds a network, where ...
    """
    return _chain(path, open_archive(path, CHAIN))


def _network(path: PathLike, opened: Opened) -> PairwiseMRF:
    contents = read(path, opened)
    with refusing(path):
        return PairwiseMRF.from_flat(
            contents.names, contents.states, contents.potentials, contents.gaps
        )


def _chain(path: PathLike, opened: Opened) -> ChainModel:
    with refusing(path):
        return ChainModel(**read_chain(opened))
