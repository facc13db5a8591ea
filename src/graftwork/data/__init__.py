"""Categorical data: one Table, made from any usual container or file; labelled sequences."""

from graftwork.data.chains import Sequences, Template, as_sequences, encode_labels, read_conll
from graftwork.data.files import read_table
from graftwork.data.ingest import align, as_table
from graftwork.data.table import Table

__all__ = [
    "Sequences",
    "Table",
    "Template",
    "align",
    "as_sequences",
    "as_table",
    "encode_labels",
    "read_conll",
    "read_table",
]
