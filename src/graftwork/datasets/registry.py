"""The data sets that graftwork knows: a module of this package each, found by its ``DATASET``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graftwork.datasets.folders import VARIABLE, Folder, data_folder
from graftwork.errors import DataMissingError

_PACKAGE = "graftwork.datasets"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set; a module whose ``DATASET`` this is needs to be listed nowhere else.

    Attributes
    ----------
    name : str
        What it is called: ``gw.datasets.load_NAME``, the command line's DATA if it is embedded,
        else its own folder in the folder of data sets.
    load : callable
        Returns the data; called without arguments, a `Table` if it is embedded.
    embedded : bool
        Whether it comes with the package.
    meanings : dict of variable to dict of state to text, optional
        What the states mean.
    form, source, cite : str
        Of one that is not embedded: what its files hold, in a sentence; where they can be had; and
        what to cite.

    Examples
    --------
    >>> import graftwork as gw
    >>> dataset = gw.datasets.DATASETS["boredom"]
    >>> dataset.embedded, dataset.load().n_rows
    (True, 986)
    """

    name: str
    load: Callable[..., Any]
    embedded: bool = False
    meanings: dict[str, dict[str, str]] | None = None
    form: str = ""
    source: str = ""
    cite: str = ""

    def file(self, folder: Folder, name: str) -> Path:
        """Return the path of a file: in the data set's own folder, or in the one given.

        `folder` is the folder of data sets or the data set's own, None for ``GRAFTWORK_DATA``. A
        file that ends in ``.gz`` may also lie there without, not compressed. If none of the places
        has it, a `DataMissingError` says where to get it.
        """
        given = data_folder(folder)
        if given is None:
            raise self._absent(name, f"no folder was given and {VARIABLE} is not set")
        names = [name, name.removesuffix(".gz")]
        places = [given / self.name, given]
        for path in (place / each for place in places for each in names):
            if path.is_file():
                return path
        if not given.is_dir():
            raise self._absent(name, f"there is no folder {str(given)!r}")
        looked = " nor in ".join(repr(str(place)) for place in places)
        raise self._absent(name, f"it is neither in {looked}")

    def _absent(self, name: str, why: str) -> DataMissingError:
        return DataMissingError(
            f"{self.name}/{name} was not found: {why}. Pass folder= (--data on the command line), "
            f"or set {VARIABLE}, to the folder that has {self.name}/{name}. These data are not "
            f"part of graftwork. {self.form} Source: {self.source}. Cite: {self.cite}.",
            self.name,
        )


def discover() -> dict[str, Dataset]:
    """Return the data sets by name: the ``DATASET`` of every module that has one.

    Examples
    --------
    >>> list(discover())
    ['adhd', 'boredom', 'conll2000', 'debd', 'hapmap', 'jester', 'mnist', 'mushroom', ...]
    """
    found = []
    for module in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__):
        content = importlib.import_module(f"{_PACKAGE}.{module.name}")
        found.append(getattr(content, "DATASET", None))
    sets = [each for each in found if isinstance(each, Dataset)]
    return {each.name: each for each in sorted(sets, key=lambda each: each.name)}
