"""What tests know of the files of significance."""

from graftwork.significance import inverses, pair_screen, verdicts
from graftwork.significance import newton as newton_module
from graftwork.significance.contrasts import Contrasts, all_states, basis_of, frequent_states, pool
from graftwork.significance.edge_tests import Cut, EdgeTests, Findings, moved_variables
from graftwork.significance.evidence import log_q_values
from graftwork.significance.hessian import Parameters, hessian, is_rough
from graftwork.significance.inverses import RAISED, inverse
from graftwork.significance.lost import NOTHING_LOST, Lost
from graftwork.significance.newton import Curvature, newton, switch, switch_nearby
from graftwork.significance.pair_screen import SHARE, View
from graftwork.significance.pair_tests import _examine, examine_absent, examine_pairs
from graftwork.significance.resampled import moved
from graftwork.significance.rows import FittedRows
from graftwork.significance.selected import interval_of_shown, least_shown, shrunk
from graftwork.significance.tails import log_tail
from graftwork.significance.tilted import telling_rows, tilted
from graftwork.significance.variances import MomentTables, variances_of_some
