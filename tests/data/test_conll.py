"""Column files: what is read, what is refused in one sentence, and the way back."""

from __future__ import annotations

import gzip
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftwork.data import read_conll
from graftwork.errors import DataError

from doors.data import split_labels, stream_conll, write_conll

TEXT = "He PRP B-NP\nsleeps VBZ B-VP\n\nWhy WRB B-ADVP\n"
SENTENCES = [[("He", "PRP", "B-NP"), ("sleeps", "VBZ", "B-VP")], [("Why", "WRB", "B-ADVP")]]


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="train.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.rstrip("\n"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\r"),
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", " \t ").replace("He", "  He"),
        "\n\n" + TEXT.replace("\n\n", "\n\n \t\n\n") + "\n\n",
        "\ufeff" + TEXT,
        "-DOCSTART- -X- O O\n\n" + TEXT,
        TEXT.replace("\n\n", "\n-DOCSTART-\n"),
    ],
)
def test_one_file_written_in_many_ways(write, text):
    assert read_conll(write(text)) == SENTENCES
    assert read_conll(write(gzip.compress(text.encode()), "train")) == SENTENCES


def test_spaces_that_are_no_separators_stay_in_words(write):
    text = "10\u00a0000 CD\n\u3000 X\na\u2028b\x0bc Y\n"
    assert read_conll(write(text)) == [
        [("10\u00a0000", "CD"), ("\u3000", "X"), ("a\u2028b\x0bc", "Y")]
    ]


def test_a_separator_keeps_cells_as_they_are(write):
    path = write("New York\t\tB\nis \tVBZ\tO\n\t\t\nx\ty\tz\n")
    assert read_conll(path, sep="\t") == [
        [("New York", "", "B"), ("is ", "VBZ", "O")],
        [("x", "y", "z")],
    ]


def test_words_that_look_like_comments_are_words(write):
    assert read_conll(write("# # B-NP\n3 CD I-NP\n")) == [[("#", "#", "B-NP"), ("3", "CD", "I-NP")]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", r"^train\.txt: there is no token in the file\.$"),
        ("\n-DOCSTART- X\n \n", "there is no token"),
        ("a b c\n\nd e\n", r"train\.txt: line 3 has 2 columns, but line 1 has 3; .*sep="),
        ("\na b\nc\n", "line 3 has 1 column, but line 2 has 2"),
        (b"a b\n\n\xff b\n", "line 3 is not UTF-8"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-12], "damaged"),
    ],
)
def test_refused(write, content, said):
    with pytest.raises(DataError, match=said):
        read_conll(write(content))


def test_the_separator_is_named_where_columns_differ(write):
    with pytest.raises(DataError, match="check whether ',' is what"):
        read_conll(write("a,b\nc\n"), sep=",")
    with pytest.raises(DataError, match="sep='' must be"):
        read_conll(write("a b\n"), sep="")


def test_no_file(write, tmp_path):
    path = write(TEXT)
    with pytest.raises(DataError, match=r"trian\.txt: .*did you mean 'train\.txt'"):
        read_conll(path.with_name("trian.txt"))
    with pytest.raises(DataError, match="is a directory"):
        read_conll(tmp_path)


def test_split_labels():
    tokens, labels = split_labels(SENTENCES)
    assert tokens == [[("He", "PRP"), ("sleeps", "VBZ")], [("Why", "WRB")]]
    assert labels == [["B-NP", "B-VP"], ["B-ADVP"]]
    assert split_labels([]) == ([], [])
    with pytest.raises(DataError, match=r"sentence 1 has the token \('b',\) with 1 column, "):
        split_labels([[("a", "X")], [("b",)]])


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_there_and_back(tmp_path, name):
    path = tmp_path / name
    write_conll(path, SENTENCES)
    assert read_conll(path) == SENTENCES
    first = path.read_bytes()
    write_conll(path, iter(SENTENCES))
    assert path.read_bytes() == first
    assert (first[:2] == b"\x1f\x8b") == name.endswith(".gz")


CELLS = st.text(st.characters(codec="utf-8"), max_size=4)


