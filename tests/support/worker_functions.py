"""What tests run in other processes: functions that belong to a module."""

import os
import signal
import time

import numpy as np

from graftwork.errors import DataError


def numbers(seed):
    return np.random.default_rng(seed).normal(size=50) * 10.0 ** (seed % 7)


def same(value, *arguments):
    return value


def plus(value, own, shared):
    return value + own + shared


def listed(value):
    return [value]


def nap(value, seconds):
    time.sleep(seconds)
    return value


_woken = set()


def nap_longer(value):
    """Sleep for 3 s the first time in a process, and then for longer than anybody waits."""
    time.sleep(300 if _woken else 3)
    _woken.add(1)
    return value


def nap_while(value, path):
    """Sleep as long as a file is there."""
    end = time.monotonic() + 300
    while os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def refuse(value):
    raise DataError("this part cannot be used.")


def odd(value):
    class Local(Exception):  # noqa: N818
        """Cannot be pickled."""

    raise Local("odd")


def die(value):
    os.kill(os.getpid(), signal.SIGKILL)


def pid(value):
    return [os.getpid()]


def known_arrays(value):
    """Return how many of our arrays this process holds."""
    import gc

    return sum(isinstance(one, Marked) for one in gc.get_objects())


class Marked:
    """An object that can be counted."""

    def __init__(self, number=0):
        self.number = number


def marked(value):
    return Marked()


def size(value):
    return len(value)
