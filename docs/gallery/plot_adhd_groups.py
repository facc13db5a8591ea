"""
ADHD symptoms in two groups
===========================

Parents of 355 children said which of 18 symptoms of ADHD their child has; 146 of the children
have the diagnosis. The data come with the package.

**Lesson.** "No difference was found" does not mean "there is none". Look at the intervals: they
say which differences the data rule out.
"""

import matplotlib.pyplot as plt

import graftwork as gw

table = gw.datasets.load_adhd()
frame = table.to_pandas()
rates = frame.astype(int).groupby("group").mean().T.sort_values(1)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.hlines(rates.index, rates[0], rates[1], color="#9aa0a6")
ax.plot(rates[0], rates.index, "o", color="#0072b2", label="without diagnosis")
ax.plot(rates[1], rates.index, "s", color="#d55e00", label="with diagnosis")
ax.set_xlabel("share of children with the symptom")
ax.legend(loc="lower right")

# %%
# The groups differ very much in how *often* symptoms occur. Whether symptoms are also *connected*
# in another way is a separate question. ``compare_groups`` lets the frequencies differ and
# compares the edges.

found = gw.compare_groups(table, by="group", random_state=0)
found.plot()

# %%
# No pair differs at a false discovery rate of 0.05.

pairs = found.to_frame()
print(f"{pairs['differs'].sum()} of {len(pairs)} pairs differ")
print(f"all pairs together: p = {found.invariance:.2g}")

# %%
# How large a difference would have been seen? Weights are log odds ratios here. The intervals of
# the differences are wide: a typical one reaches further to either side than a typical weight is
# large. An edge can be missing in one group altogether, and these data need not show it.

pairs = pairs.sort_values("weight_difference")
figure, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
names = pairs["first"] + " - " + pairs["second"]
ax.hlines(names, pairs["weight_low"], pairs["weight_high"], color="#9aa0a6")
ax.plot(pairs["weight_difference"], names, "o", color="#0072b2")
ax.axvline(0, color="#222831", linewidth=0.8)
ax.set_xlabel("log odds ratio without less with diagnosis, 95 % interval of each pair")

half_width = (pairs["weight_high"] - pairs["weight_low"]).median() / 2
weight = pairs[["weight_0", "weight_1"]].abs().median(axis=None)
print(f"an interval reaches {half_width:.1f} to either side; a typical weight is {weight:.1f}")

# %%
# Mind also how the groups were made. The diagnosis is given to children with many of these
# symptoms, so the groups were selected by the variables of the network, and selection alone can
# change its edges. The page on :doc:`comparing groups </groups>` says what else a comparison cannot
# tell.
