"""UAI, LG and libDAI files: numbers against enumeration, names, zeros, files of real programs."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graftwork as gw
from graftwork.errors import DataError, ModelFileError

from doors.exchange import Factor, network_of, split
from support.made_networks import (
    LONELY,
    NETWORKS,
    enumerate_factors,
    enumerate_model,
    read_fg_plainly,
    read_uai_plainly,
    with_zeros,
)

GOLDEN = Path(__file__).parent / "golden"
PLAIN = {
    "uai": read_uai_plainly,
    "LG": lambda text: read_uai_plainly(text, logs=True),
    "fg": read_fg_plainly,
}


def agree(found, expected, tolerance=1e-9):
    (log_z, marginals), (its_log_z, its_marginals) = found, expected
    assert log_z == pytest.approx(its_log_z, abs=tolerance)
    for mine, theirs in zip(marginals, its_marginals, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=tolerance)


def asked(model):
    return model.log_partition(), list(model.marginals().values())


@pytest.mark.parametrize("suffix", PLAIN)
@pytest.mark.parametrize("seed", NETWORKS | LONELY)
def test_files_mean_what_the_network_means(seed, suffix, tmp_path):
    model, path = (NETWORKS | LONELY)[seed], tmp_path / f"net.{suffix}"
    model.export(path)
    expected = enumerate_model(model)
    agree(enumerate_factors(*PLAIN[suffix](path.read_text())), expected)
    back = gw.load(path)
    assert (back.names, back.states, back.edges) == (model.names, model.states, model.edges)
    np.testing.assert_allclose(back.potentials.weights, model.potentials.weights, atol=1e-12)
    agree(asked(back), expected)


@pytest.mark.parametrize("seed", NETWORKS | LONELY)
def test_basic_files_keep_the_distribution(seed, tmp_path):
    model, path = (NETWORKS | LONELY)[seed], tmp_path / "net.basic.uai"
    found = model.export(path)
    cards, factors = read_uai_plainly(path.read_text())
    log_z, marginals = enumerate_model(model)
    several = [m for m in marginals if len(m) > 1] or marginals
    agree(enumerate_factors(cards, factors), (log_z, several))
    if max(cards) == 1:
        return
    if len(several) > 1:  # all variables have several states and an edge, as pgmpy wants it
        assert min(cards) > 1
        assert {i for scope, _ in factors if len(scope) == 2 for i in scope} == {*range(len(cards))}
    dropped = len(marginals) - len(several)
    assert any("with one state" in phrase for phrase in found.lost) == bool(dropped)
    linked = {name for edge in model.edges for name in edge if 1 not in sizes(model, edge)}
    alone = len(several) > 1 and len(linked) < len(several)
    assert any("had no edge" in phrase for phrase in found.lost) == alone


def sizes(model, names):
    return [len(model.states[name]) for name in names]


@pytest.mark.parametrize("suffix", ["uai", "basic.uai", "LG", "fg", "gw"])
def test_what_is_impossible_stays_impossible(suffix, tmp_path):
    model, path = with_zeros(), tmp_path / f"net.{suffix}"
    assert model.export(path).lost == ()
    back = gw.load(path)
    np.testing.assert_allclose(back.potentials.weights, model.potentials.weights, atol=1e-15)
    agree(asked(back), enumerate_model(model))


@pytest.mark.parametrize("suffix", ["uai", "LG", "fg"])
def test_names_states_and_scores_are_beside_the_file(suffix, tmp_path):
    odd = {("a", 1): [0, 1.5, None], "": ["\ud800", b"\x00"], dt.date(2020, 2, 29): [True, "True"]}
    flat = gw.PairwiseMRF(odd).potentials
    scores = {("a", 1): [1.0, np.nan, 3.0]}
    model = gw.PairwiseMRF.from_flat(list(odd), list(odd.values()), flat, scores=scores)
    path = tmp_path / f"net.{suffix}"
    found = model.export(path)
    assert found.beside == (f"net.{suffix}.names.json",)
    back = gw.load(path)
    assert back == model
    assert [type(s) for own in back.states.values() for s in own] == [
        type(s) for own in model.states.values() for s in own
    ]
    np.testing.assert_equal(back.scores, {("a", 1): (1.0, np.nan, 3.0)})
    (tmp_path / found.beside[0]).unlink()
    assert gw.load(path).states == {"x0": (0, 1, 2), "x1": (0, 1), "x2": (0, 1)}


def test_names_of_another_network_are_refused(tmp_path):
    NETWORKS[0].export(tmp_path / "net.uai")
    with_zeros().export(tmp_path / "other.uai")
    (tmp_path / "other.uai.names.json").replace(tmp_path / "net.uai.names.json")
    with pytest.raises(ModelFileError, match=r"names in .* are of another network"):
        gw.load(tmp_path / "net.uai")
    for text in ("", "{}", "[1]", '{"format": "graftwork-names", "version": 1, "variables": 3}'):
        (tmp_path / "net.uai.names.json").write_text(text)
        with pytest.raises(ModelFileError, match="is not a file of names"):
            gw.load(tmp_path / "net.uai")


def test_large_potentials_are_shifted_and_that_is_said(tmp_path):
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, {"a": [1000.0, 999.0], "b": [0.0, -800.0]})
    found = model.export(tmp_path / "net.uai")
    assert found.lost == (
        "a constant: log Z is 1000 less",
        "1 cell below e^-700, which are 0 now",
    )
    back = gw.load(tmp_path / "net.uai")
    np.testing.assert_allclose(back.marginals()["a"], model.marginals()["a"])
    assert model.export(tmp_path / "net.LG").lost == ()
    assert gw.load(tmp_path / "net.LG") == model


def test_numbers_have_no_exponents(tmp_path):
    gw.PairwiseMRF({"a": [0, 1]}, {"a": [-40.0, 50.0]}).export(tmp_path / "net.uai")
    text = (tmp_path / "net.uai").read_text()
    assert "e" not in text.lower()
    assert gw.load(tmp_path / "net.uai").unary("a")[0] == pytest.approx(-40)


# ---- files of others -------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["pgmpy", "pyagrum", "pygms"])
def test_files_of_real_programs(program):
    expected = json.loads((GOLDEN / f"{program}.json").read_text())
    model = gw.load(GOLDEN / f"{program}.uai")
    tolerance = 2e-6 if program == "pyagrum" else 1e-12  # it writes six digits
    for mine, theirs in zip(model.marginals().values(), expected["marginals"], strict=True):
        np.testing.assert_allclose(mine, theirs, atol=tolerance)
    if "log_partition" in expected:
        assert model.log_partition() == pytest.approx(expected["log_partition"], abs=1e-12)


def test_the_order_of_a_scope_counts(tmp_path):
    path = tmp_path / "net.uai"
    path.write_text("MARKOV 2 2 3 1 2 1 0 6 1 2 3 4 5 6")
    np.testing.assert_allclose(np.exp(gw.load(path).table("x0", "x1")), [[1, 3, 5], [2, 4, 6]])
    path.write_text("MARKOV 2 2 3 1 2 0 1 6 1 2 3 4 5 6")
    np.testing.assert_allclose(np.exp(gw.load(path).table("x0", "x1")), [[1, 2, 3], [4, 5, 6]])


def test_bayesian_networks_comments_constants_and_repeated_factors(tmp_path):
    path = tmp_path / "net.uai"
    path.write_text(
        "BAYES # a prior, a conditional\n2\n2 2\n4\n1 0\n2 0 1\n0\n1 0\n"
        "2 0.25 0.75\n4 0.5 0.5 0.125 0.875\n1 8\n2 1 1\n"
    )
    model = gw.load(path)
    assert model.log_partition() == pytest.approx(np.log(8))
    np.testing.assert_allclose(model.marginals()["x1"], [0.21875, 0.78125])


def test_libdai_labels_with_gaps(tmp_path):
    path = tmp_path / "net.fg"
    path.write_text("# two factors\n2\n\n2\n7 3\n2 3\n2\n0 1.0\n5 3.0\n\n1\n3\n3\n1\n2 1.0\n")
    model = gw.load(path)
    assert [len(own) for own in model.states.values()] == [3, 2]
    assert model.map() == {"x0": 2, "x1": 1}
    assert model.log_partition() == pytest.approx(np.log(3))


# ---- factors of three variables --------------------------------------------------------------


@given(st.integers(0, 10**6), st.lists(st.integers(1, 3), min_size=3, max_size=4))
def test_products_of_pairs_are_split(seed, cards):
    rng = np.random.default_rng(seed)
    n = len(cards)
    scope = rng.permutation(n)
    table = np.zeros([cards[i] for i in scope])
    for i in range(n):
        for j in range(i + 1, n):
            shape = np.ones(n, int)
            shape[[i, j]] = table.shape[i], table.shape[j]
            table = table + rng.normal(size=(table.shape[i], table.shape[j])).reshape(shape)
    names, states = [f"x{i}" for i in range(n)], [range(c) for c in cards]
    model = network_of(names, states, [Factor(tuple(scope.tolist()), table)])
    agree(asked(model), enumerate_factors(cards, [(scope.tolist(), np.exp(table))]))


def test_others_are_refused(tmp_path):
    a, b, c = np.ogrid[:2, :2, :2]
    with pytest.raises(
        ValueError, match=r"3 variables that is not a product of pairs.* no variable has"
    ):
        split(Factor((0, 1, 2), 1.0 * a * b * c))
    with pytest.raises(ValueError, match="3 variables with impossible states"):
        split(Factor((0, 1, 2), np.where(a * b * c, -np.inf, 0.0)))
    path = tmp_path / "net.uai"
    path.write_text("MARKOV 3 2 2 2 1 3 0 1 2 8 1 1 1 1 1 1 1 2")
    with pytest.raises(ModelFileError, match=r"net.uai' cannot be read: it has a factor of 3"):
        gw.load(path)


# ---- damaged files ---------------------------------------------------------------------------

WRONG = {
    "": "ends at line 1, where the word MARKOV or BAYES is expected",
    "MARKOV": "where the number of variables is expected",
    "CHAIN 1": "line 1: it begins with 'CHAIN', not with MARKOV or BAYES",
    "MARKOV 0": "'0' stands where the number of variables, a whole number of at least 1",
    "MARKOV 9999999999999 2": "where the number of states of variable 1 is expected",
    "MARKOV 1 0": "the number of states of variable 0, a whole number of at least 1",
    "MARKOV 1 -2": "'-2' stands where",
    "MARKOV\n1\n2\n1\n1 1": "line 5: '1' stands where a variable of a factor, a whole number from",
    "MARKOV 2 2 2 1 2 0 0": "a factor has a variable twice",
    "MARKOV 1 2\n1\n1 0\n3 1 1 1": "line 4: a factor of 2 joint states has 3 entries",
    "MARKOV 1 2 1 1 0 2 1": "with 1 of 2 numbers left to read",
    "MARKOV 1 2 1 1 0\n2\n1\n-1": "line 4: an entry of a factor is -1.0, not finite and at least 0",
    "MARKOV 1 2 1 1 0 2 1 nan": "'nan' stands where an entry of a factor, a number",
    "MARKOV 1 2 1 1 0 2 1 inf": "an entry of a factor is inf",
    "MARKOV 1 2 1 1 0 2 1 1_0": "'1_0' stands where",
    "MARKOV 1 2 1 1 0 2 1 1\n5": "line 2: '5' follows where it should end",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_files_are_refused_with_their_line(text, tmp_path):
    path = tmp_path / "net.uai"
    path.write_text(text)
    with pytest.raises(ModelFileError) as error:
        gw.load(path)
    assert WRONG[text] in str(error.value)
    assert "net.uai" in str(error.value)


@pytest.mark.parametrize("suffix", ["uai", "LG", "fg"])
def test_every_truncation_is_refused(suffix, tmp_path):
    path = tmp_path / f"net.{suffix}"
    with_zeros().export(path)
    words = path.read_text().split()
    for k in range(len(words)):
        path.write_text(" ".join(words[:k]))
        with pytest.raises(ModelFileError, match=f"net.{suffix}"):
            gw.load(path)


@given(data=st.data(), suffix=st.sampled_from(["uai", "LG", "fg"]))
def test_tampered_files_are_read_or_refused(data, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("tampered") / f"net.{suffix}"
    with_zeros().export(path)
    words = path.read_text().split()
    strange = ["-1", "0", "1e999", "nan", "99999999", "x", "1.5", "3", "-inf", "\u0663", "#"]
    for _ in range(data.draw(st.integers(1, 3))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(st.sampled_from(strange))
    path.write_text(" ".join(words))
    with contextlib.suppress(ModelFileError):
        gw.load(path)


def test_binary_files_are_refused(tmp_path):
    path = tmp_path / "net.uai"
    path.write_bytes(b"MARKOV\xff\x00")
    with pytest.raises(ModelFileError, match="it is not text"):
        gw.load(path)
    with pytest.raises(ModelFileError, match="cannot read"):
        gw.load(tmp_path, format="uai")


def test_names_that_cannot_be_written_are_refused(tmp_path):
    model = gw.PairwiseMRF({"a": [frozenset()]})
    with pytest.raises(DataError, match="cannot write a state of 'a'"):
        model.export(tmp_path / "net.uai")


@pytest.mark.parametrize("text", ["MARKOV\n1\n1000000000\n0\n", "MARKOV 2 9000000 9000000 0"])
def test_a_few_bytes_do_not_take_all_memory(text, tmp_path):
    path = tmp_path / "huge.uai"
    path.write_text(text, encoding="ascii")
    with pytest.raises(ModelFileError, match="at most 10,000,000 are read"):
        gw.load(path)


def test_parameters_of_plmc_fit_their_bits(tmp_path):
    huge = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, {"a": [0.0, 1e60]})
    with pytest.raises(DataError, match="32 bits"):
        huge.export(tmp_path / "net.params")
    assert not list(tmp_path.iterdir())
