"""
Ordered answers: one number instead of sixteen
==============================================

Twelve questions with five answers each, from "never" to "always", drawn from a known network.

**Lesson.** Say that answers are ordered. An edge between two five-point items is then one signed
number instead of a table with 16 free ones, and far fewer rows are enough to find it.
"""

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw

points = np.arange(5) - 2.0
items = [f"item{k + 1}" for k in range(12)]
ring = {(items[k], items[(k + 1) % 12]): 0.17 for k in range(12)}
chords = {(items[k], items[k + 6]): -0.17 for k in range(0, 6, 2)}
weights = ring | chords
truth = gw.PairwiseMRF(
    {item: [1, 2, 3, 4, 5] for item in items},
    dict.fromkeys(items, -0.1 * points**2),
    {pair: weight * np.outer(points, points) for pair, weight in weights.items()},
)

# %%
# Learn from more and more rows, with the order and without.

sizes = [150, 250, 400, 700, 1200]
recall, false = {True: [], False: []}, {True: [], False: []}
for n_rows in sizes:
    rows = truth.sample(n_rows, random_state=n_rows)
    for ordinal in (True, False):
        net = gw.MarkovNetwork(ordinal=ordinal, random_state=0).fit(rows)
        scores = gw.compare_edges(net, truth)
        recall[ordinal].append(scores.recall)
        false[ordinal].append(scores.n_edges - scores.n_hits)

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
ax.plot(sizes, recall[True], "o-", color="#0072b2", label="ordinal=True")
ax.plot(sizes, recall[False], "s--", color="#d55e00", label="without the order")
ax.set_xlabel("rows")
ax.set_ylabel("share of the true edges found")
ax.legend(loc="lower right")
print("false edges with the order:", false[True], "and without:", false[False])

# %%
# The edges have signed weights, which can be compared with the true ones. With 400 rows:

net = gw.MarkovNetwork(ordinal=True, random_state=0).fit(truth.sample(400, random_state=400))
net.plot()

# %%

for edge in net.edges_.head(6).itertuples():
    pair = (edge.first, edge.second)
    planted = weights.get(pair, weights.get(pair[::-1], 0.0))
    print(f"{edge.first} - {edge.second}: {edge.weight:+.2f}, planted {planted:+.2f}")

# %%
# Relations that are not monotone are not lost: every pair is also tested for what a straight line
# does not tell. The page on :doc:`ordered answers </ordered>` says how.
