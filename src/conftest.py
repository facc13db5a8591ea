"""Doctests of loaders run where the data are, and are skipped elsewhere."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("GRAFTWORK_DATA", Path(__file__).parents[2] / "shared" / "data"))
FOLDERS = {"conll2000", "debd", "hapmap", "jester", "mnist", "ocr_letters", "yummly"}


@pytest.fixture(autouse=True)
def data_folder(request, monkeypatch):
    """Let a loader's examples find its data, or skip them."""
    _, _, name = request.node.name.rpartition(".load_")
    if name in FOLDERS:
        if not (FOLDER / name).is_dir():
            pytest.skip(f"{FOLDER / name} is not there; set GRAFTWORK_DATA to a folder that has it")
        monkeypatch.setenv("GRAFTWORK_DATA", str(FOLDER))
