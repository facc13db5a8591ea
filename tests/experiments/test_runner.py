"""Steps are kept, claims judged, files written; a stopped run goes on."""

import csv
import json

import pytest

from experiments import PAPERS, find_study
from experiments.engine import Claim, Context, Figure, Report, Row, Step, Study, judge, reproduce
from experiments.engine.runner import Skipped
from graftwork.errors import DataError, DataMissingError
from graftwork.version import __version__

from doors.grafting import Silence


class Counter:
    """Steps that count how often they run; ``fails`` is raised by the second, once."""

    def __init__(self, fails=None):
        self.calls, self.fails = [], fails

    def first(self, context):
        self.calls.append("first")
        return {"value": context.seed + 1}

    def second(self, context):
        self.calls.append("second")
        if self.fails is not None:
            error, self.fails = self.fails, None
            raise error
        return {"value": 2 * context.before["first"]["value"]}

    def study(self, **settings):
        steps = (
            Step("first", "counting", self.first, settings),
            Step("second", "doubling", self.second),
        )
        return Study("tiny", "A paper | with a bar", lambda size: steps, report)


def report(found):
    row = Row("Table 1", "2", "{value}", [("value", "==", 2)], ["of the seed"])
    claim = judge(row, found.get("second", {}))
    figure = Figure("curve", "a line", lambda canvas: canvas.subplots().plot([0, 1]))
    return Report([claim], {"numbers": [{"a": 1, "b": 0.5}]}, [figure])


def test_files_hold_claims_tables_pictures_and_how_they_were_made(tmp_path):
    outcome = reproduce(Counter().study(), tmp_path, Context("quick"))
    assert [path.name for path in outcome.files] == [
        "results.json", "settings.json", "claims.csv", "numbers.csv", "curve.png", "page.md",
    ]  # fmt: skip
    whole = json.loads((tmp_path / "results.json").read_text())
    assert whole["seed"] == 0
    assert whole["steps"]["second"]["seconds"] >= 0
    assert whole["numpy"]
    with (tmp_path / "claims.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert (line["ours"], line["verdict"]) == ("2", "reproduced")
    page = (tmp_path / "page.md").read_text()
    assert "python -m experiments tiny --quick --seed 0" in page
    assert "| Table 1 | 2 | 2 | value = 2 | reproduced |" in page
    assert "1 claim: 1 reproduced." in page
    made = json.loads((tmp_path / "settings.json").read_text())
    assert made["settings"] == {"first": {}, "second": {}}
    assert (made["graftwork"], made["size"], made["seed"]) == (__version__, "quick", 0)
    assert made["date"][:2] == "20"
    assert made["date"] in page
    assert all(commit in page for commit in made["commits"])
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_what_is_known_is_not_done_again(tmp_path):
    counter = Counter()
    told = []
    for _ in range(2):
        tell = lambda *words: told.append(words)  # noqa: E731
        reproduce(counter.study(), tmp_path, Context("quick"), tell=tell, pictures=False)
    assert counter.calls == ["first", "second"]
    assert [words[-1] for words in told] == ["", "", "known", "known"]
    reproduce(counter.study(k=1), tmp_path, Context("quick"), pictures=False)  # other settings
    assert counter.calls == ["first", "second", "first"]
    outcome = reproduce(counter.study(), tmp_path, Context("quick", seed=1), pictures=False)
    assert outcome.report.claims[0] == Claim(
        "Table 1", "2", "4", "differs", "of the seed", "value = 2"
    )
    reproduce(counter.study(), tmp_path, Context("quick", seed=1), fresh=True, pictures=False)
    assert counter.calls[3:] == ["first", "second", "first", "second"]


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    counter = Counter(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        reproduce(counter.study(), tmp_path, Context("quick"))
    reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)
    assert counter.calls == ["first", "second", "second"]


def test_an_interrupt_that_a_learner_took_for_its_own_does_not_count(tmp_path):
    counter = Counter()
    with pytest.raises(KeyboardInterrupt):
        reproduce(counter.study(), tmp_path, Context("quick"), interrupted=lambda: True)
    assert not list((tmp_path / "steps").glob("*.json"))


def test_a_damaged_result_is_computed_anew(tmp_path):
    counter = Counter()
    reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)
    (tmp_path / "steps" / "first.json").write_text('{"stamp": ')
    reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)
    assert counter.calls == ["first", "second", "first"]


def test_tiny_sizes_say_nothing_about_the_paper(tmp_path):
    claim = reproduce(Counter().study(), tmp_path, Context("tiny"), pictures=False).report.claims[0]
    assert (claim.verdict, claim.because) == (
        "not comparable",
        "these are tiny sizes, on made rows",
    )
    assert claim.threshold == "value = 2"


def test_a_step_that_fails_does_not_stop_the_others(tmp_path):
    counter = Counter(ValueError("no such parameter"))
    last = Step("last", "ending", lambda context: {"value": 1})
    whole = counter.study()
    study = Study("tiny", "A paper", lambda size: (*whole.steps(size), last), report)
    outcome = reproduce(study, tmp_path, Context("quick"))
    assert outcome.failed == {"second": "ValueError: no such parameter"}
    assert outcome.report.claims[0].verdict == "not run"
    kept = {path.stem for path in (tmp_path / "steps").glob("*.json")}
    assert kept == {"first", "last"}
    page = (tmp_path / "page.md").read_text()
    assert "Failed: second. ValueError: no such parameter" in page
    assert "1 claim: 1 not run." in page
    assert not reproduce(study, tmp_path, Context("quick"), pictures=False).failed
    assert "Failed" not in (tmp_path / "page.md").read_text()


def test_missing_data_skip_a_step_and_say_why(tmp_path):
    counter = Counter(DataMissingError("get it there", "letters"))
    outcome = reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)
    assert outcome.skipped == {"letters": Skipped(["second"], "get it there")}
    assert outcome.report.claims[0].verdict == "not run"
    assert "Not run: second. get it there" in (tmp_path / "page.md").read_text()
    reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)  # they are there now
    assert counter.calls == ["first", "second", "second"]


def test_stages_within_a_step_are_told_as_parts_of_it(tmp_path):
    told = []

    class Told(Silence):
        def on_stage(self, text, step, steps):
            told.append((text, step, steps))

    def staged(context):
        context.observer.on_stage("warming up", 0, 1)
        return {}

    steps = (Step("a", "counting", staged), Step("b", "doubling", staged))
    study = Study("tiny", "A paper", lambda size: steps, lambda found: Report([]))
    reproduce(study, tmp_path, Context("quick", observer=Told()), pictures=False)
    assert told == [
        ("tiny: counting", 0, 2), ("tiny: counting, warming up", 0, 2),
        ("tiny: doubling", 1, 2), ("tiny: doubling, warming up", 1, 2),
    ]  # fmt: skip


def test_unknown_names_are_told_with_those_there_are():
    with pytest.raises(DataError, match=", ".join(PAPERS)):
        find_study("best")


def test_results_of_another_version_are_computed_anew(tmp_path, monkeypatch):
    counter = Counter()
    reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)
    monkeypatch.setattr("graftwork.finished.__version__", "99")
    reproduce(counter.study(), tmp_path, Context("quick"), pictures=False)
    assert counter.calls == ["first", "second"] * 2


def test_fresh_forgets_all_steps_at_once(tmp_path):
    reproduce(Counter().study(), tmp_path, Context("quick"), pictures=False)
    counter = Counter(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        reproduce(counter.study(), tmp_path, Context("quick"), fresh=True)
    assert [path.name for path in (tmp_path / "steps").iterdir()] == ["first.json"]
