"""What keeps a network sparse: penalties on blocks of weights, or on single weights."""

from graftwork.penalties.blocks import Blocks
from graftwork.penalties.group import GroupL1
from graftwork.penalties.lasso import L1
from graftwork.penalties.protocol import Penalty, residual

__all__ = ["L1", "Blocks", "GroupL1", "Penalty", "residual"]
