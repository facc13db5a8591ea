"""graftwork convert: a model in the format of another program, or from there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graftwork.cli.failures import mention
from graftwork.registry import FORMATS


def _format_lines() -> str:
    """Return a line for each format: its name, suffixes, if it is read or written, and what."""
    lines = []
    for name in FORMATS:
        entry = FORMATS.entry(name)
        does = [word for word in ("reads", "writes") if entry.traits.get(word)]
        how = " and ".join({"reads": "read", "writes": "written"}[word] for word in does)
        lines.append(f"{name}: {' '.join(entry.traits['suffixes'])}, {how}; {entry.help}")
    return "\n".join(lines)


EXAMPLES = f"""Examples:
graftwork convert out/model.gw network.graphml
graftwork convert out/model.gw network.uai
graftwork convert grid.uai grid.gw
graftwork convert tagger.crfsuite tagger.gw
graftwork convert out/model.gw edges.csv --to qgraph

Formats:
{_format_lines()}"""

_From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="FORMAT", help="The format of the file, if its suffix does not say it."
    ),
]
_To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="FORMAT", help="The format to write, if the suffix does not say it."
    ),
]


def convert(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A model file in any format.")],
    target: Annotated[Path, typer.Argument(metavar="NEW", help="The file to write.")],
    from_: _From = None,
    to: _To = None,
) -> None:
    """Write a model in another format, and say what the new file cannot hold."""
    from graftwork.exchange import export, load, read_info

    model, info = load(source, from_), read_info(source, from_)
    mention(str(export(model, target, to, info=info)))
