"""
Mushrooms: which properties belong together
===========================================

5,644 mushrooms with 23 properties each come with the package. The network is learned with the
default settings.

**Lesson.** An edge is a *direct* relation. Two properties can be strongly associated in a
cross-table and still have no edge, because other properties explain the association.
"""

import graftwork as gw

table = gw.datasets.load_mushroom()
net = gw.MarkovNetwork(random_state=0).fit(table)
net.plot()

# %%
# These are the edges of ``class`` (edible or poisonous), with their strengths.

edges = net.edges_
at_class = edges[(edges["first"] == "class") | (edges["second"] == "class")]
print(at_class[["first", "second", "strength", "q_value"]].to_string(index=False))

# %%
# Odor is one of them. The table of that edge shows which odors go with poison when all other
# properties are equal. ``gw.datasets.MUSHROOM_MEANINGS`` explains the letters.

meanings = gw.datasets.MUSHROOM_MEANINGS
print({state: meanings["odor"][state] for state in net.model_.states["odor"]})
net.plot_pair("class", "odor")

# %%
# Now the cross-tables. ``screen`` ranks all pairs by how dependent they are when nothing else is
# taken into account. Some of the pairs at the top are not edges.

top = gw.count_pairs(table).screen().head(12)
direct = [net.graph_.has_edge(pair.first, pair.second) for pair in top.itertuples()]
for pair, is_edge in zip(top.itertuples(), direct, strict=True):
    print(f"{pair.first} - {pair.second}: {'edge' if is_edge else 'explained by other properties'}")
print(f"{direct.count(False)} of the {len(top)} most dependent pairs have no edge")
