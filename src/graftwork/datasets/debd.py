"""Six of the binary density-estimation data sets, in the splits everyone uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graftwork.data import Table
from graftwork.data.sources import named_after
from graftwork.datasets.checks import choice
from graftwork.datasets.folders import Bytes, Folder, one_character_cells, whole_text
from graftwork.datasets.parts import Parts
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError

#: The data sets that `load_debd` knows.
DEBD_NAMES = ("nltcs", "msnbc", "kdd", "plants", "jester", "msweb")


def load_debd(name: str, folder: Folder = None) -> Parts:
    """Return a binary density-estimation data set in its standard parts.

    ======  =========  =======  ======  ======
    name    variables  train    valid   test
    ======  =========  =======  ======  ======
    nltcs   16         16,181   2,157   3,236
    msnbc   17         291,326  38,843  58,265
    kdd     64         180,092  19,907  34,955
    plants  69         17,412   2,321   3,482
    jester  100        9,000    1,000   4,116
    msweb   294        29,441   3,270   5,000
    ======  =========  =======  ======  ======

    Parameters
    ----------
    name : str
        One of `DEBD_NAMES`.
    folder : path-like, optional
        The folder that has ``debd/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. Files are ``NAME.ts.data.gz`` (train),
        ``NAME.valid.data.gz`` and ``NAME.test.data.gz``, or the same without ``.gz``.

    Returns
    -------
    Parts
        ``train``, ``valid`` and ``test``, with variables ``"x0"``, ``"x1"``, ... of states 0 and
        1. One column of plants and eleven of msweb are constant in ``train``.

    Notes
    -----
    Not part of the package. The collectors of the files ask to cite two papers (see `DATASETS`);
    the sources (for jester see `load_jester`) have terms of their own.

    Examples
    --------
    >>> parts = load_debd("nltcs")
    >>> parts
    Parts: 16181 rows to learn from, 2157 to validate on, 3236 to test on; 16 variables
    >>> parts.train
    Table: 16181 rows x 16 variables, 2 states each
    """
    choice("name", name, DEBD_NAMES)
    paths = [DATASET.file(folder, f"{name}.{part}.data.gz") for part in ("ts", "valid", "test")]
    rows = [read_binary_rows(path) for path in paths]
    for path, part in zip(paths, rows, strict=True):
        if part.shape[1] != rows[0].shape[1]:
            raise DataError(
                f"{path.name}: the rows have {part.shape[1]} cells, but those of {paths[0].name} "
                f"have {rows[0].shape[1]}."
            )
    train, valid, test = (_table(part) for part in rows)
    return Parts(train, test, valid)


def read_binary_rows(path: Path) -> Bytes:
    r"""Return the rows of a file of zeros and ones with commas between them.

    They have shape (n_rows, n_variables). Errors start with the file's name and say the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.ts.data")
    >>> _ = path.write_text("0,1\n1,1\n")
    >>> read_binary_rows(path).tolist()
    [[0, 1], [1, 1]]
    """
    text = whole_text(path)
    with named_after(path):
        return one_character_cells(text, b"01") - np.uint8(ord("0"))


def _table(rows: Bytes) -> Table:
    width = rows.shape[1]
    return Table(tuple(f"x{j}" for j in range(width)), ((0, 1),) * width, rows.T)


DATASET = Dataset(
    "debd",
    load_debd,
    form="Files NAME.ts.data.gz, NAME.valid.data.gz and NAME.test.data.gz: lines of 0 and 1 with "
    "commas between them, no header.",
    source="https://github.com/arranger1044/DEBD (plain files) or "
    "https://github.com/nicoladimauro/dcsn (data/generative, gzipped)",
    cite="Lowd and Davis (2010), Learning Markov network structure with decision trees, ICDM; Van "
    "Haaren and Davis (2012), Markov network structure learning: a randomized feature generation "
    "approach, AAAI",
)
