"""Shared settings of the tests."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# No deadlines: compilation and busy machines make single examples slow.
settings.register_profile("graftwork", deadline=None)
settings.load_profile("graftwork")
