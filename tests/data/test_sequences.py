"""Sequences from lists, dicts and matrices; labels and weights; every refusal."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from graftwork.data import Sequences, as_sequences, encode_labels
from graftwork.errors import DataError

from doors.data import Vocabulary, attributes, check_weights, count_columns, decode_labels
from doors.data import sequences as sequences_module

LISTS = [[["w=the", "first"], ["w=dog"]], [["w=go", "first"]]]
DENSE = np.array([[1.0, 0.0, 2.5], [0.0, 0.0, 0.0], [-1.0, 3.0, 1e12]])


def spelled(sequences: Sequences) -> list[list[dict]]:
    """Return what the flat arrays say, by plain loops."""
    values = sequences.values if sequences.values.size else np.ones(sequences.indices.size)
    rows = []
    for t in range(sequences.n_positions):
        part = slice(sequences.indptr[t], sequences.indptr[t + 1])
        row = Counter()
        for number, value in zip(sequences.indices[part], values[part], strict=True):
            row[sequences.names[number]] += float(value)
        assert len(row) == len(sequences.indices[part])
        rows.append(dict(row))
    starts = sequences.starts
    return [rows[a:b] for a, b in pairwise(starts)]


def refused(message: str, X, *args, **more):
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        as_sequences(X, *args, **more)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text


def test_lists_are_numbered_by_first_appearance():
    made = as_sequences(LISTS)
    assert made.names == ("w=the", "first", "w=dog", "w=go")
    assert made.starts.tolist() == [0, 2, 3]
    assert made.indptr.tolist() == [0, 2, 3, 5]
    assert made.indices.tolist() == [0, 1, 2, 3, 1]
    assert made.values.shape == (0,)
    assert (made.n_sequences, made.n_positions, made.n_attributes, len(made)) == (2, 3, 4, 2)
    assert made.lengths.tolist() == [2, 1]
    dtypes = [a.dtype for a in (made.starts, made.indptr, made.indices, made.values)]
    assert dtypes == [np.int64, np.int64, np.int32, np.float64]
    assert repr(made) == "Sequences: 2 sequences, 3 positions, 4 attributes"
    assert repr(as_sequences([[["a"]]])) == "Sequences: 1 sequence, 1 position, 1 attribute"


def ragged(entries):
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out


@pytest.mark.parametrize(
    "X",
    [
        tuple(tuple(map(tuple, s)) for s in LISTS),
        (iter(s) for s in LISTS),
        iter(LISTS),
        ragged(LISTS),
        [ragged(s) for s in LISTS],
        pd.Series(LISTS),
        [[[np.str_(a) for a in item] for item in s] for s in LISTS],
        [[dict.fromkeys(item, 1) for item in s] for s in LISTS],
        [[dict.fromkeys(item, np.bool_(True)) for item in s] for s in LISTS],
        [[LISTS[0][0], dict.fromkeys(LISTS[0][1], True)], LISTS[1]],
    ],
)
def test_the_same_sequences_in_other_containers(X):
    made, wanted = as_sequences(X), as_sequences(LISTS)
    assert made.names == wanted.names
    assert {type(name) for name in made.names} == {str}
    for field in ("starts", "indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(made, field), getattr(wanted, field))


def test_sets_are_read_in_natural_order():
    made = as_sequences([[{"b", "a", "d"}, frozenset("c")]])
    assert made.names == ("a", "b", "d", "c")


def test_any_hashable_is_an_attribute():
    made = as_sequences([[["a", 1, ("w", -1)], [1, b"x"]]])
    assert made.names == ("a", 1, ("w", -1), b"x")


def test_dicts_follow_crfsuite():
    item = {
        "number": 2,
        "half": 0.5,
        "yes": True,
        "no": False,
        "text": "a",
        "nested": {"n": -1.5, "deep": {"t": "u"}, "k": ["p"]},
        "list": ["x", "y"],
        "tuple": ("x",),
        "set": {"q", "p"},
        "empty": {},
        "np": np.float32(0.25),
        "npint": np.int8(-3),
        "nptext": np.str_("s"),
        "fraction": Fraction(1, 4),
        "decimal": Decimal("0.125"),
        "zero": 0,
    }
    assert spelled(as_sequences([[item]])) == [
        [
            {
                "number": 2.0,
                "half": 0.5,
                "yes": 1.0,
                "no": 0.0,
                "text:a": 1.0,
                "nested:n": -1.5,
                "nested:deep:t:u": 1.0,
                "nested:k:p": 1.0,
                "list:x": 1.0,
                "list:y": 1.0,
                "tuple:x": 1.0,
                "set:p": 1.0,
                "set:q": 1.0,
                "np": 0.25,
                "npint": -3.0,
                "nptext:s": 1.0,
                "fraction": 0.25,
                "decimal": 0.125,
                "zero": 0.0,
            }
        ]
    ]


def test_zeros_that_are_written_down_are_there():
    made = as_sequences([[{"a": 0, "b": False, "c": 1}]])
    assert made.names == ("a", "b", "c")
    assert made.indices.tolist() == [0, 1, 2]
    assert made.values.tolist() == [0.0, 0.0, 1.0]
    stored = sparse.csr_array((np.array([0.0, 2.0]), np.array([1, 2]), np.array([0, 2])), (1, 3))
    assert spelled(as_sequences([stored])) == [[{1: 0.0, 2: 2.0}]]
    assert spelled(as_sequences([stored.toarray()])) == [[{2: 2.0}]]


def test_repeated_attributes_add_up():
    made = as_sequences([[["a", "b", "a"], ["b"]], [{"w:x": 2, "w": "x"}]])
    assert spelled(made) == [[{"a": 2.0, "b": 1.0}, {"b": 1.0}], [{"w:x": 3.0}]]


def test_items_without_attributes():
    made = as_sequences([[[], {}], [()]])
    assert (made.n_positions, made.n_attributes, made.indices.size) == (3, 0, 0)


MATRICES = {
    "list of dense": lambda: ([DENSE[:2], DENSE[2:]], None),
    "list of csr": lambda: ([sparse.csr_matrix(DENSE[:2]), sparse.csr_array(DENSE[2:])], None),
    "list of both": lambda: ([sparse.csc_array(DENSE[:2]), DENSE[2:]], None),
    "flat dense": lambda: (DENSE, [2, 1]),
    "flat fortran": lambda: (np.asfortranarray(DENSE), [2, 1]),
    "flat csr": lambda: (sparse.csr_array(DENSE), np.array([2, 1], dtype=np.uint8)),
    "flat coo": lambda: (sparse.coo_matrix(DENSE), [2.0, 1.0]),
    "flat longdouble": lambda: (DENSE.astype(np.longdouble), (2, 1)),
    "flat masked": lambda: (np.ma.array(DENSE), iter([2, 1])),
}


@pytest.mark.parametrize("form", MATRICES)
def test_matrices(form):
    X, lengths = MATRICES[form]()
    made = as_sequences(X, lengths)
    assert made.names == (0, 1, 2)
    assert spelled(made) == [[{0: 1.0, 2: 2.5}, {}], [{0: -1.0, 1: 3.0, 2: 1e12}]]


def test_arrays_of_three_dimensions_and_without_zeros():
    X = np.random.default_rng(0).normal(size=(4, 3, 2))
    made = as_sequences(X)
    np.testing.assert_array_equal(made.values.reshape(4, 3, 2), X)
    assert made.indices.tolist() == [0, 1] * 12
    assert made.lengths.tolist() == [3] * 4
    assert spelled(made) == spelled(as_sequences(list(X)))


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.float32])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_bools_and_integers_become_floats(kind, make):
    made = as_sequences([make(np.array([[1, 0], [1, 1]], dtype=kind))])
    assert made.values.shape == (0,)
    assert made.indices.tolist() == [0, 0, 1]


def test_half_precision_beside_a_sparse_matrix():
    half = np.ones((1, 3), dtype=np.float16)
    assert as_sequences([half]).values.shape == (0,)
    assert spelled(as_sequences([sparse.csr_array(DENSE), half]))[1] == [{0: 1.0, 1: 1.0, 2: 1.0}]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_huge_integers(make):
    made = as_sequences([make(np.array([[2**39]], dtype=np.uint64))])
    assert made.values.tolist() == [2.0**39]
    assert as_sequences([[{"a": 10**12}]]).values.tolist() == [1e12]


def test_a_sparse_matrix_stays_as_it_was():
    X = sparse.csr_array((np.ones(3), [1, 0, 1], [0, 3]), shape=(1, 2))
    made = as_sequences(X, [1])
    assert spelled(made) == [[{0: 1.0, 1: 2.0}]]
    assert X.indices.tolist() == [1, 0, 1]
    assert X.data.tolist() == [1, 1, 1]


def test_known_attributes_only():
    known = Vocabulary.of(["first", "w=go", "never"])
    made = as_sequences(LISTS, known=known)
    assert made.names == ("first", "w=go", "never")
    assert spelled(made) == [[{"first": 1.0}, {}], [{"w=go": 1.0, "first": 1.0}]]
    assert spelled(as_sequences(as_sequences(LISTS), known=known)) == spelled(made)
    dicts = as_sequences([[{"first": 0.5, "w": "go"}]], known=known)
    assert spelled(dicts) == [[{"first": 0.5}]]


def test_known_columns():
    made = as_sequences([DENSE], known=Vocabulary.of([2, 0]))
    assert made.names == (2, 0)
    assert spelled(made)[0][0] == {0: 1.0, 2: 2.5}
    known = Vocabulary.of("abc")
    swapped = as_sequences([DENSE[:, ::-1]], names="cbz", known=known)
    assert spelled(swapped)[0][2] == {"b": 3.0, "c": 1e12}


def test_sequences_come_back():
    made = as_sequences(LISTS)
    again = as_sequences(made)
    assert spelled(again) == spelled(made)
    assert spelled(pickle.loads(pickle.dumps(made))) == spelled(made)
    with pytest.raises(DataError, match="do not fit together"):
        Sequences(made.starts, made.indptr, made.indices, made.values, made.names[:2])
    with pytest.raises(DataError, match="do not fit together"):
        Sequences(made.starts, made.indptr[:-1], made.indices, made.values, made.names)


numbers = st.one_of(st.sampled_from([0.0, 1.0, 1, True]), st.floats(-1e12, 1e12))
rows = st.dictionaries(st.sampled_from("abcde"), numbers, max_size=5)
corpora = st.lists(st.lists(rows, min_size=1, max_size=4), min_size=1, max_size=4)


@given(corpora)
def test_dicts_and_matrices_say_the_same(X):
    names = "abcde"
    flat = [item for sequence in X for item in sequence]
    dense = np.array([[float(item.get(name, 0)) for name in names] for item in flat])
    lengths = [len(sequence) for sequence in X]
    wanted = [[{k: float(v) for k, v in item.items() if v} for item in s] for s in X]
    assert spelled(as_sequences(X)) == [[{k: float(v) for k, v in i.items()} for i in s] for s in X]
    assert spelled(as_sequences(dense, lengths, names=names)) == wanted
    assert spelled(as_sequences(sparse.csr_array(dense), lengths, names=names)) == wanted
    known = as_sequences(X, known=Vocabulary.of(names))
    rebuilt = sparse.csr_array(
        (
            known.values if known.values.size else np.ones(known.indices.size),
            known.indices,
            known.indptr,
        ),
        shape=dense.shape,
    )
    np.testing.assert_array_equal(rebuilt.toarray(), dense)


@given(
    st.lists(
        st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1), min_size=1, max_size=5
    )
)
def test_lists_are_counted(X):
    assert spelled(as_sequences(X)) == [[dict(Counter(item)) for item in s] for s in X]


@given(st.lists(st.lists(st.integers(0, 4), max_size=5)), st.booleans())
def test_repeats_are_found(bags, many):
    bags = [*bags, list(range(5, 105))] if many else bags
    indptr = np.concatenate([[0], np.cumsum([len(bag) for bag in bags], dtype=np.int64)])
    indices = np.array([number for bag in bags for number in bag], dtype=np.int32)
    names = tuple(map(str, range(105)))
    made = attributes.Bags(indptr.astype(np.int64), indices, np.ones(0), names)
    assert attributes._repeats(made) == any(len(set(bag)) < len(bag) for bag in bags)
    assert made.indices.tolist() == [number for bag in bags for number in bag]


NOT_SEQUENCES = {
    "text": ("the dog", "X is of type str; give a list of sequences"),
    "none": (None, "X is of type NoneType; give a list of sequences"),
    "number": (3, "X is of type int"),
    "dict": ({"a": 1}, "X is of type dict"),
    "set": ({"a"}, "X is of type set"),
    "list of texts": (["the", "dog"], "sequence 0 is of type str, but X is a list of sequences"),
    "flat dicts": ([{"a": 1}], "sequence 0 is a dict, but a sequence is a list of items; if X is"),
    "list of numbers": ([1, 2], "sequence 0 is of type int"),
    "one level too few": ([[["a"]], ["w=the", "b"]], "sequence 1, position 0 is the text 'w=the'"),
    "item of a wrong type": ([[["a"], 7]], "sequence 0, position 1 is a int, 7; an item is a list"),
    "item that is an array": ([[np.ones(2)]], "sequence 0, position 0 is a ndarray"),
    "one level too many": ([[[{"a": 1}]]], "sequence 0, position 0 holds a dict as an attribute"),
    "list as attribute": ([[["a"], ["b", ["c"]]]], "sequence 0, position 1 holds a list"),
    "floats": ([[["a"], [0.5, 1.5]]], "sequence 0, position 1 has 0.5 as the name"),
    "missing name": ([[["a", None]]], "sequence 0, position 0 has None as the name"),
    "bools": ([[[True]]], "sequence 0, position 0 has True as the name"),
    "one array": (np.ones(3), "X is an array of type float64 with 1 dimensions"),
    "rows of numbers": ([np.ones(3)], "sequence 0 is an array with 1 dimensions"),
    "cube in a list": ([np.ones((1, 1, 1))], "sequence 0 is an array with 3 dimensions"),
    "objects": ([DENSE.astype(object)], "sequence 0 is a matrix of type object, not of numbers"),
    "object cube": (np.empty((1, 1, 1), dtype=object), "X is a matrix of type object"),
    "texts": ([DENSE, DENSE.astype(str)], "sequence 1 is a matrix of type <U"),
    "complex": ([DENSE * 1j], "Complex data not supported: sequence 0"),
    "sparse complex": ([sparse.csr_array(DENSE * 1j)], "Complex data not supported: sequence 0"),
    "columns": ([DENSE, DENSE[:, :2]], "sequence 1 has 2 columns, but sequence 0 has 3"),
    "columns after an empty list": ([[], DENSE, DENSE[:, :2]], "sequence 2 has 2 columns, but seq"),
    "mixed": ([DENSE, [["a"]]], "sequence 0 is a ndarray and sequence 1 a list"),
    "mixed after an empty list": ([[], DENSE, [["a"]]], "sequence 1 is a ndarray and sequence 2 a"),
    "mixed the other way": ([[["a"]], DENSE], "sequence 0 is a list and sequence 1 a ndarray"),
    "pandas": (pd.DataFrame({"a": [1]}), "X is a data frame"),
    "polars": (pl.DataFrame({"a": [1]}), "X is a data frame"),
    "frames": ([pd.DataFrame({"a": [1]})], "sequence 0 is a data frame; use .to_numpy()"),
    "flat without lengths": (DENSE, "so lengths must say how many rows"),
}


@pytest.mark.parametrize("case", NOT_SEQUENCES)
def test_what_is_refused(case):
    X, message = NOT_SEQUENCES[case]
    refused(message, X)


EMPTY = {
    "nothing": ([], [0]),
    "a tuple of nothing": ((), [0]),
    "an empty sequence": ([[]], [0, 0]),
    "among lists": ([[], [["a"], ["b"]], (), [["a"]], []], [0, 0, 2, 2, 3, 3]),
    "a matrix without rows": ([DENSE[:0]], [0, 0]),
    "among matrices": ([DENSE[:0], DENSE, [], sparse.csr_array(DENSE[:1])], [0, 0, 3, 3, 4]),
    "a cube of no sequences": (np.zeros((0, 2, 3)), [0]),
    "a cube without positions": (np.zeros((2, 0, 3)), [0, 0, 0]),
}


@pytest.mark.parametrize("case", EMPTY)
def test_sequences_may_be_empty(case):
    sequences, starts = EMPTY[case]
    found = as_sequences(sequences)
    assert found.starts.tolist() == starts
    assert found.starts.dtype == np.int64
    again = as_sequences(found, known=Vocabulary.of(found.names))
    assert again.starts.tolist() == starts
    assert again.indices.tolist() == found.indices.tolist()


def test_lengths_may_be_zero():
    assert as_sequences(DENSE, [0, 2, 0, 1]).starts.tolist() == [0, 0, 2, 2, 3]
    assert as_sequences(DENSE[:0], []).starts.tolist() == [0]


def test_the_columns_of_matrices_are_counted_past_empty_lists():
    assert count_columns([[], DENSE]) == 3
    assert count_columns([[], [["a"]]]) is None
    assert count_columns([[]]) is None


VALUES = {
    "nan": (float("nan"), "Input contains NaN for attribute 'a' in sequence 1, position 2"),
    "numpy nan": (np.float32("nan"), "Input contains NaN for attribute 'a'"),
    "too large to square": (-1e13, "the value -1e+13 of attribute 'a'"),
    "inf": (float("-inf"), "Input contains infinity (-inf) for attribute 'a'"),
    "too large": (-(10**400), "Input contains infinity (-inf) for attribute 'a'"),
    "too large a fraction": (Fraction(10**400), "Input contains infinity (inf)"),
    "none": (None, "sequence 1, position 2: attribute 'a' has the value None of type NoneType"),
    "complex": (1j, "sequence 1, position 2: attribute 'a' has the value 1j of type complex"),
    "object": ({"b": object()}, "sequence 1, position 2: attribute 'a:b' has the value <object"),
    "bytes": (b"x", "attribute 'a' has the value b'x' of type bytes"),
    "vector": ([0.5, 0.2], "sequence 1, position 2: attribute 'a' has a list that holds more than"),
    "array": (np.ones(2), "attribute 'a' has the value array([1., 1.]) of type ndarray"),
}


@pytest.mark.parametrize("case", VALUES)
def test_values_that_are_refused(case):
    value, message = VALUES[case]
    refused(message, [[["b"]], [{"b": 1}, ["a"], {"a": value}]])


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_cells_that_are_refused(make, value):
    X = DENSE.copy()
    X[1, 2] = value
    what = "NaN" if np.isnan(value) else f"infinity ({value})"
    refused(f"Input contains {what} for attribute 2 in sequence 1, position 1", [DENSE, make(X)])
    refused(f"{what} for attribute 'c' in sequence 1, position 0", make(X), [1, 2], names="abc")


def test_masked_cells_and_too_large_ones():
    refused("NaN for attribute 1", [np.ma.array([[1.0, 2.0]], mask=[[False, True]])])
    both = [sparse.csr_array((1, 1)), np.ma.array([[1.0]], mask=True)]
    refused("NaN for attribute 0 in sequence 1", both)
    large = np.array([[np.longdouble("1e4000")]])
    if np.isfinite(large).all():
        refused("infinity (inf) for attribute 0", [large])


LENGTHS = {
    "sum": ([2, 2], "lengths add up to 4, but X has 3 rows"),
    "negative": ([4, -1], "the length of sequence 1 is -1"),
    "half": ([1.5, 1.5], "give a list of whole numbers"),
    "nan": ([np.nan], "give a list of whole numbers"),
    "infinite": ([np.inf], "lengths add up to inf"),
    "text": ("12", "give a list of whole numbers"),
    "one number": (3, "lengths are 3; give a list of whole numbers"),
    "bools": ([True, True, True], "give a list of whole numbers"),
    "ragged": ([[1], [1, 1]], "give a list of whole numbers"),
    "none at all": ([], "lengths add up to 0, but X has 3 rows"),
}


@pytest.mark.parametrize("case", LENGTHS)
def test_lengths_that_are_refused(case):
    lengths, message = LENGTHS[case]
    refused(message, DENSE, lengths)
    refused(message, sparse.csr_array(DENSE), lengths)


def test_lengths_and_names_where_they_do_not_belong():
    refused("lengths go with one matrix", LISTS, [2, 1])
    refused("lengths go with one matrix", DENSE[None], [3])
    refused("names go with matrices", LISTS, names=["a"])
    refused("2 names were given, but X has 3 columns", [DENSE], names="ab")
    refused("these occur more than once: 'a'", [DENSE], names="aba")


X = as_sequences(LISTS)


@pytest.mark.parametrize(
    "y",
    [
        [["D", "N"], ["V"]],
        (("D", "N"), iter("V")),
        (iter(labels) for labels in ("DN", "V")),
        [np.array(["D", "N"]), np.array(["V"], dtype=object)],
        ["D", "N", "V"],
        np.array(["D", "N", "V"]),
        pd.Series(["D", "N", "V"]),
        pd.Series([["D", "N"], ["V"]]),
        [pl.Series(["D", "N"]), pd.Series(["V"])],
    ],
)
def test_labels_in_any_container(y):
    codes, classes = encode_labels(y, X)
    assert codes.tolist() == [0, 1, 2]
    assert codes.dtype == np.int32
    assert classes == ("D", "N", "V")
    assert {type(label) for label in classes} == {str}
    assert decode_labels(codes, classes, X.starts) == [["D", "N"], ["V"]]


def test_labels_are_kept_and_ordered():
    assert encode_labels([[np.int64(10), 2], [True]], X)[1] == (True, 2, 10)
    assert encode_labels([[1, True], [0]], X)[1] == (True, 0, 1)
    codes, classes = encode_labels([[("B", 1), None.__class__], [("A", 1)]], X)
    assert decode_labels(codes, classes, X.starts)[0][0] == ("B", 1)
    unordered = [frozenset("ab"), frozenset("c")]
    assert encode_labels([unordered, unordered[:1]], X)[1] == tuple(unordered)
    square = as_sequences([[["a"], ["b"]]] * 2)
    assert encode_labels(np.array([[1, 0], [1, 1]]), square)[0].tolist() == [1, 0, 1, 1]


LABELS = {
    "text": ("DNV", "y is of type str; give a list of label sequences"),
    "none": (None, "y is of type NoneType"),
    "dict": ({"a": 1}, "y is of type dict"),
    "frame": (pd.DataFrame({"a": [1]}), "y is of type DataFrame"),
    "texts as sequences": (["DN", "V"], "y[0] is 'DN', but the labels of a sequence are a list"),
    "one text": ([["D", "N"], "V"], "y[1] is 'V', but the labels of a sequence are a list"),
    "a set": ([{"D", "N"}, ["V"]], "y[0] is {"),
    "too few sequences": ([["D", "N"]], "y has 1 label sequences, but X has 2 sequences with 3"),
    "too many labels": (list("DNVD"), "y has 4 labels, but X has 2 sequences with 3 positions"),
    "lengths": ([["D", "N"], ["V", "V"]], "sequence 1 has 2 labels in y, but 1 positions in X"),
    "missing": ([["D", None], ["V"]], "the label in sequence 0, position 1 is missing (None)"),
    "nan": ([[0.0, 1.0], [np.nan]], "the label in sequence 1, position 0 is missing (nan)"),
    "nan in an array": (np.array([0, np.nan, 1]), "sequence 0, position 1 is missing"),
    "NA": ([["D", pd.NA], ["V"]], "sequence 0, position 1 is missing"),
    "unhashable": ([["D", ["N"]], ["V"]], "the label in sequence 0, position 1 is a list that is"),
    "deeply": ([["D", ("N", [])], ["V"]], "the label in sequence 0, position 1 is a tuple that"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_that_are_refused(case):
    y, message = LABELS[case]
    with pytest.raises(DataError, match=re.escape(message)):
        encode_labels(y, X)


def test_labels_of_a_model():
    codes, classes = encode_labels([["D", "V"], ["V"]], X, classes=("V", "N", "D"))
    assert codes.tolist() == [2, 0, 0]
    assert codes.dtype == np.int32
    assert classes == ("V", "N", "D")
    assert encode_labels([[1.0, 0], [np.int8(1)]], X, classes=np.arange(2))[0].tolist() == [1, 0, 1]
    codes, classes = encode_labels([["D", "X"], [True]], X, classes=["D", 1])
    assert codes.tolist() == [0, -1, -1]
    assert classes == ("D", 1)


def test_labels_of_empty_sequences():
    some = as_sequences([[], [["a"]], []])
    assert encode_labels([[], ["D"], []], some)[0].tolist() == [0]
    with pytest.raises(DataError, match="sequence 0 has 1 labels in y, but 0 positions in X"):
        encode_labels([["D"], [], []], some)
    for none, words in (([], "X has no sequences"), ([[], []], "every sequence of X is empty")):
        nothing = as_sequences(none)
        assert encode_labels(none, nothing, classes="DV")[0].tolist() == []
        with pytest.raises(DataError, match=words):
            encode_labels(none, nothing)


def test_weights_of_sequences():
    assert check_weights(None, 3) is None
    assert check_weights([1, 0, 2], 3).tolist() == [1.0, 0.0, 2.0]
    for weights, message in {
        (1, 2): "weights have shape (2,), but X has 3 sequences; give one weight per sequence",
        (1, 2, np.nan): "the weight of sequence 2 is nan",
        (1, -2, 1): "the weight of sequence 1 is negative (-2)",
        (0, 0, 0): "all weights are zero; at least one sequence must count",
        ("a", "b", "c"): "weights must be numbers, one per sequence",
    }.items():
        with pytest.raises(DataError, match=re.escape(message)):
            check_weights(weights, 3)


def spelled_one_by_one(items):
    """Return the attributes of each dict, by the slow way alone."""
    counts, names, values = attributes._spelled(items, str)
    values = values if values.size else np.ones(len(names))
    ends = np.cumsum(counts)
    return [dict(zip(names[e - c : e], values[e - c : e], strict=True))
            for e, c in zip(ends, counts, strict=True)]  # fmt: skip


@pytest.mark.parametrize(
    "odd",
    [
        {"w": "the", "n": 2, "f": 0.5, "b": True},
        {"w:the": 1.0, "w": "a"},
        {1: "x", "w": "the"},
        {True: "x"},
        {"list": ["a", "b"], "deep": {"a": 1}},
        {"big": 10**400},
        {},
    ],
    ids=str,
)
def test_pairs_that_are_spelled_once_are_spelled_as_all_are(odd, monkeypatch):
    monkeypatch.setattr(attributes, "_FEW", 0)
    items = [{"w": "the", "b": True, "n": 1}, {"w": "a", "b": False}, {"w": "the", "f": 0.5}] * 5
    items.insert(3, odd)
    bags = attributes.bags_of_items(items, str)
    ends = bags.indptr
    found = [
        {bags.names[k]: bags.values[at] for at, k in enumerate(bags.indices[a:b], a)}
        for a, b in pairwise(ends.tolist())
    ]
    assert found == spelled_one_by_one(items)


def test_dicts_of_numbers_that_hardly_repeat_are_spelled_one_by_one():
    rng = np.random.default_rng(0)
    items = [{"a": float(x), "b": float(y)} for x, y in rng.random((200, 2))]
    assert attributes._by_pairs(items) is None
    assert attributes._by_pairs([{"a": "x", "b": 1.0}] * 10) is not None
    assert attributes.bags_of_items(items, str).names == ("a", "b")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_rows_of_frames_are_dicts_or_named_rows(library):
    rows = [{"w": "the", "n": 2.0, "up": True}, {"w": "dog", "n": 0.5, "up": False}]
    frame = library({name: [row[name] for row in rows] for name in rows[0]})
    assert spelled(as_sequences(frame, [1, 1])) == spelled(as_sequences([[row] for row in rows]))
    numbers = as_sequences(frame[["up", "n"]], [2])
    assert spelled(numbers) == [[{"up": 1.0, "n": 2.0}, {"n": 0.5}]]  # no zeros, as in a matrix
    known = Vocabulary.of(["n", "w:dog"])
    assert spelled(as_sequences(frame, [2], known=known)) == [
        [{"n": 2.0}, {"n": 0.5, "w:dog": 1.0}]
    ]
    assert spelled(as_sequences(pl.LazyFrame({"w": ["a"]}), [1])) == [[{"w:a": 1.0}]]
    for call, words in {
        (None, None): "does not say where sequences end; give lengths=",
        ((1,), None): "lengths add up to 1, but X has 2 rows",
        ((1, 1), "abc"): "the columns of a data frame have theirs",
    }.items():
        with pytest.raises(DataError, match=words):
            as_sequences(frame, call[0], names=call[1])
    with pytest.raises(DataError, match="one matrix or data frame of all positions"):
        as_sequences([[["a"]]], [1])
    with pytest.raises(DataError, match="NaN for attribute 'n' in sequence 1, position 0"):
        as_sequences(pd.DataFrame({"n": [1.0, np.nan]}), [1, 1])


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_stream_is_read_in_parts(monkeypatch, size):
    monkeypatch.setattr(sequences_module, "_PART", size)
    X = [[], [["a", "b"], ["b"]], [[]], [{"w": "a", "n": 2.0}], [["c", "a"], ["c", "c"]]]
    whole, parts = as_sequences(X), as_sequences(iter(X))
    for name in ("starts", "indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.names == whole.names
    assert as_sequences(iter([])).n_sequences == 0
    matrices = [DENSE, DENSE[:1]]
    assert spelled(as_sequences(iter(matrices))) == spelled(as_sequences(matrices))
    for wrong in ("text", [[0.5]], [{"a": np.nan}], [["a"], 3]):
        with pytest.raises(DataError) as one:
            as_sequences([*X, wrong])
        with pytest.raises(DataError) as other:
            as_sequences(iter([*X, wrong]))
        assert str(one.value) == str(other.value)
    with pytest.raises(DataError, match="matrices"):
        as_sequences(iter([*X, DENSE]))
