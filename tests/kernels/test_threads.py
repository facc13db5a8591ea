"""Work in chunks is the same work."""

import numpy as np
import pytest

from doors.kernels import count_threads, cut_evenly, run_chunks


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_chunks_cover_everything_once_and_in_order(n_threads, count):
    costs = np.random.default_rng(0).random(count) ** 4
    chunks = cut_evenly(costs, n_threads)
    parts = run_chunks(lambda chunk: np.arange(count)[chunk].tolist(), chunks, n_threads)
    assert [k for part in parts for k in part] == list(range(count))
    assert len(chunks) <= max(1, 16 * n_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_what_fails_in_a_chunk_is_raised_and_the_rest_is_left(n_threads):
    seen = []

    def work(chunk):
        seen.append(chunk)
        if chunk == 3:
            raise ZeroDivisionError("the third")

    with pytest.raises(ZeroDivisionError, match="the third"):
        run_chunks(work, range(10_000), n_threads)
    assert len(seen) < 10_000
    assert run_chunks(lambda chunk: chunk, range(5), n_threads) == [0, 1, 2, 3, 4]


def test_chunks_may_have_chunks_of_their_own():
    def inner(chunk):
        return sum(run_chunks(lambda one: one * chunk, range(4), 2))

    assert run_chunks(inner, range(20), 2) == [6 * chunk for chunk in range(20)]


def test_threads_are_counted_from_one_or_from_the_end():
    every = count_threads(None)
    assert count_threads(-1) == every
    assert count_threads(-1000) == 1
    with pytest.raises(ValueError, match="n_jobs"):
        count_threads(0)
