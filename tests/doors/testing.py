"""What tests know of the files of testing."""

from graftwork.testing import inverses, pair_screen, verdicts
from graftwork.testing import newton as newton_module
from graftwork.testing.contrasts import Contrasts, all_states, basis_of, frequent_states, pool
from graftwork.testing.edge_tests import Cut, EdgeTests, Findings, moved_variables
from graftwork.testing.evidence import log_q_values
from graftwork.testing.hessian import Parameters, hessian, is_rough
from graftwork.testing.inverses import RAISED, inverse
from graftwork.testing.lost import NOTHING_LOST, Lost
from graftwork.testing.newton import Curvature, newton, switch, switch_nearby
from graftwork.testing.pair_screen import SHARE, View
from graftwork.testing.pair_tests import _examine, examine_absent, examine_pairs
from graftwork.testing.resampled import moved
from graftwork.testing.rows import FittedRows
from graftwork.testing.selected import interval_of_shown, least_shown, shrunk
from graftwork.testing.tails import log_tail
from graftwork.testing.tilted import telling_rows, tilted
from graftwork.testing.variances import MomentTables, variances_of_some