@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=3), min_size=1, max_size=3
        )
    ),
    st.sampled_from([None, "\t", ", "]),
)
def test_what_is_written_reads_back_or_is_refused(tmp_path_factory, sentences, sep):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    try:
        write_conll(path, sentences, sep=sep)
    except DataError:
        spaced = any(set(cell) & set(" \t\r\n,\0") for s in sentences for t in s for cell in t)
        marked = any(cell == "" or "\ufeff" in cell for s in sentences for t in s for cell in t)
        comment = any(t[0].startswith("#") for s in sentences for t in s)
        assert spaced or marked or comment
    else:
        assert read_conll(path, sep=sep) == sentences


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        ([], "no sentences"),
        ([[("a",)], []], "sentence 1 is empty"),
        ([[("a", "b"), ("c",)]], r"sentence 0 has the token \('c',\) with 1 column, but .* has 2"),
        ([[("New York", "B")]], r"\('New York', 'B'\), which would not read back.*a tab as sep="),
        ([[("", "B")]], "would not read back"),
        ([[("a\n", "B")]], "would not read back"),
        ([[("-DOCSTART-", "B")]], "would not read back"),
        ([[()]], "would not read back"),
        ([[("#", "nn")]], r"would not read back.* begin a comment"),
    ],
)
def test_refused_before_the_old_file_is_touched(tmp_path, sentences, said):
    path = tmp_path / "out.txt"
    write_conll(path, SENTENCES)
    with pytest.raises(DataError, match=said):
        write_conll(path, sentences)
    assert read_conll(path) == SENTENCES


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_from_its_first_byte_on(pipe, pack):
    path = pipe(pack(b"He B-NP\nsleeps B-VP\n\nWhy B-ADVP\n"))
    assert read_conll(path) == [[("He", "B-NP"), ("sleeps", "B-VP")], [("Why", "B-ADVP")]]


def test_a_line_that_is_not_utf8_is_told_of_a_pipe_too(pipe):
    with pytest.raises(DataError, match=r"^pipe\d+: line 2 is not UTF-8 text"):
        read_conll(pipe(b"He B-NP\n\xff\xfe B-VP\n"))


def test_comments_are_no_tokens_and_number_signs_are(write):
    path = write(
        "# sent_id x\n#begin document (a)\nthe DT D\n# # N\n\n# text = The dog barks\n# NN N\n"
        "# newpar\ndog NN N\n"
    )
    assert read_conll(path) == [
        [("the", "DT", "D"), ("#", "#", "N")],
        [("#", "NN", "N"), ("dog", "NN", "N")],
    ]


CONLLU = """# newdoc id = a
# sent_id = 1
1-2\tAu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde facto\tde\tADP\tIN\t_\t2\tcase\t_\t_
2\tle\tle\tDET\tDT\t_\t0\troot\t_\tSpaceAfter=No
2.1\t_\tle\tVERB\t_\t_\t_\t_\t_\t_

# text = Go
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
"""


@pytest.mark.parametrize("sep", [None, "\t"])
def test_conllu_is_recognised(write, sep):
    path = write(CONLLU)
    found = read_conll(path, sep=sep)
    assert [[token[:2] for token in part] for part in found] == [
        [("1", "de facto"), ("2", "le")],
        [("1", "Go")],
    ]
    words = [[("de facto", "IN"), ("le", "DT")], [("Go", "VB")]]
    assert read_conll(path, sep=sep, label="xpos") == words
    assert read_conll(path, sep=sep, label="XPOS") == words
    assert read_conll(path, sep=sep, label=5) == words
    with pytest.raises(DataError, match=r"label='tag' is no column of CoNLL-U; use one of lemma"):
        read_conll(path, sep=sep, label="tag")


def test_the_label_may_be_any_column(write):
    path = write("D the x\nN dog y\n")
    assert read_conll(path, label=1) == [[("the", "x", "D"), ("dog", "y", "N")]]
    assert read_conll(path, label="3") == read_conll(path)
    with pytest.raises(DataError, match=r"train\.txt: there is no column 4: tokens have 3"):
        read_conll(path, label=4)
    with pytest.raises(DataError, match="the columns have no names, so label='upos' means none"):
        read_conll(path, label="upos")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_sentences_of_a_pipe_come_one_by_one(tmp_path, pack):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read, more = threading.Event(), pack(b"Why B-ADVP\n")

    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            pipe.write(pack(b"He B-NP\nsleeps B-VP\n\n"))
            if pack is bytes:
                read.wait(timeout=120)  # the second is written when the first was read
            pipe.write(more)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    sentences = stream_conll(path)
    assert next(sentences) == [("He", "B-NP"), ("sleeps", "B-VP")]
    read.set()
    assert list(sentences) == [[("Why", "B-ADVP")]]
    writer.join()
