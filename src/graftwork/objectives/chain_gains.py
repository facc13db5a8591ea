"""By how much the loss of chains would fall if a feature alone were optimised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.chain_gains import move_gains, vote_bends, vote_gains
from graftwork.kernels.threads import run_chunks
from graftwork.objectives.chain import ChainPoint, Rows

if TYPE_CHECKING:
    from graftwork.penalties.protocol import Penalty
