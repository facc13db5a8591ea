"""
Choosing lambda
===============

With a penalty, lambda decides how many edges there are. ``MarkovNetwork`` chooses it by itself,
and ``goal`` says what for.

**Lesson.** The lambda that predicts best lets many false edges in, if many weak edges count. Say what you want to know:
which edges are real (``goal="structure"``, the default), or what predicts new rows
(``goal="prediction"``).
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt

import graftwork as gw

# Many weak edges: 14 binary variables with six neighbours each on average.
made = gw.datasets.make_bernoulli(14, mean_degree=6, n_rows=500, n_test=5000, random_state=1)
best = gw.MarkovNetwork(goal="prediction", random_state=0).fit(made.data)
best.plot_path()

# %%
# Cross-validation has chosen the lambda with the lowest held-out loss. The rows were drawn from a
# known network, so we can follow the true and the false edges along the path.

lams = sorted((point.lam for point in best.path_), reverse=True)
path = [gw.compare_edges(gw.MarkovNetwork(lam=lam).fit(made.data), made.model) for lam in lams]
true = [scores.n_hits for scores in path]
false = [scores.n_edges - scores.n_hits for scores in path]

real = gw.MarkovNetwork(random_state=0).fit(made.data)
tested = gw.compare_edges(real, made.model)

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.semilogx(lams, true, "o-", color="#0072b2", label="true edges")
ax.semilogx(lams, false, "s--", color="#d55e00", label="false edges")
ax.axvline(best.lam_, color="#222831", linestyle=":", label="chosen by cross-validation")
ax.axhline(
    tested.n_hits,
    color="#009e73",
    label=f'goal="structure": {tested.n_hits} true, {tested.n_edges - tested.n_hits} false',
)
ax.invert_xaxis()
ax.set_xlabel("lambda")
ax.set_ylabel("edges")
ax.legend()

# %%
# ``goal="structure"`` takes the penalty only for a short list. It fits the list again without
# the penalty and tests every edge, so that few false ones stay. Here that costs some accuracy of
# prediction, since many true edges are too weak to be told from chance:


def report(made, nets):
    for goal, net in nets.items():
        scores = gw.compare_edges(net, made.model)
        print(
            f"{goal:10}: {scores.n_hits} of {scores.n_true} edges found, "
            f"{scores.n_edges - scores.n_hits} false; loss of new rows {-net.score(made.test):.3f}"
        )


report(made, {"structure": real, "prediction": best})

# %%
# Where the truth is sparse and its edges are strong, the tested network is better at both,
# because its weights are not shrunk. Cross-validation sees that, and both goals take it:

sparse = gw.datasets.make_scale_free(16, 3, n_rows=500, n_test=5000, random_state=0)
report(
    sparse,
    {
        goal: gw.MarkovNetwork(goal=goal, random_state=0).fit(sparse.data)
        for goal in ("structure", "prediction")
    },
)

# %%
# The page on :doc:`choosing lambda </choosing-lambda>` describes the tests and all criteria.
