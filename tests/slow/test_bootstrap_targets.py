"""Bootstraps of planted networks mean what they say."""

import bootstrap
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    return {name: bootstrap.measure(name, 60, 50, 2) for name in bootstrap.SETTINGS}


@pytest.mark.parametrize("name", bootstrap.SETTINGS)
def test_resamples_are_like_the_network(found, name):
    assert abs(found[name].resampled - found[name].edges) <= 0.1 * found[name].edges
    assert found[name].inside >= 0.9


@pytest.mark.parametrize("name", bootstrap.SETTINGS)
def test_what_fresh_rows_show_more_often_has_a_larger_share(found, name):
    """Twenty fresh samples tell shares to .1 at best, so of few weak edges the order is rough."""
    assert found[name].order >= 0.5


def test_intervals_cover(found):
    covered = sum(each.covered for each in found.values())
    assert covered / sum(each.intervals for each in found.values()) >= 0.9
