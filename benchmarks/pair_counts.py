"""All pair tables of many variables: bitsets against a one-hot matrix product, in one run.

python benchmarks/pair_counts.py [variables] [rows] [states]
"""

import argparse
import time

import numpy as np
from arguments import numbers_parser

from graftwork.data.counts import PairCounts


def best_of(action, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
    return min(times), result


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = numbers_parser(__doc__, variables=600, rows=19_000, states=5)
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    n, rows, states = chosen.variables, chosen.rows, chosen.states
    rng = np.random.default_rng(0)
    codes = rng.integers(0, states, (n, rows)).astype(np.uint8)
    cards = np.full(n, states)
    pairs = np.stack(np.triu_indices(n, 1), axis=1)

    def by_bitsets():
        return PairCounts(codes, cards).compute(pairs)[0]

    def by_product():
        hot = np.zeros((rows, n * states), dtype=np.float32)
        hot[np.arange(rows)[:, None], np.arange(n) * states + codes.T.astype(np.int64)] = 1.0
        return hot.T @ hot

    PairCounts(codes[:2], cards[:2]).compute(pairs[:1])  # compile outside the clock
    bitset_seconds, tables = best_of(by_bitsets)
    product_seconds, product = best_of(by_product)
    for k in rng.choice(len(pairs), 50):
        i, j = pairs[k]
        block = product[i * states : (i + 1) * states, j * states : (j + 1) * states]
        assert np.array_equal(tables.reshape(-1, states, states)[k], block)
    print(f"{len(pairs):,} tables of {n} variables with {states} states, {rows:,} rows")
    print(f"bitsets, packing included      {bitset_seconds:.3f} s")
    print(f"one-hot float32 matrix product {product_seconds:.3f} s")
    print(f"ratio {product_seconds / bitset_seconds:.1f}")


if __name__ == "__main__":
    main(parse())
