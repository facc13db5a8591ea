"""What tests know of the files of penalties."""

from graftwork.penalties.blocks import Blocks, Parts, pair_scales
