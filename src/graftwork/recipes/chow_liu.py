"""The Chow-Liu tree: the edges of largest mutual information without a cycle, and their weights.

References
----------
Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.
"""

from __future__ import annotations

from graftwork.grafting import ChowLiu, GivenEdges, Recipe


def chow_liu() -> Recipe:
    """Return the method that fits the weights of the Chow-Liu tree, and adds nothing."""
    return Recipe("chow-liu", GivenEdges(), start=ChowLiu(), sized=True)
