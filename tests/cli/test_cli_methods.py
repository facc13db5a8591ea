"""Methods as text: NAME:OPTION=VALUE."""

import inspect

import pytest

from graftwork.errors import ParameterError
from graftwork.inference import ENGINES
from graftwork.penalties import PENALTIES
from graftwork.recipes import RECIPES

from doors.cli import CHAIN_METHODS, METHODS, Inference, Penalty, parse_chain_method, parse_method


def test_the_options_know_every_word_of_the_library():
    assert tuple(RECIPES) == METHODS
    assert set(CHAIN_METHODS) < set(METHODS)
    assert [*Inference] == [*ENGINES]
    assert [*Penalty] == [*PENALTIES]


def test_chains_are_told_their_own_options_only():
    with pytest.raises(ParameterError, match="no option 'foo'") as refusal:
        parse_chain_method("grafting-light:foo=1")
    assert str(refusal.value).endswith("The options are 'count', 'steps', 'memory'.")
    with pytest.raises(ParameterError, match="there is no method 'chow-liu' for chains"):
        parse_chain_method("chow-liu")


def test_help_lists_every_method(graftwork):
    text = graftwork("learn", "--help").out
    assert "NAME:OPTION=VALUE" in text.replace("\n", "")
    assert all(name in text for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_option_of_every_method_can_be_set(name):
    own = inspect.signature(RECIPES[name]).parameters
    text = ":".join([name, *(f"{key}={each.default}" for key, each in own.items())])
    options = {key: each.default for key, each in own.items()}
    expected = {"method": name, "method_options": options} if own else {"method": name}
    assert parse_method(text) == expected


def test_values_of_options_have_types():
    text = " best-choice : alpha=0.5: reservoir=7 :tests=none:structure=FALSE"
    assert parse_method(text) == {
        "method": "best-choice",
        "method_options": {"alpha": 0.5, "reservoir": 7, "tests": None, "structure": False},
    }
    assert parse_method("best-choice:alpha=1")["method_options"] == {"alpha": 1}
    hubs = parse_method("first-hit:structure=true:hubs=always:hub-threshold=0.1")
    assert hubs["method_options"] == {"structure": True, "hubs": "always", "hub_threshold": 0.1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no method ''"),
        ("priorty", "did you mean 'priority'"),
        ("best-choice:alpha", "write NAME:OPTION=VALUE"),
        ("best-choice:=3", "write NAME:OPTION=VALUE"),
        ("best-choice:apha=1", "best-choice has no option 'apha'; did you mean 'alpha'"),
        ("grafting-light:max-edges=1", "grafting-light has no option 'max-edges'"),
        ("full:count=1", "full has no option 'count'"),
        ("first-hit:alpha=1", "first-hit has no option 'alpha'"),
        ("best-choice:lam=1", "no option 'lam'"),
        ("best-choice:method=full", "no option 'method'"),
        ("best-choice:alpha=much", "alpha of best-choice is 'much'; it takes a number"),
        ("best-choice:alpha=2", "alpha must be a number from 0 to 1"),
        ("best-choice:structure=1", "it takes true or false"),
        ("best-choice:hubs=1", "it takes a word, or none"),
        ("best-choice:hubs=twice", "hubs must be once or always, got 'twice'"),
        ("first-hit:hubs=always", "hubs and hub_threshold go with structure=True"),
        ("best-choice:reservoir=1.5", "it takes a whole number, or none"),
        ("gain:count=true", "it takes a whole number"),
        ("gain:count=0", "count must be a whole number of at least 1"),
    ],
)
def test_what_is_no_method_is_refused(text, told):
    with pytest.raises(ParameterError, match=told):
        parse_method(text)


def test_an_unknown_method_is_told_all_there_are():
    with pytest.raises(ParameterError, match=r"'chow-liu', .*'forced-pruning'"):
        parse_method("boosting")
