"""Shared settings of the tests."""

import sys
import zlib

import pytest
from hypothesis import settings

# No deadlines: compilation and busy machines make single examples slow.
settings.register_profile("graftwork", deadline=None)
settings.load_profile("graftwork")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let about one case in n of a test marked ``some(n)`` run by make test, the rest as slow.

    Which ones depends on their names alone.
    """
    for item in items:
        mark = item.get_closest_marker("some")
        if mark is not None and zlib.crc32(item.name.encode()) % mark.args[0]:
            item.add_marker("slow")


@pytest.fixture
def no_matplotlib(monkeypatch):
    """As if matplotlib were not installed."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "graftwork.report.pictures", raising=False)
