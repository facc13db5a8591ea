"""What tests know of the files of comparing."""

from graftwork.comparing.chains import CHAINS, make_chain_task
from graftwork.comparing.methods import make_entries
from graftwork.comparing.networks import NETWORKS, corner_of, make_task, usual_entries
from graftwork.comparing.plot import lines_of
from graftwork.comparing.runner import evaluate, run_methods
from graftwork.comparing.watchers import Album, Seen
