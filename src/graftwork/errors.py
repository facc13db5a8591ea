"""The errors graftwork raises on purpose: what, where, what to try."""

from __future__ import annotations

from graftwork.text import readable


class _Readable:
    """An error or a warning whose message can be read, whatever somebody typed stands in it."""

    def __init__(self, *args: object) -> None:
        said = (readable(each) if isinstance(each, str) else each for each in args)
        super().__init__(*said)


class GraftworkError(_Readable, Exception):
    """Anything graftwork refuses; the message says what is wrong and what to try.

    Examples
    --------
    >>> import graftwork as gw
    >>> try:
    ...     gw.MarkovNetwork(fdr=2).fit([["a", "b"], ["b", "a"]])
    ... except gw.GraftworkError as error:
    ...     print(error)
    fdr must be a number above 0 and below 1, got 2.
    """


class DataError(GraftworkError, ValueError):
    """The table given cannot be used as it is.

    Examples
    --------
    >>> import graftwork as gw
    >>> try:
    ...     gw.as_table([["a"], ["b", "c"]])
    ... except gw.DataError as error:
    ...     print(error)
    row 1 has 2 cells, expected 1 as in row 0; all rows need one cell per column.
    """


class ParameterError(GraftworkError, ValueError):
    """A parameter has a value that it cannot have.

    Examples
    --------
    >>> import graftwork as gw
    >>> try:
    ...     gw.MarkovNetwork(fdr=2).fit([["a", "b"], ["b", "a"]])
    ... except gw.ParameterError as error:
    ...     print(error)
    fdr must be a number above 0 and below 1, got 2.
    """


class DataMissingError(GraftworkError, FileNotFoundError):
    """A data set that is not part of the package is not in the folder given.

    Attributes
    ----------
    data : str
        The name of the data set; empty if it is not known.

    Examples
    --------
    >>> import graftwork as gw
    >>> try:
    ...     gw.datasets.load_jester("nowhere")
    ... except gw.DataMissingError as error:
    ...     print(error)
    jester/jester1_ratings_int16.npz was not found: there is no folder 'nowhere'. ...
    """

    def __init__(self, text: str, data: str = "") -> None:
        super().__init__(text)
        self.data = data


class ModelFileError(GraftworkError, ValueError):
    """A model file is corrupt, of another program, or of a newer format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import graftwork as gw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mine.gw")
    ...     size = path.write_text("something else")
    ...     try:
    ...         gw.load(path)
    ...     except gw.ModelFileError as error:
    ...         print(error)
    '...mine.gw' is not a graftwork model file; use one written by a model's save, ...
    """


class TooLargeError(GraftworkError, MemoryError):
    """What was asked for was refused because its estimated cost is over the limit.

    Examples
    --------
    >>> import itertools
    >>> import graftwork as gw
    >>> pairs = itertools.combinations(range(40), 2)
    >>> tables = {pair: [[0.1, 0.0], [0.0, 0.1]] for pair in pairs}
    >>> model = gw.PairwiseMRF({k: [0, 1] for k in range(40)}, None, tables)
    >>> try:
    ...     model.marginals(inference="exact")
    ... except gw.TooLargeError as error:
    ...     print(error)
    Exact inference needs about 10^12.3 table cells ...
    """


class ConvergenceWarning(_Readable, UserWarning):
    """A result is usable but did not reach the accuracy asked for.

    Examples
    --------
    Turn it into an error while learning:

    >>> import warnings
    >>> import graftwork as gw
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", gw.ConvergenceWarning)
    ...     net = gw.MarkovNetwork(lam=0.01).fit([["sun", "dry"], ["rain", "wet"]] * 50)
    >>> net.certificate_.converged
    True
    """


class ApproximationWarning(_Readable, UserWarning):
    """An answer is approximate because the exact one is too large to compute.

    Examples
    --------
    >>> import itertools, warnings
    >>> import graftwork as gw
    >>> pairs = itertools.combinations(range(40), 2)
    >>> tables = {pair: [[0.1, 0.0], [0.0, 0.1]] for pair in pairs}
    >>> model = gw.PairwiseMRF({k: [0, 1] for k in range(40)}, None, tables)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", gw.ApproximationWarning)
    ...     found = model.marginals()
    >>> print(caught[0].message)
    exact inference is too large for this network: joint states were drawn, ...
    """


class DataWarning(_Readable, UserWarning):
    """The table is usable but probably not what was meant.

    Examples
    --------
    >>> import warnings
    >>> import graftwork as gw
    >>> rows = [[f"person {i}", "ab"[i % 2], "ab"[i // 2 % 2]] for i in range(60)]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", gw.DataWarning)
    ...     net = gw.MarkovNetwork(lam=0.1).fit(rows)
    >>> print(caught[0].message)
    Column 'x0' has a value of its own in many rows, as identifiers and free text do, ...
    """


class CacheWarning(_Readable, UserWarning):
    """Compiled code cannot be kept for the next process."""
