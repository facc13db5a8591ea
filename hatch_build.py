"""The README of the built package: its links to other files are plain text, since none is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def without_own_links(text: str) -> str:
    """Return Markdown without links to files and pictures of the project, which are not with it.

    >>> without_own_links("[a](docs/a.md), [b](https://b.org)![c](c.png)")
    'a, [b](https://b.org)'
    """
    text = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)", "", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


class Readme(MetadataHookInterface):
    """Puts the README into the package's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": without_own_links(text),
        }
