"""Grafting-Light's study: every verdict is computed, missing steps are told, tiny steps run."""

import numpy as np
import pytest

import graftwork as gw
from experiments import find_study
from experiments.engine import Context, Study
from experiments.engine.observers import CpuClock, curve_of
from experiments.engine.pages import write_files
from experiments.engine.runner import reproduce
from experiments.grafting_light import chunks as light_chunks
from experiments.grafting_light import letters as light_letters
from experiments.grafting_light import report, steps
from experiments.grafting_light.chain import ChainSize, run_chain
from experiments.grafting_light.chunks import ChunkSize, Learner, run_chunks
from experiments.grafting_light.letters import (
    image_of,
    lively,
    look_at,
    paper_settings,
    run_default,
    run_letter,
)
from experiments.grafting_light.letters_claims import PRINTED
from experiments.grafting_light.made import made_corpus, made_letters
from experiments.grafting_light.pairs import correlation
from graftwork.errors import DataMissingError

from doors.estimators import preset

ABOUT = {
    "study": "grafting-light", "size": "quick", "seed": 0, "graftwork": "0", "steps": {},
    "skipped": {}, "failed": {}, "settings": {},
}  # fmt: skip


def chain_run(method, select, evaluations, **changes):
    run = {
        "method": method, "select": select, "nll": 100.0, "test_error": 0.1, "features": 20,
        "selected": 25, "evaluations": evaluations, "cpu_seconds": evaluations / 10,
        "objective": 2.0, "rounds": 5, "converged": True, "stop": "optimal", "inputs": 20,
        "n_train": 50,
        "curve": {
            "evaluations": [1, evaluations], "objective": [4.0, 2.0], "loss": [3.0, 2.0],
            "features": [0, 20], "selected": [0, 25],
        },
    }  # fmt: skip
    return {**run, **changes}


def chain_found(light=(30, 25, 20), grafting=(300, 90, 40), seidel=(900, 200, 50), **full):
    found = {"chain-full": {**chain_run("full", None, 10), **full}}
    counts = {"grafting-light": light, "grafting": grafting, "gauss-seidel": seidel}
    for method, evaluations in counts.items():
        for unit, count in zip((1, 10, 100), evaluations, strict=True):
            found[f"chain-{method}-{unit}"] = chain_run(method, unit, count)
    return found


def chunk_run(method, select, **changes):
    extra = {"penalty": "l1", "c1": 1.0, "f1": 94.0, "candidates": 4_000_000, "dropped": 0.9995}
    return chain_run(method, select, 50, n_train=8_936, **{**extra, **changes})


def chunk_found():
    slow = {"evaluations": [1, 50], "objective": [4.0, 3.0]}
    return {
        "chunks-all": chunk_run("full", None, penalty="l2", f1=94.4, dropped=0.0),
        "chunks-path-1": chunk_run("grafting-light", None, dropped=0.998),
        "chunks-path-4": chunk_run("grafting-light", None, c1=4.0, f1=93.6),
        "chunks-race-full": chunk_run("full", None),
        "chunks-race-grafting-light-10": chunk_run("grafting-light", 10),
        "chunks-race-grafting-10": chunk_run("grafting", 10, curve=slow, objective=3.0),
        "chunks-race-gauss-seidel-10": chunk_run("gauss-seidel", 10, curve=slow, objective=3.0),
    }


def letter_run(method, lam, **changes):
    image = np.zeros((20, 20)).tolist()
    run = {
        "letter": "s", "method": method, "loss": "likelihood", "select": 20, "lam": lam,
        "cpu_seconds": 1.0, "evaluations": 20, "objective": 2.0, "edges": 10,
        "rounds": 3, "features": 12, "train_loss": 0.1, "test_nlpl": 0.1, "test_nll": 0.1,
        "belief_error": 0.01, "sample_error": 0.02, "beliefs": image, "samples": image,
        "converged": True, "stop": "optimal", "untrusted": 0, "curve": {},
    }  # fmt: skip
    return {**run, **changes}


