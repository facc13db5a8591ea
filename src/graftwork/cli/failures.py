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
from functools import cache
from typing import Any

import typer

from graftwork.errors import (
    ApproximationWarning,
    CacheWarning,
    ConvergenceWarning,
    DataWarning,
    GraftworkError,
)
from graftwork.text import cut, harmless

#: The characters of an error or a warning that are shown.
MOST_SAID = 2000

BAD_INPUT, UNEXPECTED, INTERRUPTED, TERMINATED = 2, 1, 130, 143

#: Parameters whose option has another name.
_RENAMED = {"n_jobs": "jobs", "penalize_unary": "unary-lam"}
#: How the library's messages mention a parameter: with its value, name=value, or as what must be.
_MENTION = re.compile(
    r"""(?<!-)\b(?P<name>[a-z]\w*)(?:=(?P<value>'[^']*'|"[^"]*"|\[[^\]]*\]|\{[^}]*\}|\(\)"""
    r"""|-?\d+(?:\.\d+)?(?:e-?\d+)?\b|True|False|None)|=(?=\s)"""
    r"""|(?=\ must\ be\b|\ names\ (?:the\b|')|\ goes\ with\b|:\ \S+\ has\b"""
    r"""|\ of\ '[^']*'\ must\b))"""
)


class Closed(io.StringIO):
    """A stream in the place of one that whoever called has closed."""


def say(text: str) -> None:
    """Print harmless text on stderr, and return None."""
    print(harmless(text), file=sys.stderr, flush=True)


def tell(text: str) -> None:
    """Print harmless text on stdout, and return None: what people read, or JSON."""
    _print(harmless(text) + "\n")


def mention(text: str) -> None:
    """Print what there is to say about files that were written; nobody need be listening."""
    if not isinstance(sys.stdout, Closed):
        tell(text)


def hand_over(text: str) -> None:
    """Print data on stdout as they are, and return None; on a terminal they are harmless text."""
    _print(harmless(text) if sys.stdout.isatty() else text)


def _print(text: str) -> None:
    """Print on stdout; characters that its encoding lacks are written as Python writes them."""
    if isinstance(sys.stdout, Closed):
        raise GraftworkError("standard output is closed, so nothing can be printed.")
    coding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(coding, "backslashreplace").decode(coding))
    sys.stdout.flush()


def as_options(text: str) -> str:
    """Return a message with the library's parameters written as options.

    The library mentions a parameter as ``name=value``, or says that it must be something; where the
    command line has an option for it, the option takes its place.

    Examples
    --------
    >>> as_options("if that line is data, use header=False.")
    'if that line is data, use --header no.'
    >>> as_options("lam must be a number with penalty='l2', got -1.")
    '--lam must be a number with --penalty l2, got -1.'
    >>> as_options("leave it out (drop=['a b', 'id'] when a file is read).")
    "leave it out (--drop 'a b,id' when a file is read)."
    >>> as_options("write ordinal={'mood': ['lowest', ..., 'highest']}.")
    'write --ordinal mood:lowest,...,highest.'
    """
    known = _options()

    def written(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if name == "missing_values" and value == "()":
            return "--keep-missing"
        if name == "ordinal" and value == "True":
            return "--ordinal all"
        option = f"--{_RENAMED.get(name, name.replace('_', '-'))}"
        if option not in known:
            return found[0]
        try:
            given = None if value is None else ast.literal_eval(value)
            if isinstance(given, dict):  # an option for each; None is all columns
                every = [f"{option} {shlex.quote(text)}" for text in given.pop(None, ())]
                own = [f"{option} {_as_typed({name: value})}" for name, value in given.items()]
                return " ".join([*every, *own])
            return option if value is None else f"{option} {_as_typed(given)}"
        except (SyntaxError, ValueError):  # not a value that can be typed
            return found[0]

    return _MENTION.sub(written, text)


@cache
def _options() -> frozenset[str]:
    """Return all options of the command line."""
    from graftwork.cli.app import app

    commands = typer.main.get_group(app).commands.values()
    return frozenset(opt for command in commands for param in command.params for opt in param.opts)


def _as_typed(value: Any) -> str:
    """Return a value as it is typed on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        [(name, own)] = value.items()
        return _as_typed(f"{name}:{_listed(own)}")
    return shlex.quote(_listed(value))


def _listed(value: Any) -> str:
    """Return a value as text, several with commas between them."""
    if not isinstance(value, list):
        return str(value)
    names = io.StringIO()
    csv.writer(names).writerow("..." if each is ... else each for each in value)
    return names.getvalue().strip()


def report_failure(error: BaseException) -> int:
    """Say in one sentence what went wrong, and return the exit code."""
    if os.environ.get("GRAFTWORK_DEBUG"):
        traceback.print_exception(error)
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
    """Return the sentence for an error the user can do something about, None for others."""
    if isinstance(error, GraftworkError):
        return one_line(as_options(str(error)))
    usage = getattr(error, "format_message", None)
    if callable(usage):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "graftwork"
        told = str(usage()).replace("Value error, ", "")  # as pydantic begins
        return one_line(f"{_stop(as_options(told))} Try: {command} --help")
    if isinstance(error, MemoryError):
        return (
            "there is too little memory for this; take fewer columns or rows, or have files read "
            "in parts by commands with the option --memory."
        )
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename!r}: " if error.filename is not None else ""
        return one_line(f"{where}{error.strerror[0].lower()}{error.strerror[1:]}.")
    if isinstance(error, ImportError) and "graftwork[" in str(error):
        return one_line(str(error))
    return None


def _stop(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."


def one_line(text: str) -> str:
    """Return a text without line ends, and without the rest of one that nobody would read.

    Examples
    --------
    >>> one_line("two\\n  lines")
    'two lines'
    """
    return cut(" ".join(text.split()), MOST_SAID)


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
        warnings.simplefilter("always", CacheWarning)
        warnings.showwarning = show
        yield
