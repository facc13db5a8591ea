"""UCI Mushroom: edible or poisonous, by 22 features."""

from __future__ import annotations

from importlib.resources import as_file, files

from graftwork.data import Table, read_table
from graftwork.datasets.files import Dataset


def _words(text: str) -> dict[str, str]:
    """Return letter -> word in order of letter, from the notation of the UCI attribute list."""
    pairs = (entry.strip().split("=") for entry in text.split(","))
    return dict(sorted((letter, word) for word, letter in pairs))


_STALK_SURFACE = "fibrous=f, scaly=y, silky=k, smooth=s"
_STALK_COLOR = "brown=n, buff=b, cinnamon=c, gray=g, orange=o, pink=p, red=e, white=w, yellow=y"

MUSHROOM_MEANINGS: dict[str, dict[str, str]] = {
    name: _words(text)
    for name, text in {
        "class": "edible=e, poisonous=p",
        "cap-shape": "bell=b, conical=c, convex=x, flat=f, knobbed=k, sunken=s",
        "cap-surface": "fibrous=f, grooves=g, scaly=y, smooth=s",
        "cap-color": "brown=n, buff=b, cinnamon=c, gray=g, green=r, pink=p, purple=u, red=e, "
        "white=w, yellow=y",
        "bruises": "bruises=t, no=f",
        "odor": "almond=a, anise=l, creosote=c, fishy=y, foul=f, musty=m, none=n, pungent=p, "
        "spicy=s",
        "gill-attachment": "attached=a, descending=d, free=f, notched=n",
        "gill-spacing": "close=c, crowded=w, distant=d",
        "gill-size": "broad=b, narrow=n",
        "gill-color": "black=k, brown=n, buff=b, chocolate=h, gray=g, green=r, orange=o, pink=p, "
        "purple=u, red=e, white=w, yellow=y",
        "stalk-shape": "enlarging=e, tapering=t",
        "stalk-root": "bulbous=b, club=c, cup=u, equal=e, rhizomorphs=z, rooted=r",
        "stalk-surface-above-ring": _STALK_SURFACE,
        "stalk-surface-below-ring": _STALK_SURFACE,
        "stalk-color-above-ring": _STALK_COLOR,
        "stalk-color-below-ring": _STALK_COLOR,
        "veil-type": "partial=p, universal=u",
        "veil-color": "brown=n, orange=o, white=w, yellow=y",
        "ring-number": "none=n, one=o, two=t",
        "ring-type": "cobwebby=c, evanescent=e, flaring=f, large=l, none=n, pendant=p, "
        "sheathing=s, zone=z",
        "spore-print-color": "black=k, brown=n, buff=b, chocolate=h, green=r, orange=o, "
        "purple=u, white=w, yellow=y",
        "population": "abundant=a, clustered=c, numerous=n, scattered=s, several=v, solitary=y",
        "habitat": "grasses=g, leaves=l, meadows=m, paths=p, urban=u, waste=w, woods=d",
    }.items()
}
"""What each letter means: variable -> letter -> English word, from the UCI attribute list."""


def load_mushroom() -> Table:
    """Return the UCI Mushroom data: 5,644 complete rows of 23 variables.

    Each row describes a sample of one of 23 species of gilled mushrooms. Of the 8,124 rows of the
    original, those without a known stalk-root are left out. States are the letters of the original
    file, in alphabetical order; letters of the attribute list that never occur are states too.
    `MUSHROOM_MEANINGS` spells them out.

    Returns
    -------
    Table
        5,644 rows, 3,488 of them edible. ``class`` comes first; ``veil-type`` is constant.

    Notes
    -----
    From the UCI Machine Learning Repository, data set 73, under the licence CC BY 4.0
    (https://creativecommons.org/licenses/by/4.0/). Changed here: a header was added and rows with
    a missing cell were dropped.

    References
    ----------
    Mushroom. UCI Machine Learning Repository, 1987. https://doi.org/10.24432/C5959T

    Examples
    --------
    >>> table = load_mushroom()
    >>> table
    Table: 5644 rows x 23 variables, 2 to 12 states
    >>> MUSHROOM_MEANINGS["odor"][table["odor"][0]]
    'pungent'
    """
    with as_file(files("graftwork.datasets") / "mushroom.csv.gz") as path:
        return read_table(path, header=True, infer_types=False, states=MUSHROOM_MEANINGS)


DATASET = Dataset("mushroom", load_mushroom, embedded=True, meanings=MUSHROOM_MEANINGS)
