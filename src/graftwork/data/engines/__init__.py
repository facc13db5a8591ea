"""Engines: where parts of the rows are, and how to run something there.

`Here` looks at one part after the other in this process, `Processes` has processes of its own,
`DaskEngine` (``graftwork.data.engines.dask``) the workers of a Dask cluster. Another one is a class
with `place`, `map` and `total` (see ``graftwork.data.parts.Engine``).
"""

from graftwork.data.engines.here import Here
from graftwork.data.engines.processes import Processes

__all__ = ["Here", "Processes"]
