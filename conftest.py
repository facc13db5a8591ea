"""Modules that need PyTorch are not collected where it is absent."""

from importlib.util import find_spec

NEEDED = (
    "conditionals counting engine kernels memory moments network operations programs rows slopes "
    "tiles"
)
collect_ignore = (
    [] if find_spec("torch") else [f"src/graftwork/device/{name}.py" for name in NEEDED.split()]
)
