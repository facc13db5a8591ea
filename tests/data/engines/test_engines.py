"""Engines: what runs on objects wherever they are, and what happens when something goes wrong."""

import os
import signal
import time
from functools import partial, reduce

import numpy as np
import pytest

from graftwork.errors import DataError, GraftworkError

from doors.data import Here, Processes, add_up, join
from support import worker_functions as work

ENGINES = ["here", "processes", "dask"]


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")


def place_numbers(engine, count):
    return engine.place([partial(work.numbers, seed) for seed in range(count)])


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_sums_have_the_same_bits_with_every_engine(engine, count):
    mine, theirs = (
        one.total(place_numbers(one, count), work.same, "told") for one in (Here(1), engine)
    )
    assert np.array_equal(mine, theirs)
    assert np.allclose(mine, reduce(add_up, map(work.numbers, range(count))), rtol=1e-12)


def test_sums_do_not_depend_on_the_number_of_processes(processes_engine):
    with Processes(1) as alone:
        mine, theirs = (
            engine.total(place_numbers(engine, 11), work.same)
            for engine in (alone, processes_engine)
        )
    assert np.array_equal(mine, theirs)


def test_objects_keep_their_order_and_have_arguments_of_their_own(engine):
    numbers = engine.place([partial(int, text) for text in "12345"])
    more = engine.map(numbers, work.plus, 1000, own=[(10 * k,) for k in range(5)])
    assert engine.total(more, work.listed, add=join) == [1001, 1012, 1023, 1034, 1045]
    some = [more[3], more[0], more[4]]
    assert engine.total(some, work.listed, add=join) == [1034, 1001, 1045]
    again = engine.map(some, work.plus, 0, own=[(1,), (2,), (3,)])
    assert engine.total(again, work.listed, add=join) == [1035, 1003, 1048]


def test_large_arguments_and_results_travel(engine):
    large = np.arange(300_000)
    found = engine.map(engine.place([partial(int, text) for text in "123"]), work.plus, large,
                       own=[(0,)] * 3)  # fmt: skip
    assert np.array_equal(engine.total(found, work.same), 6 + 3 * large)


def test_errors_arrive_as_they_were_raised_and_the_engine_goes_on(engine):
    handles = place_numbers(engine, 3)
    with pytest.raises(DataError, match=r"^this part cannot be used\.$"):
        engine.total(handles, work.refuse)
    assert len(engine.total(handles, work.same)) == 50


def test_errors_that_cannot_be_pickled_are_told(processes_engine):
    with pytest.raises(GraftworkError, match="Local: odd"):
        processes_engine.total(place_numbers(processes_engine, 3), work.odd)


def test_here_keeps_nothing_in_memory(here_engine):
    handles = here_engine.map(here_engine.place([partial(int, "1")] * 4), work.marked)
    assert here_engine.total(handles, work.known_arrays) == 4  # the one that is looked at
    kept = here_engine.map(place_numbers(here_engine, 2), _pair, keep=True)
    assert here_engine.total(kept, _first).shape == (50,)
    folder = here_engine._scratch[0]
    assert len([*folder.glob("*.npz")]) == 2
    del kept
    assert not [*folder.glob("*.npz")]
    here_engine.close()
    assert not os.path.exists(folder)


def _pair(value):
    return value, None


def _first(both):
    return both[0]


def test_processes_forget_what_has_no_handle():
    with Processes(1) as engine:
        numbers = engine.place([partial(int, "1")] * 3)
        first = engine.map(numbers, work.marked)
        second = engine.map(first, work.marked)
        assert engine.total(numbers[:1], work.known_arrays) == 6
        del first
        assert engine.total(numbers[:1], work.known_arrays) == 3
        os.kill(engine.pids[0], signal.SIGKILL)  # what is made again goes by what is gone
        assert engine.total(second, work.known_arrays) == 9
        del second, numbers
        engine.place([partial(int, "1")])
        assert [len(worker.log) for worker in engine._workers] == [1]


@pytest.mark.parametrize("moment", [0.0, 0.15])
def test_processes_that_are_killed_are_replaced(moment):
    with Processes(2) as engine:
        handles = engine.map(place_numbers(engine, 5), work.same)
        before = engine.total(handles, work.same)
        old = engine.pids
        os.kill(old[1], signal.SIGKILL)
        if moment:
            time.sleep(moment)
        assert np.array_equal(engine.total(handles, work.nap, 0.1), before)
        assert engine.pids[0] == old[0]
        assert engine.pids[1] != old[1]
    assert not any(map(alive, old))


def test_processes_that_die_again_and_again_are_an_error(monkeypatch):
    monkeypatch.setattr("graftwork.data.engines.processes.MOST_DEATHS", 2)
    with Processes(2) as engine:
        handles = place_numbers(engine, 2)
        with pytest.raises(GraftworkError, match=r"died 3 times \(the last with exit code -9\)"):
            engine.total(handles, work.die)


def test_closed_processes_say_so():
    engine = Processes(1)
    pids = engine.pids
    engine.close()
    assert not any(map(alive, pids))
    with pytest.raises(GraftworkError, match="were closed"):
        engine.place([partial(int, "1")])


def test_processes_end_with_their_engine():
    engine = Processes(1)
    pids = engine.pids
    del engine
    assert not any(map(alive, pids))


@pytest.fixture
def interrupt():
    """Return a function that has KeyboardInterrupt raised in some seconds."""

    def raised(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raised)
    yield partial(signal.setitimer, signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("which", ["processes", "dask"])
def test_interrupted_engines_go_on(which, request, interrupt, tmp_path):
    engine, busy = request.getfixturevalue(f"{which}_engine"), tmp_path / "busy"
    handles = place_numbers(engine, 4)
    before = engine.total(handles, work.same)
    busy.touch()
    interrupt(0.3)
    with pytest.raises(KeyboardInterrupt):
        engine.total(handles, work.nap_while, str(busy))
    busy.unlink()
    assert np.array_equal(engine.total(handles, work.same), before)


def test_interrupted_processes_keep_what_they_hold_and_do_not_finish(interrupt, monkeypatch):
    monkeypatch.setattr("graftwork.data.engines.processes.PATIENCE", 120.0)
    with Processes(2) as engine:
        handles, pids = place_numbers(engine, 40), engine.pids
        before = engine.total(handles, work.same)
        interrupt(0.2)
        with pytest.raises(KeyboardInterrupt):
            engine.total(handles, work.nap_longer)
        assert np.array_equal(engine.total(handles, work.same), before)
        assert engine.pids == pids  # none was ended because it went on


def test_processes_that_are_killed_after_an_interrupt_are_replaced(interrupt):
    with Processes(2) as engine:
        handles = place_numbers(engine, 4)
        before = engine.total(handles, work.same)
        interrupt(0.2)
        with pytest.raises(KeyboardInterrupt):
            engine.total(handles, work.nap, 0.3)
        os.kill(engine.pids[0], signal.SIGKILL)
        assert np.array_equal(engine.total(handles, work.same), before)


def alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
