"""Every document that graftwork prints, as it is kept in golden/.

`GRAFTWORK_GOLDEN=write pytest tests/report/test_golden.py` keeps what is printed now.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import graftwork as gw
from graftwork.datasets import Mixing
from graftwork.grafting import Tally
from graftwork.models import ChainModel
from graftwork.parameters import gather
from graftwork.report import (
    EdgeScores,
    HeldOut,
    chain_summary,
    describe_network,
    held_out,
    path_table,
    summary,
    write_edges,
    write_path,
    write_trace,
    write_weights,
)
from graftwork.selection import LambdaChoice

from doors.estimators import Advice, MissingCells, Predictability
from doors.grafting import STOPS, Certificate, Round, Tying
from doors.inference import Layout, Potentials
from doors.report import (
    EdgeTest,
    advice_text,
    both_text,
    centrality_text,
    community_text,
    data_notes,
    edges_of,
    network_text,
    stop_text,
    write_centrality,
    write_communities,
    write_explanations,
    write_predictability,
)
from doors.selection import Basis, EdgeSelection, PathSearch
from support import golden
from support.problems import random_table, with_holes

FOLDER = Path(__file__).parent / "golden"
DOCUMENTS: dict[str, Callable[[], str]] = {}
ALIKE = [[1.0, 0.0], [0.0, 1.0]]


def document(make: Callable[[], str]) -> Callable[[], str]:
    """Keep what a function returns in the file of its name."""
    DOCUMENTS[make.__name__.strip("_").replace("_", "-")] = make
    return make


def listed(**parts):
    """Return several texts, each below a line with its name."""
    return "\n\n".join(f"## {name.replace('_', ' ')}\n{text}" for name, text in parts.items())


# ---- networks ----------------------------------------------------------------------------------


def copies(n_rows, shares, seed=0, states=2):
    """Return columns v0, v1, ...: each repeats the one before in a share of the rows."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(states, size=n_rows)]
    for share in shares:
        fresh = rng.integers(states, size=n_rows)
        columns.append(np.where(rng.random(n_rows) < share, columns[-1], fresh))
    return {f"v{i}": column for i, column in enumerate(columns)}


def learned(rows, method="grafting", weights=None, **options):
    options = gather({"random_state": 0, "n_jobs": 1, **options})
    return gw.MarkovNetwork(method, **options).fit(rows, sample_weight=weights)


@cache
def symptoms():
    table = gw.datasets.load_adhd()
    return table.take_columns([name for name in table.names if name != "group"])


@cache
def known():
    """Return a network of tested edges that knows everything it can know."""
    rows = copies(600, (0.5, 0.3, 0.16, 0.05, 0.4))
    net = learned(rows)
    net.predictability(rows)
    net.bootstrap(rows, 4, random_state=0)
    return net


@document
def structure():
    net = learned(symptoms())
    net.predictability(symptoms())
    return summary(net, communities=net.communities(), top=4, source="The rows come from a file.")


@document
def structure_in_parts():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (2, 400))
    either = {"a": first, "b": second, "c": first ^ second}
    limited = learned(copies(400, (0.5, 0.4, 0.3)), max_edges=2, required=[("v0", "v3")])
    return listed(
        no_edges=learned(either).summary(),
        limited=limited.summary(top=1),
        each_pair_an_edge=learned(copies(400, (0.8,))).summary(),
        penalised_weights=learned(symptoms(), lam=0.005).summary(top=1),
    )


@cache
def smokers():
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=100)
    codes = np.stack([first, np.where(rng.random(100) < 0.9, first, 1 - first), np.zeros(100, int)])
    names = ("smokes", "coughs", "fixed")
    return gw.Table(names, (("no", "yes"), ("n", "y"), ("k", "l")), codes)


@document
def given_lambda():
    net = learned(smokers(), lam=0.1)
    words = {"meanings": {"coughs": {"y": "often"}}, "no_held_out": "There were too few rows."}
    told = summary(net, **words)
    assert told == summary(net, smokers(), **words)
    measured = held_out(net.model_, smokers(), smokers())
    return listed(short=told, held_out=summary(net, held_out=measured, remarks=["Look at this."]))


