"""Sums over rows of conditionals by the codes of variables that are no neighbours.

Few pairs are summed one by one. For many, looking rows up beats multiplying by ones and zeros: a
row adds its eight numbers to the sums of the cell it lies in. A *cell* is a combination of codes of
a few variables, so that one addition serves all of them; what each variable needs is summed up at
the end.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.neighbourhoods import states_of_code
from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.vectors import add_scaled, load, plus, store


@njit(cache=True, nogil=True)
def find_cells(variables, strides, bounds, bases, codes, start, lanes, cells):
    """Write where the sums of each row's cells start, for rows from ``start`` on.

    Group g holds ``variables[bounds[g]:bounds[g + 1]]``; its cells start at ``bases[g]``.
    """
    for g in range(len(bases)):
        for r in range(len(cells)):
            cells[r, g] = bases[g] * lanes
        for v in range(bounds[g], bounds[g + 1]):
            stride, own = strides[v] * lanes, codes[variables[v]]
            for r in range(len(cells)):
                cells[r, g] += np.uint32(np.int64(own[start + r]) * stride)


@njit(cache=True, nogil=True)
def take_states(width, first, last, conditionals, ids, masses, start, place, lanes, out):
    """Write some states' conditionals, times the rows' weights, to ``out[:, place:]``.

    ``ids`` say which configuration each row has; where they are empty, rows from ``start`` on are
    the configurations. ``out`` is flat.
    """
    for r in range(len(out) // lanes):
        row = start + r
        source = (np.int64(ids[row]) if ids.size else row) * width
        mass = masses[row] if masses.size else 1.0
        for a in range(first, last):
            out[r * lanes + place + a - first] = mass * conditionals[source + a]


@njit(cache=True, nogil=True)
def add_rows(lanes, own, cells, sums):
    """Add the numbers of each row to the sums of its cells; all flat, ``cells`` by rows."""
    n_rows = len(own) // len(lanes)
    n_groups = len(cells) // max(1, n_rows)
    for r in range(n_rows):
        held = load(lanes, own, r * len(lanes))
        for cell in cells[r * n_groups : (r + 1) * n_groups]:
            at = np.int64(cell)
            store(plus(load(lanes, sums, at), held), sums, at)


@njit(cache=True, nogil=True)
def part_cells(lanes, strides, cards, bounds, bases, sizes, places, sums, out):
    """Add the cells' sums to those of the states of each variable; all flat."""
    for g in range(len(bases)):
        for v in range(bounds[g], bounds[g + 1]):
            stride, span = strides[v], strides[v] * cards[v]
            for state in range(cards[v]):
                at = (places[v] + state) * len(lanes)
                held = load(lanes, out, at)
                for first in range(bases[g] + state * stride, bases[g] + sizes[g], span):
                    for cell in range(first, first + stride):
                        held = plus(held, load(lanes, sums, cell * len(lanes)))
                store(held, out, at)


@njit(cache=True, nogil=True)
def add_blocks(lanes, own, cells, strides, cards, bounds, bases, sizes, places, out):
    """Add rows to the cells they lie in, and these to states of variables, block by block.

    A block is what the lanes hold: ``own`` has one line for each, ``out`` one table.
    """
    sums = cache_lines(sizes.sum() * len(lanes))
    for b in range(len(own)):
        sums[:] = 0.0
        add_rows(lanes, own[b], cells, sums)
        part_cells(lanes, strides, cards, bounds, bases, sizes, places, sums, out[b].ravel())


