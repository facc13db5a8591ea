"""What tests know of the files of estimators."""

from graftwork.estimators import bootstrap, calibrating, imputing, named_pairs, pool, spec
from graftwork.estimators import fit as fitting
from graftwork.estimators.assemble import to_model
from graftwork.estimators.bootstrap import Bootstrap, correlations_with, stability_coefficient
from graftwork.estimators.centrality import centrality_records, communities_of, quick_paths
from graftwork.estimators.chain_parts import METHODS
from graftwork.estimators.estimate import CostEstimate
from graftwork.estimators.fit import Fit, fit, fit_rows
from graftwork.estimators.imputing import Drawn
from graftwork.estimators.knowledge import read_weights
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.missing import Advice, MissingCells, frequencies_of, read_rows
from graftwork.estimators.ordering import ordered_table
from graftwork.estimators.predictability import Predictability, predict_each
from graftwork.estimators.presets import preset
from graftwork.estimators.resampling import Units, seeds_for
from graftwork.estimators.sizes import check_pairs, table_bytes
from graftwork.estimators.spec import GOALS, MOST_LISTED, MOST_VARIABLES, FitSpec
from graftwork.estimators.starts import carry_over, edges_among