@document
def prediction():
    table = random_table(2, n=5, rows=150)
    tested = learned(table, goal="prediction", criterion="hold-out")
    refit = learned(table, goal="prediction", criterion="ebic-refit")
    return listed(
        hold_out=tested.summary(top=1),
        ebic_refit=refit.summary(top=1),
        path=path_table(refit.path_),
        no_path=path_table([]),
    )


@document
def missing_cells():
    gone = np.random.default_rng(0).random((4, 300)) < 0.03
    columns = copies(300, (0.6, 0.5, 0.4)).items()
    table = {
        name: [None if hole else "ny"[code] for code, hole in zip(column, holes, strict=True)]
        for (name, column), holes in zip(columns, gone, strict=True)
    }
    policies = ("available-case", "state", "impute")
    texts = [learned(table, missing=policy).summary(top=1) for policy in policies]
    return listed(**dict(zip(policies, texts, strict=True)))


def bent_items(n_rows):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 5, 400)
    second = np.clip(np.abs(first - 2) + rng.integers(0, 3, 400), 0, 4)
    third = np.clip(second + rng.integers(-1, 2, 400), 0, 4)
    rows = np.stack([first, second, third], axis=1)
    return np.tile(rows, (n_rows // 400, 1))


@document
def ordered():
    few = learned(bent_items(400), ordinal=True)
    many = learned(bent_items(1600), ordinal=True)
    assert few.info()["remarks"][-1] in few.summary().replace("\n ", "")
    words = {"a": bent_items(400)[:, 0], "b": np.array(list("vwxyz"))[bent_items(400)[:, 1]]}
    return listed(
        few_rows=few.summary(),
        many_rows=many.summary(top=1),
        one_of_them=learned(words, ordinal=["a"], lam=0.01).summary(),
        chow_liu=learned(copies(300, (0.6, 0.5), states=3), "chow-liu", ordinal=True).summary(
            top=1
        ),
    )


@document
def bins():
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 300)
    rows = {"age": age, "pay": age + rng.normal(0, 8, 300), "sex": rng.integers(0, 2, 300)}
    return learned(rows, bins=3).summary()


@document
def weights():
    rng = np.random.default_rng(0)
    rows = copies(300, (0.5, 0.4))
    return listed(
        counts=learned(rows, weights=rng.integers(1, 4, 300), lam=0.02).summary(),
        sampling=learned(rows, weights=rng.gamma(2.0, 0.5, 300)).summary(top=1),
    )


@document
def other_methods():
    table = random_table(3, n=5, rows=300, most=3)
    pruned = learned(table, "forced-pruning", max_edges=3, tie=4)
    features = learned(smokers(), "grafting-light", lam=0.05, penalty="l1")
    endless = learned({"a": [0, 0, 1, 1] * 30, "b": [0, 1, 1, 1] * 30}, lam=0, penalty="none")
    count = np.count_nonzero(features.model_.table("smokes", "coughs"))
    assert f"The edges carry {count} features" in " ".join(features.summary().split())
    return listed(
        features=features.summary(),
        exchanged_and_tied=pruned.summary(top=1),
        cut_short=learned(table, lam=0.01, max_edges=1).summary(top=1),
        without_a_finite_optimum=endless.summary().partition("Certificate")[2],
    )


@cache
def made_by_hand():
    """Return a network with edges of all kinds, without and with an order of states."""
    agree, never = [[1.0, 0.0], [0.0, 1.0]], [[0.0, -np.inf], [0.0, 1.0]]
    line = [[0.2 * a * b for b in range(3)] for a in range(3)]
    bent = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.1]]
    states = {
        "one": [0, 1], "two": ["no", "yes"], "sex": ["f", "m"], "flag": [False, True],
        "low": ["never", "some", "often"], "high": [1, 2, 3], "odd": ["never", "some", "often"],
    }  # fmt: skip
    pairs = {
        ("one", "two"): agree, ("two", "sex"): 0.8 * np.eye(2), ("one", "flag"): 0.9 * np.eye(2),
        ("low", "high"): line, ("high", "odd"): bent, ("sex", "low"): [row[:] for row in line[:2]],
        ("sex", "flag"): never, ("two", "flag"): np.add.outer([3.0, 0.0], [0.0, 7.0]),
    }  # fmt: skip
    plain = gw.PairwiseMRF(states, None, pairs)
    scores = {name: [0.0, 1.0, 2.0] for name in ("low", "high", "odd")}
    model = gw.PairwiseMRF.from_flat(
        plain.names, [*states.values()], plain.potentials, scores=scores
    )
    return plain, model


