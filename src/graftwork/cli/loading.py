"""Models from files, of the kind a command can use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graftwork.errors import ModelFileError

if TYPE_CHECKING:
    from graftwork.models import PairwiseMRF
    from graftwork.models.chain import ChainModel


def load_any(path: Path) -> PairwiseMRF | ChainModel:
    """Return the model in a file, whatever it is."""
    from graftwork.models import load

    model: PairwiseMRF | ChainModel = load(path)
    return model


def load_network(path: Path) -> PairwiseMRF:
    """Return the network in a file, or refuse a chain."""
    from graftwork.models import PairwiseMRF

    model = load_any(path)
    if not isinstance(model, PairwiseMRF):
        raise ModelFileError(
            f"{str(path)!r} is a chain that labels sequences, not a network of variables; use "
            "graftwork tag or graftwork show with it."
        )
    return model


def load_chain(path: Path) -> ChainModel:
    """Return the chain in a file, or refuse a network."""
    from graftwork.models.chain import ChainModel

    model = load_any(path)
    if not isinstance(model, ChainModel):
        raise ModelFileError(
            f"{str(path)!r} is a network of variables, not a chain that labels sequences; give a "
            "model that graftwork crf wrote, or use graftwork query with this one."
        )
    return model
