"""What a network says, for people: tables of edges, a summary, a picture, the trace as a file."""

from graftwork.report.chain_summary import chain_summary, describe_chain, write_weights
from graftwork.report.chunks import ChunkScores, LabelScores, chunk_scores, label_scores
from graftwork.report.conditional import ConditionalLogs, conditional_logs
from graftwork.report.describe import describe
from graftwork.report.edges import (
    Association,
    EdgeRecord,
    EdgeScores,
    compare_edges,
    edge_table,
    write_edges,
)
from graftwork.report.layout import network_layout
from graftwork.report.pair_plot import plot_pair
from graftwork.report.path_plot import path_table, plot_path
from graftwork.report.plot import plot_network
from graftwork.report.scores import HeldOut, Scores, evaluate, held_out
from graftwork.report.summary import describe_edge, describe_network, summary
from graftwork.report.trace import write_path, write_trace

__all__ = [
    "Association",
    "ChunkScores",
    "ConditionalLogs",
    "EdgeRecord",
    "EdgeScores",
    "HeldOut",
    "LabelScores",
    "Scores",
    "chain_summary",
    "chunk_scores",
    "compare_edges",
    "conditional_logs",
    "describe",
    "describe_chain",
    "describe_edge",
    "describe_network",
    "edge_table",
    "evaluate",
    "held_out",
    "label_scores",
    "network_layout",
    "path_table",
    "plot_network",
    "plot_pair",
    "plot_path",
    "summary",
    "write_edges",
    "write_path",
    "write_trace",
    "write_weights",
]