@document
def edges():
    plain, model = made_by_hand()
    # Naming the states of linear edges of known order would say 1 and 1, 1 and 0.
    tests = {edge: EdgeTest(0.001, 0.002, 10.0, 1.0, 0.1, -0.25, 0.75) for edge in model.edges}
    names = [f"v{i}" for i in range(40)]
    star = {("v0", name): ALIKE for name in names[1:20]} | {("v20", "v21"): ALIKE}
    two = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]})
    return listed(
        plain=describe_network(plain, unseen={"low": ["some"]}),
        tested=describe_network(model, tests=tests),
        with_meanings=describe_network(
            model, meanings={"one": {0: "control", 1: "treated"}}, top=3
        ),
        none_asked_for=describe_network(model, top=0),
        a_star=network_text(gw.PairwiseMRF({name: [0, 1] for name in names}, None, star)),
        two_alone=network_text(two),
        not_looked_at=network_text(two, looked=False),
    )


@document
def centrality():
    groups = dict(zip("abcdefg", "mmmsssx", strict=True))
    return listed(
        all_binary=centrality_text(blocks()),
        bridges=centrality_text(blocks(), groups),
        one_without_a_sign=centrality_text(
            gw.PairwiseMRF({"a": [0, 1], "b": [0, 1, 2]}, None, {("a", "b"): np.eye(2, 3)})
        ),
    )


def blocks():
    """Return two triangles with a bridge, and a variable without an edge."""
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "f"), ("d", "f"), ("c", "d")]
    states = {name: [0, 1] for name in "abcdefg"}
    return gw.PairwiseMRF(states, None, dict.fromkeys(pairs, ALIKE))


PARTS = {**dict.fromkeys("abc", 1), **dict.fromkeys("def", 2), "g": None}


@document
def communities():
    pair = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): ALIKE})
    return listed(
        two=community_text(blocks(), PARTS),
        weak=community_text(pair, {"a": 1, "b": 1}),
        none=community_text(gw.PairwiseMRF({"a": [0, 1]}), {"a": None}),
    )


def predicted(correct, marginal, n_rows=1000, sample="in-sample", folds=0):
    shares, base = np.array(correct), np.array(marginal)
    n = np.full(len(shares), float(n_rows))
    loss = n * (1 - shares)
    names = tuple("abcdef"[: len(shares)])
    return Predictability(
        names, n, n * shares, n * base, loss, n * (1 - base), n_rows, sample, folds
    )


@document
def predictability():
    inside = predicted([0.9, 0.75, 0.6], [0.5, 0.5, 0.6])
    many, few = (predicted([0.8], [0.5], rows, "held-out") for rows in (200, 20))
    return listed(
        inside=gw.describe(inside),
        few_rows_in_folds=gw.describe(predicted([0.9, 0.4], [0.5, 0.5], 25, "held-out", 5)),
        constant=gw.describe(predicted([1.0], [1.0])),
        with_many_held_out=both_text(inside, many),
        with_few_held_out=both_text(inside, few),
        held_out_alone=both_text(None, many),
    )


# ---- bootstraps, groups and chains -------------------------------------------------------------


