"""The program: its commands, and how it ends."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from graftwork.cli import (
    ask,
    bootstrap,
    compare_groups,
    convert,
    crf,
    explain,
    explore,
    learn,
    rows,
    tag,
)
from graftwork.cli.failures import INTERRUPTED, TERMINATED, Closed, plain_warnings, report_failure
from graftwork.cli.interrupts import Interrupts
from graftwork.version import __version__

_INTRO = (
    "Learn and use sparse Markov networks of categorical data, and sparse chain CRFs that label "
    "sequences.\n\n"
    "Start with: graftwork learn mushroom (a data set that is part of the package). It learns a "
    "network, describes it in words, and writes the model, its edges and a picture to the folder "
    "out."
)

_EXAMPLES = """Examples:
graftwork learn mushroom
graftwork learn data.csv --out run --holdout 0.2
graftwork learn 'sales/*.parquet' --memory 2GB
graftwork learn data.csv --goal prediction --path
graftwork bootstrap data.csv --n 500
graftwork compare-groups data.csv --by language
graftwork show run/model.gw --plot network.pdf
graftwork explore run --open
graftwork query run/model.gw odor --given class=p
graftwork score run/model.gw new.csv --per-row scores.csv
graftwork predict run/model.gw new.csv --target class --out predicted.csv
graftwork impute run/model.gw gaps.csv --out filled.csv
graftwork sample run/model.gw 1000 --seed 0 --out rows.csv
graftwork crf train.txt --test test.txt --out chunker
graftwork tag chunker/model.gw new.txt --out tagged.txt
graftwork explain chunker/model.gw new.txt
graftwork convert run/model.gw network.graphml

graftwork COMMAND --help says more about each."""

app = typer.Typer(
    help=_INTRO,
    epilog=_EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("learn", epilog=learn.EXAMPLES)(learn.learn)
app.command("bootstrap", epilog=bootstrap.EXAMPLES)(bootstrap.bootstrap)
app.command("compare-groups", epilog=compare_groups.EXAMPLES)(compare_groups.compare_groups)
app.command("score", epilog=ask.SCORE_EXAMPLES)(ask.score)
app.command("query", epilog=ask.QUERY_EXAMPLES)(ask.query)
app.command("predict", epilog=rows.PREDICT_EXAMPLES)(rows.predict)
app.command("impute", epilog=rows.IMPUTE_EXAMPLES)(rows.impute)
app.command("sample", epilog=ask.SAMPLE_EXAMPLES)(ask.sample)
app.command("crf", epilog=crf.EXAMPLES)(crf.crf)
app.command("tag", epilog=tag.EXAMPLES)(tag.tag)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)
app.command("show", epilog=ask.SHOW_EXAMPLES)(ask.show)
app.command("explore", epilog=explore.EXAMPLES)(explore.explore)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"graftwork {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options that come before a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code of one run of the command line."""
    if not (sys.argv[1:] if argv is None else argv):
        argv = ["--help"]
    with plain_warnings():
        try:
            code = app(args=argv, prog_name="graftwork", standalone_mode=False)
        except (Exception, KeyboardInterrupt) as error:
            code = report_failure(error)
    if code == INTERRUPTED and Interrupts.terminated:
        return TERMINATED
    return code if isinstance(code, int) else 0


def program() -> int:
    """Return the exit code of the command line in a process of its own.

    Looking for garbage among a hundred thousand objects of imported modules, several times and
    again at the end, took a fifth of the time of a small problem.
    """
    gc.set_threshold(100_000, 50, 100)
    for name in ("stdout", "stderr"):  # None where whoever called closed them
        if getattr(sys, name) is None:
            setattr(sys, name, Closed())
    try:
        return main()
    finally:
        gc.freeze()
