"""Fits of rows in parts give the networks that the same rows give in memory, with every engine."""

import os
import subprocess
import sys
import textwrap
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from graftwork.errors import DataError

from support.networks_in_parts import (
    PROBLEMS,
    QUICK,
    assert_same_network,
    columns_of,
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


@pytest.mark.parametrize("empty", [[0], [2], [0, 1, 4, 5]])
def test_dask_frames_with_empty_partitions(empty, dask_client):
    """Partitions without rows, at the beginning, in the middle and most of all, change nothing."""
    dd = pytest.importorskip("dask.dataframe", reason="needs Dask: graftwork[dask]")
    rows = pd.DataFrame(columns_of("complete"))
    full = iter(np.array_split(np.arange(len(rows)), 6 - len(empty)))
    wanted = [np.zeros(0, dtype=int) if k in empty else next(full) for k in range(6)]
    frame = dd.concat([dd.from_pandas(rows.iloc[own], npartitions=1) for own in wanted])
    assert frame.npartitions == 6
    assert [len(part) for part in frame.partitions] == [len(own) for own in wanted]
    net = network_of("complete").fit(frame)
    assert_same_network(known("complete"), net)


def test_a_dask_frame_without_any_row(dask_client):
    dd = pytest.importorskip("dask.dataframe", reason="needs Dask: graftwork[dask]")
    rows = pd.DataFrame(columns_of("complete"))
    frame = dd.from_pandas(rows, npartitions=3)
    with pytest.raises(DataError, match="no rows"):
        network_of("complete").fit(frame[frame["x0"] > 99])


#: Fits rows with missing cells where no file may be longer than so many bytes.
FULL = """
    import resource, sys, tempfile
    import graftwork as gw
    folder, scratch, limit, workdir = sys.argv[1:]
    tempfile.tempdir = scratch
    net = gw.MarkovNetwork(lam=0.05, missing="impute", n_jobs=1)
    if int(limit):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        net.fit(gw.scan(folder, part_rows=20_000, workdir=workdir or None))
    except gw.GraftworkError as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print("learned")
"""


def _full(source, scratch, limit, workdir):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FULL), str(source), str(scratch),
         str(limit), str(workdir or "")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture(scope="module")
def gappy(tmp_path_factory):
    """40,000 rows of 4 columns, packed into 2 x 40,000 bytes and drawn into 2 x 80,000."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (40_000, 4)).astype(float)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    folder = tmp_path_factory.mktemp("gappy")
    pd.DataFrame(rows, columns=list("abcd")).to_parquet(folder / "rows.parquet")
    return folder


@pytest.mark.skipif(os.name != "posix", reason="limits of files")
@pytest.mark.parametrize(
    ("limit", "told", "kept"),
    [(0, "", True), (10_000, "packed", True), (60_000, "drawn", True), (60_000, "drawn", False)],
)
def test_files_that_cannot_grow(limit, told, kept, gappy, tmp_path):
    """While rows are packed, and while missing cells are drawn: one error, and nothing is left."""
    scratch, workdir = tmp_path / "scratch", tmp_path / "kept" if kept else None
    scratch.mkdir()
    found = _full(gappy, scratch, limit, workdir)
    if not told:
        assert found == "learned"
    else:
        assert found.startswith("DataError: the scratch folder '"), found
        assert "cannot be written (File too large); give workdir= another folder." in found
        assert "\n" not in found
    assert list(scratch.iterdir()) == []
    if kept:  # packed rows stay, if they are whole
        left = [path.name for path in workdir.iterdir()]
        assert len(left) == (told != "packed")
        assert all(name.startswith("graftwork-store-") for name in left)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk")
@pytest.mark.parametrize("size", [pytest.param("24k", marks=pytest.mark.slow), "160k"])
def test_disks_that_are_really_full(size, gappy, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        found = _full(gappy, place, 0, None)
        assert found.startswith("DataError: the disk of the scratch folder")
        assert "is full" in found
        assert list(place.iterdir()) == []
    finally:
        subprocess.run(["umount", str(place)], check=True)
