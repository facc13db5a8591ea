"""Model files in and out: a documented zip that holds numbers and JSON, never code."""

from __future__ import annotations

from graftwork.errors import ModelFileError
from graftwork.models.container import PathLike, read, read_info
from graftwork.models.pairwise import PairwiseMRF

__all__ = ["load", "read_info"]


def load(path: PathLike) -> PairwiseMRF:
    """Return the network in a model file, the same bit for bit as the one saved.

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
    contents = read(path)
    try:
        return PairwiseMRF.from_flat(contents.names, contents.states, contents.potentials)
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{str(path)!r} is damaged: {error}") from error
