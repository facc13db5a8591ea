"""What tests know of the files of contingency."""

from graftwork.contingency import pair_tables
