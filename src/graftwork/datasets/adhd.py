"""Symptoms of ADHD in children with and without the diagnosis."""

from __future__ import annotations

from importlib.resources import as_file, files

from graftwork.data import Table, read_table
from graftwork.datasets.files import Dataset

#: The symptoms of each domain, by their columns.
ADHD_DOMAINS: dict[str, tuple[str, ...]] = {
    "inattentive": (
        "avoid", "closeatt", "distract", "forget", "instruct", "listen", "loses", "org", "susatt",
    ),
    "hyperactive-impulsive": (
        "blurts", "fidget", "interrupt", "motor", "quiet", "runs", "seat", "talks", "turn",
    ),
}  # fmt: skip


def load_adhd() -> Table:
    """Return 18 symptoms of ADHD of 355 children aged six to eight.

    ``group`` is 1 for the 146 children with a diagnosis and 0 for the 209 without. Symptoms, 1 if
    present, are from an interview of a parent: nine of inattention, nine of hyperactivity and
    impulsivity (`ADHD_DOMAINS`).

    Returns
    -------
    Table
        355 rows of 19 binary variables, ``group`` first.

    Notes
    -----
    Under the licence CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), unchanged but for
    the names of columns. The R package bgms has it as well.

    References
    ----------
    Silk et al. (2019), PLoS ONE, https://doi.org/10.1371/journal.pone.0211053

    Examples
    --------
    >>> load_adhd()
    Table: 355 rows x 19 variables, 2 states each
    """
    with as_file(files("graftwork.datasets") / "adhd.csv.gz") as path:
        return read_table(path, header=True)


DATASET = Dataset("adhd", load_adhd, embedded=True)
