"""Categorical data: one Table, made from any usual container or file; labelled sequences."""

from graftwork.data.conll import read_conll
from graftwork.data.files import read_table
from graftwork.data.ingest import align, as_table
from graftwork.data.labels import encode_labels
from graftwork.data.sequences import Sequences, as_sequences
from graftwork.data.table import Table
from graftwork.data.templates import Template

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
