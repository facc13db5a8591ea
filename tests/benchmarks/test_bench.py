"""The benchmark harness: small problems, failing peers, time-outs, verdicts. No claims of speed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from bench import report
from bench.__main__ import main
from bench.harness import Harness
from bench.judging import MET, MISSED, UNKNOWN, faster, run_under
from bench.ledger import Ledger, describe_code, read, save
from bench.planted import Planted, score_edges
from bench.problems import PROBLEMS
from bench.races import ALL, BEST, close, grows
from bench.runs import Entry, Problem, Run, Source

from graftwork import DataMissingError
from graftwork.datasets import DEBD_NAMES

from support.made_sets import write_sets


def planted(entries, score=score_edges):
    def make(source):
        return Planted(5, 2, 200, test=20, nodes=5).make()

    return Problem("toy", "A toy.", make, lambda size: entries, score)


def contender(folder, name, body, head=""):
    text = f"""{head}
def prepare(data, options):
    return data

def solve(problem):
{body}

def answer(problem, solution):
    return solution
"""
    (folder / f"{name}.py").write_text(text)


def run_bodies(folder, limit=60.0, **bodies):
    for name, body in bodies.items():
        head, body = body if isinstance(body, tuple) else ("", body)
        contender(folder, name, body, head)
    entries = tuple(Entry(name, name, limit=limit) for name in bodies)
    harness = Harness("smoke", peers=sys.executable, contenders=folder)
    return {run.entry: run for run in harness.run(planted(entries, lambda arrays, a: a))}


def test_graftwork_solves_a_tiny_problem():
    entry = Entry("graftwork", "graftwork_fit", {"lam": 0.02})
    (run,) = Harness("smoke").run(planted((entry,)))
    assert run.done, run.reason
    assert run.cpu > 0
    assert run.wall > 0
    assert run.peak_mb >= run.before_mb > 0
    assert 0 <= run.figures["f1"] <= 1
    assert run.figures["evaluations"] > 0
    assert "edges" not in run.figures


def test_peers_that_fail_are_lines_with_a_reason(tmp_path):
    runs = run_bodies(
        tmp_path,
        raises="    raise ValueError('no such luck')",
        absent=("import no_such_library", "    return {}"),
        crashes="    import os; os.abort()",
        fine="    return {'x': 1}",
        late=("import atexit, os\natexit.register(os.abort)", "    return {'x': 2}"),
    )
    assert (runs["raises"].status, runs["raises"].reason) == ("failed", "ValueError: no such luck")
    assert runs["absent"].status == "missing"
    assert "no_such_library" in runs["absent"].reason
    assert "SIGABRT" in runs["crashes"].reason
    assert runs["fine"].figures == {"x": 1}
    assert runs["late"].figures == {"x": 2, "ended": "ended by SIGABRT"}


def test_a_time_out_is_a_lower_bound(tmp_path):
    wait = "    import time\n    if WARM: time.sleep(60)\n    WARM.append(1)\n    return {}"
    runs = run_bodies(tmp_path, limit=3.0, slow=("WARM = []", wait))
    assert runs["slow"].status == "too slow"
    assert runs["slow"].reason == "more than 3 s"
    assert 0 < runs["slow"].wall < 3.5


def test_answers_that_make_no_sense_and_missing_environments():
    entry = Entry("graftwork", "graftwork_fit", {"lam": 0.02})

    def broken(arrays, answer):
        raise KeyError("edges")

    (run,) = Harness("smoke").run(planted((entry,), broken))
    assert run.status == "failed"
    assert "makes no sense" in run.reason
    (run,) = Harness("smoke", peers="nowhere/python").run(planted((Entry("p", "pxpy_bp"),)))
    assert run.status == "missing"
    assert "make peers" in run.reason


def timed(cpu, status="done", **figures):
    return Run("p", "e", "c", status, "more than 9 s" if status != "done" else "", cpu, cpu,
               figures=figures)  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (timed(1.0), timed(10.0), MET),
        (timed(1.0), timed(4.0), MISSED),
        (timed(1.0), timed(6.0, "too slow"), MET),
        (timed(1.0), timed(4.0, "too slow"), UNKNOWN),
        (timed(1.0, "too slow"), timed(4.0), MISSED),
        (timed(1.0, "too slow"), timed(6.0), UNKNOWN),
        (timed(1.0, "too slow"), timed(6.0, "too slow"), UNKNOWN),
        (timed(1.0), Run("p", "e", "c", "failed", "gone"), UNKNOWN),
    ],
)
def test_ratios_know_lower_bounds(ours, theirs, verdict):
    assert faster("p", "five times", ours, theirs, 5.0).verdict == verdict


def test_limits_want_convergence():
    assert run_under("p", "t", timed(59.0, converged=True), 60.0).verdict == MET
    assert run_under("p", "t", timed(61.0, converged=True), 60.0).verdict == MISSED
    assert run_under("p", "t", timed(5.0, converged=False), 60.0).verdict == MISSED
    assert run_under("p", "t", timed(61.0, "too slow"), 60.0).verdict == MISSED
    assert run_under("p", "t", timed(30.0, "too slow"), 60.0).verdict == UNKNOWN


def test_a_race_may_end_by_a_time_out():
    small = {BEST: timed(1.0), ALL: timed(3.0)}
    for last, verdict in (
        (timed(20.0), MET),
        (timed(5.0), MISSED),
        (timed(20.0, "too slow"), MET),
        (timed(5.0, "too slow"), UNKNOWN),
    ):
        large = {BEST: timed(2.0), ALL: last}
        assert grows({"small": small, "large": large}, "large", "small").verdict == verdict
    assert grows({"small": small}, "large", "small").verdict == UNKNOWN


def test_a_certified_optimum_is_close_to_any_other():
    slow = Run("large", ALL, "graftwork_fit", "too slow", cpu=9.0)
    for converged, verdict in ((True, MET), (False, UNKNOWN)):
        figures = {"objective": 2.0, "converged": converged}
        best = Run("large", BEST, "graftwork_fit", "done", figures=figures)
        assert close("large", best, slow).verdict == verdict
        for objective, known in ((1.99, MET), (1.9, MISSED)):
            full = Run("large", ALL, "graftwork_fit", "done", figures={"objective": objective})
            assert close("large", best, full).verdict == known


def test_reports_judge_what_was_measured(tmp_path):
    ledger = Ledger("full", machine={"cores": 2})
    ledger.begin("start", "words")
    figures = {"import_s": 0.5, "first_fit_s": 25.0, "next_fit_s": np.float64(1.0)}
    ledger.runs["start"].append(Run("start", "graftwork", "c", "done", "", 1, 2, 3, 4, figures))
    ledger.finish("start")
    ledger.floors = [{"kernel": "k", "measured": 1.0, "floor": 0.5, "unit": "s", "ratio": 2.0}]
    save(ledger, tmp_path / "results.json")
    again = read(tmp_path / "results.json", "full")
    assert again.results()["start"]["graftwork"].figures["first_fit_s"] == 25.0
    assert read(tmp_path / "results.json", "smoke").runs == {}
    verdicts = {target.target: target.verdict for target in report.judge(again)}
    assert verdicts["import graftwork under 1 s (wall)"] == MET
    assert verdicts["first fit, empty cache, under 20 s (wall)"] == MISSED
    assert list(verdicts.values()).count(UNKNOWN) == len(verdicts) - 3
    text = report.markdown(again, [])
    assert "| first fit, empty cache, under 20 s (wall) | 25 s | **missed** | start |" in text
    assert "## Kernels beside their floors" in text


def test_data_sets_are_skipped_with_the_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)
    out, sets = tmp_path / "out", tmp_path / "sets"
    assert main(["--smoke", "debd-kdd", "conll-2000", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "skipped: debd/kdd.ts.data.gz was not found: no folder was given" in told
    assert "--data" in told
    for name in ("debd", "yummly"):
        (sets / name).mkdir(parents=True)
    (sets / "yummly/train.tsv").write_text("damaged\n")
    for problem in ("debd-kdd", "yummly"):
        assert main(["--smoke", problem, "--data", str(sets), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert f"it is neither in '{sets / 'debd'}'" in told
    skipped = json.loads((out / "results.json").read_text())["skipped"]
    assert set(skipped) == {"debd-kdd", "conll-2000", "yummly"}
    assert "no data set conll2000" in skipped["conll-2000"]
    assert "the first line is ['damaged']" in skipped["yummly"]
    assert "## Not run" in (out / "RESULTS.md").read_text()
    assert str(tmp_path) not in (out / "RESULTS.md").read_text()  # nobody's folders


SETS = {
    "conll-2000": "conll2000",
    "conll-dicts": "conll2000",
    "yummly": "yummly",
    **{f"debd-{name}": "debd" for name in DEBD_NAMES},
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return write_sets(tmp_path_factory.mktemp("sets"))


def test_every_data_set_is_in_the_folder_or_is_the_folder(sets):
    """As README says: make bench DATA=FOLDER BENCH=conll-2000, and so on."""
    assert {name for name, problem in PROBLEMS.items() if needs_data(problem)} == set(SETS)
    for name, own in SETS.items():
        arrays = PROBLEMS[name].make(Source("smoke", sets))
        again = PROBLEMS[name].make(Source("smoke", sets / own))
        assert all(np.array_equal(arrays[key], again[key]) for key in {*arrays, *again})


def needs_data(problem):
    """Whether a problem cannot be made without a folder; small problems are made to find out."""
    try:
        problem.make(Source("tiny", Path("nowhere")))
    except DataMissingError:
        return True
    return False


def test_a_data_set_is_learned_from_the_folder_given(sets, tmp_path, capsys):
    words = ["--smoke", "conll-2000", "--data", str(sets), "--peers", "", "--out", str(tmp_path)]
    assert main(words) == 0
    ours = read(tmp_path / "results.json", "smoke").results()["conll-2000"]["graftwork ChainCRF"]
    assert ours.done, ours.reason
    assert ours.figures["f1"] == 1.0


def test_chains_are_learned_from_dicts_on_one_thread_and_two(sets, tmp_path, capsys):
    words = ["--smoke", "conll-dicts", "--data", str(sets), "--peers", "", "--out", str(tmp_path)]
    assert main(words) == 0
    runs = read(tmp_path / "results.json", "smoke").results()["conll-dicts"]
    one, two = runs["ChainCRF's defaults"], runs["ChainCRF, two threads"]
    assert one.done, one.reason
    assert two.done, two.reason
    assert one.figures == two.figures
    assert one.figures["f1"] == 1.0
    assert one.figures["converged"]


def test_an_interrupt_keeps_what_is_done(tmp_path, monkeypatch):
    run = Run("gibbs-200", "one", "c", "done", "", 1.0, 1.0)

    def stopped(self, problem):
        yield run
        raise KeyboardInterrupt

    monkeypatch.setattr(Harness, "run", stopped)
    assert main(["--smoke", "gibbs-200", "--out", str(tmp_path)]) == 130
    known = read(tmp_path / "results.json", "smoke")
    assert known.results()["gibbs-200"]["one"].cpu == 1.0
    assert "gibbs-200" not in known.complete


STOPPED = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
signal.signal(signal.SIGINT, signal.default_int_handler)
import sys
from pathlib import Path
from bench.harness import Harness, end_with_signals
from bench.runs import Entry, Problem
import numpy as np

end_with_signals()
folder = Path(sys.argv[1])
problem = Problem("toy", "", lambda source: {"x": np.zeros(1)}, lambda size: (Entry("s", "s"),), {})
list(Harness("smoke", peers=sys.executable, contenders=folder).run(problem))
"""

