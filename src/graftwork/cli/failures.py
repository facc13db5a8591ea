"""What went wrong, in one sentence on stderr, and the exit code that goes with it."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from graftwork.cli.interrupts import Aborted
from graftwork.errors import ApproximationWarning, ConvergenceWarning, DataWarning, GraftworkError

BAD_INPUT, UNEXPECTED, INTERRUPTED = 2, 1, 130

#: What the library says about its arguments, as options of the command line.
_OPTIONS = {
    "pass missing_values=() to": "use --keep-missing to",
    " (to read them for that, pass missing='state')": " (all of learn, path and bootstrap)",
    "MarkovNetwork(missing='available-case')": "--missing available-case",
    "MarkovNetwork(missing='state')": "--missing state",
    " (as_table has missing='state', frames df.fillna('missing'))": " (all of learn, path and "
    "bootstrap)",
    "pass header=True": "use --header yes",
    "pass header=False": "use --header no",
    "pass one that a model's save wrote": "give one that graftwork learn or crf wrote (model.gw)",
    " (ChainModel), where a network (PairwiseMRF) is wanted; pass another file": ", where "
    "a network is wanted; use graftwork tag or graftwork show with it",
    " (PairwiseMRF), where a chain of labels (ChainModel) is wanted; pass another file": ", where "
    "a chain of labels is wanted; give one that graftwork crf wrote",
    "but it must be None or some characters": "but --sep must be some characters",
    "pass sep= if": "use --sep if",
    "(a tab as sep= allows spaces)": "(a tab as --sep allows spaces)",
    "leave select out": "leave --select out",
    "select and method_options={'count': ...} are": "--select and count in --method are",
    "Value error, ": "",
    "to go by position instead of by name, pass an array": "rename them in the file",
}
#: The estimator's arguments, as messages write them: "tol must be", 'penalty="l2"'.
_ARGUMENTS = re.compile(
    r"""\b(lam|goal|fdr|criterion|l2|tol|tie|alpha|anneal|loss|inference|pair_rule|penalty|penalize_unary|method"""
    r"""|n_jobs|max_edges|max_tests|max_seconds|start|c1|select|order|candidates|min_count"""
    r"""|max_features|max_iter|missing)(?:(?= must be)|=["']([\w-]+)["'])"""
)
#: Where the library says how columns are left out.
_DROP = re.compile(r"\(read_table has drop=(\[.*?\]), frames df\.drop\(columns=\.\.\.\)\)")
_RENAMED = {"n_jobs": "jobs", "penalize_unary": "unary-lam"}


def say(text: str) -> None:
    """Print a line on stderr, and return None."""
    print(text, file=sys.stderr, flush=True)


def as_options(text: str) -> str:
    """Return a message with the library's arguments written as options.

    Examples
    --------
    >>> as_options("if that line is data, pass header=False.")
    'if that line is data, use --header no.'
    >>> as_options("lam must be a number with penalty='l2', got -1.")
    '--lam must be a number with --penalty l2, got -1.'
    """
    for call, option in _OPTIONS.items():
        text = text.replace(call, option)
    return _ARGUMENTS.sub(_as_option, _DROP.sub(_as_drop, text))


def _as_option(found: re.Match[str]) -> str:
    name, value = found.groups()
    option = f"--{_RENAMED.get(name, name).replace('_', '-')}"
    return option if value is None else f"{option} {value}"


def _as_drop(found: re.Match[str]) -> str:
    """Return the option that leaves out the columns of a list.

    Examples
    --------
    >>> as_options("leave it out (read_table has drop=['a b'], frames df.drop(columns=...)).")
    "leave it out (--drop 'a b')."
    """
    names = io.StringIO()
    csv.writer(names).writerow(ast.literal_eval(found[1]))
    return f"(--drop {shlex.quote(names.getvalue().strip())})"


def report_failure(error: BaseException) -> int:
    """Say in one sentence what went wrong, and return the exit code."""
    if os.environ.get("GRAFTWORK_DEBUG"):
        traceback.print_exception(error)
    if isinstance(error, Aborted):
        say("aborted; not everything was saved.")
        return INTERRUPTED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        say("interrupted.")
        return INTERRUPTED
    known = explain(error)
    if known is not None:
        say(f"error: {known}")
        return BAD_INPUT
    say(
        f"error: unexpected {type(error).__name__}: {one_line(str(error)) or 'no message'} "
        "(set GRAFTWORK_DEBUG=1 to see where)"
    )
    return UNEXPECTED


def explain(error: BaseException) -> str | None:
    """Return the sentence for an error the user can do something about, None for others.

    Examples
    --------
    >>> explain(IsADirectoryError(21, "Is a directory", "out"))
    "'out': is a directory."
    """
    if isinstance(error, GraftworkError):
        return one_line(as_options(str(error)))
    usage = getattr(error, "format_message", None)
    if callable(usage):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "graftwork"
        return one_line(f"{_stop(as_options(str(usage())))} Try: {command} --help")
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename!r}: " if error.filename is not None else ""
        return one_line(f"{where}{error.strerror[0].lower()}{error.strerror[1:]}.")
    if isinstance(error, ImportError) and "graftwork[" in str(error):
        return one_line(str(error))
    return None


def _stop(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."


def one_line(text: str) -> str:
    """Return a text without line ends.

    Examples
    --------
    >>> one_line("two\\n  lines")
    'two lines'
    """
    return " ".join(text.split())


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show graftwork's own warnings as one line each on stderr, and no others."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        say(f"warning: {one_line(as_options(str(message)))}")

    with warnings.catch_warnings():
        if not os.environ.get("GRAFTWORK_DEBUG"):
            warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("always", ApproximationWarning)
        warnings.showwarning = show
        yield