@cache
def boot():
    net = gw.MarkovNetwork(lam=0.03, random_state=0, n_jobs=1)
    return net.bootstrap(random_table(0, n=5, rows=100), 6)


def shaken(shares, found):
    """Return a bootstrap whose subsets found these centralities."""
    return replace(boot(), dropped=np.repeat(shares, 20), subset_centrality=found, shares=shares)


@document
def bootstrap():
    names = ("draws", "refits", "weight_draws", "weight_refits", "membership_draws")
    many = {
        name: np.repeat(getattr(boot(), name), 40, axis=0) for name in (*names, "centrality_draws")
    }
    many["draws"] = np.ones_like(many["draws"])
    many["draws"][0, 0] = np.nan  # 239 of 240 is almost all
    coins = np.random.default_rng(0).integers(0, 2, (400, 10))
    lost = learned(coins).bootstrap(coins, 5, case_dropping=False, random_state=0)
    return listed(
        few=boot().summary(),
        one_edge=boot().summary(top=1),
        of_tested_edges=known().bootstrap_.summary(),
        of_chance=lost.summary(),
        almost_all=replace(boot(), **many).summary(),
    )


@document
def bootstrap_in_words():
    found = np.tile(boot().centrality, (40, 1, 1))
    found[:2] *= -1  # two subsets of the smallest share fail
    rare = np.where(np.arange(6)[:, None] < 4, np.nan, boot().draws)
    tiny = np.where(np.isnan(boot().strengths), np.nan, 1e-9)
    return listed(
        a_cs_of_zero=gw.describe(shaken((0.05, 0.5), found)),
        a_stable_order=gw.describe(shaken((0.05, 0.5), np.abs(found))),
        of_nothing=gw.describe(gw.MarkovNetwork(lam=0.3, n_jobs=1).bootstrap([[0, 1]], 2)),
        interrupted=gw.describe(replace(boot(), n_asked=9, unconverged=2)),
        standing_in=gw.describe(replace(boot(), p_values=tiny, draws=rare)),
    )


def joined(*groups):
    """Return the rows of groups one below the other, with a column that says which is which."""
    rows = {name: np.concatenate([g[name] for g in groups]) for name in groups[0]}
    sizes = [len(next(iter(g.values()))) for g in groups]
    return rows | {"g": np.repeat(np.array(list("abc"))[: len(groups)], sizes)}


@cache
def compared():
    """Return two groups: the second lacks the first edge, and the last has another sign."""
    other = copies(500, (0.0, 0.4, 0.4, 0.4), 1)
    rows = joined(copies(600, (0.5, 0.4, 0.4, 0.4)), other | {"v4": 1 - other["v4"]})
    return gw.compare_groups(rows, by="g", n_permutations=4, n_jobs=1)


@document
def groups():
    three = [copies(300, (0.4, share, 0.4), k) for k, share in enumerate((0.4, 0.4, 0.0))]
    same = copies(400, (0.5, 0.4), 3)
    few = {name: column[:40] for name, column in same.items()}
    items = {f"i{k}": column for k, column in enumerate(bent_items(400).T)}
    steep = items | {"i2": np.minimum(items["i2"] + 1, 4)}
    coins = {"a": np.array([0, 1] * 30), "b": np.array([0, 0, 1, 1] * 15)}
    rare = [copies(300, (0.4, 0.4), k) | {"v2": np.arange(300) < 200 * k} for k in (0, 1)]
    cases = {"three": three, "equal": [same, same], "unequal": [same, few],
             "nothing": [coins, coins], "untested": rare}  # fmt: skip
    found = {name: gw.compare_groups(joined(*own), by="g", n_jobs=1) for name, own in cases.items()}
    found["ordered"] = gw.compare_groups(joined(items, steep), "g", ordinal=True, n_jobs=1)
    return listed(two=compared().summary(), **{k: each.summary(3) for k, each in found.items()})