def letter_found(**full):
    image = np.zeros((20, 20)).tolist()
    grafting = {"cpu_seconds": 3.0, "evaluations": 90}
    return {
        "letters-data": {
            x: {"images": n, "constant": 272, "mean": image} for x, n in PRINTED.items()
        },
        "letters-s-bp0.1-grafting-light": letter_run("grafting-light", 0.1),
        "letters-s-bp0.1-grafting": letter_run("grafting", 0.1, **grafting),
        "letters-s-bp0.1-full": letter_run("full", 0.1, **full),
        "letters-s-default": letter_run("best-choice", 0.02, loss="pseudolikelihood"),
    } | unit_found()


def unit_found(light=(20, 20, 25), grafting=(200, 80, 50)):
    """Runs of three select units; CPU time is a tenth of a second for each gradient."""
    return {
        f"letters-units-{method}-{unit}": letter_run(
            method, 0.1, select=unit, evaluations=count, cpu_seconds=count / 10
        )
        for method, counts in (("grafting-light", light), ("grafting", grafting))
        for unit, count in zip((1, 9, 30), counts, strict=True)
    }


def verdicts(found):
    return {claim.what: claim for claim in report(found).claims}


def claim_like(found, text):
    [claim] = [claim for what, claim in verdicts(found).items() if text in what]
    return claim


def test_nothing_run_is_said_of_every_claim():
    claims = report({}).claims
    assert len(claims) > 15
    assert {claim.verdict for claim in claims} == {"not run"}
    assert not report({}).figures


@pytest.mark.parametrize("left_out", ["chain-full", "chain-grafting-light-1", "chunks-all"])
def test_a_missing_step_leaves_the_rest_judged(left_out):
    found = chain_found() | chunk_found() | letter_found()
    del found[left_out]
    kinds = {claim.verdict for claim in report(found).claims}
    assert "reproduced" in kinds


def test_what_the_paper_says_of_chains_is_reproduced_where_it_holds():
    found = chain_found()
    rivals = (f"time and gradients against {name}" for name in ("Grafting", "Gauss-Seidel"))
    for text in (*rivals, "robust", "likelihood and error", "fewest"):
        assert claim_like(found, text).verdict == "reproduced", text
    assert claim_like(found, "Fig. 2: non-zero").verdict == "reproduced"


def test_what_it_says_of_chains_differs_where_it_does_not_hold():
    found = chain_found(light=(100, 100, 100), grafting=(90, 90, 90))
    claim = claim_like(found, "time and gradients against Grafting")
    assert claim.verdict == "differs"
    assert "M = 1, 10, 100" in claim.because
    assert claim_like(found, "robust").verdict == "differs"
    found = chain_found(nll=150.0, evaluations=40, selected=90, features=40, inputs=20)
    assert claim_like(found, "likelihood and error").verdict == "differs"
    assert "at 3 of 3 select units" in claim_like(found, "fewest").because
    sparse = claim_like(found, "Fig. 2: non-zero")
    assert sparse.verdict == "differs"
    assert "inputs with a weight are 20 and 20" in sparse.because
    found["chain-ridge-full"] = chain_run("full", None, 9, features=30)
    found["chain-ridge-grafting-light"] = chain_run("grafting-light", 1, 9, features=31)
    assert "they keep 31 and 30" in claim_like(found, "Fig. 2: non-zero").because


def test_the_advantage_is_judged_over_all_select_units():
    """Ratios of 10, 40 and 2: the ends alone would say that it falls."""
    claim = claim_like(chain_found(), "the advantage over Grafting")
    assert (claim.verdict, claim.threshold) == ("reproduced", "rank correlation with M <= -0.8")
    assert "10.0 at M = 1, 3.6 at 10, 2.0 at 100" in claim.ours
    claim = claim_like(chain_found(grafting=(300, 1000, 40)), "the advantage over Grafting")
    assert claim.verdict == "differs"
    assert "-0.50" in claim.because


