"""
Boredom in two languages
========================

The Short Boredom Proneness Scale has eight items with seven answers each. 496 people answered it
in English and 490 in French. The data come with the package.

**Lesson.** An edge that only one group has is not yet a difference between the groups. The
difference itself has to be tested.
"""

import matplotlib.pyplot as plt

import graftwork as gw

table = gw.datasets.load_boredom()  # the items are marked as ordered
found = gw.compare_groups(table, by="language", random_state=0)
found.plot()

# %%
# The two networks look different: several edges occur in one language only.

frame = found.to_frame()
only_en = frame["edge_en"] & ~frame["edge_fr"]
only_fr = frame["edge_fr"] & ~frame["edge_en"]
print(f"{only_en.sum()} edges in English only, {only_fr.sum()} in French only")

# %%
# But few pairs pass the test. Each pair that is an edge of some network was fitted in both
# languages, and its parameters were compared.

print(f"{frame['differs'].sum()} of {len(frame)} pairs differ at a false discovery rate of 0.05")
for a, b in frame.loc[frame["differs"], ["first", "second"]].to_numpy():
    print(f"{a} - {b}")
print(f"all pairs together: p = {found.invariance:.2g}")

# %%
# The intervals show why. Points are weights in English less weights in French, of the pairs whose
# relation is linear. Filled points are edges of one language only. Most intervals contain
# zero. They are 95 % intervals of single pairs: among so many, some miss zero by chance, and
# not all that do differ at the false discovery rate.

linear = frame.dropna(subset="weight_difference").sort_values("weight_difference")
one_only = linear["edge_en"] != linear["edge_fr"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
places = range(len(linear))
ax.hlines(places, linear["weight_low"], linear["weight_high"], color="#9aa0a6")
for chosen, face, label in [
    (one_only, "#0072b2", "edge of one language"),
    (~one_only, "white", "edge of both, or of neither"),
]:
    x = linear["weight_difference"].where(chosen)
    ax.plot(x, places, "o", color="#0072b2", markerfacecolor=face, label=label)
ax.axvline(0, color="#222831", linewidth=0.8)
ax.set_yticks(places, linear["first"] + " - " + linear["second"])
ax.set_xlabel("weight in English less weight in French, with 95 % interval")
ax.legend(loc="lower right")

clear_of_zero = (linear["weight_low"] > 0) | (linear["weight_high"] < 0)
print(f"{clear_of_zero.sum()} of {len(linear)} intervals do not contain zero")

# %%
# The sum of the norms of all pairs' tables, which says how closely the answers are related on the
# whole, does not differ.

for group, total in zip(found.groups, found.strength.sums, strict=True):
    print(f"{group}: {total:.0f}")
print(f"p = {found.strength.p_value:.2g}")

# %%
# The page on :doc:`comparing groups </groups>` describes the tests, and
# :doc:`two questionnaires </questionnaires>` reads these data in more detail.
