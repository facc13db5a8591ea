import os
import subprocess
import sys

import numpy as np
import pytest

from graftwork.cli import main
from graftwork.models import PairwiseMRF

# Ctrl-C must reach the program even where the tests run with interrupts ignored.
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from graftwork.cli import main, progress; progress._PAUSE = float(sys.argv.pop(1)); "
    "sys.exit(main())"
)


class Outcome:
    def __init__(self, code, captured):
        self.code, self.out, self.err = code, captured.out, captured.err

    @property
    def lines(self):
        return self.err.strip().splitlines()


@pytest.fixture
def graftwork(capsys):
    """Run the command line in this process: exit code, stdout and stderr."""

    def run(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Outcome(code, capsys.readouterr())

    return run


@pytest.fixture
def start():
    """Start the command line as a process of its own, with pauses between lines of progress."""

    def begin(*words, cwd, pause=1000.0, stdin=None):
        return subprocess.Popen(
            [sys.executable, "-c", START, str(pause), *map(str, words)],
            cwd=cwd,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    return begin


@pytest.fixture
def chain_csv(tmp_path):
    """A file of 300 rows: a - b - c, and d on its own; one column of ints, one of bools."""
    rng = np.random.default_rng(0)

    def follow(x):
        return np.where(rng.random(300) < 0.9, x, 1 - x)

    a = rng.integers(2, size=300)
    b = follow(a)
    c = follow(b)
    d = rng.integers(2, size=300)
    words = np.array(["no", "yes"]), np.array(["False", "True"])
    path = tmp_path / "chain.csv"
    lines = ["a,b,c,d"]
    lines += [f"{words[0][p]},{q},{words[1][r]},{s}" for p, q, r, s in zip(a, b, c, d, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model():
    return PairwiseMRF(
        {"rain": ["no", "yes"], "visits": [0, 1, 2], "wet": [False, True]},
        unary={"visits": [0.0, 0.3, -0.5]},
        pairwise={
            ("rain", "visits"): [[1.0, 0.0, -1.0], [0.0, 0.5, 1.0]],
            ("rain", "wet"): [[1.0, -1.0], [-1.0, 1.0]],
        },
    )


@pytest.fixture
def model_file(model, tmp_path):
    path = tmp_path / "m.gw"
    model.save(path, info={"data": "rain.csv", "rows": 12, "lam": 0.5})
    return path
