"""Arguments that several benchmarks take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection


def parser_of(doc: str) -> argparse.ArgumentParser:
    """Return a parser whose help is the script's own description."""
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=doc, formatter_class=layout)


def folder_parser(doc: str, known: Collection[str] = ()) -> argparse.ArgumentParser:
    """Return a parser that wants the folder of data sets, and may take names of some of them."""
    parser = parser_of(doc)
    parser.add_argument("folder", metavar="FOLDER", help="folder of data sets")
    if known:
        add_names(parser, known)
    return parser


def numbers_parser(doc: str, **defaults: int) -> argparse.ArgumentParser:
    """Return a parser of whole numbers in this order, all of which may be left out."""
    parser = parser_of(doc)
    for name, default in defaults.items():
        parser.add_argument(name, nargs="?", type=int, default=default, help=f"default: {default}")
    return parser


def add_names(parser: argparse.ArgumentParser, known: Collection[str]) -> None:
    """Let a parser take any of the names known; none stands for the script's own choice."""
    parser.add_argument(
        "names", nargs="*", default=[], metavar="NAME", type=_one_of(known), help=", ".join(known)
    )


def _one_of(known: Collection[str]) -> Callable[[str], str]:
    """Return a type of arguments. (``choices`` would refuse to be given none.)"""

    def check(word: str) -> str:
        if word not in known:
            raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(known)}")
        return word

    return check
