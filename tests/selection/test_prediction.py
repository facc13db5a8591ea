"""Lambda chosen along a path by a criterion: every value against a computation by hand."""

import math

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table
from graftwork.errors import ParameterError
from graftwork.grafting import Problem, graft
from graftwork.limits import Limit
from graftwork.objectives import PseudoLikelihood
from graftwork.parameters import gather
from graftwork.penalties import GroupL1
from graftwork.selection import PathPoint, find_levels

from doors.data import prepare
from doors.estimators import FitSpec, Units, fit, to_model
from doors.grafting import Silence
from doors.selection import CRITERIA as REGISTERED
from doors.selection import (
    FURTHEST,
    PATH_ACCURACY,
    PATH_RECIPE,
    RATIO,
    best,
    choice,
    count_observations,
    deal,
    draw,
    ebic_value,
    instability,
    spoken,
)
from support.problems import random_table

# "adaptive" has a path of other lambdas before: tests/selection/test_structure.py
CRITERIA = [
    (REGISTERED.entry(name).traits["goals"][0], name) for name in REGISTERED if name != "adaptive"
]


@pytest.fixture(scope="module")
def planted():
    made = gw.datasets.make_planted_chain(n_chain=5, n_noise=2, n_rows=250, random_state=1)
    return made.data


@pytest.fixture
def path_alone(monkeypatch):
    """As if the network of tested edges were never good enough."""
    monkeypatch.setattr(choice, "ALLOWED", -math.inf)


def learn(table, goal="prediction", criterion=None, **options):
    options = {"random_state": 0, "n_jobs": 1} | options
    return gw.MarkovNetwork(goal=goal, criterion=criterion, **gather(options)).fit(table)


def loose_fit(table, lam, start=None):
    sample = prepare(table)
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(lam))
    return sample, graft(problem, PATH_RECIPE, start=start, tolerance=PATH_ACCURACY * lam)


def walked(net):
    """The lambdas of the way down, without one looked at between two of them."""
    top = net.path_[0].lam
    places = [math.log(point.lam / top, RATIO) for point in net.path_]
    return [p.lam for p, k in zip(net.path_, places, strict=True) if abs(k - round(k)) < 1e-9]


def test_a_lambda_between_the_steps_is_where_a_parabola_has_its_minimum(planted, path_alone):
    net = learn(planted, criterion="k-fold")
    steps = walked(net)
    way = [point for point in net.path_ if point.lam in steps]
    [between] = [point for point in net.path_ if point.lam not in steps]
    best = int(np.argmin([point.criterion for point in way]))
    near = way[best - 1 : best + 2]
    fitted = np.polyfit([math.log(p.lam) for p in near], [p.criterion for p in near], 2)
    assert math.log(between.lam) == pytest.approx(-fitted[1] / (2 * fitted[0]))
    assert min(net.path_, key=lambda point: point.criterion).chosen


@pytest.mark.parametrize(("goal", "criterion"), CRITERIA)
def test_every_criterion_gives_a_certified_network_and_says_why(
    planted, goal, criterion, path_alone
):
    net = learn(planted, goal, criterion)
    assert net.certificate_.converged
    lams, steps = [point.lam for point in net.path_], walked(net)
    assert lams == sorted(lams, reverse=True)
    assert np.allclose(np.diff([math.log(lam) for lam in steps]), math.log(RATIO))
    assert len(lams) - len(steps) == (criterion in ("hold-out", "k-fold"))
    assert net.path_[0].n_edges == 0
    [chosen] = [point for point in net.path_ if point.chosen]
    assert chosen.lam == net.lam_ == net.certificate_.lam
    assert net.refitted_ == ("refit" in criterion)
    found = net.choice_
    assert (found.lam, found.stop) == (net.lam_, None)
    assert found.path.criterion == chosen.criterion
    assert (found.path.largest, found.path.smallest) == (lams[0], lams[-1])
    assert found.path.n_lams == len(lams)
    assert (found.path.tested is None) == (criterion not in ("hold-out", "k-fold"))
    if criterion != "stars":
        assert chosen.criterion == min(point.criterion for point in net.path_)
        assert found.path.end == "rises" or len(lams) >= 10
    for name in ("seconds", "blocks_scored", "evaluations", "tables_counted", "index"):
        values = [getattr(record, name) for record in net.trace_]
        assert values == sorted(values)
    given = gw.MarkovNetwork(lam=net.lam_, n_jobs=1).fit(planted)
    assert given.objective_ == pytest.approx(net.objective_, abs=1e-6)
    if not net.refitted_:
        # The unaries are calibrated where lambda was chosen; the tables are the same.
        for a, b in net.model_.edges:
            table = net.model_.table(a, b)
            np.testing.assert_allclose(given.model_.table(a, b), table, atol=1e-3)


