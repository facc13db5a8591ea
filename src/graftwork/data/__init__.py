"""Categorical data: one Table, made from any usual container or file; sentences in columns."""

from graftwork.data.conll import read_conll
from graftwork.data.files import read_table
from graftwork.data.ingest import align, as_table
from graftwork.data.table import Table
from graftwork.data.templates import Template

__all__ = ["Table", "Template", "align", "as_table", "read_conll", "read_table"]
