"""``python -m graftwork`` does what ``graftwork`` does."""

import sys

from graftwork.cli.app import program

if __name__ == "__main__":
    sys.exit(program())