def test_a_held_out_score_is_that_of_the_model_of_the_other_rows(planted):
    net = learn(planted, criterion="hold-out", criterion_options={"share": 0.3})
    count = planted.n_rows
    rng = np.random.default_rng(0)
    units = Units.of(planted)
    judged = draw(units.copies.astype(float), round(0.3 * count), rng)
    train, test = weighted(units, units.copies - judged), weighted(units, judged)
    start, steps = None, walked(net)
    points = sorted(net.path_, key=lambda point: (point.lam not in steps, -point.lam))
    assert points[-1].lam not in steps  # looked at last, between two of the others
    for point in points:
        sample, fit = loose_fit(train, point.lam, start)
        start = fit.potentials
        model = to_model(train, sample, start)
        scores = model.log_pseudo_likelihood(test.with_weights(None))
        assert point.held_out == pytest.approx(-np.average(scores, weights=test.weights))
        if not point.chosen:  # there the edges are those of the final fit to all rows
            assert point.n_edges == fit.certificate.n_edges
        assert point.criterion == point.held_out


def weighted(units, counts):
    """The rows of a table that have counts, with these as weights."""
    rows = np.flatnonzero(counts)
    return units.table.take_rows(rows).with_weights(counts[rows])


def test_k_fold_is_the_mean_over_the_folds(planted):
    net = learn(planted, criterion="k-fold", criterion_options={"folds": 4})
    rng = np.random.default_rng(0)
    units = Units.of(planted)
    parts = deal(units.copies.astype(float), 4, rng)
    total = 0.0
    for part in parts:
        train, test = weighted(units, units.copies - part), weighted(units, part)
        start = None
        for point in net.path_[:4]:
            sample, fit = loose_fit(train, point.lam, start)
            start = fit.potentials
        model = to_model(train, sample, start)
        total -= model.log_pseudo_likelihood(test.with_weights(None)) @ test.weights
    assert net.path_[3].held_out == pytest.approx(total / planted.n_rows)


# The network of tested edges beside the path


def dense(rows, n=9, seed=0):
    """Rows of binary variables that all depend on each other, weakly."""
    rng = np.random.default_rng(seed)
    states, pairs = {f"v{i}": [0, 1] for i in range(n)}, {}
    for i in range(n):
        for j in range(i):
            pairs[f"v{j}", f"v{i}"] = np.outer([-1, 1], [-1, 1]) * rng.uniform(0.05, 0.1)
    return gw.PairwiseMRF(states, None, pairs).sample(rows, random_state=seed)


