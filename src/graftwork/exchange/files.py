"""Which format a file has, and what reads or writes it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graftwork.data.values import suggestion
from graftwork.errors import DataError, ModelFileError
from graftwork.exchange.format import Content, Exported, Model
from graftwork.limits import check_name
from graftwork.models import ChainModel, PairwiseMRF
from graftwork.models import read_info as read_own_info
from graftwork.models.archive import info_of
from graftwork.models.graphs import EdgeRecord
from graftwork.registry import FORMATS as FORMATS

PathLike = str | os.PathLike[str]

#: Our own format, which `load` takes a file for that begins as one, whatever its name.
OWN = "graftwork"
_WORDS = {"network": "networks", "chain": "chains"}


def load(path: PathLike, format: str | None = None) -> PairwiseMRF | ChainModel:
    """Return the model in a file: one that graftwork wrote, or one of another program.

    Parameters
    ----------
    path : path-like
        The file. A file beside it that holds names (``x.uai.names.json``) is read, too.
    format : str, optional
        Its format, one of ``gw.exchange.FORMATS``; default by its first bytes and its suffix.

    Returns
    -------
    PairwiseMRF or ChainModel
        Whichever the file holds; our own files come back bit for bit.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, damaged, inconsistent, or of a newer format.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.uai")
    >>> with open(path, "w") as file:
    ...     _ = file.write("MARKOV 1 2 1 1 0 2 0.25 0.75")
    >>> load(path).marginals()
    {'x0': array([0.25, 0.75])}
    """
    file = Path(path)
    name = _format_to_read(file) if format is None else _known(format)
    reader = FORMATS[name]().read
    if reader is None:
        raise ModelFileError(
            f"{os.fspath(path)!r}: {name} files are written, but not read as networks; load the "
            "model file (.gw) it was made from."
        )
    found: Model = reader(file)
    return found


def load_network(path: PathLike, format: str | None = None) -> PairwiseMRF:
    """Return the network in a file; a chain is refused, and what `load` refuses.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.LG")
    >>> _ = export(PairwiseMRF({"coin": ["head", "tail"]}), path)
    >>> load_network(path).names
    ('coin',)
    """
    model = load(path, format)
    if not isinstance(model, PairwiseMRF):
        raise ModelFileError(_wrong_kind(path, "a chain of labels", "a network"))
    return model


def load_chain(path: PathLike, format: str | None = None) -> ChainModel:
    """Return the chain in a file; a network is refused, and what `load` refuses.

    Examples
    --------
    >>> load_chain("tagger.crfsuite").labels  # doctest: +SKIP
    ('B-NP', 'I-NP', 'O')
    """
    model = load(path, format)
    if not isinstance(model, ChainModel):
        raise ModelFileError(_wrong_kind(path, "a network", "a chain of labels"))
    return model


def read_info(path: PathLike, format: str | None = None) -> dict[str, Any]:
    """Return what a file says of how its model was learned; {} for formats of others.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.gw")
    >>> _ = export(PairwiseMRF({"coin": ["head", "tail"]}), path, info={"why": "an example"})
    >>> read_info(path)
    {'why': 'an example'}
    """
    name = _format_to_read(Path(path)) if format is None else _known(format)
    return read_own_info(path) if name == OWN else {}


def export(
    model: Model,
    path: PathLike,
    format: str | None = None,
    *,
    info: Mapping[str, Any] | None = None,
    edges: Iterable[EdgeRecord] | None = None,
) -> Exported:
    """Write a network or a chain in a format, and return what was written and what is lost.

    Parameters
    ----------
    model : PairwiseMRF or ChainModel
    path : path-like
        The file; an older one is replaced when the new one is complete.
    format : str, optional
        One of ``gw.exchange.FORMATS``; default by the suffix.
    info : mapping, optional
        How the model was learned: p-values and others come from there.
    edges : iterable of dict, optional
        What is known of each edge, in place of what the info says.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.gw")
    >>> export(PairwiseMRF({"coin": ["head", "tail"]}), path).lost
    ()
    """
    name = _format_to_write(Path(path)) if format is None else _known(format)
    entry, writer = FORMATS.entry(name), FORMATS[name]().write
    if writer is None:
        raise DataError(
            f"{name} files are only read; write one of {_listed('writes', _kind(model))}."
        )
    if entry.traits["writes"] not in (_kind(model), "both"):
        raise DataError(
            f"{name} holds {_WORDS[entry.traits['writes']]}, and this is a {_kind(model)}; write "
            f"one of {_listed('writes', _kind(model))}."
        )
    tested = None if edges is None else tuple(edges)
    written = writer(Path(path), Content(model, info_of(info), tested))
    return Exported(os.fspath(path), name, written.beside, written.lost)


def _kind(model: Model) -> str:
    return "network" if isinstance(model, PairwiseMRF) else "chain"


def _wrong_kind(path: PathLike, found: str, wanted: str) -> str:
    return f"{os.fspath(path)!r} holds {found}, where {wanted} is wanted; use another file."


def _known(name: str) -> str:
    """Return the name of a format, if it is one."""
    if isinstance(name, str) and name in FORMATS:
        return name
    near = suggestion(name, tuple(FORMATS))
    raise DataError(
        f"there is no format {name!r}{near or '.'} The formats are {', '.join(FORMATS)}."
    )


def _format_to_read(path: Path) -> str:
    """Return the format of a file: by its first bytes, else by its suffix."""
    try:
        check_name(path)
        with path.open("rb") as file:
            start = file.read(8)
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {str(path)!r}.") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    for name in FORMATS:
        magic = FORMATS.entry(name).traits.get("magic")
        if magic is not None and start.startswith(magic):
            return name
    found = _by_suffix(path)
    if found is None:
        raise ModelFileError(
            f"{str(path)!r} is not a graftwork model file; use one written by a model's save, "
            "graftwork learn or graftwork crf, or a file of another program under its suffix: "
            f"{_listed('reads')}."
        )
    return found


def _format_to_write(path: Path) -> str:
    found = _by_suffix(path)
    if found is None:
        raise DataError(
            f"the suffix of {path.name!r} does not say in which format to write; use one of "
            f"{_listed('writes')}, or name the format."
        )
    return found


def _by_suffix(path: Path) -> str | None:
    """Return the format of a suffix, whatever its case: the longest (.basic.uai, not .uai)."""
    matching = {
        suffix: name
        for name in FORMATS
        for suffix in FORMATS.entry(name).traits["suffixes"]
        if path.name.lower().endswith(suffix.lower())
    }
    return matching[max(matching, key=len)] if matching else None


def _listed(trait: str, kind: str | None = None) -> str:
    """Return the formats that can be read or written, with their suffixes."""
    known = [name for name in FORMATS if FORMATS.entry(name).traits.get(trait)]
    if kind is not None:
        known = [name for name in known if FORMATS.entry(name).traits[trait] in (kind, "both")]
    suffixes = {name: FORMATS.entry(name).traits["suffixes"] for name in known}
    return ", ".join(f"{name} ({' '.join(found)})" if found else name
                     for name, found in suffixes.items())  # fmt: skip