def test_rank_correlations_are_those_of_textbooks():
    y = [3.9, 4.8, 5.9, 4.7, 4.3, 4.5, 3.7]
    x = [1, 10, 20, 30, 40, 50, 60]
    ranks = np.argsort(np.argsort(y))
    by_hand = 1 - 6 * ((np.arange(7) - ranks) ** 2).sum() / (7 * (49 - 1))
    assert correlation(x, y) == pytest.approx(by_hand)
    assert correlation(x, [1.0] * 7) == 0.0
    assert correlation(x[:2], y[:2]) is None


def test_greedy_methods_that_were_stopped_can_not_be_compared():
    found = chain_found()
    claim = claim_like(found, "Grafting at the smallest M")
    assert claim.verdict == "differs"
    assert "it has 0 features and NLL 150.0 after the 30 gradients" in claim.because
    for method in ("grafting", "gauss-seidel"):
        short = {"nll": 130.0, "features": 5, "converged": False, "stop": "evaluations"}
        found[f"chain-{method}-1"] = chain_run(method, 1, 500, **short)
    for name in ("Grafting", "Gauss-Seidel"):
        claim = claim_like(found, f"{name} at the smallest M")
        assert claim.verdict == "not comparable"
        assert f"the limit of evaluations ended {name} at M = 1" in claim.because
    against = claim_like(found, "time and gradients against Gauss-Seidel")
    assert "> 16.7 times the gradients" in against.ours
    advantage = claim_like(found, "the advantage over Gauss-Seidel")
    assert advantage.ours.startswith("times the gradients until the objective")
    assert "16.7 at M = 1" in advantage.ours
    found["chain-grafting-1"] |= {"converged": True, "stop": "optimal"}
    assert claim_like(found, "Grafting at the smallest M").verdict == "reproduced"


def test_a_lower_bound_below_the_threshold_says_nothing():
    found = chain_found(grafting=(40, 90, 40))
    name = "time and gradients against Grafting"
    assert claim_like(found, name).verdict == "differs"
    found["chain-grafting-1"] |= {"converged": False, "stop": "evaluations"}
    claim = claim_like(found, name)
    assert claim.verdict == "not comparable"
    assert "it took at least this, and maybe more" in claim.because
    found["chain-grafting-100"]["evaluations"] = 20  # that one has its optimum, and is no slower
    assert claim_like(found, name).verdict == "differs"
    letters = letter_found()
    letters["letters-s-bp0.1-grafting"] |= {"cpu_seconds": 1.2, "evaluations": 900}
    assert claim_like(letters, "time against Grafting").verdict == "differs"
    letters["letters-s-bp0.1-grafting"] |= {"converged": False, "stop": "evaluations"}
    assert claim_like(letters, "time against Grafting").verdict == "not comparable"


def test_a_light_run_that_was_stopped_can_not_be_compared():
    found = chain_found()
    names = (
        "time and gradients against Grafting", "advantage over Grafting", "robust",
        "likelihood and error",
    )  # fmt: skip
    assert {claim_like(found, name).verdict for name in names} == {"reproduced"}
    found["chain-grafting-light-1"] |= {"converged": False, "stop": "evaluations"}
    for name in names:
        claim = claim_like(found, name)
        assert claim.verdict == "not comparable", name
        assert "the limit of evaluations ended Grafting-Light at M = 1" in claim.because
    found["chain-grafting-light-1"]["stop"] = "stalled"
    assert "Grafting-Light at M = 1 ended before the optimum (stalled)" in (
        claim_like(found, "robust").because
    )


def test_more_features_on_the_way_count_where_there_are_more():
    found = chain_found()
    assert claim_like(found, "selected on the way").verdict == "differs"
    for unit in (1, 10):
        key = f"chain-grafting-light-{unit}"
        found[key] = {**found[key], "selected": 40}
    assert claim_like(found, "selected on the way").verdict == "reproduced"


