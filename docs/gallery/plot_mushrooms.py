"""
Mushrooms: which properties belong together
===========================================

5,644 mushrooms with 23 properties, learned with nothing tuned.

**Lesson.** An edge is a *direct* relation: two properties may be strongly associated in a
cross-table, and have no edge because others explain it.
"""

import graftwork as gw

table = gw.datasets.load_mushroom()
net = gw.MarkovNetwork(random_state=0).fit(table)
net.plot()

# %%
# The edges of ``class`` (edible or poisonous), the surest first:

for edge in net.model_.edges:
    if "class" in edge:
        print(edge, round(float(net.graph_.edges[edge]["strength"]), 2))

# %%
# Smell is one of them. The table of that edge says which smells speak for poison, all other
# properties given (n: none, f: foul, a: almond, p: pungent).

net.plot_pair("class", "odor")

# %%
# Compare with the cross-tables: the pairs that are most dependent by themselves, and whether
# they are edges.

screened = gw.count_pairs(table).screen()
for pair in screened.head(12).itertuples():
    kept = "edge" if net.graph_.has_edge(pair.first, pair.second) else "explained by others"
    print(f"{pair.first} - {pair.second}: {kept}")
