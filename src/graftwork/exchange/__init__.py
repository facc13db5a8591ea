"""Networks and chains in the formats of other programs: read, written, passed on as objects.

Examples
--------
>>> import graftwork as gw
>>> sorted(gw.exchange.FORMATS)[:4]
['crfsuite', 'csv', 'cytoscape', 'gexf']
"""

from __future__ import annotations

from graftwork.exchange.files import FORMATS, export, load, load_chain, load_network, read_info
from graftwork.exchange.format import Exported
from graftwork.exchange.pgmpy import from_pgmpy, to_pgmpy
from graftwork.exchange.pyagrum import from_pyagrum, to_pyagrum
from graftwork.exchange.uai_tasks import (
    read_evidence,
    read_marginals,
    read_partition,
    write_evidence,
    write_marginals,
    write_partition,
)

__all__ = [
    "FORMATS",
    "Exported",
    "export",
    "from_pgmpy",
    "from_pyagrum",
    "load",
    "load_chain",
    "load_network",
    "read_evidence",
    "read_info",
    "read_marginals",
    "read_partition",
    "to_pgmpy",
    "to_pyagrum",
    "write_evidence",
    "write_marginals",
    "write_partition",
]
