"""Gains of cells against their definition, maximised by scipy; the series of small excesses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from doors.kernels import cell_gains, excess, table_loss

# What each distribution is conditional on: the likelihood's joint, the pseudo-likelihood's two.
COMPARED = {"joint": (0,), "conditionals": (2, 1)}


def random_pair(seed, height, width, given):
    """A model's distributions of one pair's cells, with the slices' masses of the data."""
    rng = np.random.default_rng(seed)
    data = rng.dirichlet(np.ones(height * width)).reshape(height, width)
    model = []
    for condition in given:
        cells = rng.dirichlet(np.full(height * width, 2.0)).reshape(height, width)
        if condition:
            axis = 1 if condition == 1 else 0
            cells *= data.sum(axis=axis, keepdims=True) / cells.sum(axis=axis, keepdims=True)
        model.append(cells.ravel())
    return np.array(model), data.ravel()


def change(weights, height, width, model, given, data):
    """What adding a table does to the loss, as written in ``Expectations``."""
    total = -len(given) * weights @ data
    for cells, condition in zip(model, given, strict=True):
        tilted = (cells * np.exp(weights)).reshape(height, width)
        shaped = cells.reshape(height, width)
        axis = {0: None, 1: 1, 2: 0}[condition]
        mass, after = shaped.sum(axis=axis), tilted.sum(axis=axis)
        total += np.sum(mass * np.log(after / mass))
    return float(total)


def best_of_cell(cell, height, width, model, given, data, lam, l2):
    def objective(a):
        weights = np.where(np.arange(height * width) == cell, a, 0.0)
        return change(weights, height, width, model, given, data) + lam * abs(a) + l2 * a * a

    ends = [
        minimize_scalar(objective, bounds=side, method="bounded", options={"xatol": 1e-10}).fun
        for side in ((-20, 0), (0, 20))
    ]
    return max(0.0, -min(ends))


def gain_of_cell(cell, width, model, given, data, lam, l2):
    one = np.zeros(1, dtype=np.int64)
    return cell_gains(
        one, np.array([cell]), np.array([width]), np.array([0, len(data)]), model,
        np.array(given), data, np.array([lam]), l2,
    )[0]  # fmt: skip


@given(q=st.floats(0.01, 0.99), p=st.floats(0.01, 0.99), lam=st.floats(0.0, 0.3))
def test_a_cell_of_a_joint_has_the_closed_form_gain(q, p, lam):
    """Lee, Ganapathi and Koller (2006): the weight and the gain of one indicator under l1."""
    model, data = np.array([[p, 1 - p]]), np.array([q, 1 - q])
    wanted = q - lam * np.sign(q - p)
    expected = 0.0
    if abs(q - p) > lam:
        a = np.log(wanted * (1 - p) / (p * (1 - wanted)))
        expected = a * q - np.log(1 + p * (np.exp(a) - 1)) - lam * abs(a)
    assert np.isclose(gain_of_cell(0, 2, model, (0,), data, lam, 0.0), expected, atol=1e-12)


@pytest.mark.parametrize("l2", [0.0, 0.03, 2.0])
@pytest.mark.parametrize("lam", [0.0, 0.02])
@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("compared", COMPARED)
def test_the_gain_of_a_cell_is_the_best_one_weight_can_do(compared, shape, lam, l2):
    condition = COMPARED[compared]
    model, data = random_pair(sum(shape), *shape, condition)
    gains = [gain_of_cell(c, shape[1], model, condition, data, lam, l2) for c in range(len(data))]
    best = [best_of_cell(c, *shape, model, condition, data, lam, l2) for c in range(len(data))]
    assert max(best) > 1e-4
    assert np.allclose(gains, best, rtol=1e-7, atol=1e-12)


