"""What tests know of the files of inference."""

from graftwork.inference import calibration, sampling
from graftwork.inference.calibration import calibrate, is_quick
from graftwork.inference.chains import ChainShape, FeatureLayout, FeatureWeights
from graftwork.inference.device import drawing, propagation
from graftwork.inference.device.colours import colour_classes
from graftwork.inference.elimination import MIN_FILL, MIN_WEIGHT, greedy
from graftwork.inference.evidence import observe, restore
from graftwork.inference.filling import fill_rows, state_probabilities
from graftwork.inference.gauge import cornered, sparsest
from graftwork.inference.hidden import log_hidden
from graftwork.inference.incomplete import impute, log_observed_weights, soft_log_conditionals
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Layout, Potentials
from graftwork.inference.loopy import LoopyBP
from graftwork.inference.messages import (
    attempt,
    linear_tables,
    propagate_numbers,
    read,
    read_numbers,
    ready,
    settle,
    warm_messages,
)
from graftwork.inference.pairs import find_edges
from graftwork.inference.population import ISLANDS, Population
from graftwork.inference.ragged import offsets
from graftwork.inference.reweighted import LEAST_USES, spanning_forests, upper_bound
from graftwork.inference.sampling import gibbs_sample, log_conditionals, log_weights
from graftwork.inference.search import possible_state, search_mode
from graftwork.inference.wiring import conditionals, wire