TRUTH = [["B-NP", "I-NP", "B-VP", "B-PP", "B-NP"], ["B-NP", "O", "B-NP", "I-NP"]]
GUESS = [["B-NP", "I-NP", "B-VP", "B-NP", "I-NP"], ["B-NP", "O", "B-NP", "B-NP"]]


@cache
def tagger():
    sentences = [[{"word": "the"}, {"word": "dog"}, {"word": "barks", "bias": 2.0}],
                 [{"word": "dogs"}, {"word": "bark"}]] * 20  # fmt: skip
    return gw.ChainCRF(lam=0.005).fit(sentences, [["D", "N", "V"], ["N", "V"]] * 20)


@document
def chain():
    scored = gw.chunk_scores(TRUTH, GUESS).words()
    second = gw.ChainCRF(lam=0.002, order=2, l2=0.1, penalty="l1").fit(
        [[["a"], ["b"], ["c"], ["a"]]] * 9, [["X", "Y", "X", "X"]] * 9
    )
    return listed(
        learned=tagger().summary(),
        with_a_prediction=chain_summary(tagger(), template="a template", prediction=scored, top=1),
        of_order_two=second.summary(),
        empty=gw.ChainCRF(lam=9).fit([[["w=a"]]], [["A"]]).summary(),
    )


@cache
def explained():
    votes = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]), np.array([2.0, -0.5, 1.5, 0.25])
    pairs = np.array([[0.0, 0.75], [0.0, 0.0]])
    names = ("word:the", "word:dog", "bias")
    model = ChainModel(("D", "N"), names, 1, *votes, pairs, np.zeros((0, 0, 0)))
    return model.explain([{"word": "the", "bias": 2.0}, {"word": "dog"}], words=["the", "dog"])


@document
def explanation():
    assert str(explained()) == gw.describe(explained()) == explained().summary()
    assert repr(explained()).startswith("Explanation: 2 positions, 6 contributions")
    return listed(all=str(explained()), shorter=explained().summary(top=1, labels=1))


# ---- notebooks and files -----------------------------------------------------------------------


def page(value):
    """Return what a notebook shows: tags on lines of their own, without style and parameters."""
    html = re.sub(r"<style>.*?</style>", "", value._repr_html_(), flags=re.DOTALL)
    html = re.sub(r"<details><summary>Parameters</summary>.*</details>", "", html, flags=re.DOTALL)
    return re.sub(r"(</tr>|</p>|</details>|<tbody>|</table>)", r"\1\n", html)