def test_claims_about_noun_phrases():
    found = chunk_found()
    claims = report(found).claims
    told = [c for c in claims if c.what.startswith(("6.1.2", "4.1", "Fig. 3"))]
    assert len(told) == 7
    assert {claim.verdict for claim in told} == {"reproduced"}


def test_noun_phrases_that_differ_say_how():
    found = chunk_found()
    found["chunks-path-4"]["f1"] = 90.0
    found["chunks-race-grafting-light-10"] |= {"nll": 200.0, "converged": False, "objective": 4.0}
    found["chunks-race-grafting-light-10"]["curve"] = {"evaluations": [1], "objective": [4.0]}
    dropped = claim_like(found, "99.9 %")
    assert dropped.verdict == "differs"
    assert "within 1 point 99.800% can be dropped; with 99.9 % dropped F1 is 90.00" in (
        dropped.because
    )
    assert dropped.threshold.endswith(">= 93.4 (F1 of all features less 1)")
    assert claim_like(found, "Fig. 3: gradients against Grafting").verdict == "differs"
    assert claim_like(found, "Fig. 3: likelihood").verdict == "reproduced"  # the path's
    found["chunks-race-full"]["f1"] = 80.0
    assert claim_like(found, "F1 of Full").verdict == "differs"


def test_noun_phrases_of_other_sizes_or_without_an_optimum_can_not_be_compared():
    found = chunk_found()
    ended = {"converged": False, "stop": "evaluations"}
    found["chunks-race-full"] |= ended | {"objective": 2.001}
    verdicts_now = {
        text: claim_like(found, text).verdict
        for text in ("F1 of Full", "Fig. 3: likelihood", "Fig. 3: non-zero")
    }
    assert list(verdicts_now.values()) == ["reproduced", "reproduced", "not comparable"]
    assert "0.0005 above the optimum" in claim_like(found, "Fig. 3: likelihood").ours
    found["chunks-race-full"]["objective"] = 2.1
    for text in verdicts_now:
        claim = claim_like(found, text)
        assert claim.verdict == "not comparable", text
        assert "the limit of evaluations ended Full-Opt-L1" in claim.because
    assert "0.05 of its size above the optimum, more than 0.001" in (
        claim_like(found, "F1 of Full").because
    )
    del found["chunks-path-1"]  # then no optimum is known
    assert claim_like(found, "F1 of Full").verdict == "not comparable"
    found = chunk_found()
    found["chunks-path-4"] |= ended
    claim = claim_like(found, "99.9 %")
    assert (claim.verdict, claim.because) == (
        "not comparable", "no run that reached its optimum drops 99.9% of the features",
    )  # fmt: skip
    found = chunk_found()
    for run in found.values():
        run |= {"n_train": 300, "candidates": 1_000}
    for text in ("candidate", "99.9 %", "F1 of Full"):
        claim = claim_like(found, text)
        assert (claim.verdict, claim.because) == (
            "not comparable", "300 of the 8,936 sentences were used",
        )  # fmt: skip


def test_claims_about_letters_depend_on_the_batch_method():
    found = letter_found()
    assert claim_like(found, "6.2: images").verdict == "reproduced"
    assert claim_like(found, "time against Grafting").verdict == "reproduced"
    for text in ("time against Full", "test NLL", "mean images", "sparsity"):
        claim = claim_like(found, text)
        assert claim.verdict == "differs", text
        assert "where both converge (1 of 1 letter) objectives agree" in claim.because
    bad = {
        "cpu_seconds": 9.0, "test_nll": 0.3, "belief_error": 0.2, "edges": 90, "converged": False,
        "stop": "stalled", "untrusted": 5,
    }  # fmt: skip
    found = letter_found(**bad)  # belief propagation failed on the complete graph alone
    for text in ("test NLL", "mean images", "sparsity"):
        assert claim_like(found, text).verdict == "reproduced", text
    timed = claim_like(found, "time against Full")  # there is no time to its optimum
    assert timed.verdict == "not comparable"
    assert "no optimum was reached by Full-Opt-L1 on 1 of 1" in timed.because
    found["letters-s-bp0.1-full"]["test_nll"] = 0.1
    assert claim_like(found, "test NLL").verdict == "differs"
    found["letters-data"]["a"]["images"] += 1
    assert claim_like(found, "6.2: images").because.startswith("a has +1")


