"""The command line: parse, call, print. Importing it is cheap; a command loads what it needs."""

from graftwork.cli.app import main, program

__all__ = ["main", "program"]
