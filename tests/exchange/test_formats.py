"""What all formats promise; which one a file has; plmc's parameters."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, ModelFileError, TooLargeError
from graftwork.exchange import FORMATS
from graftwork.models import ChainModel

from doors.exchange import Exported
from support.made_networks import NETWORKS, with_zeros


def chain():
    votes = np.array([0]), np.array([1]), np.array([2.0])
    return ChainModel(("A", "B"), ("x",), 1, *votes, np.zeros((2, 2)), np.zeros((0, 0, 0)))


@pytest.mark.parametrize("name", FORMATS)
def test_traits_are_true(name):
    entry, made = FORMATS.entry(name), FORMATS[name]()
    assert (made.read is not None) == (entry.traits.get("reads") in ("network", "chain", "both"))
    assert (made.write is not None) == (entry.traits.get("writes") in ("network", "chain", "both"))
    assert all(suffix.startswith(".") for suffix in entry.traits["suffixes"])
    assert entry.help.endswith(".")


def test_suffixes_are_of_one_format():
    suffixes = [s.lower() for name in FORMATS for s in FORMATS.entry(name).traits["suffixes"]]
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.parametrize("name", [n for n in FORMATS if FORMATS.entry(n).traits.get("writes")])
def test_writers_are_whole_or_leave_the_old_file(name, tmp_path):
    path = tmp_path / "net"
    found = with_zeros().export(path, name)
    assert isinstance(found, Exported)
    assert {file.name for file in tmp_path.iterdir()} == {"net", *found.beside}
    before = path.read_bytes()
    gw.PairwiseMRF({"a": [0, 1]}).export(path, name)
    assert path.read_bytes() != before
    with pytest.raises(FileNotFoundError):
        with_zeros().export(tmp_path / "nowhere" / "net", name)


@pytest.mark.parametrize("name", [n for n in FORMATS if FORMATS.entry(n).traits.get("reads")])
def test_readers_refuse_what_is_not_there_or_not_theirs(name, tmp_path):
    with pytest.raises(ModelFileError, match="there is no file"):
        gw.load(tmp_path / "absent", name)
    with pytest.raises(ModelFileError, match="cannot read"):
        gw.load(tmp_path, name)
    for content in (
        b"",
        b"\x00" * 100,
        b"hello",
        "né".encode("latin-1"),
        b"lCRF",
        b"PK",
        b"1" * 99,
    ):
        (tmp_path / "odd").write_bytes(content)
        with pytest.raises(ModelFileError, match="odd") as error:
            gw.load(tmp_path / "odd", name)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("seed", range(5))
def test_files_are_found_by_content_and_by_suffix(seed, tmp_path):
    model = NETWORKS[seed]
    for name in ("net.uai", "NET.UAI", "net.basic.UAI", "net.lg", "net.LG", "net.fg", "net.gw"):
        model.export(tmp_path / name)
        assert gw.load(tmp_path / name).n_variables <= model.n_variables
    (tmp_path / "net.gw").rename(tmp_path / "other.uai")  # what it holds counts
    assert gw.load(tmp_path / "other.uai") == model


def test_words_for_formats_that_are_not_there(tmp_path):
    model = with_zeros()
    with pytest.raises(DataError, match=r"suffix of 'net.xyz' does not say .* graphml"):
        model.export(tmp_path / "net.xyz")
    with pytest.raises(DataError, match="no format 'graphlm'; did you mean 'graphml'"):
        model.export(tmp_path / "net.xyz", "graphlm")
    with pytest.raises(DataError, match="no format 'uia'"):
        gw.load(tmp_path / "net", "uia")
    with pytest.raises(DataError, match="crfsuite files are only read"):
        gw.exchange.export(chain(), tmp_path / "a.crfsuite")
    with pytest.raises(DataError, match=r"uai holds networks, and this is a chain; .* graftwork"):
        gw.exchange.export(chain(), tmp_path / "a.uai")
    (tmp_path / "text.txt").write_text("MARKOV")
    with pytest.raises(ModelFileError, match=r"not a graftwork model file; .*uai \(\.uai\)"):
        gw.load(tmp_path / "text.txt")


def test_networks_and_chains_are_told_apart(tmp_path):
    gw.exchange.export(chain(), tmp_path / "chain.gw")
    with_zeros().export(tmp_path / "net.uai")
    with pytest.raises(ModelFileError, match="holds a chain of labels, where a network is wanted"):
        gw.exchange.load_network(tmp_path / "chain.gw")
    with pytest.raises(ModelFileError, match="holds a network, where a chain of labels is wanted"):
        gw.exchange.load_chain(tmp_path / "net.uai")
    assert gw.exchange.read_info(tmp_path / "net.uai") == {}


def test_everything_public_has_a_docstring_with_an_example():
    for name in gw.exchange.__all__:
        found = getattr(gw.exchange, name)
        if inspect.isfunction(found):
            assert "Examples\n" in found.__doc__, name


def test_learning_is_said_to_be_lost(tmp_path):
    rows = [["sun", "dry"], ["rain", "wet"]] * 50
    net = gw.MarkovNetwork(lam=0.1).fit(rows)
    assert "how it was learned" in str(net.export(tmp_path / "net.uai"))
    assert "Everything is in it" in str(net.export(tmp_path / "net.gw"))
    assert "Everything is in it" in str(net.model_.export(tmp_path / "net.uai"))


# ---- plmc ------------------------------------------------------------------------------------


def read_params(path):
    """plmc's parameters by the layout that its read_params.m and EVcouplings have."""
    with path.open("rb") as file:
        n, q, valid, invalid, _ = np.fromfile(file, "<i4", 5)
        np.fromfile(file, "<f4", 5)
        alphabet = np.fromfile(file, "S1", q).astype("U1")
        np.fromfile(file, "<f4", valid + invalid)
        target = np.fromfile(file, "S1", n).astype("U1")
        index = np.fromfile(file, "<i4", n)
        f, h = (np.fromfile(file, "<f4", n * q).reshape(n, q) for _ in range(2))
        pairs = [(i, j) for i in range(n - 1) for j in range(i + 1, n)]
        f2, couplings = (
            {pair: np.fromfile(file, "<f4", q * q).reshape(q, q) for pair in pairs} for _ in "fJ"
        )
        assert file.read() == b""
    return alphabet, target, index, f, h, f2, couplings


