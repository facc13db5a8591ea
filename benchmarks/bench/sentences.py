"""Sentences as arrays and back, so that every chain contender gets the same. NumPy only."""

from __future__ import annotations

import numpy as np


def pack(part: str, X: list[list[list[str]]], y: list[list[str]]) -> dict[str, np.ndarray]:
    """Return arrays for tokens' attributes and labels."""
    names: dict[str, int] = {}
    tokens = [token for sentence in X for token in sentence]
    indices = [names.setdefault(name, len(names)) for token in tokens for name in token]
    return {
        f"{part}_names": np.array(list(names)),
        f"{part}_indices": np.array(indices, dtype=np.int32),
        f"{part}_counts": np.array([len(token) for token in tokens], dtype=np.int32),
        f"{part}_lengths": np.array([len(sentence) for sentence in X], dtype=np.int32),
        f"{part}_labels": np.array([label for sentence in y for label in sentence]),
    }


def sentences(data: dict[str, np.ndarray], part: str) -> tuple[list, list]:
    """Return attributes of each token of each sentence, and labels."""
    names = data[f"{part}_names"].tolist()
    flat = [names[k] for k in data[f"{part}_indices"].tolist()]
    labels = data[f"{part}_labels"].tolist()
    counts = data[f"{part}_counts"].tolist()
    X, y, at, token = [], [], 0, 0
    for length in data[f"{part}_lengths"].tolist():
        sentence = []
        for count in counts[token : token + length]:
            sentence.append(flat[at : at + count])
            at += count
        X.append(sentence)
        y.append(labels[token : token + length])
        token += length
    return X, y
