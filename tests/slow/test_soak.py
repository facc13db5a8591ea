"""Mixed calls in one process: memory stays flat, no thread, file or process is left."""

import gc
import os
import threading
import time

import numpy as np
import pytest

import graftwork as gw

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc"),
]
SECONDS = float(os.environ.get("GRAFTWORK_SOAK_SECONDS", "60"))
#: Growth after the first third, in bytes: less than a thousand fits' tables would take.
MOST_GROWTH = 30e6


def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files():
    return len(os.listdir("/proc/self/fd"))


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return len(file.read().split())


def mixed_calls(seed, folder):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (200, 6))
    rows[:, 1] = np.where(rng.random(200) < 0.8, rows[:, 0], rows[:, 1])
    net = gw.MarkovNetwork(random_state=0, n_jobs=2).fit(rows)
    gw.MarkovNetwork(goal="prediction", random_state=0).fit(rows)
    net.summary()
    net.save(folder / "m.gw")
    model = gw.load(folder / "m.gw")
    model.sample(100, random_state=0)
    net.score(rows)
    net.bootstrap(rows, 3, case_dropping=False)
    net.explore(folder / "page.html")
    X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
    gw.ChainCRF(lam=0.01).fit(X, y).predict(X)


def test_soak(tmp_path):
    began, seen, calls = time.monotonic(), [], 0
    counts = None
    while (passed := time.monotonic() - began) < SECONDS:
        mixed_calls(calls, tmp_path)
        calls += 1
        if passed > SECONDS / 3:
            counts = counts or (threading.active_count(), open_files(), children())
            seen.append(memory())
    assert counts is not None
    growth = float(np.mean(seen[-3:]) - np.mean(seen[:3]))
    print(f"{calls} rounds of calls in {SECONDS:.0f} s, memory grew by {growth / 1e6:.1f} MB")
    assert growth < MOST_GROWTH
    assert threading.active_count() <= counts[0]
    assert open_files() <= counts[1]
    assert children() <= counts[2]
