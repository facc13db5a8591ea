"""
What if? Ask a network
======================

A learned network answers questions about any of its variables, whatever is known about the
others. This one has 18 symptoms of ADHD as variables and was learned from 355 children.

**Lesson.** Evidence moves along edges. A symptom tells something about symptoms far away in the
network, but nothing more once those in between are known.
"""

# sphinx_gallery_thumbnail_number = 2

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import graftwork as gw

table = gw.datasets.load_adhd()
symptoms = table.take_columns([name for name in table.names if name != "group"])
net = gw.MarkovNetwork(loss="likelihood", random_state=0).fit(symptoms)
model = net.model_
groups = {name: domain for domain, names in gw.datasets.ADHD_DOMAINS.items() for name in names}
net.plot(communities=groups)

# %%
# The weights were fitted by the likelihood, so that the network has the frequencies of the data:

frequencies = symptoms.to_pandas().astype(int).mean()
before = model.marginals()
print(f"largest difference: {max(abs(before[n][1] - frequencies[n]) for n in model.names):.3f}")

# %%
# How likely is each symptom, before anything is known, and in a child who cannot sustain attention
# (``susatt``) and does not talk excessively (``talks``)?

after = model.marginals(evidence={"susatt": 1, "talks": 0})
others = [name for name in model.names if name not in ("susatt", "talks")]
others.sort(key=lambda name: after[name][1] - before[name][1])

figure, ax = plt.subplots(figsize=(6.5, 4.8), layout="constrained")
ax.hlines(others, [before[n][1] for n in others], [after[n][1] for n in others], color="#9aa0a6")
ax.plot([before[n][1] for n in others], others, "o", color="#9aa0a6", label="nothing known")
ax.plot([after[n][1] for n in others], others, "o", color="#0072b2", label="susatt yes, talks no")
ax.set_xlabel("probability of the symptom")
ax.legend(loc="lower right")

# %%
# The most probable joint state of all other symptoms, and three children drawn from the network:

evidence = {"susatt": 1, "talks": 0}
state = model.map(evidence=evidence)
print("most probable:", ", ".join(name for name in others if state[name] == 1))
drawn = model.sample(3, evidence=evidence, random_state=0).to_pandas()
for _, child in drawn.iterrows():
    print("drawn:", ", ".join(name for name in others if child[name] == 1) or "none")

# %%
# Now the lesson. ``motor`` and ``org`` have no edge. Whether a child is always on the move says
# something about how well it organises its things, but not once the neighbours of ``org`` are
# known.


def org_given(**evidence):
    return model.marginals(evidence=evidence)["org"][1]


neighbours = sorted(net.graph_.neighbors("org"))
print("neighbours of org:", ", ".join(neighbours))
print(f"motor no: {org_given(motor=0):.3f}, motor yes: {org_given(motor=1):.3f}")
known = dict.fromkeys(neighbours, 1)
print(f"neighbours known: {org_given(motor=0, **known):.3f}, {org_given(motor=1, **known):.3f}")

# %%
# The explorer asks the same questions by clicks, in one HTML file that needs no internet.

with tempfile.TemporaryDirectory() as folder:
    page = net.explore(Path(folder) / "adhd.html", groups=groups, title="Symptoms of ADHD")
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")

# %%
# A network has no arrows: "given" means in children of whom this is known, not what would happen
# if it were changed. See the pages on :doc:`asking a network </ask>` and
# :doc:`the explorer </explorer>`.
