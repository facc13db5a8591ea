"""Rows to score, in memory or in parts, and a file of what each of them scores."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graftwork.cli import options as opt
from graftwork.cli.failures import say
from graftwork.cli.matching import columns_of, parts_for, read_for
from graftwork.cli.parts import asks_for_parts, name_of, scan_files, too_large
from graftwork.errors import DataWarning

if TYPE_CHECKING:
    from graftwork.data import Table
    from graftwork.models import PairwiseMRF
    from graftwork.models.gaps import ScoredRows
    from graftwork.report.scores import RowScores
    from graftwork.report.scores_parts import Each


@contextmanager
def rows_to_score(
    model: PairwiseMRF,
    data: Sequence[str],
    reading: opt.Reading,
    how: opt.InParts,
    texts: Sequence[str] | None,
    *,
    gaps: bool,
) -> Iterator[Callable[[], Iterator[Table]]]:
    """Yield what yields tables of rows in the states of a model: one, or one for each part."""
    why = None if asks_for_parts(data, how) else too_large(Path(data[0]), reading)
    if why is not None:
        say(why)
    if why is None and not asks_for_parts(data, how):
        table = read_for(
            model,
            opt.file_or_stdin(Path(data[0])),
            gaps=gaps,
            missing_values=texts,
            sheet=reading.sheet,
            sep=reading.sep,
            header=reading.header,
            weights=reading.weights,
        )
        yield lambda: iter([table])
        return
    source = scan_files(
        data,
        reading,
        how,
        columns=columns_of(model),
        missing_values=opt.missing_texts(texts, states=model.states),
        infer_types=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # about columns: learning has told of them
        stored = source.store(missing="state")
    with stored:
        yield parts_for(model, stored, name_of(data), gaps=gaps)


@contextmanager
def write_each(path: Path | None) -> Iterator[Each | None]:
    """Yield what writes the scores of rows to a CSV file, part by part; None without a file.

    The file is there when all is written.
    """
    from graftwork.data.atomic import replacing

    if path is None:
        yield None
        return
    with replacing(path) as raw, ExitStack() as stack:
        file: Any = raw
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        begun: list[str] = []

        def write(found: RowScores, rows: ScoredRows, before: int) -> None:
            import numpy as np

            columns, text = found.columns(), io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            if not begun:
                begun.extend(columns)
                writer.writerow(["row", *begun])
            places = np.flatnonzero(rows.kept).tolist()  # rows that are left out have no line
            none = [""] * len(places)
            told = (columns[name].tolist() if name in columns else none for name in begun)
            values = zip(*told, strict=True)
            for place, own in zip(places, values, strict=True):
                writer.writerow([before + place + 1, *own])
            file.write(text.getvalue().encode())

        yield write
