"""What goes with UAI files: evidence (.evid), and results of the tasks PR and MAR.

Both have two dialects: in that of 2010 a number of samples comes first, in that of 2014 there is
only one, and its number is left out. Readers tell them apart by the length of the file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from graftwork.data.atomic import write_lines
from graftwork.errors import DataError, ModelFileError
from graftwork.exchange.tokens import Tokens, positional
from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.models.inputs import check_evidence, check_table, number

PathLike = str | os.PathLike[str]
Evidence = Mapping[Any, Any]
Dialect = Literal["2010", "2014"]


def read_evidence(
    path: PathLike, model: PairwiseMRF, dialect: Dialect | None = None
) -> list[dict[Any, Any]]:
    """Return the evidence in a file, {name: state} for each of its samples.

    Parameters
    ----------
    path : path-like
    model : PairwiseMRF
        The network it is about: numbers in the file are places of its variables and states.
    dialect : {"2010", "2014"}, optional
        Default: the one that fits. Both can fit only where the older one has samples without any
        evidence; then the newer one is taken.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "net.uai.evid")
    >>> _ = path.write_text("1 0 1")
    >>> read_evidence(path, PairwiseMRF({"a": ["no", "yes"]}))
    [{'a': 'yes'}]
    """
    _check_dialect(dialect)
    problems = []
    for tried in ("2014", "2010") if dialect is None else (dialect,):
        tokens = Tokens(Path(path), "a file of evidence for this network")
        try:
            n = 1 if tried == "2014" else tokens.whole("the number of samples", 0, tokens.left)
            samples = [_read_sample(tokens, model) for _ in range(n)]
            tokens.end()
        except ModelFileError as error:
            problems.append(error)
        else:
            return samples
    raise problems[0]


def _read_sample(tokens: Tokens, model: PairwiseMRF) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    names, states = model.names, model.states
    for _ in range(tokens.whole("the number of observed variables", 0, len(names))):
        name = names[tokens.whole("an observed variable", 0, len(names) - 1)]
        if name in out:
            raise tokens.fail("a variable is observed twice")
        out[name] = states[name][tokens.whole("its state", 0, len(states[name]) - 1)]
    return out


def write_evidence(
    path: PathLike,
    model: PairwiseMRF,
    evidence: Evidence | Sequence[Evidence],
    dialect: Dialect | None = None,
) -> None:
    """Write evidence, one dict {name: state} or several, and return None.

    One is written in the dialect of 2014 unless told otherwise, several in that of 2010.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "net.uai.evid")
    >>> write_evidence(path, PairwiseMRF({"a": ["no", "yes"]}), {"a": "yes"})
    >>> path.read_text()
    '1 0 1\\n'
    """
    _check_dialect(dialect)
    samples = [evidence] if isinstance(evidence, Mapping) else list(evidence)
    if dialect == "2014" and len(samples) != 1:
        raise DataError(f"the dialect of 2014 has one sample, and these are {len(samples)}.")
    lines = []
    for sample in samples:
        codes = check_evidence(sample, model.states, number(model.names))
        seen = [f"{i} {codes[i]}" for i in np.flatnonzero(codes >= 0).tolist()]
        lines.append(" ".join([str(len(seen)), *seen]) + "\n")
    head = [] if dialect != "2010" and len(samples) == 1 else [f"{len(samples)}\n"]
    write_lines(path, [*head, *lines])


def read_partition(path: PathLike) -> list[float]:
    """Return the log-partition functions in a PR file, one a sample, as natural logarithms.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "net.uai.PR")
    >>> _ = path.write_text("PR\\n2.0")
    >>> round(read_partition(path)[0], 4)
    4.6052
    """
    tokens = _begin(path, "PR")
    n = 1 if tokens.left == 1 else tokens.whole("the number of samples", 0, tokens.left)
    values = tokens.numbers(n, "a decimal logarithm")
    tokens.end()
    return [float(value) * math.log(10) for value in values]


def write_partition(path: PathLike, log_partition: float) -> None:
    """Write log Z, a natural logarithm, as a PR file, in which it is a decimal one; return None.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "net.uai.PR")
    >>> write_partition(path, PairwiseMRF({"a": [0, 1]}).log_partition())
    >>> path.read_text()
    'PR\\n0.301029995663981...\\n'
    """
    write_lines(path, [f"PR\n{float(log_partition) / math.log(10)!r}\n"])


def read_marginals(path: PathLike, model: PairwiseMRF) -> list[dict[Any, Floats]]:
    """Return the marginals in a MAR file, {name: probabilities} for each of its samples.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "net.uai.MAR")
    >>> _ = path.write_text("MAR\\n1 2 0.25 0.75")
    >>> read_marginals(path, PairwiseMRF({"a": ["no", "yes"]}))
    [{'a': array([0.25, 0.75])}]
    """
    cards = [len(listed) for listed in model.states.values()]
    length = 1 + len(cards) + sum(cards)
    tokens = _begin(path, "MAR")
    n = 1 if tokens.left == length else tokens.whole("the number of samples", 0, tokens.left)
    out = []
    for _ in range(n):
        if tokens.whole("the number of variables") != len(cards):
            raise tokens.fail(f"the network has {len(cards)} variables")
        out.append({name: _read_marginal(tokens, len(own)) for name, own in model.states.items()})
    tokens.end()
    return out


def _read_marginal(tokens: Tokens, card: int) -> Floats:
    if tokens.whole("the number of states of a variable") != card:
        raise tokens.fail(f"the variable has {card} states in the network")
    values = tokens.numbers(card, "a probability")
    if (values < 0).any() or not abs(values.sum() - 1) < 1e-3:
        raise tokens.fail("the probabilities of a variable's states do not sum to 1")
    return values


def write_marginals(path: PathLike, model: PairwiseMRF, marginals: Mapping[Any, ArrayLike]) -> None:
    """Write the probabilities of all variables' states as a MAR file, and return None.

    Examples
    --------
    >>> import tempfile
    >>> path, model = Path(tempfile.mkdtemp(), "net.uai.MAR"), PairwiseMRF({"a": [0, 1]})
    >>> write_marginals(path, model, model.marginals())
    >>> path.read_text()
    'MAR\\n1 2 0.5 0.5\\n'
    """
    missing = [name for name in model.names if name not in marginals]
    if missing:
        raise DataError(f"the marginals of {missing[0]!r} are not given; a MAR file has all.")
    write_lines(path, ["MAR\n", " ".join(_marginal_words(model, marginals)), "\n"])


def _marginal_words(model: PairwiseMRF, marginals: Mapping[Any, ArrayLike]) -> Iterator[str]:
    yield str(model.n_variables)
    for name, states in model.states.items():
        values = check_table(marginals[name], (len(states),), f"the marginal of {name!r}")
        yield str(len(states))
        yield from map(positional, values.tolist())


def _begin(path: PathLike, task: str) -> Tokens:
    """Return the words of a result behind the name of its task."""
    tokens = Tokens(Path(path), f"a {task} result")
    word = tokens.word(f"the word {task}")
    if word != task:
        raise tokens.fail(f"it begins with {word[:40]!r}, not with {task}")
    return tokens


def _check_dialect(dialect: str | None) -> None:
    if dialect not in (None, "2010", "2014"):
        raise DataError(f'dialect is {dialect!r}; use "2010" or "2014".')