@njit(cache=True, nogil=True)
def sum_by_others(lanes, conditionals, s, ids, masses, others, codes, cards, starts, own_strides,
                  other_strides, out):  # fmt: skip
    """Fill sum_m p(own state) [x_j = b] for one variable and each other one ``j`` given.

    ``conditionals`` are those of its configurations, ``ids`` which of them each row has (empty:
    rows are the configurations), ``masses`` the rows' weights or empty.
    """
    width, n_rows = -(-s // len(lanes)) * len(lanes), codes.shape[1]
    n_configurations = len(conditionals) // width
    for t in range(len(others)):
        card, column = cards[others[t]], codes[others[t]]
        sums = np.zeros(card * width)
        if ids.size:
            counts = np.zeros(n_configurations * card)
            for r in range(n_rows):
                cell = np.int64(ids[r]) * card + np.int64(column[r])
                counts[cell] += masses[r] if masses.size else 1.0
            for c in range(n_configurations):
                for b in range(card):
                    mass = counts[c * card + b]
                    if mass != 0.0:
                        for q in range(0, width, len(lanes)):
                            held = load(lanes, sums, b * width + q)
                            held = add_scaled(held, mass, conditionals, c * width + q)
                            store(held, sums, b * width + q)
        else:
            for r in range(n_rows):
                mass = masses[r] if masses.size else 1.0
                for q in range(0, width, len(lanes)):
                    place = np.int64(column[r]) * width + q
                    held = add_scaled(load(lanes, sums, place), mass, conditionals, r * width + q)
                    store(held, sums, place)
        for b in range(card):
            for a in range(s):
                place = starts[t] + a * own_strides[t] + b * other_strides[t]
                out[place] = sums[b * width + a]


@njit(cache=True, nogil=True)
def _column_total(pair, side, code, cards, extended, start, counts):
    """Return in how many rows one variable of a pair is observed and the other has a code."""
    width, found = extended[pair[1]], 0.0
    for a in range(cards[pair[side]]):
        found += counts[start + (a * width + code if side == 0 else code * width + a)]
    return found


@njit(cache=True, nogil=True)
def sum_alone(pairs, starts, degrees, cards, extended, unary_offsets, unary_sums, counts, sums):
    """Fill ``sums`` of each pair for variables without neighbours: no row need be looked at."""
    for k in range(len(pairs)):
        width = extended[pairs[k, 1]]
        for side in range(2):
            node, other = pairs[k, side], pairs[k, 1 - side]
            if degrees[node] > 0:
                continue
            totals, weight = np.empty(extended[other]), 0.0
            for code in range(len(totals)):
                found = _column_total(pairs[k], side, code, cards, extended, starts[k], counts)
                totals[code] = found
                weight += found
            for a in range(cards[node]):
                share = unary_sums[unary_offsets[node] + a] / weight
                for code in range(len(totals)):
                    cell = a * width + code if side == 0 else code * width + a
                    sums[side, starts[k] + cell] = share * totals[code]


@njit(cache=True, nogil=True)
def place_products(pairs, side, starts, degrees, lines, columns, products, cards, extended, counts,
                   sums):  # fmt: skip
    """Fill ``sums[side]`` of each pair from products of conditionals with others' codes.

    ``lines`` and ``columns`` say where each variable's conditionals (all states but the last) and
    codes start among them; variables without neighbours are left out. ``products`` has some lines
    together for each column.
    """
    lanes = products.shape[2]
    for k in range(len(pairs)):
        node, other = pairs[k, side], pairs[k, 1 - side]
        if degrees[node] == 0:
            continue
        s, width, start = cards[node], extended[pairs[k, 1]], starts[k]
        for code in range(extended[other]):
            rest = _column_total(pairs[k], side, code, cards, extended, start, counts)
            for a in range(s):
                line, value = lines[node] + a, rest
                if a < s - 1:
                    value = products[line // lanes, columns[other] + code, line % lanes]
                rest -= value
                sums[side, start + (a * width + code if side == 0 else code * width + a)] = value


@njit(cache=True, nogil=True)
def fold_codes(pairs, cards, extended, unary_offsets, frequencies, values, starts, offsets, out):
    """Add ``values[side]``, tables by own states and the other's codes, to ``out`` by states."""
    for k in range(len(pairs)):
        wide, narrow = extended[pairs[k, 1]], cards[pairs[k, 1]]
        for side in range(2):
            node, other = pairs[k, side], pairs[k, 1 - side]
            for code in range(extended[other]):
                first, last = states_of_code(code, cards[other], extended[other])
                for b in range(first, last):
                    share = 1.0 if last == first + 1 else frequencies[unary_offsets[other] + b]
                    for a in range(cards[node]):
                        cell = a * wide + code if side == 0 else code * wide + a
                        goal = a * narrow + b if side == 0 else b * narrow + a
                        out[side, offsets[k] + goal] += share * values[side, starts[k] + cell]
