"""Templates: two languages, one meaning; attributes against a slow cell-by-cell expansion."""

from __future__ import annotations

import random
import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftwork.data import Template
from graftwork.errors import DataError

from doors.data import FUNCTIONS, NAMED, shape

SENTENCES = [
    [("The", "DT"), ("man", "NN"), ("sleeps", "VBZ"), (".", ".")],
    [("Why", "WRB")],
]
# The CRF++ example for CoNLL-2000 in its own language.
CRFPP = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]

U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

# Bigram
B
"""


def expanded(template: str, sentence: list[tuple[str, ...]], at: int) -> list[str]:
    """What CRF++ makes of each U line at one token, macro by macro."""

    def cell(macro: re.Match) -> str:
        row, column = at + int(macro[1]), int(macro[2])
        if row < 0:
            return f"_B{row}"
        if row >= len(sentence):
            return f"_B+{row - len(sentence) + 1}"
        return sentence[row][column]

    lines = [line for line in template.splitlines() if line.startswith("U")]
    return [re.sub(r"%x\[(-?\d+),(\d+)\]", cell, line) for line in lines]


def test_attributes_are_those_of_crfpp():
    attributes = Template.parse(CRFPP).attributes(SENTENCES)
    for sentence, found in zip(SENTENCES, attributes, strict=True):
        for at, row in enumerate(found):
            ours = [text.partition("=")[2].replace("|", "/") for text in row]
            assert ours == [text.partition(":")[2] for text in expanded(CRFPP, sentence, at)]


def test_the_chunking_template_is_the_example_of_crfpp_and_a_bias():
    theirs = Template.parse(CRFPP)
    ours = Template.named("chunking")
    assert ours.lines[0].name == "bias"
    assert ours.lines[1:] == theirs.lines
    assert ours.transitions
    assert theirs.transitions


def test_readable_attributes():
    text = """
    columns: form pos
    form[-1..1]            # a window
    form[-1] | lower(form[0])
    prefix2(form[0]) suffix3(form[1])
    shape( form[ 0 ] ) pos[+1]

    bias
    """
    template = Template.parse(text)
    assert not template.transitions
    assert template.attributes(SENTENCES)[0][0] == [
        "form[-1]=_B-1",
        "form[0]=The",
        "form[1]=man",
        "form[-1]|lower(form[0])=_B-1|the",
        "prefix2(form[0])|suffix3(form[1])=Th|man",
        "shape(form[0])|pos[1]=Xx|NN",
        "bias",
    ]
    assert template.attributes(SENTENCES)[1] == [
        [
            "form[-1]=_B-1",
            "form[0]=Why",
            "form[1]=_B+1",
            "form[-1]|lower(form[0])=_B-1|why",
            "prefix2(form[0])|suffix3(form[1])=Wh|_B+1",
            "shape(form[0])|pos[1]=Xx|_B+1",
            "bias",
        ]
    ]


@pytest.mark.parametrize(
    ("readable", "crfpp"),
    [
        ("word[0]", "U00:%x[0,0]"),
        ("c0[0] c1[-3] c2[1]", "U:%x[0,0]%x[-3,1]-%x[1,2]"),
        ("bias", "U"),
        ("bias\ntransitions", "U77:\nB\nB"),
        ("word[-1..1]\nword[0]", "U1:%x[-1,0]\nU2:%x[0,0]\nU3:%x[1,0]"),
        ("word[0]", "U1:%x[0,0] # twice\nU1:%x[0,0]\nU2:%x[0,0]"),
        ("columns: form\nform[0] c1[0]", "columns: form\nU0:%x[0,0]#%x[0,1]"),
        ("transitions", "B"),
    ],
)
def test_one_meaning_in_both_languages(readable, crfpp):
    assert Template.parse(readable) == Template.parse(crfpp)


@pytest.mark.parametrize(
    "text",
    [*NAMED.values(), CRFPP, "columns: a b\nb[0] lower(b[1])", "word[0]\nc4[1] tag[0]", "B"],
)
def test_text_gives_the_template_back(text):
    template = Template.parse(text)
    assert Template.parse(template.text()) == template
    assert template.lines == tuple(dict.fromkeys(template.lines))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no lines"),
        ("# nothing\n\n", "has no lines"),
        ("\nB01:%x[0,0]", r"^template line 2, 'B01:%x\[0,0\]': transitions that look at the input"),
        ("B00", "write B alone"),
        ("U00:%x[0]", r"after each % there must be x\[row,column\]"),
        ("U00:%y[0,0]", "after each %"),
        ("X00:%x[0,0]", "begin with U"),
        ("U:%x[-1,0]\nU:%x[1,0]", "another line has the id 'U'"),
        ("U0:%x[100,0]", "position 100 is out of reach"),
        ("word[-100]", "out of reach"),
        ("word[99999999999999999999]", "out of reach"),
        ("word[0] wrod", r"template line 1, 'word\[0\] wrod': 'wrod' cannot be read"),
        ("word[0]word[1]", "cannot be read"),
        ("lower(word[0]", "cannot be read"),
        ("wrod[0]", "no column 'wrod'; did you mean 'word'"),
        ("columns: form\nword[0]", "no column 'word'"),
        ("sufix3(word[0])", "no function 'sufix3'; did you mean 'suffix3'"),
        ("suffix10(word[0])", "no function 'suffix10'"),
        ("word[2..-2]", r"window 2\.\.-2 is empty; write -2\.\.2"),
        ("word[-99..99] word[-99..99]", "more than 10,000 lines"),
        ("word[0]\ncolumns: word", "in front of all other lines"),
        ("columns: a a", "two columns are called 'a'"),
        ("columns: c1 a", "'c1' always is column 1"),
        ("columns: 1st", "'1st' cannot name a column"),
        ("columns:", "no columns are named"),
    ],
)
def test_refused(text, said):
    with pytest.raises(DataError, match=said):
        Template.parse(text)


def test_names_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Template.read("words") == Template.named("words")
    (tmp_path / "words").write_text("word[0]")
    (tmp_path / "mine").write_text("word[1]")
    (tmp_path / "bad.txt").write_text("word[0]\nword")
    assert Template.read("words") == Template.named("words")
    assert Template.read("./words") == Template.parse("word[0]")
    assert Template.read(tmp_path / "words") == Template.parse("word[0]")
    assert Template.read("mine") == Template.parse("word[1]")
    with pytest.raises(DataError, match=r"bad\.txt: template line 2, 'word': "):
        Template.read("bad.txt")
    with pytest.raises(DataError, match=r"no template 'chunkin'; did you mean 'chunking'\? The na"):
        Template.read("chunkin")
    with pytest.raises(DataError, match="The names are 'chunking', 'words'"):
        Template.named("ner")
    with pytest.raises(DataError, match=r"bda\.txt: there is no such file .*'bad\.txt'"):
        Template.read("bda.txt")


def test_tokens_may_be_plain_words():
    template = Template.named("words")
    words = [["Ähre", "läuft", "日本"], ["x"]]
    assert template.attributes(words) == template.attributes([[(w,) for w in s] for s in words])
    first = template.attributes(words)[0]
    assert "suffix3(word[0])=uft" in first[1]
    assert "shape(word[0])=Xx" in first[0]
    assert "shape(word[0])=x" in first[2]
    assert "prefix1(word[0])=日" in first[2]


def test_nothing_to_look_at():
    assert Template.named("chunking").attributes([]) == []
    assert Template.named("chunking").attributes([[], [("a", "b")]])[0] == []
    assert Template.parse("bias").attributes([[("a",)] * 2]) == [[["bias"], ["bias"]]]
    out = Template.parse("B").attributes([["a", "b"]])
    assert out == [[[], []]]
    assert out[0][0] is not out[0][1]


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        (
            [[("a", "b")], [("a",)]],
            r"line 'word\[0\] tag\[1\]' looks at column 1 \('tag', counted from 0\), "
            r"but sentence 1 has 1 column ",
        ),
        ([["a"]], "sentence 0 has 1 column "),
        ([[("a", "b"), ("a",)]], "sentence 0 has tokens with 1 and with 2 columns"),
        ([[("a", 3)]], r"sentence 0 has 3 \(int\) in column 1"),
        ([[("a", "b"), "cd"]], "a sentence is a list of words"),
        (["word"], "sentence 0 is 'word'"),
    ],
)
def test_data_that_do_not_fit(sentences, said):
    with pytest.raises(DataError, match=said):
        Template.parse("word[0]\nword[0] tag[1]").attributes(sentences)


CELLS = st.text("a|\\=_B-1+", max_size=4)


@given(st.lists(CELLS, min_size=1, max_size=4), st.lists(CELLS, min_size=1, max_size=4))
def test_attributes_are_equal_only_where_all_cells_are(one, other):
    template = Template.parse("word[-2..2]\nword[-1] word[0]\nword[0] word[1] word[2]\nbias")

    def seen(words, t, looks):
        # ints outside the sentence, which no word equals
        n = len(words)
        places = [t + o for o in looks]
        return [words[p] if 0 <= p < n else (p if p < 0 else p - n + 1) for p in places]

    looks = [[-2], [-1], [0], [1], [2], [-1, 0], [0, 1, 2], []]
    rows = [
        (k, seen(words, t, look), attribute)
        for words in (one, other)
        for t, found in enumerate(template.attributes([words])[0])
        for k, (look, attribute) in enumerate(zip(looks, found, strict=True))
    ]
    for k, cells, attribute in rows:
        for k2, cells2, attribute2 in rows:
            assert (attribute == attribute2) == ((k, cells) == (k2, cells2))


def test_equal_attributes_are_one_object():
    rng = random.Random(0)
    words = [[f"w{rng.randrange(5)}" for _ in range(10)] for _ in range(5)]
    out = Template.named("words").attributes(words)
    attributes = list(chain.from_iterable(chain.from_iterable(out)))
    assert len(set(map(id, attributes))) == len(set(attributes)) < len(attributes)


@pytest.mark.parametrize(
    ("word", "said"),
    [("", ""), ("McDonald's", "XxXx'x"), ("10%", "d%"), ("--", "--"), ("ǅ", "X"), ("½a", "dx")],
)
def test_shape(word, said):
    assert shape(word) == said


def test_prefixes_and_suffixes_of_short_words_are_the_words():
    assert [FUNCTIONS[f"prefix{n}"]("abc") for n in (1, 3, 9)] == ["a", "abc", "abc"]
    assert [FUNCTIONS[f"suffix{n}"]("abc") for n in (1, 3, 9)] == ["c", "abc", "abc"]
    assert FUNCTIONS["suffix1"]("") == ""
