"""What tests know of the files of report."""

from graftwork.report.bends import edge_lines
from graftwork.report.bootstrap import bootstrap_dict, bootstrap_text
from graftwork.report.centrality import centrality_text, write_centrality
from graftwork.report.choice_text import stop_text
from graftwork.report.chunk_tags import chunks, is_chunk_tag
from graftwork.report.communities import community_text, write_communities
from graftwork.report.conditional import deal_groups
from graftwork.report.data_notes import data_notes
from graftwork.report.describe import advice_text
from graftwork.report.edges import (
    EdgeTest,
    double_centred,
    edge_table,
    edges_of,
    saved_edges,
)
from graftwork.report.explanation import write_explanations
from graftwork.report.explorer.bootstraps import bootstrap_view
from graftwork.report.explorer.networks import grouping, network_model, places_of, state_texts
from graftwork.report.explorer.packing import embedded, packed, texts
from graftwork.report.explorer.page import asset, page_html, write_page
from graftwork.report.explorer.views import network_view, view
from graftwork.report.figures import NEGATIVE, PALETTE, POSITIVE, new_axes, new_figure
from graftwork.report.figures import UNSIGNED as UNSIGNED_MARK
from graftwork.report.groups import pair_tables
from graftwork.report.groups_plot import _DIFFERS
from graftwork.report.html import to_html
from graftwork.report.large_layout import large_layout
from graftwork.report.layout import network_layout, place_labels, positions, strays
from graftwork.report.plot import MOST_RINGS, UNSIGNED, sign_style
from graftwork.report.predictability import both_text, ring_shares, write_predictability
from graftwork.report.scores import HeldOut
from graftwork.report.summary import network_text
from graftwork.report.trace import write_records
