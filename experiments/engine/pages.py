"""What a study leaves behind: JSON, CSV, pictures, and a page of verdicts."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from experiments.engine.claims import Claim, Verdict
from experiments.engine.study import Figure, Report, Study
from graftwork.report.figures import new_figure

#: What is said of verdicts with other sizes.
SMALL = {
    "quick": "Small sizes: what a paper says of large problems may differ here for that reason "
    "alone.",
    "tiny": "Tiny sizes, on made rows: they show that the study runs, and nothing about the paper.",
}
#: Longer tables are left in their own files.
MOST_LINES = 30
#: Colours of a picture: lines and text need no more, and files get three times smaller.
COLOURS = 96


def write_files(
    study: Study, report: Report, about: Mapping[str, Any], out: Path, *, pictures: bool
) -> list[Path]:
    """Write everything; return the files."""
    claims = [asdict(claim) for claim in report.claims]
    whole = {**about, "claims": claims, "tables": {k: list(v) for k, v in report.tables.items()}}
    made = {name: about[name] for name in ("study", "size", "seed", "graftwork", "settings")}
    made |= {"commits": _commits(about), "date": _date(about)}
    files = [out / "results.json", out / "settings.json"]
    for file, content in zip(files, (whole, made), strict=True):
        file.write_text(json.dumps(_finite(content), indent=1) + "\n", encoding="utf8")
    for name, lines in {"claims": claims, **report.tables}.items():
        if lines:
            files.append(_write_csv(out / f"{name}.csv", lines))
    if pictures:
        files += [_draw(figure, out) for figure in report.figures]
    page = out / "page.md"
    page.write_text("\n".join(page_lines(study, report, about, pictures)) + "\n", encoding="utf8")
    return [*files, page]


def page_lines(
    study: Study, report: Report, about: Mapping[str, Any], pictures: bool = True
) -> Iterator[str]:
    """Yield the lines of a page in Markdown: verdicts, tables, pictures, how it was made."""
    size = "" if about["size"] == "full" else f" --{about['size']}"
    data = " --data DIR" if study.data and about["size"] != "tiny" else ""
    yield f"# {study.paper}"
    yield ""
    commits = _commits(about)
    commit = f", commit{'s'[: len(commits) != 1]} {', '.join(commits)}" if commits else ""
    yield (
        f"`python -m experiments {study.name}{size}{data} --seed {about['seed']}`, graftwork "
        f"{about['graftwork']}{commit}{_date(about) and ', ' + _date(about)}, "
        f"{sum(step['cpu_seconds'] for step in about['steps'].values()):,.0f} CPU s in all."
    )
    yield ""
    if size:
        yield SMALL[about["size"]]
        yield ""
    yield counted(report.claims)
    yield ""
    yield from claim_table(report.claims)
    for name, lines in report.tables.items():
        if lines:
            yield ""
            yield f"## {name}"
            yield ""
            if len(lines) > MOST_LINES:
                yield f"{len(lines):,} lines, in [{name}.csv]({name}.csv)."
            else:
                yield from _table([str(key) for key in lines[0]], [_cells(line) for line in lines])
    if pictures:
        for figure in report.figures:
            yield ""
            yield f"![{figure.caption}]({figure.name}.png)"
            yield ""
            yield f"*{figure.caption}*"
    for skipped in about["skipped"].values():
        yield ""
        yield f"Not run: {', '.join(skipped['steps'])}. {skipped['reason']}"
    for key, message in about["failed"].items():
        yield ""
        yield f"Failed: {key}. {message}"


def _commits(about: Mapping[str, Any]) -> list[str]:
    return sorted({step["commit"] for step in about["steps"].values()} - {""})


def _date(about: Mapping[str, Any]) -> str:
    """Return the day of the last step, an empty text if there is none."""
    return max((step["date"][:10] for step in about["steps"].values()), default="")


def counted(claims: Sequence[Claim]) -> str:
    """Return how often each verdict was given.

    Examples
    --------
    >>> counted([Claim("a", "", "", "differs"), Claim("b", "", "", "reproduced")])
    '2 claims: 1 reproduced, 1 differs.'
    """
    counts = Counter(claim.verdict for claim in claims)
    known = [f"{counts[verdict]} {verdict}" for verdict in get_args(Verdict) if counts[verdict]]
    return f"{len(claims)} claim{'s'[: len(claims) != 1]}: {', '.join(known)}."


def claim_table(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield a table of what was printed, what was found, what was needed, and the verdicts."""
    rows = [
        [claim.what, claim.printed, claim.ours, claim.threshold, verdict_of(claim)]
        for claim in claims
    ]
    yield from _table(["what", "printed", "ours", "threshold", "verdict"], rows)


def verdict_of(claim: Claim) -> str:
    """Return the verdict with its reason."""
    return claim.verdict + (f" because {claim.because}" if claim.because else "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield (
            "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
        )


def _cells(line: Mapping[str, Any]) -> list[str]:
    return [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in line.values()]


def _finite(value: Any) -> Any:
    """Return a value as JSON can hold it: null for what is no number.

    Examples
    --------
    >>> _finite({"a": [1.0, float("nan")]})
    {'a': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_csv(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return path


def _draw(figure: Figure, out: Path) -> Path:
    from PIL import Image  # comes with matplotlib

    canvas, drawn = new_figure(*figure.size), io.BytesIO()
    figure.draw(canvas)
    canvas.savefig(drawn, dpi=110)
    path = out / f"{figure.name}.png"
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return path
