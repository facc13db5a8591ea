"""
A planted network: what is found, and how sure is it?
=====================================================

Rows are drawn from a network that we know, and the network is learned from them. A bootstrap,
which sees only the rows, then says which edges would come back in other samples.

**Lesson.** Edges that come back in nearly every resample can be relied on. Those that come and go
are mostly weak, and more rows would settle them. But the share of resamples is not the
probability that an edge is true.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw

truth = gw.datasets.scale_free_network(16, 3, edge_sd=0.6, centred=True, random_state=1)
rows = truth.sample(500, random_state=0)
net = gw.MarkovNetwork(random_state=0).fit(rows)

found = {frozenset(edge) for edge in net.model_.edges}
true = {frozenset(edge) for edge in truth.edges}
net.plot(title=f"{len(found & true)} of {len(true)} true edges found, {len(found - true)} false")

# %%
# Learn again from 60 resamples of the rows (take 1,000 for a paper).

boot = net.bootstrap(rows, 60, case_dropping=False, random_state=0)
print(boot.to_frame()[["first", "second", "frequency", "strength"]].head(8).to_string(index=False))

# %%
# We know the truth here, so we can see what the shares mean. Each point is a pair that some
# resample has as an edge, or that is an edge of the truth.

frame = boot.to_frame()
pairs = [frozenset(pair) for pair in zip(frame["first"], frame["second"], strict=True)]
share = dict(zip(pairs, frame["frequency"], strict=True))
strength = {frozenset(edge): float(np.linalg.norm(truth.table(*edge))) for edge in truth.edges}
groups = [
    ("true edge, found", found & true, "o", "#0072b2"),
    ("true edge, missed", true - found, "x", "#0072b2"),
    ("no edge of the truth", share.keys() - true, "s", "#d55e00"),
]
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for label, edges, marker, colour in groups:
    x = [strength.get(edge, 0) for edge in edges]
    y = [share.get(edge, 0) for edge in edges]
    ax.scatter(x, y, marker=marker, color=colour, label=label)
ax.set_xlabel("true strength of the edge")
ax.set_ylabel("share of resamples with the edge")
ax.legend()

# %%
# Count how many of the pairs in each range of shares are edges of the truth:

for low, high in [(0.95, 1.0), (0.5, 0.95), (0.1, 0.5), (0.0, 0.1)]:
    inside = {pair for pair, s in share.items() if low < s <= high}
    n_true = len(inside & true)
    print(f"in {low:.0%} to {high:.0%} of the resamples: {len(inside)} pairs, {n_true} true")

# %%
# ``boot.plot()`` draws shares, intervals and the stability of centralities in one picture, and
# the page on the :doc:`bootstrap </bootstrap>` says how to read them.
