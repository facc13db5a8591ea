"""Finished parts of long work: the same come back, to the last bit; others never do."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from graftwork.finished import Finished, read_part, stamp_of, write_part


@dataclass
class Part:
    values: Any
    note: Any = None
    warned: bool = False


def test_parts_come_back_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    values = np.array([rng.normal() * 10.0**k for k in range(-300, 300, 37)])
    values[:3] = np.nan, np.inf, -np.inf
    parts = Finished.within(tmp_path / "new" / "parts", Part, "settings")
    parts.write(3, Part(values, None, warned=True))
    parts.write(4, Part(np.zeros((0, 2), dtype=np.int64)))
    parts.write(5, Part(np.arange(6, dtype=np.uint8).reshape(2, 3), "text"))
    found = Finished.within(tmp_path / "new" / "parts", Part, "settings").read(range(10))
    assert sorted(found) == [3, 4, 5]
    assert np.array_equal(found[3].values, values, equal_nan=True)
    assert (found[3].note, found[3].warned) == (None, True)
    assert (found[4].values.shape, found[4].values.dtype) == ((0, 2), np.int64)
    assert (found[5].values.tolist(), found[5].values.dtype) == ([[0, 1, 2], [3, 4, 5]], np.uint8)
    assert Finished.within(tmp_path / "new" / "parts", Part, "others").read(range(10)) == {}
    assert Finished.within(None, Part) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"stamp": "other"}', "\ufeff", "[" * 100_000])
def test_damaged_files_are_not_used(tmp_path, text):
    (tmp_path / "0.json").write_text(text, encoding="utf8")
    assert read_part(tmp_path / "0.json", "same") is None


def test_a_part_that_cannot_be_written_leaves_the_one_before(tmp_path):
    write_part(tmp_path / "0.json", "same", {"found": 1})
    with pytest.raises(TypeError):
        write_part(tmp_path / "0.json", "same", {"found": object()})
    assert read_part(tmp_path / "0.json", "same") == {"stamp": "same", "found": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["0.json"]


def frame(last):
    return pd.DataFrame({"factor": np.arange(1000.0)}).assign(last=[*range(999), last])


@pytest.mark.parametrize(
    ("one", "same", "others"),
    [
        (1, 1, [2, 1.0, "1", True, (1,)]),
        ("ab", "ab", ["a", ("a", "b")]),
        (("a", "bc"), ("a", "bc"), [("ab", "c"), (("a",), "bc")]),
        ({"a", "b", "c"}, {"c", "b", "a"}, [{"a", "b"}]),
        (np.arange(4), np.arange(4), [np.arange(4.0), np.arange(4).reshape(2, 2), np.arange(5)]),
        (np.array(["a", 1], object), np.array(["a", 1], object), [np.array(["a", "1"], object)]),
        (Part(1, 2), Part(1, 2), [Part(2, 1)]),
        (frame(0), frame(0), [frame(1)]),
        (np.random.SeedSequence(3), np.random.SeedSequence(3), [np.random.SeedSequence(4)]),
    ],
)
def test_stamps_tell_settings_apart(one, same, others):
    assert stamp_of(one) == stamp_of(same)
    assert len({stamp_of(each) for each in (one, *others)}) == 1 + len(others)


def test_functions_of_users_are_never_taken_for_the_same():
    function = lambda a, b: True  # noqa: E731
    assert stamp_of(function) != stamp_of(function)