def test_letters_without_an_optimum_can_not_be_compared():
    worse = {"cpu_seconds": 9.0, "test_nll": 0.3, "belief_error": 0.2, "edges": 90}
    found = letter_found(**worse, converged=False, stop="evaluations")
    timed = claim_like(found, "time against Full")  # it took at least as long
    assert timed.verdict == "reproduced"
    assert "at least 9.0 times the time" in timed.ours
    for text in ("test NLL", "mean images", "sparsity"):
        claim = claim_like(found, text)
        assert claim.verdict == "not comparable", text
        assert claim.ours == "nothing to compare on any of 1 letter"
        assert "Full-Opt-L1 on 1 of 1 letter (1 ended by the limit" in claim.because
    found = letter_found(**worse)
    found["letters-s-bp0.1-grafting-light"] |= {"converged": False, "stop": "stalled"}
    for text in ("time against Full", "time against Grafting", "test NLL", "sparsity"):
        assert claim_like(found, text).verdict == "not comparable", text


def test_the_four_panels_of_figure_5_are_judged_over_all_select_units():
    """In this order: CPU time of both, gradients of both, likelihood, non-zero features."""

    def judged(found):
        return [c.verdict for c in report(found).claims if c.what.startswith("Fig. 5")]

    assert judged(letter_found()) == ["reproduced"] * 4 + ["differs"] * 2
    worse = letter_found(test_nll=0.102, features=24)
    assert judged(worse) == ["reproduced"] * 6
    worse["letters-units-grafting-9"] |= {"features": 13, "test_nll": 0.1015}  # one unit of three
    assert judged(worse)[4:] == ["differs", "differs"]
    jump = letter_found() | unit_found(light=(20, 41, 20))
    assert judged(jump)[::2][:2] == ["differs", "differs"]
    claim = claim_like(jump, "Fig. 5: gradients of Grafting-Light")
    assert "the largest is 2.0 times the smallest" in claim.because
    rising = letter_found() | unit_found(grafting=(200, 220, 190))
    assert judged(rising)[1:4:2] == ["differs", "differs"]
    crossing = letter_found() | unit_found(grafting=(200, 19, 15))
    claim = verdicts(crossing)["Fig. 5: gradients of Grafting"]
    assert (claim.verdict, claim.threshold) == (
        "differs", "rank correlation with M <= -0.8; least ratio to Grafting Light > 1",
    )  # fmt: skip


def test_select_units_without_an_optimum_are_left_out_and_said():
    found = letter_found() | {
        "letters-units-grafting-light-60": letter_run("grafting-light", 0.1, select=60),
        "letters-units-grafting-60": letter_run("grafting", 0.1, select=60, evaluations=40),
    }
    found["letters-units-grafting-1"] |= {"converged": False, "stop": "evaluations"}
    claim = claim_like(found, "Fig. 5: gradients of Grafting-Light")
    assert claim.verdict == "reproduced"
    assert claim.ours.startswith("letter s (without M = 1, where a run has no optimum): 20 at M")
    del found["letters-units-grafting-60"]
    claim = claim_like(found, "Fig. 5: gradients of Grafting-Light")
    assert (claim.verdict, claim.because) == (
        "not comparable", "both methods have an optimum at 2 of 3 select units only",
    )  # fmt: skip
    found["letters-s-bp0.1-full"] |= {"converged": False, "stop": "evaluations"}
    assert "the limit of evaluations ended it" in claim_like(found, "Fig. 5: non-zero").because


