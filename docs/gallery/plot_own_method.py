"""
A method of your own
====================

A learner is a recipe: a choice of parts for one loop. To try an idea, write the part that is new.
Here it is the *scorer*, which decides which pairs become edges first.

**Lesson.** Where the problem is convex, the order in which edges come in does not change the
result, only the way there. The certificate and the comparison with other methods come for free.
"""

import textwrap
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw
from graftwork.grafting import Exhaustive, Recipe


@dataclass(frozen=True)
class Lottery:
    """Every pair that violates the optimality condition has the same chance."""

    seed: int = 0

    def rank(self, space, view, keys, scores):
        rng = np.random.default_rng([self.seed, len(view.active)])
        return rng.random(len(keys))


def lottery(count=1, seed=0):
    return Recipe("lottery", Exhaustive(count, Lottery(seed)))


# %%
# Compare it with edge grafting, which takes the largest violation first, at the same lambda.

table = gw.datasets.make_planted_chain(n_chain=20, n_noise=10, n_rows=1000, random_state=0).data
found = gw.compare(table, [lottery(), "edge-grafting"], lam=0.03)
for each in found:
    print(f"{each['method']}: {each['edges']} edges, objective {each['objective']:.6f}")

# %%
# Both end at the same objective and the same edges. With the largest violation first, the
# objective falls sooner, and fewer rounds are needed.

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for each, style, colour in zip(found, ("s--", "o-"), ("#d55e00", "#0072b2"), strict=True):
    objectives = [record.objective for record in each["network"].trace_]
    ax.plot(objectives, style, color=colour, markersize=4, label=each["method"])
ax.set_xlabel("round")
ax.set_ylabel("objective")
ax.legend()

# %%
# The network of your method is certified like any other: every pair left out was tested.

net = gw.MarkovNetwork(method=lottery(), lam=0.03).fit(table)
print(textwrap.fill(gw.describe(net.certificate_), 88))

# %%
# With ``RECIPES.add("lottery", "my_module:lottery")`` the method gets a name for
# ``MarkovNetwork(method="lottery")`` and the command line. The page on
# :doc:`adding a method </add-a-method>` shows how, and how to write a new selector.
