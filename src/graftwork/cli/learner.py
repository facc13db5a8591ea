"""What MarkovNetwork is told by a command: its arguments from options, and the files they name."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from graftwork.cli.methods import parse_method
from graftwork.cli.name_options import parse_value, split_options
from graftwork.cli.options import parse_bins, parse_lam
from graftwork.cli.presets import KEY, with_method_options
from graftwork.errors import DataError, ParameterError
from graftwork.limits import is_archive
from graftwork.parameters import joined, options_of

if TYPE_CHECKING:
    from graftwork.data import Table
    from graftwork.data.placed import PlacedTable
    from graftwork.estimators.spec import FitSpec

AnyRows = TypeVar("AnyRows", "Table", "PlacedTable", "Table | PlacedTable")
PAIRS = ("required", "forbidden", "candidates")
MARK = "~"
WEIGHTS = "penalty_weights"
#: A start that needs no file.
TREE = "chow-liu"
#: No column is ordered.
NONE = "no"
#: Options whose values are arguments as they are.
_SAME = (
    "loss",
    "inference",
    "penalty",
    "goal",
    "fdr",
    "max_edges",
    "max_seconds",
    "table_memory",
    "tol",
    "tie",
    "degree",
    "shape",
    "missing",
)


def learner_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimator's arguments that a command's options stand for, files not read yet.

    Wrong names are refused here, before a long file is read. With a preset its name is among the
    arguments, until the number of variables is known (see `completed`).
    """
    settings = joined(shared_settings(given), parse_method(given["method"]))
    name = given.get("preset")
    if name is None:
        return settings
    settings = with_method_options(settings, name) | {KEY: name}
    try:
        spec_without_files(settings)
    except ParameterError as error:
        raise ParameterError(
            f"{error} The options that were not given are those of --preset {name}."
        ) from None
    return settings


def spec_without_files(settings: Mapping[str, Any]) -> FitSpec:
    """Return what is to be learned as far as that is known without a file; refuse what is wrong.

    Examples
    --------
    >>> spec_without_files({"lam": 0.1, "knowledge": {"required": ["known.csv"]}}).lam
    0.1
    """
    from graftwork.estimators.spec import FitSpec

    known = {name: value for name, value in settings.items() if name not in ("knowledge", KEY)}
    options = {k: v for k, v in settings.get("method_options", {}).items() if k != "start"}
    return FitSpec.of(known | {"method_options": options})


def shared_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimator's arguments that do not name a method."""
    _check_start(given.get("start"))
    names = [each.name for each in options_of("method_options")]
    run = {name: given[name] for name in names if given.get(name) is not None}
    criterion, options = _criterion(given.get("criterion"))
    found = {
        **{name: given[name] for name in _SAME if given.get(name) is not None},
        "lam": parse_lam(given.get("lam", "auto")),
        "penalty_options": _penalty_options(given),
        "criterion": criterion,
        "criterion_options": options,
        "knowledge": _knowledge(given),
        "bins": parse_bins(given.get("bins") or ()),
        "ordinal": parse_ordinal(given.get("ordinal") or ()),
        "random_state": given["seed"],
        "n_jobs": given.get("n_jobs"),
        "device": given.get("device"),
        "method_options": run,
    }
    return {name: value for name, value in found.items() if value not in (None, {})}


def parse_ordinal(texts: Sequence[str]) -> bool | dict[str, list[str] | None] | None:
    """Return which columns are ordered: names alone or with their states in order, and scales.

    Examples
    --------
    >>> parse_ordinal(["age,income", "mood:low,medium,high"])
    {'age': None, 'income': None, 'mood': ['low', 'medium', 'high']}
    >>> parse_ordinal(['"height, cm"', "all"])
    {'height, cm': None, 'all': None}
    >>> parse_ordinal(["never < often"])
    {'never < often': None}
    >>> parse_ordinal(["all"]), parse_ordinal(["no"]), parse_ordinal([])
    (True, False, None)
    """
    from graftwork.estimators.ordering import EVERY, is_scale

    if not texts:
        return None
    if list(texts) in ([EVERY], [NONE]):
        return list(texts) == [EVERY]
    found: dict[str, list[str] | None] = {}
    for text in texts:
        if is_scale(text) and ":" not in text:
            found[text] = None
            continue
        first, *others = split_names(text)
        name, mark, state = first.partition(":")
        if mark:
            found[name.strip()] = [state.strip(), *others]
        else:
            found.update(dict.fromkeys([first, *others]))
    return found


def split_names(text: str) -> list[str]:
    """Return names between commas; those in quotes may hold commas, and doubled quotes.

    Examples
    --------
    >>> split_names('age, "height, cm", "say ""no"" often"')
    ['age', 'height, cm', 'say "no" often']
    """
    return [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row]


