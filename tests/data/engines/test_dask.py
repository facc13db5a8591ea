"""A Dask cluster that goes wrong: workers that die, a scheduler that is gone, no worker at all."""

import os
import signal
import socket
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

from graftwork.errors import GraftworkError, ParameterError

from doors.data import DaskEngine, Here, dask, find_client, has_client, join
from support import worker_functions as work

distributed = pytest.importorskip("distributed", reason="needs Dask: graftwork[dask]")
SMALL = {"threads_per_worker": 1, "dashboard_address": ":0"}


def place_numbers(engine, count):
    return engine.place([partial(work.numbers, seed) for seed in range(count)])


@pytest.fixture
def own_client():
    """Return a function that starts a cluster of one's own, to break."""
    begun = []

    def begin(**options):
        cluster = distributed.LocalCluster(**SMALL | options)
        client = distributed.Client(cluster, set_as_default=False)
        begun.append((client, cluster))
        return client

    yield begin
    for client, cluster in begun:
        client.close(timeout=1)
        cluster.close(timeout=5)


def raised(action, seconds):
    """Return the error that an action ends with before some seconds have passed."""
    found = []

    def run():
        try:
            action()
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it hangs"
    return found[0]


def test_no_client_is_an_error(monkeypatch):
    monkeypatch.setattr(distributed, "default_client", _none)
    assert not has_client()
    with pytest.raises(ParameterError, match="there is no Dask client; create one first"):
        find_client()
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert not has_client()
    with pytest.raises(ParameterError, match=r"pip install 'graftwork\[dask\]'"):
        find_client()


def _none():
    raise ValueError("No clients found")


def test_objects_are_pinned_and_dealt_evenly(dask_client, dask_engine):
    assert find_client() is not None
    assert has_client()
    handles = place_numbers(dask_engine, 8)
    apart = []
    for _ in range(3):
        pids = dask_engine.total(handles, work.pid, add=join)
        assert len(set(pids[:4])) == len(set(pids[4:])) == 1
        apart.append(pids[0] != pids[4])
    assert any(apart)  # a busy worker may hand a task to another, with a copy of what it needs
    homes = dask_client.who_has(handles[0].shard.future)
    assert all(homes.values())


def test_what_a_worker_holds_is_not_taken_for_small():
    held = dask._Held([(np.zeros(1000), None), [np.zeros(10)]])
    assert sys.getsizeof(held) >= 8080


def test_progress_is_told(dask_engine):
    told = []
    dask_engine.place([partial(work.nap, k, 0.4) for k in range(4)], told.append)
    assert told == sorted(told)
    assert set(told) <= {0, 1, 2, 3, 4}
    assert told


@pytest.mark.parametrize("moment", [0.0, 0.2])
def test_workers_that_are_killed_are_replaced(own_client, moment):
    client = own_client(n_workers=2)
    engine = DaskEngine(client)
    handles = engine.map(place_numbers(engine, 5), work.same)
    before = engine.total(handles, work.same)
    assert np.array_equal(before, Here(1).total(place_numbers(Here(1), 5), work.same))
    victim = engine.total(handles, work.pid, add=join)[0]
    threading.Timer(moment, os.kill, (victim, signal.SIGKILL)).start()
    assert np.array_equal(engine.total(handles, work.nap, 0.2), before)
    assert np.array_equal(engine.total(handles, work.same), before)


def test_workers_that_die_again_and_again_are_an_error(own_client, monkeypatch):
    monkeypatch.setattr(dask, "NO_WORKERS", 300.0)  # a busy machine takes long to start others
    engine = DaskEngine(own_client(n_workers=1))
    handles = place_numbers(engine, 1)
    with pytest.raises(GraftworkError, match="Dask workers died repeatedly"):
        engine.total(handles, work.die)


def test_a_cluster_that_is_closed_in_between_says_so(own_client):
    client = own_client(n_workers=1, processes=False)
    engine = DaskEngine(client)
    handles = place_numbers(engine, 2)
    threading.Timer(0.5, client.cluster.close).start()
    error = raised(lambda: engine.total(handles, work.nap, 2), 120)
    assert isinstance(error, GraftworkError)
    assert "the Dask scheduler" in str(error)
    assert isinstance(raised(lambda: engine.total(handles, work.same), 120), GraftworkError)


@pytest.mark.slow
def test_a_scheduler_that_is_killed_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    tool = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [*tool, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **quiet
    )
    path = os.pathsep.join(sys.path)
    worker = subprocess.Popen(
        [*tool, "worker", address, "--nthreads", "1", "--no-nanny", "--death-timeout", "5"],
        env=os.environ | {"PYTHONPATH": path}, **quiet,
    )  # fmt: skip
    try:
        with distributed.Client(address, timeout=20, set_as_default=False) as client:
            engine = DaskEngine(client)
            handles = place_numbers(engine, 2)
            engine.total(handles, work.same)
            threading.Timer(0.5, scheduler.kill).start()
            error = raised(lambda: engine.total(handles, work.nap, 300), 120)
            assert f"the Dask scheduler {address} is lost" in str(error)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_a_cluster_without_workers_says_so(own_client, monkeypatch):
    monkeypatch.setattr(dask, "NO_WORKERS", 1.0)
    client = own_client(n_workers=0)
    with pytest.raises(GraftworkError, match="no workers for 1 seconds: start some"):
        place_numbers(DaskEngine(client), 2)


def test_workers_that_come_late_are_waited_for(own_client):
    client = own_client(n_workers=0, processes=False)
    threading.Timer(0.7, client.cluster.scale, (1,)).start()
    engine = DaskEngine(client)
    assert len(engine.total(place_numbers(engine, 2), work.same)) == 50


def test_every_thread_of_a_worker_has_objects(own_client):
    client = own_client(n_workers=1, threads_per_worker=3, processes=False)
    handles = place_numbers(DaskEngine(client), 7)
    assert len({id(handle.shard) for handle in handles}) == 3
    assert np.array_equal(
        DaskEngine(client).total(handles, work.same),
        Here(1).total(place_numbers(Here(1), 7), work.same),
    )
