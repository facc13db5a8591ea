"""The README of the package index: links lead to the repository, since no other files are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGES = "https://github.com/graftwork/graftwork/blob/main/"
PICTURES = "https://raw.githubusercontent.com/graftwork/graftwork/main/"


def with_absolute_links(text: str) -> str:
    """Return Markdown whose links and pictures do not depend on where it lies.

    >>> with_absolute_links("[a](docs/a.md), [b](https://b.org), ![c](c.png)")[:70]
    '[a](https://github.com/graftwork/graftwork/blob/main/docs/a.md), [b](h'
    """
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\1{PICTURES}", text)
    return re.sub(r"(?<!!)(\[[^\]]*\]\()(?!https?:|#)", rf"\1{PAGES}", text)


class Readme(MetadataHookInterface):
    """Puts the README into the package's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text),
        }
