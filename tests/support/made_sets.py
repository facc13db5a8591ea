"""Made data sets of the form of the real ones, for what reads a folder of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graftwork.datasets import DEBD_NAMES

from doors.data import write_conll

SENTENCE = [("He", "PRP", "B-NP"), ("sleeps", "VBZ", "B-VP"), (".", ".", "O")]


def write_sets(folder: Path) -> Path:
    """Write debd, yummly and conll2000, large enough for small benchmarks, and return the folder.

    Some files are gzipped as in our folder, others plain as in their sources.
    """
    rng = np.random.default_rng(0)
    for name in ("debd", "yummly", "conll2000"):
        (folder / name).mkdir(parents=True)
    for name in DEBD_NAMES:
        for part in ("ts", "valid", "test"):
            write_binary(folder / f"debd/{name}.{part}.data", rng)
    write_recipes(folder / "yummly/train.tsv", rng)
    for part in ("train", "test"):
        write_conll(folder / f"conll2000/{part}.txt.gz", [SENTENCE[k:] for k in (0, 1, 0, 1)])
    return folder


def write_binary(path: Path, rng: np.random.Generator) -> None:
    """Write 60 rows of 8 cells; each variable is often the same as the one before."""
    fresh = rng.integers(0, 2, (60, 8))
    rows = np.where(rng.random(fresh.shape) < 0.5, np.roll(fresh, 1, axis=1), fresh)
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))


def write_recipes(path: Path, rng: np.random.Generator) -> None:
    """Write 1,300 recipes with some of nine ingredients."""
    foods = np.array([f"food {k}" for k in range(8)])
    lists = [["salt", *foods[rng.random(8) < 0.6]] for _ in range(1300)]
    lines = [f"{k}\tgreek\t{'|'.join(listed)}" for k, listed in enumerate(lists)]
    path.write_text("\n".join(["id\tcuisine\tingredients", *lines]))