@pytest.mark.parametrize("criterion", ["k-fold", "hold-out"])
def test_the_network_of_tested_edges_is_judged_by_the_same_rows_and_taken(planted, criterion):
    """Fails without it: the best lambda has more edges than the truth, and shrinks them."""
    net, tested = learn(planted, criterion=criterion), gw.MarkovNetwork(n_jobs=1).fit(planted)
    assert net.model_.edges == tested.model_.edges
    assert net.model_.potentials.weights == pytest.approx(tested.model_.potentials.weights)
    assert net.edges_.equals(tested.edges_)
    assert net.refitted_
    assert net.certificate_.converged
    assert net.lam_ == tested.lam_
    assert not any(point.chosen for point in net.path_)
    found = net.choice_.path
    assert found.tested < found.criterion == min(point.held_out for point in net.path_)
    assert gw.selection.LambdaChoice.from_dict(net.choice_.to_dict()) == net.choice_
    said = gw.describe(net.choice_)
    assert said.startswith("The network of the edges that tests keep predicts best")
    assert f"{tested.model_.n_edges} were kept as edges" in said
    assert said in " ".join(net.summary().split())
    units, rng = Units.of(planted), np.random.default_rng(0)
    copies = units.copies.astype(float)
    share = round(0.2 * planted.n_rows)
    parts = deal(copies, 3, rng) if criterion == "k-fold" else [draw(copies, share, rng)]
    total = weight = 0.0
    for part in parts:
        train, test = weighted(units, copies - part), weighted(units, part)
        model = fit(FitSpec.of({"n_jobs": 1}), train, calibrated=False).model  # as it is judged
        scores = model.log_pseudo_likelihood(test)
        total, weight = total - scores @ test.weights, weight + part.sum()
    assert found.tested == pytest.approx(total / weight, abs=1e-4)


def test_where_many_weak_edges_add_up_the_path_is_taken():
    table = dense(400)
    net = learn(table)
    assert sum(point.chosen for point in net.path_) == 1
    found = net.choice_.path
    assert found.tested > found.criterion
    assert not net.refitted_
    assert net.evidence_ is None
    worse = f"The network of the edges that tests keep predicts worse ({found.tested:.5g})."
    assert worse in gw.describe(net.choice_)


def test_less_than_a_standard_error_is_no_reason_to_prefer_the_path(planted, monkeypatch):
    monkeypatch.setattr(choice, "compare", lambda *_: (1e3, 0.9))
    net = learn(planted)
    assert net.refitted_
    said = gw.describe(net.choice_)
    assert "does worse by less than a standard error (1000): that was taken" in said
    monkeypatch.setattr(choice, "compare", lambda *_: (1e3, 1.1))
    assert not learn(planted).refitted_


def test_resamples_of_a_tested_network_are_tested(planted):
    boot = learn(planted).bootstrap(planted, 4, random_state=0, n_jobs=1)
    same = gw.MarkovNetwork(n_jobs=1).bootstrap(planted, 4, random_state=0, n_jobs=1)
    assert boot.tested
    assert repr(boot.edges()) == repr(same.edges())


@pytest.mark.parametrize("stage", ["testing all pairs", "refitting the short list"])
def test_an_interrupt_while_edges_are_tested_keeps_the_best_lambda(planted, stage):
    net = gw.MarkovNetwork(goal="prediction", random_state=0, verbose=StopAt(stage, at_once=True))
    with pytest.raises(KeyboardInterrupt):
        net.fit(planted)
    assert net.certificate_.stop == "interrupted"
    assert net.choice_.path.tested is None
    assert min(net.path_, key=lambda point: point.criterion).chosen


def test_pairs_that_cannot_be_tested_are_left_to_the_path(planted, monkeypatch):
    monkeypatch.setattr("graftwork.estimators.sizes.PAIRS", Limit(5))
    net = learn(planted)
    assert net.choice_.path.tested is None
    assert sum(point.chosen for point in net.path_) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rows"), [("sparse", 200), ("sparse", 600), ("dense", 300)])
