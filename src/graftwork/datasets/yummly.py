"""Yummly recipes: which ingredients go together."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.data.encode import small
from graftwork.data.sources import named_after
from graftwork.data.values import generator
from graftwork.datasets.checks import share, whole
from graftwork.datasets.folders import Folder, whole_lines
from graftwork.datasets.parts import Parts, held_apart
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError
from graftwork.inference.layout import Ints

_HEADER = "id\tcuisine\tingredients"


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
    path = DATASET.file(folder, "train.tsv.gz")
    with named_after(path):
        kitchens, lists = _read(path)
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


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the cuisine and the ingredients of every recipe, none of them twice in one."""
    header, *lines = whole_lines(path)
    if header != _HEADER:
        raise DataError(f"the first line is {header[:60]!r}, not {_HEADER!r}.")
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


DATASET = Dataset(
    "yummly",
    load_yummly,
    form="A UTF-8 file with the header id, cuisine, ingredients between tabs, then a recipe a "
    "line, its ingredients joined by |.",
    source="https://www.kaggle.com/c/whats-cooking (train.json, written as text)",
    cite="Kaggle (2015), What's Cooking?, data by Yummly",
)
