"""Made sentences and letters of the kind of the data sets, for the tiny size."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter

from graftwork.data.chains import Sentence
from graftwork.datasets import Corpus, LabelledSentences, Letters
from graftwork.datasets.files import centred

#: Sentences to learn from and to test on.
SENTENCES = (60, 30)
#: Words of each part of speech.
WORDS = {
    "DT": ["the", "a", "this"],
    "JJ": ["old", "red", "small", "late"],
    "NN": ["dog", "house", "tree", "man", "train", "river"],
    "VBD": ["saw", "left", "found", "took"],
    "IN": ["in", "near", "under"],
    ".": ["."],
}
#: Images of each letter, their side, and that of the square in their middle that is drawn on.
IMAGES, SIDE, DRAWN = 100, 8, 6


def made_corpus() -> Corpus:
    """Return sentences of a small grammar, with noun phrases as the labels.

    Examples
    --------
    >>> made_corpus().train
    LabelledSentences: 60 sentences, ... tokens, 3 labels
    """
    rng = np.random.default_rng(0)
    parts = []
    for count in SENTENCES:
        both = [_sentence(rng) for _ in range(count)]
        parts.append(LabelledSentences([tokens for tokens, _ in both], [y for _, y in both]))
    return Corpus(*parts)


def _sentence(rng: np.random.Generator) -> tuple[Sentence, list[str]]:
    """Return tokens with their parts of speech, and labels."""
    tags: list[str] = []
    labels: list[str] = []
    for place in ("subject", "VBD", "object", "IN", "place", "."):
        if place in WORDS:
            phrase, named = [str(place)], ["O"]
        else:
            phrase = ["DT"] * int(rng.integers(2)) + ["JJ"] * int(rng.integers(3)) + ["NN"]
            named = ["B-NP"] + ["I-NP"] * (len(phrase) - 1)
        tags += phrase
        labels += named
    return [(str(rng.choice(WORDS[tag])), tag) for tag in tags], labels


def made_letters(letters: str) -> Letters:
    """Return blurred strokes, of one kind for each letter, in the middle of images of zeros.

    Examples
    --------
    >>> made_letters("am")
    Letters: 200 images of 8 x 8 pixels, of am
    """
    rng = np.random.default_rng(0)
    images = []
    for _ in letters:
        noise = rng.normal(size=(DRAWN, DRAWN))
        stroke = uniform_filter(noise, 3, mode="wrap")
        for _ in range(IMAGES):
            blurred = uniform_filter(rng.normal(size=(DRAWN, DRAWN)), 3, mode="wrap")
            images.append(stroke + blurred > 0.1)
    count = len(images)
    return Letters(
        centred(np.array(images, dtype=np.uint8), SIDE, SIDE),
        np.repeat(list(letters), IMAGES),
        np.arange(count),
        np.zeros(count, dtype=np.int64),
    )
