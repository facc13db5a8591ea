"""Categorical data: one Table, made from any usual container or file; and labelled sequences."""

from graftwork.data.files import read_table
from graftwork.data.ingest import align, as_table
from graftwork.data.labels import encode_labels
from graftwork.data.sequences import Sequences, as_sequences
from graftwork.data.table import Table

__all__ = [
    "Sequences",
    "Table",
    "align",
    "as_sequences",
    "as_table",
    "encode_labels",
    "read_table",
]
