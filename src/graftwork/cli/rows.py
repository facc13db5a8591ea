"""graftwork predict and impute: what a model says about the rows of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import hand_over, say
from graftwork.cli.matching import find_variable, match_text, rows_for
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.data.columns import Raw
    from graftwork.models import PairwiseMRF
    from graftwork.models.answers import Predicted

PREDICT_EXAMPLES = """Examples:
graftwork predict out/model.gw new.csv --target class
graftwork predict out/model.gw new.csv --target class --proba --out predicted.csv
graftwork predict out/model.gw new.csv --target class --unseen ignore"""

IMPUTE_EXAMPLES = """Examples:
graftwork impute out/model.gw gaps.csv --out filled.csv
graftwork impute out/model.gw gaps.csv --draw --seed 1 --out drawn.csv"""

OutFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A CSV file instead of stdout.")]
UnseenOption = Annotated[
    opt.UnseenStates,
    typer.Option(
        "--unseen",
        help="Cells whose state the model does not have: an error, or missing (ignore).",
    ),
]


def predict(
    model: opt.Model,
    data: opt.Rows,
    target: Annotated[str, typer.Option(metavar="NAME", help="The variable to predict.")],
    proba: Annotated[
        bool, typer.Option("--proba", help="Write the probabilities of all its states.")
    ] = False,
    out: OutFile = None,
    unseen: UnseenOption = opt.UnseenStates.ERROR,
    sep: opt.Sep = None,
    header: opt.HeaderOption = opt.Header.AUTO,
    missing_values: opt.MissingValues = None,
    sheet: opt.Sheet = None,
) -> None:
    """Write the most probable state of a variable in each row of a file, given its other cells.

    Missing cells are summed over. The variable's own column is not looked at and may be absent;
    where it is there, the command says how often the prediction is right.
    """
    from graftwork.exchange import load_network
    from graftwork.models.answers import predict_rows

    network = load_network(model)
    name = find_variable(network.names, target)
    whole = _read(network, model, data, sep, header, missing_values, sheet)
    ignore = unseen is opt.UnseenStates.IGNORE
    rows = rows_for(network, whole, data, absent=name, ignore=ignore)
    found = predict_rows(network, rows, name)
    _write(model, out, _predicted_lines(found, proba))
    told = _accuracy(found)
    if told:
        say(told)


def impute(
    model: opt.Model,
    data: opt.Rows,
    draw: Annotated[
        bool,
        typer.Option("--draw", help="Draw states instead of filling in the most probable ones."),
    ] = False,
    seed: opt.Seed = 0,
    out: OutFile = None,
    unseen: UnseenOption = opt.UnseenStates.ERROR,
    sep: opt.Sep = None,
    header: opt.HeaderOption = opt.Header.AUTO,
    missing_values: opt.MissingValues = None,
    sheet: opt.Sheet = None,
) -> None:
    """Fill the missing cells of a file with the most probable states of each row.

    Columns that are not variables of the model stay as they are.
    """
    import numpy as np

    from graftwork.exchange import load_network
    from graftwork.models.answers import fill_table, filled_columns

    network = load_network(model)
    whole = _read(network, model, data, sep, header, missing_values, sheet)
    ignore = unseen is opt.UnseenStates.IGNORE
    rows = rows_for(network, whole, data, ignore=ignore)
    full = fill_table(network, rows, np.random.default_rng(seed) if draw else None)
    columns = {str(name): cells for name, cells in zip(whole.names, _cells(whole), strict=True)}
    count = 0
    for each in filled_columns(rows, full):
        name = str(whole.names[match_text(str(each.name), whole.names)])
        count += sum(cell is None for cell in columns[name])
        columns[name] = each.cells(columns[name])
    lines = zip(*columns.values(), strict=True)
    _write(
        model,
        out,
        [list(columns), *(["" if cell is None else cell for cell in row] for row in lines)],
    )
    say(f"{count:,} cell{'s'[: count != 1]} filled.")


def _read(
    network: PairwiseMRF,
    model: Path,
    data: Path,
    sep: str | None,
    header: opt.Header,
    missing_values: Sequence[str] | None,
    sheet: str | None,
) -> Raw:
    """Return all columns of a file, as text."""
    from graftwork.data.files import text_columns
    from graftwork.exchange import read_info

    texts = missing_values or read_info(model).get("missing_values")
    return text_columns(
        opt.file_or_stdin(data),
        sep=sep,
        header=header.value_for_reading(),
        missing_values=opt.missing_texts(texts, states=network.states),
        sheet=sheet,
    )


def _cells(raw: Raw) -> Iterator[list[Any]]:
    """Yield the cells of each column, None where one is missing."""
    from graftwork.data.encode import encode, palette

    for j, name in enumerate(raw.names):
        coded = encode(raw.column(j), name, raw.place)
        cells = palette(coded.states or ("",))[coded.codes].astype(object)
        if coded.missing is not None:
            cells[coded.missing] = None
        yield cells.tolist()


def _predicted_lines(found: Predicted, proba: bool) -> Iterator[list[Any]]:
    """Yield the lines of a file of predictions."""
    codes, shares = found.codes.tolist(), found.probabilities.tolist()
    more = [f"p({state})" for state in found.states] if proba else ["probability"]
    yield [found.name, *more]
    for code, row in zip(codes, shares, strict=True):
        yield [found.states[code], *(row if proba else [row[code]])]


def _accuracy(found: Predicted) -> str:
    """Return how often the predictions are right, where rows tell; else an empty text."""
    told = found.given >= 0
    if not told.any():
        return ""
    right = float((found.codes == found.given)[told].mean())
    count = int(told.sum())
    rows = "the only row" if count == 1 else f"{count:,} rows"
    return f"{found.name} is predicted right in {right:.1%} of {rows} that have it."


def _write(model: Path, out: Path | None, lines: Iterable[Sequence[Any]]) -> None:
    """Write lines of cells as CSV, to a file that is not the model's, or to standard output."""
    from graftwork.data.atomic import write_lines

    if out is not None and out.exists() and out.samefile(model):
        raise DataError("--out is the file of the model, which would be lost; name another file.")

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    if out is None:
        hand_over(text.getvalue())
    else:
        write_lines(out, [text.getvalue()])
