"""HapMap: genotypes at neighbouring places of a chromosome."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.data.missing import MISSING_STATE
from graftwork.data.sources import named_after
from graftwork.datasets.checks import choice, whole
from graftwork.datasets.folders import Bytes, Folder, one_character_cells, whole_lines
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError
from graftwork.inference.layout import Ints

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
    path = DATASET.file(folder, name)
    places_file = None if places is None else DATASET.file(folder, places)
    with named_after(path):
        names, heads, codes = _read(path, front)
    count = len(names) if n is None else whole("n", n, 1, len(names))
    positions = None if places_file is None else _positions(places_file, names)[:count]
    cases = _cases(path, heads) if "case" in front else None
    codes = codes[:, :count]
    return Genotypes(
        _table(names[:count], _carriers(codes) if binary else codes, 2 if binary else 3),
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


def _table(names: tuple[str, ...], codes: NDArray[np.uint8], n_states: int) -> Table:
    """Return codes as a table; the last code means missing, and is a state where it occurs."""
    values = tuple(range(n_states))
    states: list[tuple[Hashable, ...]] = [
        (*values, MISSING_STATE) if gone else values for gone in (codes == n_states).any(axis=0)
    ]
    return Table(names, tuple(states), codes.T)


DATASET = Dataset(
    "hapmap",
    load_hapmap,
    form="A CSV file with the columns sample, population (or stratum and case), then one for each "
    "SNP: 0, 1, 2, or empty; and a file of rsid and position between tabs.",
    source="https://bioconductor.org/packages/snpStats (data ld.example and for.exercise)",
    cite="The International HapMap Consortium (2005), A haplotype map of the human genome, Nature "
    "437, 1299-1320; Clayton, snpStats (Bioconductor)",
)
