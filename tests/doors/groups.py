"""What tests know of the files of groups."""

from graftwork.groups.compare import compare_groups
from graftwork.groups.curves import curved_in
from graftwork.groups.differences import Norms, differences, log_q_of_chosen
from graftwork.groups.estimates import Estimates, fit_edges, small_sample_factors, spread_of_sum
from graftwork.groups.shared_states import SharedStates