def chosen(texts: Sequence[str] | None) -> Callable[[Sequence[Any]], list[Any]] | None:
    """Return the function that finds the columns that options name, None if there are none.

    Each text is a name, or names with commas between them; one that has commas is quoted there.
    """
    if texts is None:
        return None

    def find(names: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for text in texts:
            if text in names:
                found.append(text)
                continue
            found += [name for name in split_names(text) if name]
        return found

    return find


def with_files(settings: Mapping[str, Any], names: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments with the start and the pairs that their files name.

    Examples
    --------
    >>> with_files({"lam": 0.1, "knowledge": {"forbidden": ["b~a"]}}, ["a", "b"])
    {'lam': 0.1, 'knowledge': {'forbidden': [('b', 'a')]}}
    """
    found = dict(settings)
    start = settings.get("method_options", {}).get("start")
    if start is not None:
        found["method_options"] = settings["method_options"] | {"start": _read_start(start, names)}
    if "knowledge" in settings:
        found["knowledge"] = _read_knowledge(settings["knowledge"], names)
    return found


def as_learned(policy: str, table: AnyRows) -> AnyRows:
    """Return the rows that are learned from: without those that are left out for missing cells.

    Of rows in parts these are left out later.
    """
    from graftwork.data import Table
    from graftwork.data.missing import complete_rows

    if policy != "drop-rows" or not isinstance(table, Table):
        return table
    return complete_rows(table)


def _criterion(text: str | None) -> tuple[str | None, dict[str, Any]]:
    """Return a criterion's name and options; None where none is given.

    Examples
    --------
    >>> _criterion("stars:threshold=0.05:subsamples=50")
    ('stars', {'threshold': 0.05, 'subsamples': 50})
    """
    if text is None:
        return None, {}
    name, written = split_options(text)
    options = {key.replace("-", "_"): parse_value(value) for key, value in written.items()}
    for key, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParameterError(f"{key} of {name} is {value!r}; it must be a number.")
    return name, options


def _penalty_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the penalty that are not its defaults."""
    own = given.get("unary_lam")
    unary = given.get("penalize_unary") if own is None else own
    return {name: value for name, value in (("l2", given.get("l2")), ("unary", unary)) if value}


def _knowledge(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options about edges that were given, or refuse what is no file and no pair.

    Examples
    --------
    >>> _knowledge({"required": ["a~b"], "forbidden": None})
    {'required': ['a~b']}
    """
    found = {name: list(given[name]) for name in PAIRS if given.get(name)}
    for name, texts in found.items():
        for text in texts:
            if MARK not in text and not Path(text).is_file():
                sentence = f"{text!r} is neither a pair A{MARK}B nor a file with two names a line."
                raise typer.BadParameter(sentence, param_hint=f"'--{name}'")
    path = given.get(WEIGHTS)
    if path is None:
        return found
    if not Path(path).is_file():
        sentence = f"{path!r} is no file; give a CSV with two names and a factor a line."
        raise typer.BadParameter(sentence, param_hint="'--penalty-weights'")
    return {**found, WEIGHTS: path}


def _read_knowledge(given: Mapping[str, Any], names: Sequence[Any]) -> dict[str, Any]:
    """Return lists of pairs of names, and factors by pair."""
    found: dict[str, Any] = {
        name: [pair for text in given[name] for pair in _pairs(name, text, names)]
        for name in PAIRS
        if name in given
    }
    if WEIGHTS in given:
        found[WEIGHTS] = _weights(Path(given[WEIGHTS]), names)
    return found


def _pairs(option: str, text: str, names: Sequence[Any]) -> list[tuple[Any, Any]]:
    from graftwork.cli.matching import find_pair
    from graftwork.cli.truth import read_truth

    if Path(text).is_file():
        return read_truth(names, Path(text))
    try:
        return [find_pair(names, text, MARK, f"{text!r} is no pair A{MARK}B.")]
    except DataError as error:
        raise DataError(f"--{option}: {error}") from error


def _weights(path: Path, names: Sequence[Any]) -> dict[tuple[Any, Any], float]:
    """Return the factor of each pair in a file of three columns."""
    from graftwork.cli.truth import read_lines

    weights: dict[tuple[Any, Any], float] = {}
    for line, pair, cells in read_lines(names, path):
        try:
            factor = float(cells[2])
        except (IndexError, ValueError):
            raise DataError(
                f"{path.name}: line {line} has no factor after its two names; write a number from "
                "0 on, or inf, such as rain,wet,0.5."
            ) from None
        other = weights.get(pair[::-1], weights.get(pair, factor))
        if other != factor:
            raise DataError(
                f"{path.name}: line {line} gives {pair[0]} and {pair[1]} another factor than a "
                "line before; give each pair once."
            )
        weights[pair] = factor
    return weights


def _check_start(text: str | None) -> None:
    """Refuse what is neither the tree nor a file, before anything long is done."""
    if text is not None and text != TREE and not Path(text).is_file():
        sentence = f"{text!r} is neither {TREE} nor a file (a model, or two names a line)."
        raise typer.BadParameter(sentence, param_hint="'--start'")


def _read_start(text: str, names: Sequence[Any]) -> Any:
    """Return what the estimator takes as its start: a name, a model or pairs of names."""
    if text == TREE:
        return text
    from graftwork.cli.truth import read_truth
    from graftwork.exchange import load_network

    path = Path(text)
    return load_network(path) if is_archive(path) else read_truth(names, path)