def test_figures_and_tables_are_written(tmp_path):
    whole = report(chain_found() | chunk_found() | letter_found())
    files = write_files(find_study("grafting-light"), whole, ABOUT, tmp_path, pictures=True)
    names = {path.name for path in files}
    assert {"chain.csv", "chunks.csv", "letters.csv", "chain.png", "chunks.png"} <= names
    assert {
        "chunks-path.png",
        "letters-0.1.png",
        "letters.png",
        "letters-units.png",
        "page.md",
    } <= names


@pytest.mark.parametrize("size", ["full", "quick", "tiny"])
def test_steps_have_keys_of_their_own_and_settings(size):
    made = steps(size)
    assert len({step.key for step in made}) == len(made)
    assert all(step.settings for step in made)
    limits = [step for step in made if "default" not in step.key and step.key != "letters-data"]
    assert all("max_evaluations" in str(step.settings) or "'most'" in str(step.settings)
               for step in limits)  # fmt: skip
    assert "seconds" not in str([step.settings for step in made])


def test_a_tiny_chain_runs_and_is_kept(tmp_path):
    sizes = ChainSize(30, 20, 4, 8, 2, 1.0, 2.0, (1,), 200)
    found = run_chain(Context("quick", n_jobs=1), method="grafting-light", unit=2, sizes=sizes)
    assert found["converged"]
    assert found["evaluations"] == found["curve"]["evaluations"][-1]
    assert found["cpu_seconds"] >= 0
    assert found["inputs"] <= 8
    short = ChainSize(30, 20, 4, 8, 2, 1.0, 2.0, (1,), 3)
    ended = run_chain(Context("quick", n_jobs=1), method="grafting", unit=1, sizes=short)
    assert (ended["stop"], ended["converged"]) == ("evaluations", False)
    assert ended["evaluations"] <= 6


def test_made_rows_are_of_the_kind_of_the_data_sets():
    corpus = made_corpus()
    assert corpus.train.tokens == made_corpus().train.tokens
    assert {label for row in corpus.train.labels for label in row} == {"B-NP", "I-NP", "O"}
    for tokens, labels in zip(corpus.test.tokens, corpus.test.labels, strict=True):
        tags = [tag for _, tag in tokens]
        nouns = [tag in ("DT", "JJ", "NN") for tag in tags]
        assert nouns == [label != "O" for label in labels]
    letters = made_letters("am")
    assert letters.table("a").n_variables == 64
    constant = np.ptp(letters.images, axis=0) == 0
    assert 0 < constant.sum() < 64
    assert (letters.images[:100].mean(0) != letters.images[100:].mean(0)).any()


def test_a_tiny_chunker_runs(tmp_path):
    folder = tmp_path / "conll2000"
    folder.mkdir()
    text = "He PRP B-NP\nsaw VBD B-VP\nthe DT B-NP\ndog NN I-NP\n\nDogs NNS B-NP\nbark VBP B-VP\n\n"
    for part in ("train", "test"):
        (folder / f"{part}.txt").write_text(text * 4)
    light_chunks.chunk_data.cache_clear()
    context = Context("quick", folder=tmp_path, n_jobs=1)
    learner = Learner("grafting-light", "l1", 0.5, 10, 500)
    found = run_chunks(context, learner=learner, sizes=ChunkSize(6, 4))
    assert found["n_train"] == 6
    assert found["f1"] == 100.0
    assert 0 < found["features"] < found["candidates"]
    light_chunks.chunk_data.cache_clear()


def write_letters(folder, per_letter=12):
    """Write an archive of random pictures, some pixels of which never change."""
    rng = np.random.default_rng(0)
    labels = np.repeat([ord(x) - ord("a") for x in "acmsig"], per_letter)
    bits = rng.random((len(labels), 16, 8)) < 0.5
    bits[:, :14] = False
    bits[:, 15] = bits[:, 14]
    folder.mkdir()
    np.savez(
        folder / "letters.npz",
        pixels_packed=np.packbits(bits.reshape(len(labels), -1), axis=1),
        labels=labels.astype(np.uint8),
        word_start=np.array([0, len(labels)], dtype=np.int32),
        fold=np.zeros(1, dtype=np.uint8),
    )


