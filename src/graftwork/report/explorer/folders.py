"""Pages of what commands wrote: model files, and folders of learn, bootstrap and compare-groups."""

from __future__ import annotations

import csv
import json
import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graftwork.data.columns import level_of_caller
from graftwork.errors import DataError, DataWarning
from graftwork.exchange import load, load_network, read_info
from graftwork.models import ChainModel, PairwiseMRF
from graftwork.report.chain_summary import chain_words
from graftwork.report.edges import saved_tests
from graftwork.report.explorer.bootstraps import bootstrap_view
from graftwork.report.explorer.chains import chain_view
from graftwork.report.explorer.comparisons import comparison_view
from graftwork.report.explorer.networks import Meanings
from graftwork.report.explorer.packing import Record
from graftwork.report.explorer.views import network_view


def saved_view(
    source: Path,
    title: str | None = None,
    *,
    groups: Mapping[Any, Any] | None = None,
    meanings: Meanings | None = None,
) -> Record:
    """Return what the page shows of a model file, or of a folder that a command wrote."""
    if not source.is_dir():
        return _model_view(source, title, groups, meanings)
    if (source / "model.gw").is_file():
        return _model_view(source / "model.gw", title, groups, meanings)
    for file, read in (("groups.json", _groups_view), ("bootstrap.json", _bootstrap_view)):
        if (source / file).is_file():
            return read(source, _read_json(source / file), title)
    raise DataError(
        f"{str(source)!r} holds no model.gw, groups.json or bootstrap.json; give a folder that "
        "learn, crf, compare-groups or bootstrap wrote, or a model file."
    )


def model_of(source: Path) -> Path | None:
    """Return the model file of a folder that learn or crf wrote, or the file itself; else None."""
    file = source / "model.gw" if source.is_dir() else source
    return file if file.is_file() else None


def _model_view(
    path: Path,
    title: str | None,
    groups: Mapping[Any, Any] | None,
    meanings: Meanings | None,
) -> Record:
    model, info = load(path), read_info(path)
    named = info.get("data")
    title = title or (named if isinstance(named, str) else None)
    if isinstance(model, ChainModel):
        return chain_view(model, title or "Chain", [chain_words(model)])
    beside = path.parent / "bootstrap.json"
    found = _bootstrap_of(model, beside) if beside.is_file() else None
    return network_view(
        model,
        title,
        groups=groups,
        tests=saved_tests(model, info),
        predictability=_predictability(path.parent / "predictability.csv", model),
        bootstrap=found,
        info=info,
        meanings=meanings,
        # Files of other programs say nothing of how a network was learned.
        untested="its edges were not tested" if info else "this file holds no tests",
    )


def _bootstrap_of(model: PairwiseMRF, path: Path) -> dict[str, Any] | None:
    """Return the bootstrap beside a model, or warn and return None if it is of another network."""
    found = _read_json(path)
    reference = path.parent / "reference.gw"
    if reference.is_file():
        other = load_network(reference)
        names, edges = {str(name) for name in other.names}, _ends(other.edges)
    else:
        names = set(_variables(found))
        own = [record for record in found["edges"] if record["strength"]]
        edges = _ends((record["first"], record["second"]) for record in own)
    if names != {str(name) for name in model.names}:
        what = "other variables"
    elif edges != _ends(model.edges):
        what = "other edges"
    else:
        return found
    warnings.warn(
        f"{str(path)!r} is left out: its network has {what} than model.gw; bootstrap what "
        "model.gw was learned from, with the same options, or use another folder.",
        DataWarning,
        stacklevel=level_of_caller(),
    )
    return None


def _ends(edges: Iterable[tuple[Any, Any]]) -> set[frozenset[str]]:
    return {frozenset((str(a), str(b))) for a, b in edges}


def _predictability(path: Path, model: PairwiseMRF) -> dict[Any, float] | None:
    """Return the shares that a file beside the model has, if it is about the same variables."""
    if not path.is_file():
        return None
    names = {str(name): name for name in model.names}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if {row.get("variable") for row in rows} != set(names):
        return None
    return {names[row["variable"]]: _share(row.get("normalised_accuracy")) for row in rows}


def _share(text: str | None) -> float:
    return min(max(float(text), 0.0), 1.0) if text else math.nan


def _bootstrap_view(folder: Path, found: dict[str, Any], title: str | None) -> Record:
    reference = folder / "reference.gw"
    model = load_network(reference) if reference.is_file() else None
    names = model.names if model else _variables(found)
    return bootstrap_view(found, names, model, title or "Bootstrap")


def _variables(found: Mapping[str, Any]) -> list[str]:
    """Return the variables of a bootstrap, as its communities or its centralities list them."""
    listed = found["communities"] or found["centrality"]
    return list(dict.fromkeys(str(record["variable"]) for record in listed))


def _groups_view(folder: Path, found: dict[str, Any], title: str | None) -> Record:
    files = [folder / f"model-{k}.gw" for k in range(1, len(found["groups"]) + 1)]
    models = [load_network(file) for file in files]
    tests = [saved_tests(model, read_info(file)) for model, file in zip(models, files, strict=True)]
    return comparison_view(found, models, tests, title or f"Groups by {found['by']}")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}.") from error
    return found
