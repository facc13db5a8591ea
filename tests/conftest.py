"""Shared settings of the tests."""

import sys
import zlib

import pytest
from hypothesis import settings

from doors.data import DaskEngine, Here, Processes

# What tests know of the package's files has no tests of its own, and some rooms need an extra.
collect_ignore = ["doors"]

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


@pytest.fixture(scope="session")
def dask_client():
    """Return a client of a Dask cluster with two workers, each a process with one thread."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: graftwork[dask]")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def here_engine():
    return Here(1)


@pytest.fixture(scope="session")
def processes_engine():
    with Processes(2) as engine:
        yield engine


@pytest.fixture
def dask_engine(dask_client):
    return DaskEngine(dask_client)
