"""What tests know of the files of models."""

from graftwork.models.chain import ChainModel
from graftwork.models.communities import find_communities, modularity, relabelled, shared_community
from graftwork.models.gaps import Gaps
from graftwork.models.graphs import MEASURES, bridge_centralities, centralities