def test_predictions_are_about_as_good_as_those_of_the_better_goal(kind, rows):
    """Mean losses on 20,000 fresh rows, above those of the truth; the path alone before."""
    losses = []
    for seed in range(8):
        if kind == "dense":
            model, made = None, dense(rows + 20_000, seed=seed)
        else:
            model = gw.datasets.scale_free_network(15, 2, edge_sd=1.0, random_state=seed)
            made = model.sample(rows + 20_000, random_state=seed)
        train, test = made.take_rows(range(rows)), made.take_rows(range(rows, made.n_rows))
        nets = gw.MarkovNetwork(n_jobs=1), gw.MarkovNetwork(goal="prediction", n_jobs=1)
        losses.append([-net.fit(train).score(test) for net in nets])
    structure, prediction = np.mean(losses, axis=0)
    assert prediction <= structure + 0.01


def test_ebic_by_hand():
    table = random_table(3, n=5, rows=120, most=4)
    sample, fit = loose_fit(table, 0.02)
    edges = fit.potentials.layout.edges
    cards = [len(np.unique(column)) for column in table.codes]
    assert len(edges)
    degrees = sum((cards[i] - 1) * (cards[j] - 1) for i, j in edges)
    loss = -to_model(table, sample, fit.potentials).log_pseudo_likelihood(table).mean()
    by_hand = 2 * 120 * loss + degrees * math.log(120) + 4 * 0.5 * len(edges) * math.log(5)
    assert ebic_value(sample, fit.certificate.loss, fit.potentials, 0.5) == pytest.approx(by_hand)


def test_ebic_of_refits_uses_their_loss(planted):
    net = learn(planted, criterion="ebic-refit", criterion_options={"gamma": 0.0})
    total = planted.n_rows
    for point in net.path_[1:]:
        assert point.refit_loss < point.loss
        price = point.criterion - 2 * total * point.refit_loss
        assert price >= point.n_edges * math.log(total) - 1e-6


def test_instability_by_a_loop():
    rng = np.random.default_rng(5)
    networks = rng.random((8, 15)) < 0.4
    total = 0.0
    for pair in range(15):
        share = sum(network[pair] for network in networks) / 8
        total += 2 * share * (1 - share)
    keys = np.concatenate([np.flatnonzero(network) for network in networks])
    assert instability(keys, 8, 15) == pytest.approx(total / 15)


def test_stars_takes_the_last_lambda_whose_edges_are_stable(planted):
    options = {"threshold": 0.05, "subsamples": 6, "size": 100}
    net = learn(planted, "structure", "stars", criterion_options=options)
    values = [point.criterion for point in net.path_]
    assert values == sorted(values)
    assert values[-1] > 0.05
    assert net.path_[-2].chosen
    assert values[-2] <= 0.05


def points(*values):
    return [PathPoint(0.5**k, k, 1.0, 1.0, criterion=value) for k, value in enumerate(values)]


def test_the_path_ends_after_three_rises_in_a_row_only():
    assert spoken(points(3.0, 2.0, 2.1, 2.2)) is None
    assert spoken(points(2.0, 2.1, 2.2, 2.15, 2.3, 2.4)) is None
    assert spoken(points(2.0, 2.1, 2.2, 2.3)) == "rises"
    assert spoken(points(2.0, 2.0, 2.0, 2.0 + 1e-12)) is None
    assert best(points(3.0, 2.0, 2.5, 2.0)) == 1


def test_with_a_threshold_the_last_that_keeps_to_it_is_best():
    assert spoken(points(0.0, 0.01, 0.02, 0.03, 0.1), 0.1) is None
    assert spoken(points(0.0, 0.11), 0.1) == "unstable"
    assert best(points(0.0, 0.05, 0.1, 0.11), 0.1) == 2
    assert best(points(0.2, 0.3), 0.1) == 0


def test_a_path_whose_best_lies_at_its_end_is_extended(path_alone):
    """Of exact copies, every smaller lambda does better."""
    table = Table(("a", "b"), ((0, 1),) * 2, [[0, 1] * 200, [0, 1] * 200])
    net = learn(table, criterion="hold-out")
    assert net.path_[-1].chosen
    assert net.choice_.path.end == "boundary"
    assert net.choice_.path.planned > net.lam_
    levels = find_levels(Problem(PseudoLikelihood(prepare(table), 1), GroupL1(1.0)))
    assert net.path_[-1].lam <= 2 * FURTHEST * levels.noise


