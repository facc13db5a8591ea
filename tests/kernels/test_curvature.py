"""Sums of products of moments, against einsum over all rows."""

import numpy as np
import pytest

from doors.inference import offsets
from doors.kernels import curvature as kernel


def half_edges(sizes, own, others, straight):
    """Half-edges of a variable as kernels take them; every other one is the edge's second end.

    Every third, or all, have one number of the table alone.
    """
    halves, at = [], own
    for k, other in enumerate(others):
        mine, theirs = (1, 1) if straight or k % 3 == 2 else (own, sizes[other])
        strides = (theirs, 1) if k % 2 == 0 else (1, mine)
        halves.append((other, at, *strides, mine, theirs))
        at += mine * theirs
    return np.array(halves, dtype=np.int64).reshape(-1, 6), at


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("degree", [0, 3, kernel.TOGETHER + 2])
def test_a_hessian_is_summed_over_configurations(degree, straight, lanes, weighted):
    """With more neighbours, too, than share one pass over the configurations."""
    rng, states, count = np.random.default_rng(degree), 4, 40
    cards = rng.integers(2, 5, degree + 2)
    sizes = cards - 1
    codes = rng.integers(0, cards[:, None], (len(cards), 100)).astype(np.uint8)
    rows = rng.permutation(100)[:count]
    starts, seen = offsets(cards), rng.normal(size=(cards.sum(), 5))
    basis = rng.normal(size=(states, 3))
    p = rng.dirichlet(np.ones(states), count)
    masses = rng.random(count) if weighted else np.zeros(0)
    others = rng.permutation(len(cards))[:degree]
    halves, n_parameters = half_edges(sizes, 3, others, straight)
    block = np.full((n_parameters, n_parameters), np.nan)
    padded = np.hstack([p, np.full((count, 2), np.nan)]).ravel()
    kernel.sum_hessian(
        (0,) * lanes, basis, padded, states + 2, masses, codes, halves[:, 0], rows, halves, cards,
        seen, starts, block,
    )  # fmt: skip
    design = np.zeros((count, 3, n_parameters))
    design[:, :, :3] = np.eye(3)
    for other, at, own, theirs, n_own, n_theirs in halves:
        z = seen[starts[other] + codes[other, rows]]
        for a in range(n_own):
            for b in range(n_theirs):
                design[:, a, at + a * own + b * theirs] = z[:, b]
    inner = np.einsum("ck,kl->ckl", p, np.eye(states)) - np.einsum("ck,cl->ckl", p, p)
    spread = np.einsum("ka,ckl,lb->cab", basis, inner, basis)
    mass = masses if weighted else np.ones(count)
    wanted = np.einsum("c,cap,cab,cbq->pq", mass, design, spread, design)
    assert np.allclose(block, wanted, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("counts", [(150, 200, 170), (4, 9, 7), (1, 9, 1)])
def test_products_of_two_variables_are_summed_over_rows(counts, weighted):
    """Row by row, counted, and with variables that have one configuration."""
    counts, few = np.array(counts), counts[1] == 9
    rng, rows, sizes = np.random.default_rng(1), 300, np.array([3, 3, 3])
    ids = rng.integers(0, counts[:, None], (3, rows)).astype(np.int32)
    widths = np.full(3, 8)
    lines = [np.zeros((count, 8)) for count in counts]
    for part in lines:
        part[:, :6] = rng.normal(size=(len(part), 6))
    starts = offsets(counts * widths)
    weights = rng.random(rows) if weighted else np.zeros(0)
    pairs, sums = np.array([[0, 1], [1, 2], [0, 2]]), np.zeros((3, 3, 3))
    joined = np.concatenate([part.ravel() for part in lines])
    lanes, places = (0,) * 4, np.cumsum(widths) - widths
    totals = np.zeros(int(widths.sum()) + len(lanes))
    here = np.arange(len(counts))
    kernel.sum_lines(lanes, here, ids, counts, widths, joined, starts, weights, places, totals)
    kernel.sum_products(
        lanes, pairs, ids, counts, sizes, widths, joined, starts, weights, totals, places, sums
    )
    assert (counts[0] * counts[1] <= kernel.MOST_COMBINATIONS) == few
    mass = weights if weighted else np.ones(rows)
    for k, (i, j) in enumerate(pairs):
        first, second = lines[i][ids[i]], lines[j][ids[j]]
        wanted = np.einsum("r,ra,rb->ab", mass, first[:, :3], second[:, 3:6])
        wanted += np.einsum("r,ra,rb->ab", mass, first[:, 3:6], second[:, :3])
        assert np.allclose(sums[k], wanted, atol=1e-11)


def test_scores_are_residuals_times_indicators():
    rng, sizes = np.random.default_rng(2), np.array([1, 1, 3, 2, 2])
    z, r, places = rng.normal(size=(9, 50)), rng.normal(size=(9, 50)), offsets(sizes)
    halves, n_parameters = half_edges(sizes, 3, [0, 3, 4], straight=False)
    out, here = np.full((n_parameters, 20), np.nan), slice(10, 30)
    kernel.fill_scores(2, 5, halves, places, 10, z, r, out)
    assert np.array_equal(out[:3], r[2:5, here])
    for other, at, own, theirs, n_own, n_theirs in halves:
        for a in range(n_own):
            for b in range(n_theirs):
                line = places[other] + b
                wanted = r[2 + a, here] * z[line, here] + z[2 + a, here] * r[line, here]
                assert np.allclose(out[at + a * own + b * theirs], wanted, rtol=1e-14)


def test_blocks_are_multiplied_with_a_vector():
    rng = np.random.default_rng(3)
    places = [np.array([0, 2, 5]), np.array([1, 2, 3, 4]), np.array([], dtype=np.int64)]
    blocks = [rng.normal(size=(len(own), len(own))) for own in places]
    blocks = [block + block.T for block in blocks]
    vector, out, whole = rng.normal(size=6), np.zeros(6), np.zeros((6, 6))
    for own, block in zip(places, blocks, strict=True):
        whole[np.ix_(own, own)] += block
    starts = offsets(np.array([len(own) for own in places]))
    flat = np.concatenate([block.ravel() for block in blocks])
    kernel.multiply_blocks(starts, np.concatenate(places), flat, vector, out)
    assert np.allclose(out, whole @ vector, atol=1e-13)


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("states", [1, 2, 5])
def test_moments_equal_those_of_dense_matrices(states, averaged):
    rng = np.random.default_rng(states)
    basis = np.linalg.qr(rng.normal(size=(states, states)))[0][:, 1:]
    p = rng.dirichlet(np.ones(states), size=20)
    missing, average = rng.random(20) < 0.3, rng.normal(size=states - 1)
    upper = np.triu_indices(states - 1)
    triangle = len(upper[0])
    width = -(-2 * triangle // 4) * 4
    padded = np.hstack([p, np.full((20, 2), np.nan)])
    order = rng.permutation(20).astype(np.int32)
    for gone, ids in ((missing, order[:0]), (order[:0] > 0, order)):
        out = np.zeros(20 * width)
        given = (ids, gone, average, averaged, width, 20, out)
        kernel.fill_moments(basis, padded.ravel(), states + 2, *given)
        lines = out.reshape(20, width)
        for row, own in enumerate(p[ids] if ids.size else p):
            absent = bool(gone.size and gone[row])
            spread = basis.T @ (np.diag(own) - np.outer(own, own)) @ basis
            off = basis.T @ own - average
            moment = np.outer(off, off) + (1.0 if absent else 2.0) * spread
            wanted = [spread[upper] * (not absent), moment[upper] * (not (absent and averaged))]
            np.testing.assert_allclose(
                lines[row, : 2 * triangle], np.concatenate(wanted), atol=1e-14
            )
        assert not lines[:, 2 * triangle :].any()
