"""Answers of 10,000 random networks against enumeration. Run by make test-slow."""

import pytest
from exactness import campaign

pytestmark = pytest.mark.slow


def test_answers_are_those_of_enumeration():
    for name, (worst, asked) in campaign(10_000).items():
        assert asked > 1_000, name
        assert worst < 1e-9, name
