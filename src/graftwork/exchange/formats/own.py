"""Our own model files, for networks and chains."""

from __future__ import annotations

from pathlib import Path

from graftwork.exchange.format import Content, Format, Written
from graftwork.models import load


def graftwork() -> Format:
    """Return our own format: everything, bit for bit, with how it was learned."""
    return Format(load, _write)


def _write(path: Path, content: Content) -> Written:
    content.model.save(path, info=content.info)
    return Written()