@document
def notebook():
    long = {(f"v{i}", f"v{i + 1}"): (0.2 + i / 9) * np.eye(2) for i in range(24)}
    return listed(
        network=page(known()),
        without_edges=page(learned(copies(50, (0.1,)), lam=9.0)),
        model=page(gw.PairwiseMRF({f"v{i}": [0, 1] for i in range(25)}, None, long)),
        edges_of_all_kinds=page(made_by_hand()[0]),
        several_states=page(learned(random_table(0, n=3, rows=200), lam=0.02)),
        certificate=page(known().certificate_),
        bootstrap=page(boot()),
        predictability=page(known().predictability_),
        groups=page(compared()),
        chain_learner=page(tagger()),
        chain=page(tagger().model_),
        table=page(learned(copies(50, (0.9,)), lam=0.01).edges_),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of one file of each kind."""
    out = tmp_path_factory.mktemp("files")
    net, table = known(), random_table(2, n=5, rows=150)
    write_edges(out / "edges.csv", edges_of(net))
    write_edges(out / "edges-of-a-model.csv", net.model_)
    write_centrality(out / "centrality.csv", net.model_)
    write_communities(out / "communities.csv", PARTS)
    write_predictability(
        out / "predictability.csv", predicted([0.9], [0.5]), predicted([0.8], [0.5], 99)
    )
    write_path(out / "path.csv", learned(table, goal="prediction").path_)
    steps = 0, 1, 1, 1, 0, 2.0, 1.5, np.inf, 0.0, 1e-6, True, 3, 4, 5, 0.1, 0.01
    write_trace(out / "trace.jsonl", [Round(*steps)])
    write_weights(out / "weights.csv", tagger().model_)
    write_explanations(out / "explanations.csv", [(1, explained())])
    boot().save(out / "bootstrap", plot=False, differences=True)
    compared().save(out / "groups", plot=False)
    return out


def test_files_begin_as_they_are_kept(folder):
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".csv", ".jsonl")
    }
    beginnings = {name: "\n".join(text.splitlines()[:4]) for name, text in texts.items()}
    golden.check(FOLDER / "files.txt", listed(**beginnings))


# ---- single values -----------------------------------------------------------------------------

SOLVED = Certificate(0.0, 2e-7, 1e-6, 2.5, 2.3, 0.1, 3, 42, 42, True, True, "optimal")
CUT = replace(SOLVED, converged=False, stop="seconds", n_tested=7, max_violation=0.02, n_edges=1)
LOOPY = replace(SOLVED, exact=False, method="loopy belief propagation")
STALLED = replace(LOOPY, converged=False, stop="stalled", trusted=False, max_violation=0.1)
TALLY = Tally("descent", 9, 9, 12, 3, 2, 0, 1, 3.5, 3.25, "local-optimum", 8)
TESTS = EdgeSelection(15, 21, 14, 0, 0.01, 0.17, 0.02)
RIVALS = replace(
    TESTS, noise=0.2, n_required=2, n_contested=1, sampled=True, max_edges=16, residual=2e-4,
    rivals=(("a", "b"), ("b", "c")),
)  # fmt: skip
HELD_OUT = PathSearch(Basis("held-out", 3, 800), 15, 0.18, 0.0005, 3.0523, "rises", 0.001)
EBIC = replace(HELD_OUT, basis=Basis("ebic", gamma=0.25), end="boundary")
STARS = Basis("stars", 20, 282, threshold=0.1)
TIED = Tying(
    Potentials(Layout.of([2, 2], [(0, 1)]), np.array([0.0, 0.5, 0.0, 0.5, 0, 0, 0, -1.0])),
    np.array([-1.0, 0.5]), 3, 2.0, 2.1, 40,
)  # fmt: skip
LACKING = MissingCells("available-case", 1, 1, 10)
UNMIXED = Mixing("gibbs", 100, 4, 50, 1000, 10, 2, 1.2, "the share of x3 = 1", 9.0)
VALUES = {
    "solved": SOLVED,
    "solved, but cut short": replace(SOLVED, converged=False, stop="rounds"),
    "cut short": replace(CUT, n_barred=1),
    "features": replace(CUT, n_tested=0, n_edges=0, unit="feature", noun="feature", stop="edges"),
    "approximate": replace(LOOPY, n_inactive=0, n_tested=0, n_untrusted=1),
    "not trusted": STALLED,
    "stalled": replace(STALLED, trusted=True),
    "searched": replace(CUT, stop="searched", n_inactive=1, n_tested=1, n_edges=0, lam=0.0),
    "descent": TALLY,
    "descent without a number": replace(TALLY, cycles=1, restarts=2, ended="seconds"),
    "rejection": Tally(
        "rejection", 7, 5, 1, 1, 0, 1001, 0, 2.0, 2.0, "all-rejected", 1000, 4.5, "no-pairs"
    ),
    "mcmc": Tally("mcmc", None, 5, 2, 0, 0, 10, 0, 2.0, 2.0, "rounds-used", 2),
    "no exchange": Tally(wanted=7, edges=5, ended="interrupted", shortfall="no-improvement"),
    "nothing to exchange": Tally(wanted=7, edges=5, ended="nothing-to-exchange", shortfall="edges"),
    **{
        how: LambdaChoice(how, 0.05) for how in ("given", "none", "sized", "one-row", "independent")
    },
    **{
        f"{how} cut short": LambdaChoice(how, 0.02, "seconds")
        for how in ("tests", "ebic", "adaptive", "testing")
    },
    "tests": LambdaChoice("tests", 0.02, tests=TESTS),
    "tests of one pair": LambdaChoice("tests", 0.02, tests=replace(TESTS, n_tests=1, n_kept=1)),
    "tests of a limit": LambdaChoice("tests", 0.1, tests=replace(TESTS, max_edges=15)),
    "tests and rivals": LambdaChoice("tests", 0.02, tests=RIVALS),
    "one rival": LambdaChoice("tests", 0.02, tests=replace(TESTS, rivals=(("a", "b"),))),
    "no tests": LambdaChoice("tests", 1.0, tests=replace(TESTS, n_tests=0)),
    "held out": LambdaChoice("held-out", 0.002, path=HELD_OUT),
    "held out, cut short": LambdaChoice(
        "held-out", 0.002, "rounds", path=replace(HELD_OUT, end=None, planned=None)
    ),
    "tested edges are better": LambdaChoice(
        "tests", 0.02, tests=TESTS, path=replace(HELD_OUT, tested=3.01)
    ),
    "tested edges are about as good": LambdaChoice(
        "tests", 0.02, tests=TESTS, path=replace(HELD_OUT, tested=3.06)
    ),
    "tested edges are worse": LambdaChoice("held-out", 0.2, path=replace(HELD_OUT, tested=3.2)),
    "inside": LambdaChoice(
        "held-out", 0.002, path=replace(HELD_OUT, basis=Basis("held-out", 1, 90), end="inside")
    ),
    "largest": LambdaChoice("held-out", 0.18, path=replace(HELD_OUT, end="inside")),
    "ebic": LambdaChoice("ebic", 0.1, path=EBIC),
    "ebic of refits": LambdaChoice(
        "ebic", 0.1, path=replace(EBIC, basis=Basis("ebic", gamma=0.5, of_refits=True))
    ),
    "stars": LambdaChoice("stars", 0.1, path=PathSearch(STARS, 9, 0.18, 0.01, 0.08, "unstable")),
    "tied": TIED,
    "nothing to tie": replace(TIED, rounds=0),
    "nothing missing": MissingCells("error", 0, 0, 10),
    "dropped": MissingCells("drop-rows", 1, 1, 10),
    "a state": MissingCells("state", 3, 2, 10),
    "imputed": MissingCells("impute", 3, 2, 10, drawn=True),
    "averaged": LACKING,
    "drawn": replace(LACKING, drawn=True),
    "drawn four times": replace(LACKING, drawn=True, draws=4, lost=0.216),
    "imputed for tests": replace(LACKING, policy="impute", drawn=True, draws=1, lost=0.1),
    "exact rows": Mixing("exact", 500),
    "unmixed": UNMIXED,
    "mixed": replace(UNMIXED, rhat=1.01, attempts=1),
}


@document
def descriptions():
    values = {name: gw.describe(value) for name, value in VALUES.items()}
    advice = Advice("available-case", "since few cells are missing", LACKING)
    return listed(
        **values,
        advice=advice_text(advice),
        stops="\n".join(f"{stop}: {stop_text(stop)}" for stop in STOPS),
    )


@document
def scores():
    net = learned(smokers(), lam=0.1)
    model = net.model_
    holes = with_holes(random_table(4, n=4, rows=60), 0, 0.1)
    gaps = learned(holes.to_dict(), lam=0.05, missing="available-case")
    dense = gw.datasets.bernoulli_network(50, mean_degree=45, edge_sd=0.05, random_state=0)
    return listed(
        chunks=gw.chunk_scores(TRUTH, GUESS).words(),
        chunks_without_a_type=gw.chunk_scores([["B"]], [["I"]]).words(),
        no_chunks=gw.chunk_scores([["O"]], [["O"]]).words(),
        labels=gw.label_scores([[0, 1, 1], [2]], [[0, 1, 0], [1]]).words(),
        edges=EdgeScores(4, 2, 1).words(),
        network=gw.evaluate(model, smokers(), truth=model).words(),
        missing_cells=gw.evaluate(gaps, holes.to_dict()).words(),
        no_likelihood=gw.evaluate(dense, dense.sample(3, None, 0, "gibbs"), groups=None).words(),
        held_out=held_out(model, smokers(), smokers()).words(),
        held_out_worse=HeldOut(3.0, 2.0, 10, 2).words(),
        held_out_equal=HeldOut(2.0, 2.0, 10, 2).words(),
        held_out_of_another=HeldOut(1.0, 2.0, 10, 2, n_learned=90).words(),
    )


@document
def cost():
    data = [["a", 0, "x"], ["b", 1, "x"], ["a", 1, "y"]] * 20
    found = gw.MarkovNetwork(lam=0.1, n_jobs=1).estimate(data)
    items = gw.MarkovNetwork(n_jobs=1, ordinal=True, missing="available-case").estimate(
        np.where(np.arange(1200).reshape(400, 3) % 97 == 0, np.nan, bent_items(400))
    )
    return listed(
        small=found.summary(),
        fewer_rows_than_parameters=replace(found, total_weight=10.0).summary(),
        ordered_with_missing_cells=items.summary(),
    )


@document
def remarks():
    n = 60
    odd = {
        "id": list(range(n)), "twin": [0, 1] * 30, "copy": [0, 1] * 30, "same": [7] * n,
        "rare": ["seldom"] * 3 + ["often"] * (n - 3),
    }  # fmt: skip
    # The rows of weight zero differ; a missing cell is no state of its own.
    weighted = gw.as_table(
        {"a": ["x", "y", None] * 4, "b": ["u", "v", "v"] * 4},
        missing="state",
        weights=np.array([8.0, 8.0, 0.0] * 4),
    )
    alone = gw.as_table({"a": ["x", None] * 20, "b": ["u", "v"] * 20}, missing="state")
    tables = {"odd": odd, "one_column": [["a"], ["b"]], "weighted": weighted, "alone": alone}
    return listed(**{k: "\n".join(data_notes(gw.as_table(own))) for k, own in tables.items()})


# ---- what is kept ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_as_they_are_kept(name):
    text = DOCUMENTS[name]()
    golden.check(FOLDER / f"{name}.txt", text)
    if name not in WIDE:
        assert "\u00a0" not in text
        assert max(map(len, text.splitlines())) <= 88


#: Texts that others wrap.
WIDE = {"notebook", "descriptions", "edges", "communities", "predictability", "remarks", "scores",
        "bootstrap-in-words", "centrality"}  # fmt: skip


def test_nothing_else_is_kept():
    names = {*DOCUMENTS, "files"}
    assert {path.stem for path in FOLDER.iterdir()} == names


@pytest.mark.parametrize("value", [SOLVED, replace(CUT, max_violation=np.nan), TALLY])
def test_single_values_go_through_files(value):
    again = type(value).from_dict(value.to_dict())
    assert again.to_dict() == value.to_dict()
    assert "\n" not in repr(value)


@pytest.mark.parametrize(
    ("one", "same", "different"),
    [
        ("5 edges, 0.312", "5 edges, 0.313", "5 edges, 0.314"),  # one in the last place
        ("1,000 rows", "1,000 rows", "1,001 rows"),
        ("75% of", "76% of", "77% of"),
        ("p = 2.0e-9", "p = 2.1e-9", "p = 2.0e-8"),
        ("weight +12345.678", "weight +12350.1", "weight -12345.678"),
        ("stationary to 3e-09.", "stationary to 8.5e-08.", "stationary to 0.1."),
        ("differ by -0.00", "differ by 0.00", "differs by -0.00"),
        ("a long line 1.25", "a long\n  line 1.25", "a long\n\nline 1.25"),
    ],
)
def test_documents_are_compared_word_by_word_and_number_by_number(one, same, different):
    assert not golden.differences(one, same)
    assert golden.differences(one, different)
