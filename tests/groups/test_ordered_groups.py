"""Ordered variables in comparisons of groups: one signed number per pair, equal in all groups."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from scipy.optimize import minimize

import graftwork as gw
from graftwork.data import Table
from graftwork.errors import DataError

from doors.groups import curved_in
from doors.report import UNSIGNED, sign_style

POINTS = np.arange(5) - 2.0


def items(thetas, rows, seed, unaries=-0.25 * POINTS**2):
    """Return rows of a chain of five-point items with tables theta * x * y."""
    names = [f"i{k}" for k in range(len(thetas) + 1)]
    tables = {
        (names[k], names[k + 1]): theta * np.outer(POINTS, POINTS) for k, theta in enumerate(thetas)
    }
    states = {name: [1, 2, 3, 4, 5] for name in names}
    model = gw.PairwiseMRF(states, dict.fromkeys(names, unaries), tables)
    return model.sample(rows, random_state=seed)


def joined(tables, groups=("a", "b", "c")):
    """Return tables one below the other, with a column that says which is which."""
    codes = np.concatenate([table.codes for table in tables], axis=1)
    labels = np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])
    first = tables[0]
    both = np.vstack([codes, labels[None].astype(codes.dtype)])
    return Table((*first.names, "g"), (*first.states, tuple(groups[: len(tables)])), both)


def record(found, a, b):
    """Return what was found of a pair."""
    [own] = [each for each in found.edges() if (each["first"], each["second"]) == (a, b)]
    return own


@pytest.fixture(scope="module")
def found():
    """Two groups of a chain; the third edge is weaker in the second, the last has another sign."""
    tables = [items([0.3, 0.3, 0.4, 0.3], 500, 0), items([0.3, 0.3, 0.1, -0.2], 400, 1)]
    return gw.compare_groups(joined(tables), "g", ordinal=True, n_permutations=20, n_jobs=1)


def test_pairs_of_ordered_variables_have_one_number(found):
    edges = found.edges()
    assert {each["df"] for each in edges} == {1.0}
    assert all(len(w) == 1 for each in found.estimates for w in each.values)
    sure = {(each["first"], each["second"]) for each in edges if each["differs"]}
    assert sure == {("i2", "i3"), ("i3", "i4")}
    assert not found.shared.curved


def test_weights_are_signed_with_intervals(found):
    last = record(found, "i3", "i4")
    assert last["weight_a"] == pytest.approx(0.3, abs=0.08)
    assert last["weight_b"] == pytest.approx(-0.2, abs=0.08)
    assert last["weight_low"] < 0.5 < last["weight_high"]
    assert last["weight_difference"] == pytest.approx(last["weight_a"] - last["weight_b"])
    for each in found.edges():  # interval and test say the same
        holds = each["weight_low"] <= 0.0 <= each["weight_high"]
        assert holds == (each["p_value"] > 0.05)
        assert each["norm_a"] == pytest.approx(10.0 * abs(each["weight_a"]))


def test_permutations_have_linear_tables_too(found):
    sure = found.different
    assert (found.permutations.p_values[sure] == 1 / 21).all()
    assert (found.permutations.p_values[~sure] > 0.04).all()


def test_tables_are_linear(found):
    cells = found.table("i2", "i3")
    assert len(cells) == 25
    weight = record(found, "i2", "i3")["weight_a"]
    for cell in cells:
        assert cell["weight_a"] == pytest.approx(weight * (cell["i2"] - 3) * (cell["i3"] - 3))


def test_words_files_and_picture(found, tmp_path):
    text = found.summary()
    assert "signed weights" in text
    assert "weight a" in text
    found.save(tmp_path)
    header = (tmp_path / "differences.csv").read_text().splitlines()[0]
    assert "weight_a,weight_b,weight_difference,weight_low,weight_high" in header
    drawn = found.plot()
    written = [each.get_text() for ax in drawn.axes for each in ax.texts]
    weight = record(found, "i3", "i4")["weight_b"]
    assert f"{weight:.2f}".replace("-", "\u2212") in written
    assert "Blue: positive" in drawn.texts[0].get_text()


def linear_fit(codes, thetas_at):
    """Return the theta of a chain of three items by an independent pseudo-likelihood."""
    x = [np.unique(row) - 2.0 for row in codes]
    values = codes - 2.0
    sizes = [len(each) for each in x]
    ends = np.cumsum(sizes)

    def loss(w):
        unaries, thetas = np.split(w[: ends[-1]], ends[:-1]), w[ends[-1] :]
        total = 0.0
        for i in range(3):
            slope = np.zeros(codes.shape[1])
            for k, (a, b) in enumerate(thetas_at):
                if i in (a, b):
                    slope += thetas[k] * values[b if i == a else a]
            scores = unaries[i][:, None] + np.outer(x[i], slope)
            top = scores.max(axis=0)
            log_z = top + np.log(np.exp(scores - top).sum(axis=0))
            seen = np.searchsorted(x[i], values[i])
            total += (log_z - scores[seen, np.arange(len(seen))]).sum()
        norms = [
            (x[a].var() * x[b].var()) for a, b in thetas_at
        ]  # the mean square of the table of theta one; its prior has standard deviation 3
        return total + 0.5 * np.dot(norms, (thetas / 3.0) ** 2) + 1e-9 * (w @ w)

    start = np.zeros(ends[-1] + len(thetas_at))
    return minimize(loss, start, method="BFGS", options={"gtol": 1e-4}).x[ends[-1] :]


def test_weights_equal_an_independent_fit_where_a_group_lacks_a_state():
    """The slope per unit of score, in the states that each group has."""
    whole = items([0.3, 0.3], 300, 3)
    few = items([0.3, 0.3], 400, 4)
    few = few.take_rows((few.codes[1] > 0) & (few.codes[0] != 2))
    found = gw.compare_groups(joined([whole, few]), "g", ordinal=True, n_jobs=1)
    pairs = [(0, 1), (1, 2)]
    assert found.pairs.tolist() == [list(pair) for pair in pairs]
    for group, table in zip("ab", (whole, few), strict=True):
        thetas = linear_fit(table.codes.astype(int), pairs)
        own = [record(found, f"i{a}", f"i{b}")[f"weight_{group}"] for a, b in pairs]
        assert own == pytest.approx(thetas, abs=1e-3)
    assert {cell["i1"] for cell in found.table("i0", "i1")} == {2, 3, 4, 5}
    assert {cell["i0"] for cell in found.table("i0", "i1")} == {1, 2, 4, 5}
    assert not found.different.any()


def test_binary_and_ordered_variables_together():
    """The sign goes with the scores; of two binary variables the weight is the log odds ratio."""
    rng = np.random.default_rng(0)
    tables = []
    for sign in (1, -1):
        mood = rng.integers(5, size=500)
        chance = 1 / (1 + np.exp(-0.8 * sign * (mood - 2)))
        ill = (rng.random(500) < chance).astype(int)
        tired = np.where(rng.random(500) < 0.8, ill, 1 - ill)
        states = (("very low", "low", "so so", "good", "fine"), ("no", "yes"), ("no", "yes"))
        tables.append(Table(("mood", "ill", "tired"), states, [mood, ill, tired]))
    found = gw.compare_groups(
        joined(tables), "g", ordinal={"mood": list(tables[0].states[0])}, n_jobs=1
    )
    first = found.edges()[0]
    assert (first["first"], first["second"], first["df"]) == ("mood", "ill", 1.0)
    assert first["weight_a"] == pytest.approx(0.8, abs=0.25)
    assert first["weight_b"] == pytest.approx(-0.8, abs=0.25)
    assert record(found, "ill", "tired")["weight_a"] == pytest.approx(2 * np.log(4), abs=0.6)


def test_an_unordered_variable_of_three_states_has_no_weight():
    rng = np.random.default_rng(1)
    town = rng.integers(3, size=900)
    mood = np.clip(town + rng.integers(-1, 4, size=900), 0, 4)
    table = Table(
        ("town", "mood", "g"), (tuple("xyz"), tuple(range(5)), ("a", "b")),
        [town, mood, np.repeat([0, 1], [500, 400])],
    )  # fmt: skip
    found = gw.compare_groups(table, "g", ordinal=["mood"], n_jobs=1)
    [own] = found.edges()
    assert np.isnan([own["weight_a"], own["weight_difference"]]).all()
    assert len(found.estimates[0].values[0]) == (2 if not found.shared.curved else 8)
    assert "norm a" in found.summary()


def bent_rows(rows, seed, height):
    """Return rows in which b is high at both ends of a, and c goes with b."""
    rng = np.random.default_rng(seed)
    a = rng.integers(5, size=rows)
    b = np.where(rng.random(rows) < height, 2 * abs(a - 2), rng.integers(5, size=rows))
    c = np.clip(b + rng.integers(-1, 2, size=rows), 0, 4)
    return Table(("a", "b", "c"), (tuple(range(5)),) * 3, [a, b, c])


def test_curved_pairs_are_compared_by_whole_tables():
    tables = [bent_rows(500, 0, 0.5), bent_rows(500, 1, 0.5)]
    found = gw.compare_groups(joined(tables), "g", ordinal=True, n_jobs=1)
    assert (0, 1) in found.shared.curved
    own = record(found, "a", "b")
    assert own["df"] > 2
    assert np.isnan(own["weight_a"])
    assert "whole tables" in found.summary()


def test_pictures_show_the_strengths_and_signs_of_the_groups_own_networks():
    tables = [bent_rows(500, 0, 0.5), bent_rows(500, 1, 0.5)]
    found = gw.compare_groups(joined(tables), "g", ordinal=True, n_jobs=1)
    models = [net.model_ for net in found.networks.values()]
    assert all(set(model.edges) == {("a", "b"), ("b", "c")} for model in models)
    # a - b is bent: it has no weight in the comparison, and a sign in each network.
    assert np.isnan(record(found, "a", "b")["weight_a"])
    figure = found.plot()
    for ax, model in zip(figure.axes, models, strict=True):
        sizes = sorted(zip(model.strengths, model.correlations, strict=True))
        [lines] = [each for each in ax.collections if isinstance(each, LineCollection)]
        drawn = [to_hex(colour) for colour in lines.get_colors()]
        assert drawn == [sign_style(signed)[0] for _, signed in sizes]
        assert UNSIGNED not in drawn
        widths = lines.get_linewidths()
        assert list(widths) == sorted(widths)
    assert "grey" not in figure.texts[0].get_text()


def test_networks_of_a_given_lambda_say_by_their_tables_what_is_curved():
    tables = [bent_rows(500, 0, 0.5), bent_rows(500, 1, 0.5)]
    nets = [gw.MarkovNetwork(ordinal=True, lam=0.03, n_jobs=1).fit(table) for table in tables]
    scored = [table.with_order(order_of(table)) for table in tables]
    assert nets[0].evidence_ is None
    assert (0, 1) in curved_in(zip(nets, scored, strict=True), tables[0].names)
    straight = items([0.3, 0.3], 500, 0)
    net = gw.MarkovNetwork(ordinal=True, lam=0.05, n_jobs=1).fit(straight)
    assert net.model_.n_edges == 2
    assert not curved_in([(net, straight.with_order(order_of(straight)))], straight.names)


def order_of(table):
    return gw.data.scores.Ordered.by_rank(dict(zip(table.names, table.states, strict=True)))


def test_ordered_categoricals_and_words_for_groups():
    """The column of the groups needs no order, and has none."""
    table = joined([items([0.4], 200, seed) for seed in range(3)], ("north", "east", "south"))
    frame = pd.DataFrame(table.to_dict())
    for name in ("i0", "i1"):
        frame[name] = pd.Categorical(frame[name], [1, 2, 3, 4, 5], ordered=True)
    own = gw.compare_groups(frame, "g", n_jobs=1)
    named = gw.compare_groups(table, "g", ordinal=True, n_jobs=1)
    assert own.tests.degrees[0] == pytest.approx(2.0, abs=0.05)
    assert own.tests.statistics == pytest.approx(named.tests.statistics)
    assert "g" not in own.overall.model_.scores
    assert gw.compare_groups(table, "g", ordinal=False, n_jobs=1).tests.degrees[0] > 4


@pytest.mark.parametrize("missing", ["available-case", "impute", "state"])
def test_missing_cells(missing):
    """Cells that are missing in one group alone, where they are a state, leave no order."""
    table = joined([items([0.4, 0.4], 300, seed) for seed in (0, 1)])
    gaps = np.zeros((3, 600), dtype=bool)
    gaps[0, :40] = True
    states = tuple(("(missing)", *listed) for listed in table.states[:-1])
    codes = np.vstack([np.where(gaps, 0, table.codes[:-1] + 1), table.codes[-1:]])
    holed = Table(table.names, (*states, table.states[-1]), codes)
    found = gw.compare_groups(holed, "g", ordinal=True, missing=missing, n_permutations=1, n_jobs=1)
    assert len(found.estimates[0].values[-1]) == 1
    own = record(found, "i0", "i1")
    if missing == "state":
        assert np.isnan(own["weight_a"])
    else:
        assert own["weight_a"] == pytest.approx(0.4, abs=0.12)
    assert not found.different.any()


def test_equal_groups_of_different_sizes_rarely_differ():
    """A small version of the calibration in tests/slow."""
    p_values, false, weights = [], 0, []
    for seed in range(4):
        rows = [items([0.3] * 7, size, 10 * seed + k) for k, size in enumerate((800, 120))]
        found = gw.compare_groups(joined(rows), "g", ordinal=True, n_jobs=1)
        p_values += np.exp(found.tests.log_p[found.known]).tolist()
        weights.append(found.weights.values[:, found.known].mean(axis=1))
        false += bool(found.different.any())
    assert false <= 1
    assert 0.35 < np.mean(p_values) < 0.65
    assert np.mean(weights, axis=0) == pytest.approx([0.3, 0.3], abs=0.04)


def test_few_rows_are_enough_for_ordered_variables(found):
    assert found.wanted == 90
    assert "Too few rows" not in found.summary()


def test_panels_of_groups_and_layouts_are_chosen(found):
    alone = found.plot(groups="b")
    assert len(alone.axes) == 1
    assert alone.axes[0].get_title().startswith("g = b")
    places = {name: (k, k % 2) for k, name in enumerate(found.names)}
    for ax in found.plot(layout=places).axes:
        spots = {tuple(spot) for each in ax.collections if each.zorder == 3
                 for spot in each.get_offsets().tolist()}  # fmt: skip
        assert spots <= set(places.values())
        assert spots
    with pytest.raises(DataError, match="there is no group 'z'"):
        found.plot(groups=["a", "z"])
    with pytest.raises(DataError, match="no place for"):
        found.plot(layout={})