@pytest.mark.parametrize("criterion", ["hold-out", "k-fold", "ebic"])
def test_threads_change_nothing(planted, criterion):
    one, two = (learn(planted, criterion=criterion, n_jobs=jobs) for jobs in (1, 2))
    assert one.path_ == two.path_ or criterion == "ebic"  # there NaN are not equal
    assert [p.criterion for p in one.path_] == [p.criterion for p in two.path_]
    assert one.model_ == two.model_


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "likelihood"},
        {"penalty": "l1"},
        {"penalty": "elastic-net", "l2": 0.001},
        {"unary": True},
        {"method": "grafting", "penalty": "l1"},
        {"criterion": "ebic-refit", "penalty": "l1"},
    ],
)
def test_other_losses_and_penalties(planted, options):
    net = learn(planted, **options)
    assert net.certificate_.converged
    assert net.model_.n_edges > 3


def test_methods_that_know_their_edges_refuse_a_goal(planted):
    with pytest.raises(ParameterError, match="goal='prediction' has no effect"):
        learn(planted, method="chow-liu")


class StopAt(Silence):
    """An observer that presses Ctrl-C in the first round of a stage, or as the stage begins."""

    def __init__(self, stage, at_once=False):
        self.stage, self.at_once = stage, at_once

    def on_stage(self, text, step, steps):
        assert 0 <= step < steps
        self.here = text.startswith(self.stage)
        if self.here and self.at_once:
            raise KeyboardInterrupt

    def on_round(self, record):
        if self.here:
            raise KeyboardInterrupt


@pytest.mark.parametrize("criterion", ["k-fold", "ebic-refit"])
@pytest.mark.parametrize("stage", ["lambda 0.03", "all rows"])
def test_an_interrupt_keeps_the_best_so_far(planted, stage, criterion, path_alone):
    net = gw.MarkovNetwork(
        goal="prediction", criterion=criterion, random_state=0, verbose=StopAt(stage)
    )
    with pytest.raises(KeyboardInterrupt):
        net.fit(planted)
    assert net.certificate_.stop == "interrupted"
    assert net.model_.n_edges > 0
    assert np.isfinite(net.score(planted))


@pytest.mark.parametrize("criterion", ["hold-out", "ebic"])
@pytest.mark.parametrize(
    ("budget", "stop"),
    [
        ({"max_tests": 1}, "tests"),
        ({"max_seconds": 0}, "seconds"),
        ({"max_iter": 1}, "rounds"),
        ({"max_tests": 50}, "tests"),
    ],
)
def test_budgets_hold_for_the_whole_path_and_what_is_kept_is_solved(
    planted, budget, stop, criterion
):
    net = learn(planted, criterion=criterion, **budget)
    assert net.certificate_.stop == stop
    assert not net.certificate_.converged
    assert net.certificate_.stationarity <= 1e-6
    assert net.choice_.stop == stop


def test_an_edge_budget_holds_and_the_path_goes_on(planted):
    net = learn(planted, max_edges=3)
    assert net.model_.n_edges == 3
    assert net.certificate_.stop == "edges"
    assert len(net.path_) > 4


# Rows and weights


def test_counts_are_split_as_equal_rows_would_be():
    weights = np.array([30.0, 0.0, 10.0])
    drawn = np.array([draw(weights, 20, np.random.default_rng(seed)) for seed in range(300)])
    assert (drawn.sum(axis=1) == 20).all()
    assert drawn[:, 0].mean() == pytest.approx(15, abs=0.5)
    # the variance of the hypergeometric distribution
    assert drawn[:, 0].var() == pytest.approx(20 * 0.75 * 0.25 * 20 / 39, rel=0.3)


