"""Rows in parts: sources larger than memory, read once and kept packed on the disk."""

from graftwork.data.scanning.encoding import EncodedPiece, encode_piece
from graftwork.data.scanning.options import ScanOptions
from graftwork.data.scanning.scans import Scan, scan
from graftwork.data.scanning.stored import StoredTable
from graftwork.data.scanning.uniting import United, unite

__all__ = [
    "EncodedPiece",
    "Scan",
    "ScanOptions",
    "StoredTable",
    "United",
    "encode_piece",
    "scan",
    "unite",
]
