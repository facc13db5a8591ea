"""What goes wrong on the disk that scratch files are written to, in plain words."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graftwork.errors import DataError


@contextmanager
def writing(folder: Path | None) -> Iterator[None]:
    """Turn errors of the disk into one sentence.

    Examples
    --------
    >>> with writing(Path("there")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    graftwork.errors.DataError: the scratch folder 'there' is full; name a workdir with more room.
    """
    try:
        yield
    except OSError as error:
        where = repr(str(folder or tempfile.gettempdir()))
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"the scratch folder {where} is full; name a workdir with more room."
            ) from error
        words = error.strerror or error
        raise DataError(f"the scratch folder {where} cannot be written to ({words}).") from error
