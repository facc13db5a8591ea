"""
Chunking: label words with few features
=======================================

A chunker marks noun phrases (NP), verb phrases (VP) and prepositions (PP) in a sentence. ``B-NP``
begins a noun phrase, ``I-NP`` continues it, ``O`` is outside of any phrase.

**Lesson.** Most features that a template proposes are never needed. ``ChainCRF`` adds features
only while they help, and ``explain`` shows which of them decide about a word.

The usual data are those of the CoNLL-2000 task. They are not part of the package: the error
message of ``gw.datasets.load_conll2000`` says where to get them. The sentences here come from a
small grammar instead, and one label in twenty of the training sentences is wrong, as if somebody
had been careless. The task is easier than English: read the lesson and not the score.
"""

import random

import matplotlib.pyplot as plt

import graftwork as gw

WORDS = {
    "DT": ["the", "a", "this", "every"],
    "JJ": ["old", "small", "quick", "green", "tired", "early"],
    "NN": ["goat", "crow", "duck", "pond", "wall", "farmer", "light", "walk", "drive"],
    "RB": ["often", "never", "slowly"],
    "VB": ["sees", "likes", "follows", "walk", "drive", "light"],  # some are nouns, too
    "IN": ["near", "behind", "with", "after"],
}


def noun_phrase(rng):
    tags = ["DT"] * (rng.random() < 0.7) + ["JJ"] * rng.choice([0, 0, 1, 1, 2]) + ["NN"]
    return [(tag, "I-NP" if k else "B-NP") for k, tag in enumerate(tags)]


def verb_phrase(rng):
    return [("RB", "B-VP"), ("VB", "I-VP")] if rng.random() < 0.4 else [("VB", "B-VP")]


def sentence(rng):
    tags = noun_phrase(rng) + verb_phrase(rng) + noun_phrase(rng)
    if rng.random() < 0.6:
        tags += [("IN", "B-PP"), *noun_phrase(rng)]
    words = [(rng.choice(WORDS[tag]), chunk) for tag, chunk in tags]
    return [*words, (".", "O")]


rng = random.Random(0)
sentences = [sentence(rng) for _ in range(600)]
tokens = [[(word,) for word, _ in each] for each in sentences]
labels = [[chunk for _, chunk in each] for each in sentences]
kinds = sorted({chunk for each in labels for chunk in each})
careless = [[rng.choice(kinds) if rng.random() < 0.06 else c for c in each] for each in labels]
print(" ".join(f"{word}/{chunk}" for word, chunk in sentences[0]))

# %%
# A template says which attributes of a word are candidates: the words around it, their endings,
# and pairs of words. Words such as *walk* and *light* are nouns or verbs, so a word alone does not
# tell its label.

template = gw.Template.parse("""
bias
word[-2..2]
word[-1] word[0]
word[0] word[1]
suffix2(word[0])
transitions
""")
X = template.attributes(tokens)
train, test = slice(0, 150), slice(150, 600)

# %%
# Larger values of ``lam`` keep fewer features.

lams = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002]
fits = [gw.ChainCRF(lam=lam).fit(X[train], careless[train]) for lam in lams]
scores = [gw.chunk_scores(labels[test], crf.predict(X[test])).f1 for crf in fits]
for lam, crf, f1 in zip(lams, fits, scores, strict=True):
    print(f"lam {lam:6}: {crf.n_features_:4} of {crf.n_candidates_} features, F1 {f1:.3f}")

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
ax.semilogx([crf.n_features_ for crf in fits], scores, "o-", color="#0072b2")
ax.set_xticks([50, 100, 200, 400], ["50", "100", "200", "400"])
ax.set_xticks([], minor=True)
ax.set_xlabel("features kept")
ax.set_ylabel("F1 of chunks in new sentences")

# %%
# With too few features the chunker misses what it needs; with too many it learns the wrong
# labels by heart. The best of these keeps a small share of the candidates.

best = max(range(len(lams)), key=scores.__getitem__)
crf = fits[best]
print(f"best F1 with {crf.n_features_ / crf.n_candidates_:.0%} of the candidates")
print(crf.weights_.head(12).to_string(index=False))

# %%
# Why was each word of a sentence labelled as it was? The line of each word has the label, its
# probability, its score, and what the score consists of; the line below has the next best label.

short = [k for k in range(150, 600) if len(tokens[k]) <= 6 and ("light",) in tokens[k]]
print(crf.explain(X[short[0]], words=[word for word, _ in sentences[short[0]]]))

# %%
# The page on :doc:`chains </chain-crf>` has templates, second order and other penalties, and what
# the parameters of CRFsuite are called here.
