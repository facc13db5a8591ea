"""A learned chain in plain text, and its weights as a file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import islice
from os import PathLike
from typing import Any

from graftwork.estimators import ChainCRF
from graftwork.models import ChainModel
from graftwork.parameters import number
from graftwork.report.describe import certificate_text
from graftwork.report.trace import write_rows
from graftwork.text import WIDTH, count, names, section, table, verb, wrap

Record = dict[str, Any]
#: Title, rows, titles of columns, sides.
Grid = tuple[str, list[list[str]], list[str], str]

_LABELS_SHOWN = 40
_TRANSITIONS_SHOWN = 10


def chain_summary(
    crf: ChainCRF,
    *,
    template: str = "",
    prediction: str = "",
    top: int = 5,
) -> str:
    """Return what was learned, as plain text for people."""
    parts = [section(title, text) for title, text in chain_sections(crf, template)]
    if prediction:
        parts.append("Prediction\n" + "\n\n".join(map(_block, prediction.split("\n\n"))))
    parts += [text for text in [describe_chain(crf.model_, top=top)] if text]
    parts.append(section("Certificate", certificate_text(crf.certificate_)))
    return "\n\n".join(parts) + "\n"


def chain_sections(crf: ChainCRF, template: str = "") -> list[tuple[str, str]]:
    """Return headings and texts about a fitted chain, but for weights and certificate."""
    model = crf.model_
    made = f" made by {template}" if template else ""
    data = (
        f"{count(crf.n_sequences_, 'sentence')} with {count(crf.n_positions_, 'token')} and "
        f"{count(len(model.labels), 'label')}: {names(list(model.labels))}. "
        f"{count(crf.n_attributes_, 'attribute')}{made}."
    )
    penalty = penalty_words(crf.penalty, crf.lam_, float(crf.l2), crf.n_sequences_)
    return [("Data", data), ("Model", _kept_words(crf)), ("Penalty", penalty)]


def chain_words(model: ChainModel) -> str:
    """Return the size of a chain in a sentence.

    Examples
    --------
    >>> from graftwork.estimators import ChainCRF
    >>> crf = ChainCRF(lam=0.1).fit([[["w=a"], ["w=b"]]] * 9, [["A", "B"]] * 9)
    >>> chain_words(crf.model_)
    '1 feature: 0 weights of 0 attributes for labels, and 1 transition among 2 labels.'
    """
    return f"{count(model.n_features, 'feature')}: {_parts_words(model)}"


def _parts_words(model: ChainModel) -> str:
    """Return what the features of a chain are."""
    votes = len(model.vote_weights)
    return (
        f"{count(votes, 'weight')} of {count(len(model.attributes), 'attribute')} for labels, and "
        f"{count(model.n_features - votes, 'transition')} among "
        f"{count(len(model.labels), 'label')}."
    )


def penalty_words(penalty: str, lam: float, l2: float, n_sentences: int | None = None) -> str:
    """Return the penalty in words, with CRFsuite's strength where that is the same thing.

    Examples
    --------
    >>> penalty_words("l1", 0.01, 0.0, 200)
    "l1 with lambda 0.01 on the mean loss of a sentence (CRFsuite's c1 = 2)."
    >>> penalty_words("none", 0.0, 0.0)
    'There is no penalty.'
    """
    if penalty == "none" and not l2:
        return "There is no penalty."
    text = "" if penalty == "none" else f"{penalty} with lambda {lam:.4g}"
    if l2:
        text += f"{' and ' if text else ''}l2 {l2:.4g}"
    ours = {"l1": ("c1", lam), "elastic-net": ("c1", lam), "l2": ("c2", lam + l2)}
    same = [ours[penalty]] if penalty in ours else []
    if l2 and penalty in ("l1", "elastic-net"):
        same.append(("c2", l2))
    told = ", ".join(f"{name} = {value * (n_sentences or 0):.4g}" for name, value in same)
    crfsuite = f" (CRFsuite's {told})" if same and n_sentences else ""
    return f"{text} on the mean loss of a sentence{crfsuite}."


def describe_chain(model: ChainModel, *, top: int = 5) -> str:
    """Return the strongest weights of each label and the strongest transitions, as tables.

    Examples
    --------
    >>> from graftwork.estimators import ChainCRF
    >>> X, y = [[["w=a"], ["w=b"]], [["w=b"]]] * 9, [["A", "B"], ["A"]] * 9
    >>> print(describe_chain(ChainCRF(lam=0.01, tol=1e-6).fit(X, y).model_))
    Strongest weights for each label
      label  weight  attribute
      A       +1.59  w=b
      B       -1.59  w=b
    <BLANKLINE>
    Transitions, strongest first
      from  to  weight
      A     B    +7.79
    """
    if number("top", top, 0, whole=True) < 1:
        return ""
    return "\n\n".join(
        f"{title}\n{_cut(table(rows, titles, sides))}"
        for title, rows, titles, sides in chain_tables(model, top)
    )


def chain_tables(model: ChainModel, top: int) -> list[Grid]:
    """Return tables of weights and of transitions: a title and what `table` takes."""
    records = model.records()
    votes = [record for record in records if record["attribute"] is not None]
    moves = [record for record in records if record["attribute"] is None]
    return [*_vote_table(model, votes, top), *_move_table(model, moves)]


def write_weights(path: str | PathLike[str], model: ChainModel) -> None:
    """Write the weights as CSV, the largest first, and return None; the file appears whole or not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from graftwork.estimators import ChainCRF
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.csv")
    >>> write_weights(path, ChainCRF(lam=9).fit([[["w=a"]]], [["A"]]).model_)
    >>> path.read_text()
    'attribute,previous,label,weight\\n'
    """
    header = ["attribute", *(["before"] if model.order == 2 else []), "previous", "label", "weight"]
    write_rows(path, header, ([record[name] for name in header] for record in model.records()))


def _kept_words(crf: ChainCRF) -> str:
    """Return how many of the candidates and of the attributes are kept."""
    model, n = crf.model_, crf.n_candidates_
    order = {1: "the label before it", 2: "the two labels before it"}[model.order]
    share = f" ({model.n_features / n:.1%})".replace("%", " %") if n else ""
    gone = crf.n_attributes_ - len(model.attributes)
    return (
        f"Of {count(n, 'candidate')} {count(model.n_features, 'feature')} "
        f"{verb(model.n_features)} kept{share}: {_parts_words(model)} "
        f"{count(gone, 'attribute')} {verb(gone, 'has', 'have')} no weight. A label depends "
        f"on {order}."
    )


def _vote_table(model: ChainModel, votes: Iterable[Record], top: int) -> list[Grid]:
    """Return the strongest weights of attributes for each label."""
    by_label: dict[Any, list[Record]] = {label: [] for label in model.labels}
    for record in votes:
        found = by_label[record["label"]]
        if len(found) < top:
            found.append(record)
    some = {label: found for label, found in by_label.items() if found}
    if not some:
        return []
    rows = [
        [_text(label) if i == 0 else "", _signed(record), _attribute(record)]
        for label, found in islice(some.items(), _LABELS_SHOWN)
        for i, record in enumerate(found)
    ]
    title = "Strongest weights for each label"
    if len(some) > _LABELS_SHOWN:
        title = f"Strongest weights for {_LABELS_SHOWN} of {count(len(some), 'label')}"
    return [(title, rows, ["label", "weight", "attribute"], "lrl")]


def _move_table(model: ChainModel, moves: Sequence[Record]) -> list[Grid]:
    """Return the strongest transitions; in second order some look at two labels."""
    if not moves:
        return []
    two = model.order == 2
    rows = []
    for record in moves[:_TRANSITIONS_SHOWN]:
        before = "" if record.get("before") is None else _text(record["before"])
        row = [before, _text(record["previous"]), _text(record["label"]), _signed(record)]
        rows.append(row if two else row[1:])
    titles = ["before", "from", "to", "weight"][0 if two else 1 :]
    all_shown = len(moves) <= _TRANSITIONS_SHOWN
    title = "Transitions, strongest first" if all_shown else "Strongest transitions"
    return [(title, rows, titles, "lllr"[-len(titles) :])]


def _attribute(record: Record) -> str:
    """Return an attribute as text, with the label it looks back at where it does."""
    after = record["previous"]
    return _text(record["attribute"]) + ("" if after is None else f", after {_text(after)}")


def _text(value: Any) -> str:
    """Return a label or an attribute on one line."""
    text = str(value)
    return text if text and text.isprintable() else repr(text)


def _signed(record: Record) -> str:
    return f"{record['weight']:+.2f}"


def _block(text: str) -> str:
    """Return a paragraph wrapped, and a table as it is."""
    return _cut(textwrap.indent(text, "  ")) if "\n" in text else wrap(text)


def _cut(text: str) -> str:
    """Return lines, cut where they are too wide."""
    lines = text.splitlines()
    return "\n".join(line if len(line) <= WIDTH else line[: WIDTH - 3] + "..." for line in lines)
