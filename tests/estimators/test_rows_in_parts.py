"""Fits of rows in parts give the networks that the same rows give in memory, with every engine."""

from functools import lru_cache

import pytest
from networks_in_parts import (
    PROBLEMS,
    QUICK,
    assert_same_network,
    in_memory,
    network_of,
    scan_of,
    write_files,
)

pytestmark = pytest.mark.filterwarnings("ignore::graftwork.errors.DataWarning")
known = lru_cache(maxsize=None)(in_memory)
ENGINES = ["here", "processes", "dask"]


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a function that gives the folder of a problem's files."""
    top = tmp_path_factory.mktemp("problems")
    return lru_cache(maxsize=None)(lambda name: write_files(name, top / name))


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.mark.parametrize("name", PROBLEMS)
def test_networks_are_the_same_one_part_after_the_other(name, files):
    net = network_of(name).fit(scan_of(name, files(name), part_rows=200))
    assert_same_network(known(name), net)


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROBLEMS],
)
@pytest.mark.parametrize("which", ["processes", "dask"])
def test_networks_are_the_same_with_workers(name, which, files, request):
    engine = request.getfixturevalue(f"{which}_engine")
    rows = scan_of(name, files(name), part_rows=200, engine=engine)
    assert_same_network(known(name), network_of(name).fit(rows))