def test_other_weights_keep_rows_whole():
    weights = np.array([0.5, 2.0, 0.0, 3.25])
    assert count_observations(weights) == 3
    parts = deal(weights, 5, np.random.default_rng(0))
    assert len(parts) == 3
    assert (np.sum(parts, axis=0) == weights).all()
    assert all(np.count_nonzero(part) == 1 for part in parts)


def test_weights_that_count_give_what_repeated_rows_give(planted):
    """In distribution: over seeds, the lambda chosen is the same on average."""
    weights = np.random.default_rng(0).integers(0, 4, planted.n_rows)
    counted = planted.with_weights(weights)
    repeated = planted.take_rows(np.repeat(np.arange(planted.n_rows), weights))
    paths = [
        [learn(table, criterion="hold-out", random_state=seed).path_ for seed in range(6)]
        for table in (counted, repeated)
    ]
    scores = [[path[3].held_out for path in each] for each in paths]
    spread = np.std(scores)
    assert abs(np.mean(scores[0]) - np.mean(scores[1])) < 3 * spread


def test_a_state_that_a_part_lacks_has_a_finite_score():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (4, 40)).astype(np.uint8)
    codes[0] = 0
    codes[0, :7] = np.arange(1, 8)  # each of these states occurs once
    table = Table(tuple("abcd"), (tuple(range(9)), *((0, 1, 2),) * 3), codes)
    net = learn(table)
    assert np.isfinite([point.held_out for point in net.path_]).all()


# Odd data


def odd_tables():
    rng = np.random.default_rng(0)
    yield "one row", Table(("a", "b"), ((0, 1), (0, 1)), [[0], [1]])
    yield "two rows", Table(("a", "b"), ((0, 1), (0, 1)), [[0, 1], [1, 0]])
    yield "one column", Table(("a",), ((0, 1),), [[0, 1, 1, 0, 1]])
    yield "constant", Table(("a", "b"), ((0, 1), (0, 1)), [[0, 0, 0], [1, 1, 1]])
    yield (
        "many states",
        Table(
            ("a", "b"),
            (tuple(range(300)), (0, 1)),
            [rng.integers(0, 300, 200), rng.integers(0, 2, 200)],
        ),
    )
    yield (
        "weights of zero",
        Table(("a", "b"), ((0, 1), (0, 1)), [[0, 1, 1, 0], [0, 1, 0, 1]], [2.0, 3.0, 0.0, 0.0]),
    )
    yield "copies", Table(("a", "b"), ((0, 1), (0, 1)), [[0, 1] * 30, [0, 1] * 30])


@pytest.mark.some(3)
@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda pair: pair[1])
@pytest.mark.parametrize("table", [pytest.param(t, id=name) for name, t in odd_tables()])
def test_odd_tables_give_a_network(table, criterion):
    net = learn(table, *criterion)
    assert np.isfinite(net.model_.potentials.weights).all()
    assert np.isfinite(net.score(table))
    assert gw.describe(net.choice_)
    assert 0 < net.lam_ < np.inf


STARS = {"goal": "structure", "criterion": "stars"}


