"""What tests know of the files of datasets."""

from graftwork.datasets.drawing import _plan, _share_out
from graftwork.datasets.mixing import diagnose
from graftwork.datasets.networks import bernoulli_network, planted_chain, scale_free_network
from graftwork.datasets.sequences import draw_labels, labelled_chains
