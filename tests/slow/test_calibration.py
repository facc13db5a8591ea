"""The false discovery rate holds in every kind of table whose truth is a pairwise network."""

import warnings

import pytest
from calibration import added, is_high, summed, text
from situations import SITUATIONS

from graftwork import DataWarning

pytestmark = pytest.mark.slow

TABLES = range(1000, 1030)


@pytest.mark.parametrize(
    "group", [name for name, lines in SITUATIONS.items() if all(one.pairwise for one in lines)]
)
def test_the_false_discovery_rate_holds(group):
    """All lines of a group together within two standard errors, each within three."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        lines = [
            summed(group, one, count, TABLES) for one in SITUATIONS[group] for count in one.sizes
        ]
    for line in lines:
        print(text(line))
    high = [text(line) for line in lines if is_high(line, errors=3.0)]
    together = added([line | {"name": "all", "rows": 0} for line in lines])[0]
    assert not high, "\n".join(high)
    assert not is_high(together), text(together)
