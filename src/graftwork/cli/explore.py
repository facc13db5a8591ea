"""graftwork explore: a page to look at what was learned, in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli.failures import mention
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.models import ChainModel, PairwiseMRF

EXAMPLES = """Examples:
graftwork explore run
graftwork explore run --open
graftwork explore run/model.gw --out network.html --title "What people said"
graftwork explore run --groups groups.csv
graftwork explore bootstrap
graftwork explore groups
graftwork explore chunker
graftwork explore network.uai

The page is one file: it needs no internet and no server, and can be sent to others."""


def explore(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|FILE",
            help="A folder that learn, bootstrap, compare-groups or crf wrote, or a model file "
            "(of other programs, too: UAI, libDAI, plmc, CRFsuite).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the page (.html); default explorer.html in the folder.",
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A CSV file with a variable and its group per line, to colour variables by.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
) -> None:
    """Write an interactive page for the browser: picture, tables, "what if".

    Networks, chains, bootstraps and comparisons of groups. The page is one HTML file with
    everything in it.
    """
    from graftwork.report.explorer.folders import model_of, saved_view
    from graftwork.report.explorer.page import page_path, write_page

    if not source.exists():
        raise DataError(f"there is no {str(source)!r}; give a folder that learn wrote, or a file.")
    own = source / "explorer.html" if source.is_dir() else source.with_suffix(".html")
    target = page_path(out or own)
    file = model_of(source)
    options: dict[str, Any] = {}
    if file is not None:
        from graftwork.cli.ask import meanings_in

        options["meanings"] = meanings_in(file)
    if groups is not None:
        options["groups"] = _groups(file, groups)
    written = write_page(target, saved_view(source, title, **options))
    mention(f"Wrote {written} ({written.stat().st_size / 1e6:.1f} MB).")
    if open_ and not webbrowser.open(written.resolve().as_uri()):
        mention("No browser could be started; open the file by hand.")


def _groups(file: Path | None, groups: Path) -> dict[Any, str | None]:
    """Return the groups of a network's variables that a file names."""
    from graftwork.cli.groups import read_groups
    from graftwork.exchange import load
    from graftwork.models import PairwiseMRF

    model: PairwiseMRF | ChainModel | None = None if file is None else load(file)
    if not isinstance(model, PairwiseMRF):
        raise DataError("--groups is for a network; leave it out for chains and other folders.")
    return read_groups(model.names, groups)
