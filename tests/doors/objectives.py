"""What tests know of the files of objectives."""

from graftwork.objectives import configurations, pair_sums, pair_tiles, rare_codes
from graftwork.objectives import hessian as hessian_module
from graftwork.objectives.chains import likelihood
from graftwork.objectives.chains.data import ChainData, Occurrences
from graftwork.objectives.chains.features import find_features
from graftwork.objectives.chains.gains import feature_gains
from graftwork.objectives.chains.likelihood import LITTLE, POWER, ChainLikelihood, Rows, cut_chains
from graftwork.objectives.contrasts import Contrasts, all_states, basis_of
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.hessian import RAISED, Parameters, hessian, inverse, is_rough
from graftwork.objectives.neighbourhoods import MOST_ENTRIES, NeighbourhoodCache, Neighbourhoods
from graftwork.objectives.pair_sums import dense
from graftwork.objectives.protocol import independent_potentials
from graftwork.objectives.pseudo import PseudoLikelihood
from graftwork.objectives.rare_codes import RareCodes
from graftwork.objectives.some_rows import marks_of, some_rows
from graftwork.objectives.tied import Shifted, Tied
