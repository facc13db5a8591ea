"""The Short Boredom Proneness Scale, answered in English and in French."""

from __future__ import annotations

from importlib.resources import as_file, files

from graftwork.data import Table, read_table
from graftwork.data.scores import Ordered
from graftwork.datasets.files import Dataset


def load_boredom() -> Table:
    """Return the answers of 986 people to eight items on boredom, in two languages.

    The items of the Short Boredom Proneness Scale have seven points, from 1 (strongly disagree) to
    7 (strongly agree), and are marked as ordered; ``language`` is en (496 people) or fr (490).

    Returns
    -------
    Table
        986 rows of 9 variables, ``language`` first.

    Notes
    -----
    Under the licence CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), from
    https://osf.io/qhux8. The R package bgms has it as well.

    References
    ----------
    Martarelli et al. (2023), the data: https://osf.io/qhux8. Struk et al. (2015), the items of the
    Short Boredom Proneness Scale.

    Examples
    --------
    >>> table = load_boredom()
    >>> table
    Table: 986 rows x 9 variables, 2 to 7 states
    >>> len(table.ordered.scores)
    8
    """
    with as_file(files("graftwork.datasets") / "boredom.csv.gz") as path:
        table = read_table(path, header=True)
    items = zip(table.names[1:], table.states[1:], strict=True)
    return table.with_order(Ordered.by_rank(dict(items)))


DATASET = Dataset("boredom", load_boredom, embedded=True)
