"""
Missing cells: what to do with incomplete rows
==============================================

Cells are deleted at random from rows of a known network, and the network is learned from what is
left.

**Lesson.** Dropping incomplete rows leaves few rows when cells are missing in many columns.
``missing="available-case"`` learns from every cell that is there.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw

truth = gw.datasets.scale_free_network(16, 3, centred=True, random_state=0)
rows = np.asarray(truth.sample(1500, random_state=0)).astype(object)
names = truth.names
rng = np.random.default_rng(0)
chance = rng.random(rows.shape)

shares = [0.02, 0.05, 0.1, 0.2, 0.3]
policies = ["available-case", "state", "drop-rows"]
f1 = {policy: [] for policy in policies}
complete = []
for share in shares:
    holes = np.where(chance < share, None, rows)
    complete.append((chance >= share).all(axis=1).mean())
    table = gw.as_table(holes, names=names, missing="state")
    for policy in policies:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gw.DataWarning)  # it says how many rows are dropped
            net = gw.MarkovNetwork(missing=policy, random_state=0).fit(table)
        f1[policy].append(gw.compare_edges(net, truth).f1)

# %%
# How well do the edges agree with the true ones?

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for policy, style, colour in zip(
    policies, ["o-", "^-.", "s--"], ["#0072b2", "#009e73", "#d55e00"], strict=True
):
    ax.plot(shares, f1[policy], style, color=colour, label=f'missing="{policy}"')
ax.set_xlabel("share of missing cells")
ax.set_ylabel("F1 of the edges")
ax.set_ylim(0, 1.03)
ax.legend(loc="lower left")
for share, rest in zip(shares, complete, strict=True):
    print(f"{share:.0%} of the cells missing: {rest:.0%} of the rows are complete")

# %%
# ``missing="state"`` finds the edges here, too, but it gives every column one more state and takes
# a missing cell for an answer. That is right where a gap says something, such as a question that
# was refused. With ``available-case`` the states stay as they are, and the network can fill gaps:

net = gw.MarkovNetwork(missing="available-case", random_state=0).fit(table)
filled = np.asarray(net.impute(holes))
gaps = chance < shares[-1]
frequent = [max(truth.states[n], key=list(rows[:, k]).count) for k, n in enumerate(names)]
print(f"{shares[-1]:.0%} of the cells missing; states: {net.model_.states[names[0]]}")
print(f"filled correctly: {(filled[gaps] == rows[gaps]).mean():.0%}")
print(f"by the most frequent state: {(rows == frequent)[gaps].mean():.0%}")

# %%
# The page on :doc:`missing cells </missing>` says what each of these assumes.