def test_a_tiny_letter_runs_with_constant_pixels(tmp_path):
    write_letters(tmp_path / "ocr_letters")
    light_letters.letters_of.cache_clear()
    context = Context("quick", folder=tmp_path, n_jobs=1)
    assert look_at(context, letters="ac")["a"]["constant"] == 400 - 16
    found = run_letter(
        context, letter="s", settings=paper_settings("grafting-light", 4), lam=0.2, n_samples=20,
        repeats=2,
    )  # fmt: skip
    assert np.isfinite([found["test_nll"], found["test_nlpl"], found["objective"]]).all()
    assert np.shape(found["samples"]) == (20, 20)
    assert found["sample_error"] < 0.5
    ours = run_default(context, letter="s", lam="auto", n_samples=20)
    assert set(ours) == set(found)
    assert (ours["method"], ours["converged"]) == ("working-set", True)
    light_letters.letters_of.cache_clear()


def test_without_data_steps_are_skipped_and_told(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)
    chosen = [step for step in steps("quick") if step.key in ("letters-data", "chunks-all")]
    study = Study("tiny", "paper", lambda size: chosen, report)
    light_letters.letters_of.cache_clear()
    light_chunks.chunk_data.cache_clear()
    outcome = reproduce(study, tmp_path, Context("quick", folder=tmp_path), pictures=False)
    assert outcome.skipped["ocr_letters"].steps == ["letters-data"]
    assert outcome.skipped["conll2000"].steps == ["chunks-all"]
    with pytest.raises(DataMissingError):
        look_at(Context("quick", folder=tmp_path), letters="a")


def test_pixels_that_change_come_first():
    table = gw.Table(("r0c0", "r0c1"), ((0, 1),) * 2, [[0, 0, 0], [0, 1, 1]])
    assert lively(table).names == ("r0c1", "r0c0")
    image = image_of(("r0c1", "r1c0", "r0c0", "r1c1"), [1.0, 2.0, 3.0, 4.0])
    assert image.tolist() == [[3.0, 1.0], [2.0, 4.0]]


def test_the_papers_setting_is_single_features_by_belief_propagation():
    settings = preset("grafting-light-paper", lam=0.1)
    assert (settings["penalty"], settings["inference"]) == ("l1", "bp:rule=product")
    assert gw.MarkovNetwork(**settings).fit([[0, 0], [1, 1]] * 20).model_.n_edges == 1


def test_curves_are_thinned_with_both_ends():
    rounds = [{"a": k, "b": -k} for k in range(1000)]
    curve = curve_of(rounds, ["a"], 7)
    assert len(curve["a"]) == 7
    assert (curve["a"][0], curve["a"][-1]) == (0, 999)
    assert curve_of(rounds[:1], ["b"]) == {"b": [0]}


def test_a_clock_of_nothing_has_not_run():
    class Quiet:
        def __getattr__(self, name):
            return lambda *args: None

    clock = CpuClock(Quiet())
    clock.on_stage("a", 0, 1)
    clock.on_search(1, 2)
    clock.on_step(3)
    clock.on_network(None)
    assert clock.seconds == 0.0
    clock.on_round(None)
    clock.on_round(None)
    assert clock.seconds >= 0.0


def test_penalised_pixels_are_judged_beside_free_ones():
    found = letter_found()
    runs = {
        f"letters-penalised-{method}": letter_run(method, 0.1, edges=edges)
        for method, edges in (("grafting-light", 20), ("grafting", 20), ("full", 90))
    }
    assert not any("penalised" in claim.what for claim in report(found).claims)
    claim = claim_like(found | runs, "sparsity of Full-Opt-L1, lambda 0.1, penalised pixels")
    assert claim.verdict == "reproduced"
    assert "objectives agree to 0" in claim.ours
