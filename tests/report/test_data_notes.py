"""What about a table should be looked at before learning from it."""

import numpy as np

import graftwork as gw

from doors.report import data_notes


def test_notes_name_what_is_odd() -> None:
    n = 60
    data = {
        "id": list(range(n)),
        "twin": [i % 2 for i in range(n)],
        "copy": [i % 2 for i in range(n)],
        "same": [7] * n,
        "rare": ["seldom"] * 3 + ["often"] * (n - 3),
    }
    words = " ".join(data_notes(gw.as_table(data)))
    assert "1 variable never changes: same." in words
    assert "Column 'id' has a value of its own in many rows" in words
    assert "twin and copy" in words
    assert "1 state with fewer than 10 counts" in words
    assert "rare = seldom" in words
    assert "one column only" in data_notes(gw.as_table([["a"], ["b"]]))[0]


def test_weights_count_and_missing_cells_are_no_state() -> None:
    data = {"a": ["x", "y", None] * 4, "b": ["u", "v", "v"] * 4}
    weights = np.array([8.0, 8.0, 0.0] * 4)
    table = gw.as_table(data, missing="state", weights=weights)
    assert data_notes(table) == ("The same in every row: a and b. One of each pair is enough.",)
    alone = gw.as_table({"a": ["x", None] * 20, "b": ["u", "v"] * 20}, missing="state")
    assert "1 variable never changes: a." in data_notes(alone)