def test_with_l2_the_best_weight_is_found_to_rounding():
    """Many cells, among them some that gain little and some with which a search may overshoot."""
    rng = np.random.default_rng(0)
    p, lam, l2 = rng.uniform(0.01, 0.99, 3000), 0.01, 10.0 ** rng.uniform(-4, 1, 3000)
    q = np.clip(
        p + rng.choice([-1, 1], 3000) * (lam + 10.0 ** rng.uniform(-6, 0, 3000)), 0.01, 0.99
    )
    hard = [
        (0.2045027755603402, 0.2194588995997245, 0.006237940554075307),
        (0.18361476099254104, 0.19921224362029016, 0.004937752271589533),
        (0.15807408009768972, 0.17114118262374226, 0.007233507256978746),
    ]
    for p_, q_, l2_ in [*hard, *zip(p, q, l2, strict=True)]:
        if abs(q_ - p_) <= lam:
            continue
        sign = np.sign(q_ - p_)

        def slope(a, p=p_, q=q_, sign=sign, l2=l2_):
            return q - lam * sign - p * np.exp(a) / (1 + p * np.expm1(a)) - 2 * l2 * a

        a = brentq(slope, 0, 40 * sign, xtol=1e-15)
        best = a * q_ - np.log1p(p_ * np.expm1(a)) - lam * abs(a) - l2_ * a * a
        gain = gain_of_cell(
            0, 2, np.array([[p_, 1 - p_]]), (0,), np.array([q_, 1 - q_]), lam, l2_
        )  # fmt: skip
        assert np.isclose(gain, best, rtol=1e-7, atol=1e-14)


def test_the_gains_of_cells_of_several_tables_come_in_the_order_asked():
    shapes = [(2, 3), (3, 2), (2, 2)]
    parts = [random_pair(seed, *shape, (2, 1)) for seed, shape in enumerate(shapes)]
    model = np.concatenate([part[0] for part in parts], axis=1)
    data = np.concatenate([part[1] for part in parts])
    offsets = np.array([0, 6, 12, 16])
    asked = [(2, 3), (0, 5), (1, 0), (0, 0), (2, 3)]
    which, cells = np.array(asked).T.copy()
    widths = np.array([width for _, width in shapes])
    lams = np.full(len(which), 0.01)
    gains = cell_gains(which, cells, widths, offsets, model, np.array([2, 1]), data, lams, 0.0)
    alone = [
        gain_of_cell(cell, widths[t], parts[t][0], (2, 1), parts[t][1], 0.01, 0.0)
        for t, cell in asked
    ]
    assert np.array_equal(gains, alone)


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("q", [0.0, 1.0])
@pytest.mark.parametrize("p", [1e-13, 0.5, 1 - 1e-13])
def test_certain_and_impossible_cells_have_finite_gains(q, p, l2):
    model, data = np.array([[p, 1 - p]]), np.array([q, 1 - q])
    gain = gain_of_cell(0, 2, model, (0,), data, 0.0, l2)
    assert np.isfinite(gain)
    assert gain >= 0.0
    assert (gain > 0.01) == (abs(q - p) > 0.01)


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (4, 3)])
@pytest.mark.parametrize("compared", COMPARED)
def test_the_change_of_the_loss_and_its_gradient(compared, shape):
    condition = COMPARED[compared]
    model, data = random_pair(7, *shape, condition)
    rng = np.random.default_rng(1)
    weights, gradient = rng.normal(0, 1, len(data)), np.zeros(len(data))
    padded = [np.concatenate([np.full(5, np.nan), part]) for part in (*model, data)]
    value = table_loss(
        weights, 5, *shape, np.array(padded[:-1]), np.array(condition), padded[-1], gradient
    )
    assert np.isclose(value, change(weights, *shape, model, condition, data), rtol=1e-12)
    step = 1e-6
    slopes = [
        (
            change(weights + step * unit, *shape, model, condition, data)
            - change(weights - step * unit, *shape, model, condition, data)
        )
        / (2 * step)
        for unit in np.eye(len(data))
    ]
    assert np.allclose(gradient, slopes, atol=1e-8)


def test_excess_is_its_closed_form_on_both_sides_of_the_series():
    for delta in (-1.0, -0.5, -0.011, 0.011, 0.5, 3.0):
        wanted = 1.0 if delta == -1.0 else (1 + delta) * np.log1p(delta) - delta
        assert np.isclose(excess(delta), wanted, rtol=1e-12)
    for delta in (-1e-3, -1e-9, 0.0, 1e-9, 1e-3):
        wanted = delta**2 / 2 - delta**3 / 6 + delta**4 / 12 - delta**5 / 20
        assert np.isclose(excess(delta), wanted, rtol=1e-12, atol=0.0)
