"""Mutants change what can be wrong, one place each, and nothing else."""

from mutants import chosen, is_python, mutants_of

SOURCE = b'''"""A text with 1 and not 2."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    n = 1
__all__ = ["a" + "b"]
@njit(cache=1)
def compiled(x: int) -> int:
    return x + 1
class Point(Protocol):
    k: int = 1
def f(x: Annotated[int, 1 + 1] = 3) -> Literal[4]:
    """Return 1."""
    y: float
    if not x < 2 and x:
        raise ValueError("at least " + str(2 * x), f"{x + 1}")
    x += 1  # \xc3\xa9 + 1
    warnings.warn("1" + "2")
    return "\xc3\xa9" + x
'''

EXPECTED = {
    (11, "constant + 1", "4"),
    (11, "constant * 2", "6"),
    (14, "condition negated", "(not (not x < 2 and x))"),
    (14, "and/or", "(not x < 2 or x)"),
    (14, "not left out", "(x < 2)"),
    (14, "comparison", "(x <= 2)"),
    (14, "constant + 1", "3"),
    (14, "constant * 2", "4"),
    (16, "arithmetic", "x -= 1"),
    (16, "statement deleted", "pass"),
    (16, "constant + 1", "2"),
    (16, "constant * 2", "2"),
    (17, "statement deleted", "pass"),
    (18, "return", "return None"),
    (18, "arithmetic", "('\u00e9' - x)"),
}


def test_kinds_and_what_stays():
    found = list(mutants_of(SOURCE, "f.py"))
    assert len(found) == len(EXPECTED)
    assert {(one.line, one.kind, one.new) for one in found} == EXPECTED


def test_a_mutant_differs_in_its_place_alone():
    for one in mutants_of(SOURCE, "f.py"):
        text = one.text(SOURCE)
        assert text != SOURCE
        assert is_python(text)
        assert text.startswith(SOURCE[: one.begin])
        assert text.endswith(SOURCE[one.end :])


def test_a_seed_gives_the_same_mutants_and_more_of_them_begin_with_these():
    first = chosen("penalties", 6, seed=3)
    assert first == chosen("penalties", 6, seed=3) == chosen("penalties", 9, seed=3)[:6]
    assert first != chosen("penalties", 6, seed=4)
