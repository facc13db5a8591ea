"""Dicts of hand-made features, as the tutorial of sklearn-crfsuite makes them. NumPy only."""

from __future__ import annotations

import numpy as np

Token = tuple[str, str]


def pack(part: str, tokens: list[list[Token]], y: list[list[str]]) -> dict[str, np.ndarray]:
    """Return arrays for words, tags and labels."""
    flat = [token for sentence in tokens for token in sentence]
    return {
        f"{part}_words": np.array([word for word, _ in flat]),
        f"{part}_tags": np.array([tag for _, tag in flat]),
        f"{part}_labels": np.array([label for sentence in y for label in sentence]),
        f"{part}_lengths": np.array([len(sentence) for sentence in tokens], dtype=np.int32),
    }


def labels(data: dict[str, np.ndarray], part: str) -> list[list[str]]:
    """Return the labels of each sentence."""
    return split(data[f"{part}_labels"].tolist(), data, part)


def dicts(data: dict[str, np.ndarray], part: str) -> list[list[dict[str, str | bool | float]]]:
    """Return the features of each token of each sentence."""
    flat = zip(data[f"{part}_words"].tolist(), data[f"{part}_tags"].tolist(), strict=True)
    sentences = split(list(flat), data, part)
    return [[features(tokens, i) for i in range(len(tokens))] for tokens in sentences]


def split(flat: list, data: dict[str, np.ndarray], part: str) -> list[list]:
    """Return what all tokens have, sentence by sentence."""
    ends = np.cumsum(data[f"{part}_lengths"]).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def features(tokens: list[Token], i: int) -> dict[str, str | bool | float]:
    """Return the features of one token.

    Examples
    --------
    >>> list(features([("Ms.", "NNP"), ("Haag", "NNP")], 1))[-2:]
    ['-1:postag[:2]', 'EOS']
    """
    word, tag = tokens[i]
    found: dict[str, str | bool | float] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    found |= beside("-1", tokens[i - 1]) if i else {"BOS": True}
    found |= beside("+1", tokens[i + 1]) if i + 1 < len(tokens) else {"EOS": True}
    return found


def beside(place: str, token: Token) -> dict[str, str | bool | float]:
    """Return the features of the token before or after."""
    word, tag = token
    return {
        f"{place}:word.lower()": word.lower(),
        f"{place}:word.istitle()": word.istitle(),
        f"{place}:word.isupper()": word.isupper(),
        f"{place}:postag": tag,
        f"{place}:postag[:2]": tag[:2],
    }
