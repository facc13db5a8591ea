"""What tests know of the files of significance."""

from graftwork.significance import pair_screen, verdicts
from graftwork.significance.edge_tests import Cut, EdgeTests, Findings, moved_variables
from graftwork.significance.evidence import log_q_values
from graftwork.significance.lost import NOTHING_LOST, Lost
from graftwork.significance.pair_screen import SHARE, View
from graftwork.significance.pair_tests import _examine, examine_absent, examine_pairs
from graftwork.significance.pooling import frequent_states, pool
from graftwork.significance.resampled import moved
from graftwork.significance.selected import interval_of_shown, least_shown, shrunk
from graftwork.significance.tails import log_tail
from graftwork.significance.tilted import telling_rows, tilted
from graftwork.significance.variances import MomentTables, variances_of_some
