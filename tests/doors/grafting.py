"""What tests know of the files of grafting."""

from graftwork.grafting import exchange, exchange_rules, tying
from graftwork.grafting.certificate import STOPS, Certificate
from graftwork.grafting.chains import ChainFamily
from graftwork.grafting.chow_liu import chow_liu_edges, pair_information, tree_potentials
from graftwork.grafting.exchange import ExchangeContext
from graftwork.grafting.exchange_rules import Chain
from graftwork.grafting.networks import only
from graftwork.grafting.problem import Network
from graftwork.grafting.screen import Stars
from graftwork.grafting.spaces import IndexMap, PairSpace, pairs_only
from graftwork.grafting.starts import draw_pairs, strongest, with_pairs
from graftwork.grafting.stream import PairStream, RandomOrder, hubs_of
from graftwork.grafting.trace import Round, RunLog, Silence
from graftwork.grafting.tying import Tying, cluster, tie
