"""What tests know of the files of exchange."""

from graftwork.exchange.factors import Factor, network_of, split
from graftwork.exchange.format import Exported
from graftwork.exchange.formats.crfsuite import parse
from graftwork.exchange.formats.uai import without_constants
