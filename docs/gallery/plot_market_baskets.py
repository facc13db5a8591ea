"""
Market baskets: bought together, or directly related?
=====================================================

3,000 shopping baskets with 14 products, drawn from a network that we make ourselves, so that the
truth is known.

**Lesson.** Lift, the usual measure of association rules, cannot tell direct from indirect
relations. A Markov network can.

For real baskets of this kind, ``gw.datasets.load_yummly`` reads 39,774 recipes and their
ingredients. They are not part of the package; the error message of the loader says where to get
them.
"""

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw

# %%
# A positive number is a log odds ratio of two products that go together. A negative one is that
# of two brands of which people buy one or the other.

together = {
    ("bread", "butter"): 2.5,
    ("butter", "jam"): 2.5,
    ("pasta", "tomato sauce"): 3.0,
    ("tomato sauce", "parmesan"): 2.0,
    ("parmesan", "red wine"): 1.5,
    ("tortillas", "beans"): 2.5,
    ("beans", "avocado"): 2.0,
    ("coffee A", "milk"): 1.5,
    ("coffee B", "milk"): 1.5,
    ("coffee A", "coffee B"): -3.0,
    ("milk", "cereal"): 2.0,
}
products = sorted({product for pair in together for product in pair})
truth = gw.PairwiseMRF(
    {product: ["no", "yes"] for product in products},
    {product: [0, -2.0] for product in products},
    {pair: [[0, 0], [0, weight]] for pair, weight in together.items()},
)
baskets = truth.sample(3000, random_state=0)

net = gw.MarkovNetwork(random_state=0).fit(baskets)
net.plot()

# %%
# Blue edges are products that go together, the red one is the pair of brands. The network has
# exactly the edges that the baskets were drawn with:

print(gw.compare_edges(net, truth))

# %%
# Now the lift of every pair: how many times as often two products are in one basket as they would
# be if they were independent.

bought = np.asarray(baskets) == "yes"
share = bought.mean(axis=0)
lift = (bought.T.astype(float) @ bought / len(bought)) / np.outer(share, share)
first, second = np.triu_indices(len(products), 1)
names = [f"{baskets.names[i]} - {baskets.names[j]}" for i, j in zip(first, second, strict=True)]
true_edges = {frozenset(edge) for edge in truth.edges}
is_edge = np.array([frozenset(name.split(" - ")) in true_edges for name in names])
order = np.argsort(-lift[first, second])[:16][::-1]

figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
colours = np.where(is_edge[order], "#0072b2", "#d0d4d9")
ax.barh([names[k] for k in order], lift[first, second][order], color=colours)
ax.axvline(1, color="#222831", linewidth=0.8)
ax.set_xlabel("lift; blue: a true direct relation, grey: none")

direct = is_edge[order].sum()
print(f"{direct} of the {len(order)} pairs with the largest lift are directly related")

# %%
# Bread and jam are a clear case. Both go with butter, and neither has to do with the other, yet
# their lift is well above 1. Among baskets with butter, and among those without, jam is about as
# frequent with bread as without:

column = {name: bought[:, k] for k, name in enumerate(baskets.names)}
place = {name: k for k, name in enumerate(baskets.names)}
print(f"lift of bread and jam: {lift[place['bread'], place['jam']]:.2f}")
for butter in (False, True):
    for bread in (False, True):
        chosen = (column["butter"] == butter) & (column["bread"] == bread)
        share_of_jam = column["jam"][chosen].mean()
        print(
            f"{'with' if butter else 'without'} butter, {'with' if bread else 'without'} bread: "
            f"jam in {share_of_jam:.0%} of {chosen.sum()} baskets"
        )

# %%
# The two brands replace each other: their lift is below 1, and the weight of their edge is
# negative. A weight is a log odds ratio, all other products being equal.

weight = net.model_.weight("coffee A", "coffee B")
print(f"lift {lift[place['coffee A'], place['coffee B']]:.2f}, weight {weight:.1f}")
