"""What keeps a network sparse: penalties on blocks of weights, or on single weights."""

from graftwork.penalties.blocks import Blocks
from graftwork.penalties.group import GroupL1
from graftwork.penalties.lasso import L1
from graftwork.penalties.protocol import Penalty, residual
from graftwork.registry import PENALTIES

__all__ = ["L1", "PENALTIES", "Blocks", "GroupL1", "Penalty", "residual"]
