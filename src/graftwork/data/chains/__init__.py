"""Labelled sequences: attributes of positions, labels, column files and feature templates."""

from graftwork.data.chains.attributes import Vocabulary
from graftwork.data.chains.conll import (
    Sentence,
    conll_lines,
    is_conllu,
    label_last,
    read_conll,
    split_labels,
    stream_conll,
    write_conll,
)
from graftwork.data.chains.labels import check_weights, decode_labels, encode_labels, with_weight
from graftwork.data.chains.sequences import (
    Sequences,
    as_sequences,
    compressed,
    count_columns,
    opened,
    settled_sequences,
)
from graftwork.data.chains.templates import NAMED, Template

__all__ = [
    "NAMED",
    "Sentence",
    "Sequences",
    "Template",
    "Vocabulary",
    "as_sequences",
    "check_weights",
    "compressed",
    "conll_lines",
    "count_columns",
    "decode_labels",
    "encode_labels",
    "is_conllu",
    "label_last",
    "opened",
    "read_conll",
    "settled_sequences",
    "split_labels",
    "stream_conll",
    "with_weight",
    "write_conll",
]
