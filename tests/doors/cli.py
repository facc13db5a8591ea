"""What tests know of the files of cli."""

from graftwork.cli import app, failures, learn, measure, memory, parts
from graftwork.cli.app import main
from graftwork.cli.bootstrap import Countdown
from graftwork.cli.groups import read_groups
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import chosen
from graftwork.cli.measure import hold_out
from graftwork.cli.methods import parse_chain_method, parse_method
from graftwork.cli.options import CHAIN_METHODS, METHODS, NAMES, Inference, Penalty
from graftwork.cli.progress import Bar, Lines, Quiet, numbers
from graftwork.cli.truth import read_truth
