"""
A network of a given size, with few numbers
===========================================

Sometimes the size is given: a figure with 40 edges, a device with little memory. Forced pruning
looks for the best network of a given size, and tying lets all weights share a few values.

**Lesson.** A small network with few different weights can predict nearly as well as a large one.
Plot the loss of new rows against the size, and stop where the curve flattens.
"""

import textwrap

import matplotlib.pyplot as plt

import graftwork as gw

made = gw.datasets.make_scale_free(16, 2, n_rows=2000, n_test=5000, random_state=0)

# %%
# Left: forced pruning against a penalised network with the same number of edges. Both are
# learned from the same rows, and both are scored on 5,000 new ones.

sizes = [15, 18, 21, 25, 30, 40]
pruned, penalised = [], []
for size in sizes:
    net = gw.MarkovNetwork("forced-pruning", max_edges=size, random_state=0).fit(made.data)
    pruned.append(-net.score(made.test))

lams = [0.018, 0.015, 0.012, 0.01, 0.008, 0.007, 0.006, 0.005]
for lam in lams:
    net = gw.MarkovNetwork(lam=lam).fit(made.data)
    penalised.append((net.model_.n_edges, -net.score(made.test)))

# %%
# Right: the weights of the pruned network with 25 edges, tied to K values.

values = [4, 5, 7, 10, 15, 20]
free = gw.MarkovNetwork("forced-pruning", max_edges=25, random_state=0).fit(made.data)
tied = [
    gw.MarkovNetwork("forced-pruning", max_edges=25, random_state=0, tie=k).fit(made.data)
    for k in values
]

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].plot(sizes, pruned, "o-", color="#0072b2", label="forced pruning")
axes[0].plot(*zip(*penalised, strict=True), "s--", color="#d55e00", label="penalty")
axes[0].set_xlabel("edges")
axes[0].set_ylabel("loss of new rows")
axes[0].legend()
axes[1].plot(values, [-net.score(made.test) for net in tied], "o-", color="#0072b2", label="tied")
axes[1].axhline(-free.score(made.test), color="#222831", linestyle=":", label="not tied")
axes[1].set_xlabel("different values of weights")
axes[1].legend()

# %%
# What does each of the two cost?

most, small, few = pruned[-1], pruned[sizes.index(21)], -tied[3].score(made.test)
print(f"{sizes[-1]} edges: {most:.3f}; 21 edges: {small:.3f}")
print(f"25 edges: {-free.score(made.test):.3f}; with ten values: {few:.3f}")
print(textwrap.fill(gw.describe(tied[3].tying_), 88))

# %%
# Here the curve on the left is flat from about 20 edges on, and more edges do not help. With the
# same number of edges, pruned networks predict better than penalised ones, whose weights are
# shrunk. Only the weights of a pruned network are certified: its edges are the best that a search
# has found. See the pages on
# :doc:`forced pruning </forced-pruning>` and :doc:`tied weights </tying>`.
