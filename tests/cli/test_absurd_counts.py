"""Counts that nobody can wait for are refused in a sentence before anything is learned."""

import resource
import subprocess
import sys

import pytest

HUGE = "1000000000000"
REFUSED = [
    ["bootstrap", "{table}", "--n", HUGE],
    ["compare-groups", "{table}", "--by", "d", "--permutations", HUGE],
]
#: Bytes of address space would count libraries too; what a process writes to is its data.
MOST_MEMORY = 10**9


def within_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def test_they_are_refused(chain_csv, tmp_path):
    calls = [[word.format(table=chain_csv) for word in words] for words in REFUSED]
    program = f"from graftwork.cli import main; print([main(words) for words in {calls!r}])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path,
        capture_output=True, text=True, timeout=60, preexec_fn=within_memory,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[2, 2]", done.stderr
    assert "unexpected" not in done.stderr
    assert done.stderr.count("\nerror: ") + done.stderr.startswith("error: ") == 2
    assert not (tmp_path / "out" / "model.gw").exists()


def test_the_limit_can_be_raised(chain_csv, monkeypatch):
    import graftwork as gw
    from graftwork.limits import Limit

    monkeypatch.setattr("graftwork.estimators.markov_network.RESAMPLES", Limit(2))
    net = gw.MarkovNetwork(lam=0.1)
    with pytest.raises(gw.errors.TooLargeError, match=r"3 resamples .* GRAFTWORK_LIMITS=2"):
        net.bootstrap(chain_csv, 3)
    monkeypatch.setenv("GRAFTWORK_LIMITS", "1.5")
    assert net.bootstrap(chain_csv, 3).n_done == 3
