"""graftwork tag: label sentences with a model that graftwork crf wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import crf_options as own
from graftwork.cli import options as opt
from graftwork.cli.failures import say
from graftwork.cli.sentences import Verdict, keep_types_of_test, read_for_template
from graftwork.errors import ModelFileError

if TYPE_CHECKING:
    from graftwork.data import Template
    from graftwork.models import ChainModel

EXAMPLES = """Examples:
graftwork tag out/model.gw new.txt --out tagged.txt
graftwork tag out/model.gw test.txt.gz --marginals
zcat new.txt.gz | graftwork tag out/model.gw -

Columns must be those of the training file, with or without the label behind them; with it, scores
are printed, too (on stderr where the sentences go to stdout)."""


def tag(
    model: Annotated[Path, typer.Argument(help="A model file, as crf writes it (model.gw).")],
    file: own.Untagged,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file instead of stdout.")
    ] = None,
    marginals: Annotated[
        bool,
        typer.Option(
            "--marginals", help="Behind the predicted label, the probability of each as LABEL:P."
        ),
    ] = False,
    sep: own.Sep = None,
    jobs: opt.Jobs = None,
) -> None:
    """Label the tokens of a file: print its columns followed by the predicted label."""
    from graftwork.data.chains import conll_lines, write_conll
    from graftwork.models import load_chain, read_info

    chain, info = load_chain(model), read_info(model)
    template, width = _template(model, info)
    types = [str(name) for name in info.get("types") or ()]
    corpus = keep_types_of_test(read_for_template(file, sep, width), types)
    sequences = chain.read(template.attributes(corpus.tokens))
    tags = chain.predict(sequences, n_jobs=jobs)
    more = _probabilities(chain, sequences, jobs) if marginals else []
    tagged = corpus.with_columns(tags, *more)
    if out is None:
        for text in conll_lines(tagged, sep=sep):
            typer.echo(text, nl=False)
    else:
        write_conll(out, tagged, sep=sep)
    if corpus.labels is not None:
        text = Verdict.of(corpus, tags, chain.labels).words()
        if out is None:
            say(text)
        else:
            typer.echo(text)


def _template(path: Path, info: dict[str, Any]) -> tuple[Template, int]:
    """Return the template a model was learned with, and the number of columns it was given."""
    from graftwork.data import Template

    text = info.get("template")
    if not isinstance(text, str):
        raise ModelFileError(
            f"{str(path)!r} does not say by which template its attributes were made; learn it with "
            "graftwork crf, or save it with info={'template': ...}."
        )
    template = Template.parse(text)
    looked = max((look.column + 1 for line in template.lines for look in line.looks), default=1)
    columns = info.get("columns")
    return template, columns if isinstance(columns, int) else looked


def _probabilities(chain: ChainModel, sequences: Any, jobs: int | None) -> list[list[list[str]]]:
    """Return a column for each label: its probability at each token, with its name in front."""
    found = chain.marginals(sequences, n_jobs=jobs)
    return [
        [[f"{label}:{p:.6f}" for p in part[:, c].tolist()] for part in found]
        for c, label in enumerate(chain.labels)
    ]
