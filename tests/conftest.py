"""Shared settings of the tests."""

import sys

import pytest
from hypothesis import settings

# No deadlines: compilation and busy machines make single examples slow.
settings.register_profile("graftwork", deadline=None)
settings.load_profile("graftwork")


@pytest.fixture
def no_matplotlib(monkeypatch):
    """As if matplotlib were not installed."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "graftwork.report.pictures", raising=False)
