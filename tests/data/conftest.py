import os
import threading
from itertools import count

import pytest


@pytest.fixture
def pipe(tmp_path):
    """Return the path of a named pipe through which some bytes come, once."""
    numbers, writers = count(), []

    def begin(content):
        path = tmp_path / f"pipe{next(numbers)}"
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_bytes, args=(content,), daemon=True))
        writers[-1].start()
        return path

    yield begin
    for writer in writers:
        writer.join(timeout=10)
        assert not writer.is_alive()