# A contender with a child of its own; both say who they are, and wait.
SLEEPS = """    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(r"{folder}/part", "w") as file:
        file.write(f"{{os.getpid()}} {{child.pid}}")
    os.replace(r"{folder}/part", r"{folder}/pids")
    time.sleep(60)"""


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def running(pid):
    """Whether a process is there; one that has ended but was not waited for is not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_no_contender_outlives_the_harness(tmp_path, number):
    contender(tmp_path, "s", SLEEPS.format(folder=tmp_path))
    (tmp_path / "run.py").write_text(STOPPED)
    command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    harness = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    try:
        assert wait_for((tmp_path / "pids").exists)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        assert all(running(pid) for pid in pids)
        harness.send_signal(number)
        assert harness.wait(30) != 0
        assert wait_for(lambda: not any(running(pid) for pid in pids))
    finally:
        harness.kill()
        harness.wait()


def test_reports_say_where_runs_are_from_if_not_all_are_from_there(tmp_path):
    ledger = Ledger("full", machine={"cores": 2, "commit": "aaa"})
    for name, commit in (("start", "aaa"), ("gibbs-200", "bbb")):
        ledger.machine = {"cores": 2, "commit": commit}
        ledger.begin(name, f"About {name}.")
        ledger.runs[name].append(Run(name, "graftwork", "c", "done", "", 1.0, 1.0))
        ledger.finish(name)
    save(ledger, tmp_path / "results.json")
    text = report.markdown(read(tmp_path / "results.json", "full"), [])
    assert "`make bench`. cores 2.\n" in text
    assert "About start. (commit aaa)" in text
    assert "About gibbs-200. (commit bbb)" in text
    ledger.begin("start", "About start.")
    ledger.runs["start"].append(Run("start", "graftwork", "c", "done", "", 1.0, 1.0))
    text = report.markdown(ledger, [])
    assert "`make bench`. cores 2, commit bbb.\n" in text
    assert "(commit" not in text


def test_results_without_origins_are_from_their_one_machine(tmp_path):
    ledger = Ledger("full", machine={"cores": 4})
    ledger.begin("start", "")
    save(ledger, tmp_path / "results.json")
    known = json.loads((tmp_path / "results.json").read_text())
    del known["origins"]
    (tmp_path / "results.json").write_text(json.dumps(known))
    assert read(tmp_path / "results.json", "full").origins == {"start": {"cores": 4}}


def test_code_outside_a_checkout_has_no_commit(tmp_path):
    assert describe_code(tmp_path) == {}


def test_directed_answers_count_at_their_nodes():
    arrays = {
        "edges": np.array([[0, 1], [1, 2]]),
        "nodes": np.array([1]),
        "codes": np.zeros((1, 3), dtype=np.uint8),
    }
    figures = score_edges(arrays, {"directed": [[1, 0]]})
    assert figures["f1_nodes"] == pytest.approx(2 / 3)
    assert "f1" not in figures
    figures = score_edges(arrays, {"edges": [[0, 1], [1, 2]]})
    assert (figures["f1"], figures["f1_nodes"], figures["false"]) == (1.0, 1.0, 0)


def test_every_problem_names_contenders_that_exist():
    for problem in PROBLEMS.values():
        for size in ("full", "smoke"):
            names = [entry.name for entry in problem.entries(size)]
            assert len(set(names)) == len(names)
            for entry in problem.entries(size):
                assert (Harness("smoke").contenders / f"{entry.contender}.py").exists()