def test_a_missing_cell_is_refused():
    with pytest.raises(gw.errors.DataError):
        learn([[1.0, 2.0], [float("nan"), 1.0]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"goal": "x"}, "goal='x' is not known"),
        ({"goal": "predicton"}, "did you mean 'prediction'"),
        ({"criterion": "bic"}, "criterion='bic' is not known"),
        ({"criterion": "tests"}, "does not serve goal='prediction'"),
        ({"criterion": "stars"}, "use goal='structure'"),
        ({"goal": "structure", "criterion": "k-fold"}, "does not serve goal='structure'"),
        ({"fdr": 0}, "fdr must be a number"),
        ({"fdr": 1.5}, "above 0 and below 1"),
        ({"criterion_options": {"gamma": 0.5}}, "option='gamma' is not known"),
        ({"criterion_options": 3}, "must be a dict"),
        ({"criterion": "ebic", "criterion_options": {"gamma": -1}}, "at least 0"),
        ({"criterion": "ebic", "criterion_options": {"gamma": "big"}}, "must be a number"),
        ({"criterion_options": {"folds": 1}}, "at least 2"),
        ({"criterion_options": {"folds": 2.5}}, "whole number"),
        ({"criterion": "hold-out", "criterion_options": {"share": 1.0}}, "above 0 and below 1"),
        ({"criterion": "hold-out", "criterion_options": {"share": 0}}, "above 0 and below 1"),
        (STARS | {"criterion_options": {"threshold": 0.5}}, "above 0 and below 0.5"),
        (STARS | {"criterion_options": {"size": 0}}, "size must be a whole number at least 1"),
        ({"criterion": "ebic", "criterion_options": {"refits": 1}}, "option='refits' is not known"),
        ({"goal": "structure", "criterion_options": {"folds": 3}}, "has no options"),
    ],
)
def test_nonsense_is_refused(planted, options, words):
    with pytest.raises(ValueError, match=words):
        gw.MarkovNetwork(**gather({"goal": "prediction"} | options)).fit(planted)


def test_too_large_subsamples_are_refused(planted):
    with pytest.raises(gw.errors.DataError, match="smaller size"):
        learn(planted, "structure", "stars", criterion_options={"size": planted.n_rows})


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "choice",
    [
        {"goal": "prediction"},
        {"goal": "prediction", "criterion": "hold-out"},
        {"criterion": "stars"},
        {"criterion": "adaptive"},
        {"criterion": "ebic-refit"},
    ],
)
def test_whole_weights_choose_as_repeated_rows_do(choice):
    table = random_table(21, n=7, rows=250)
    counts = np.random.default_rng(0).integers(0, 4, 250)
    rows = table.codes.T.astype(int)
    counted = gw.MarkovNetwork(random_state=0, **gather(choice)).fit(rows, sample_weight=counts)
    repeated = gw.MarkovNetwork(random_state=0, **gather(choice)).fit(
        np.repeat(rows, counts, axis=0)
    )
    assert counted.lam_ == pytest.approx(repeated.lam_, rel=1e-12)
    assert set(counted.model_.edges) == set(repeated.model_.edges)
    assert abs(counted.objective_ - repeated.objective_) < 1e-8


def test_the_information_criterion_counts_a_linear_table_as_one_number():
    """Counted as 16 numbers, no edge of ordered five-point items was worth its price."""
    rng = np.random.default_rng(0)
    traits = rng.normal(size=(350, 2)).repeat(7, axis=1)
    items = np.digitize(traits + rng.normal(size=(350, 14)), [-1.5, -0.5, 0.5, 1.5]) + 1
    net = gw.MarkovNetwork(ordinal=True, criterion="ebic", random_state=0).fit(items)
    for point in net.path_[:3]:  # linear tables alone
        price = point.n_edges * (np.log(350) + 4 * 0.25 * np.log(14))
        assert point.criterion == pytest.approx(700 * point.loss + price)
    names = list(net.model_.names)
    assert net.model_.n_edges >= 20
    assert all((names.index(a) < 7) == (names.index(b) < 7) for a, b in net.model_.edges)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_choose_among_equal_refits(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (300, 7))
    for j in range(1, 7):
        copied = rng.random(300) < 0.45
        rows[copied, j] = rows[copied, j - 1]
    options = {"criterion": "ebic-refit", "criterion_options": {"gamma": 0.5}}
    path = gw.MarkovNetwork(ordinal=False, **options).fit(rows).path_
    best = min(point.criterion for point in path)
    near = [point for point in path if point.criterion <= best * (1 + 1e-9)]
    assert {point.criterion for point in near} == {best}
    assert near[0].chosen
