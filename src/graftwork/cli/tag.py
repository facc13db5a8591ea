"""graftwork tag: label sentences with a model that graftwork crf wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import crf_options as own
from graftwork.cli import options as opt
from graftwork.cli.failures import hand_over, say, tell
from graftwork.cli.sentences import Corpus, Layout, Verdict, keep_types_of_test
from graftwork.errors import ModelFileError

if TYPE_CHECKING:
    from graftwork.data import Template
    from graftwork.data.chains import Sentence
    from graftwork.models import ChainModel

EXAMPLES = """Examples:
graftwork tag out/model.gw new.txt --out tagged.txt
graftwork tag out/model.gw test.txt.gz --marginals
graftwork tag tagger.crfsuite new.txt --template template.txt
zcat new.txt.gz | graftwork tag out/model.gw -

Columns must be those of the training file, with or without the label; with it, scores are printed,
too (on stderr where the sentences go to stdout). Of CoNLL-U the words are read and printed. What
separates columns is what did in training, unless --sep says otherwise. Sentences from a pipe are
labelled as they come, each after its blank line."""

ModelTemplate = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="NAME|FILE",
        help="What a token's attributes are, for models that do not say it (CRFsuite's): chunking, "
        "words, or a file.",
    ),
]


def tag(
    model: Annotated[
        Path, typer.Argument(help="A model file, as crf writes it (model.gw), or of CRFsuite.")
    ],
    file: own.Untagged,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file instead of stdout.")
    ] = None,
    marginals: Annotated[
        bool,
        typer.Option(
            "--marginals",
            help="After the predicted label, print the probability of each label as LABEL:P.",
        ),
    ] = False,
    template: ModelTemplate = None,
    sep: own.Sep = None,
    jobs: opt.Jobs = None,
) -> None:
    """Label the tokens of a file: print its columns followed by the predicted label."""
    from graftwork.data.chains import conll_lines, write_conll

    chain, info, made_by, layout = chain_and_template(model, template, sep)
    types = [str(name) for name in info.get("types") or ()]
    parts = [layout.read(file)] if file.is_file() else layout.stream(file)
    rows: list[Sentence] = []
    corpora: list[Corpus] = []
    found: list[list[str]] = []
    blank = ""
    for part in parts:
        corpus = keep_types_of_test(part, types)
        sequences = chain.read(made_by.attributes(corpus.tokens))
        tags = chain.predict(sequences, n_jobs=jobs)
        more = _probabilities(chain, sequences, jobs) if marginals else []
        tagged = corpus.with_columns(tags, *more)
        if out is None:
            for text in conll_lines(tagged, sep=layout.sep):
                hand_over(blank + text)
                blank = ""
            blank = "\n"
        else:
            rows += tagged
        if corpus.labels is not None:
            corpora.append(corpus)
            found += tags
    if out is not None:
        write_conll(out, rows, sep=layout.sep)
    if corpora:
        whole = Corpus.joined(corpora)
        text = Verdict.of(whole, found, chain.labels).words()
        if out is None:
            say(text)
        else:
            tell(text)


def chain_and_template(
    path: Path, given: str | None, sep: str | None
) -> tuple[ChainModel, dict[str, Any], Template, Layout]:
    """Return a chain, how it was learned, its template, and the layout of its files.

    The template and what separates columns are those in the file, unless they are given.
    """
    from graftwork.data import Template
    from graftwork.exchange import load_chain, read_info

    chain, info = load_chain(path), read_info(path)
    text = info.get("template")
    if given is not None:
        template = Template.read(given)
    elif isinstance(text, str):
        template = Template.parse(text)
    else:
        raise ModelFileError(
            f"{str(path)!r} does not say by which template its attributes were made; say it with "
            "--template: chunking, words, or a file."
        )
    looked = max((look.column + 1 for line in template.lines for look in line.looks), default=1)
    columns = info.get("columns") if given is None else None
    width = columns if isinstance(columns, int) else looked
    kept, label = info.get("sep"), info.get("label")
    own = kept if sep is None and isinstance(kept, str) else sep
    return chain, info, template, Layout(width, own, label if isinstance(label, str) else None)


def _probabilities(chain: ChainModel, sequences: Any, jobs: int | None) -> list[list[list[str]]]:
    """Return a column for each label: its probability at each token, with its name in front."""
    found = chain.marginals(sequences, n_jobs=jobs)
    return [
        [[f"{label}:{p:.6f}" for p in part[:, c].tolist()] for part in found]
        for c, label in enumerate(chain.labels)
    ]
