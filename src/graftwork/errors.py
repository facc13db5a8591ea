"""The errors graftwork raises on purpose: what, where, what to try."""

from __future__ import annotations


class GraftworkError(Exception):
    """Anything graftwork refuses with a plain sentence."""


class DataError(GraftworkError, ValueError):
    """The table given cannot be used as it is."""


class ParameterError(GraftworkError, ValueError):
    """A parameter has a value that means nothing."""


class DataMissingError(GraftworkError, FileNotFoundError):
    """A data set that is not part of the package is not in the folder it was looked for in.

    Attributes
    ----------
    data : str
        The data set's name; empty if nobody said.
    """

    def __init__(self, text: str, data: str = "") -> None:
        super().__init__(text)
        self.data = data


class ModelFileError(GraftworkError, ValueError):
    """A model file is corrupt, foreign or of a newer format."""


class TooLargeError(GraftworkError, MemoryError):
    """What was asked for was refused because its estimated cost is over the limit."""


class ConvergenceWarning(UserWarning):
    """A result is usable but did not reach the accuracy asked for."""


class ApproximationWarning(UserWarning):
    """An answer is approximate because the exact one is too large to compute."""


class DataWarning(UserWarning):
    """The table is usable but probably not what was meant."""


class CacheWarning(UserWarning):
    """Compiled code cannot be kept for the next process."""