def test_plmc_has_the_energies_and_marginals_of_the_network(tmp_path):
    rng = np.random.default_rng(0)
    states = {"p1": "-AC", "p2": "CA", "p3": "G-A", "p4": "AC"}
    states = {name: list(own) for name, own in states.items()}
    unary = {name: rng.normal(size=len(own)) for name, own in states.items()}
    links = [("p1", "p2"), ("p2", "p3"), ("p1", "p4")]
    tables = {(a, b): rng.normal(size=(len(states[a]), len(states[b]))) for a, b in links}
    model = gw.PairwiseMRF(states, unary, tables)
    model.export(tmp_path / "net.params")
    alphabet, target, index, f, h, f2, couplings = read_params(tmp_path / "net.params")
    assert set(alphabet) == set("-ACG")
    assert index.tolist() == [1, 2, 3, 4]
    place = {letter: k for k, letter in enumerate(alphabet)}
    rows = [list(row) for row in ("-CGA", "AA-C", "CCAA", "-AAC")]
    energies = []
    for row in rows:
        codes = [place[letter] for letter in row]
        fields = sum(h[i, code] for i, code in enumerate(codes))
        energies.append(fields + sum(J[codes[i], codes[j]] for (i, j), J in couplings.items()))
    assert np.diff(energies) == pytest.approx(np.diff(model.log_prob(rows)), abs=1e-5)
    for i, (name, own) in enumerate(states.items()):
        wanted = dict(zip(own, model.marginals()[name], strict=True))
        assert f[i] == pytest.approx([wanted.get(letter, 0.0) for letter in alphabet], abs=1e-6)
        assert target[i] == max(wanted, key=wanted.get)
        absent = [place[letter] for letter in alphabet if letter not in wanted]
        assert all(h[i, k] < min(unary[name]) - 19 for k in absent)
    joint = model.pair_marginal("p2", "p4")  # no edge
    found = f2[1, 3][np.ix_([place[x] for x in states["p2"]], [place[x] for x in states["p4"]])]
    np.testing.assert_allclose(found, joint, atol=1e-6)


def test_plmc_renames_states_and_says_so(tmp_path):
    model = gw.PairwiseMRF({"a": ["no", "yes", "B"], "b": [0, 1, -3]})
    found = model.export(tmp_path / "net.params")
    said = re.search(r"names of states: (.*)", found.lost[2])[1]
    assert said == "no is A, yes is C, 0 is D, 1 is E, -3 is F"
    assert "".join(read_params(tmp_path / "net.params")[0]) == "ACBDEF"
    with pytest.raises(DataError, match="one letter for each state, and there are 200"):
        gw.PairwiseMRF({"a": list(range(200))}).export(tmp_path / "net.params")


def test_plmc_files_too_large_are_refused_first(tmp_path):
    model = gw.PairwiseMRF({i: ["A", "C", "-"] for i in range(11_000)})
    with pytest.raises(TooLargeError, match="11,000 variables and 3 letters make 4 GB"):
        model.export(tmp_path / "net.params")
    assert not list(tmp_path.iterdir())
