"""graftwork compare-chains: the same sequences at the same lambda through many methods."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import crf_options as own
from graftwork.cli import options as opt
from graftwork.cli.compare import run
from graftwork.cli.methods import parse_chain_methods
from graftwork.cli.progress import Progress
from graftwork.cli.sentences import Files, parse_types, read_material, refuse_two_strengths
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.comparing.chains import ChainTask

    #: Sequences, and their labels.
    Labelled = tuple[Any, Any]

#: The paper's synthetic chain: what is drawn where there is no file.
_DRAWN = {
    "sequences": 3000,
    "test_sequences": 2000,
    "length": 8,
    "inputs": 1000,
    "relevant": 100,
    "labels": 2,
}
#: Its constant is 64 on the summed loss of 3,000 sequences.
_PAPERS_LAM = 64 / 3000

EXAMPLES = """Examples:
graftwork compare-chains
graftwork compare-chains --select 1,10,100 --methods grafting-light,grafting,full
graftwork compare-chains -m gauss-seidel --select 100 --max-seconds 300
graftwork compare-chains --sequences 500 --inputs 100 --relevant 10 --lam 0.05
graftwork compare-chains train.txt --test test.txt --c1 1 --out chunking
graftwork compare-chains train.txt --types NP --template my.tpl -m grafting-light:steps=2,full

Without a file the synthetic chain of the Grafting-Light paper is drawn.
Files have one token per line, its label in the last column, and blank lines between
sentences. Ctrl-C stops and keeps the results so far; a second one does not wait for the step under
way."""

_SYNTHETIC = "Synthetic sequences"
#: Options that say how a file is read.
_OF_FILES = ("test", "template", "types", "sep")


def _size(help_text: str, least: int) -> Any:
    """Return an option of the synthetic chain."""
    return typer.Option(metavar="N", help=help_text, min=least, rich_help_panel=_SYNTHETIC)


Train = Annotated[
    Path | None,
    typer.Argument(
        help="Sentences in columns (- for standard input); none draws the synthetic chain."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        "-m",
        metavar="NAME,NAME",
        help=f"Methods, with commas, or all: {', '.join(opt.CHAIN_METHODS)}. NAME:OPTION=VALUE "
        "sets an option of one. By default grafting-light, grafting and full.",
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        metavar="M,M",
        help="Features activated per round: each method that takes one is run with each of these.",
    ),
]
Lam = Annotated[
    float | None,
    typer.Option(help="Strength of the penalty, on the mean loss of a sequence.", min=0),
]
C1 = Annotated[
    float | None, typer.Option(help="The same on the summed loss, as CRFsuite has it.", min=0)
]


def compare_chains(
    context: typer.Context,
    train: Train = None,
    methods: Methods = None,
    select: Select = None,
    lam: Lam = None,
    c1: C1 = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path("compare"),
    seed: opt.Seed = 0,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw no figure.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write the files and print nothing.")
    ] = False,
    test: own.Test = None,
    template: own.TemplateOption = None,
    types: own.Types = None,
    sep: own.Sep = None,
    sequences: Annotated[int | None, _size("To learn from (3,000).", 1)] = None,
    test_sequences: Annotated[int | None, _size("To test on (2,000).", 1)] = None,
    length: Annotated[int | None, _size("Positions of each (8).", 1)] = None,
    inputs: Annotated[int | None, _size("Inputs of a position (1,000).", 1)] = None,
    relevant: Annotated[int | None, _size("Inputs that matter (100).", 0)] = None,
    labels: Annotated[int | None, _size("Labels (2).", 2)] = None,
    l2: opt.L2 = 0.0,
    tol: opt.ChainTol = None,
    jobs: opt.Jobs = None,
    max_features: own.MaxFeatures = None,
    max_seconds: opt.MaxSeconds = None,
) -> None:
    """Run several methods on labelled sequences at one lambda; compare six criteria.

    Training time, negative log-likelihood of the training set, test error rate, features in the
    end, features selected on the way, gradient evaluations. Limits apply to each method. Files:
    comparison.csv (a line per method), rounds.csv (every round), comparison.txt, comparison.json
    and comparison.png (a panel per criterion, against the features per round if --select has
    several).
    """
    given = context.params
    settings = {name: given[name] for name in ("l2", "tol", "max_features", "max_seconds")}
    settings["n_jobs"] = jobs
    words = ["grafting-light,grafting,full"] if methods is None else methods
    entries = parse_chain_methods(words, parse_select(select))
    check(given)
    files = None
    if train is not None:
        files = Files(opt.file_or_stdin(train), test, template, parse_types(types), sep)

    def read(progress: Progress) -> tuple[ChainTask, str]:
        from graftwork.comparing.chains import make_chain_task

        learned, tested = draw(given, progress) if files is None else read_files(files, progress)
        strength = strength_of(given, len(learned[1]))
        task = make_chain_task(*learned, entries, test=tested, lam=strength, **settings)
        progress.note(f"comparing on {str(task.train.sequences).partition(': ')[2]}")
        return task, ""

    raise typer.Exit(run(read, out, plot=not no_plot, quiet=quiet, noun="feature"))


def parse_select(text: str | None) -> list[int] | None:
    """Return whole numbers from 1 on, between commas.

    Examples
    --------
    >>> parse_select("1, 10,100")
    [1, 10, 100]
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        sentence = f"{text!r} is no list of whole numbers from 1 on, such as 1,10,100."
        raise typer.BadParameter(sentence, param_hint="'--select'")
    return [int(part) for part in parts]


def check(given: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other, before anything is read."""
    refuse_two_strengths(given["lam"], given["c1"])
    if given["train"] is None:
        strange = [f"--{name}" for name in _OF_FILES if given[name] is not None]
        remedy = "needs a file to learn from; name it first."
    else:
        strange = [f"--{name.replace('_', '-')}" for name in _DRAWN if given[name] is not None]
        remedy = "is for synthetic sequences; leave it out, or the file."
    if strange:
        raise DataError(f"{strange[0]} {remedy}")


def strength_of(given: Mapping[str, Any], n_sequences: int) -> float | None:
    """Return lambda: as given, on the mean loss or on the sum, or the paper's.

    Examples
    --------
    >>> strength_of({"train": "a.txt", "lam": None, "c1": 2.0}, 100)
    0.02
    """
    if given["c1"] is not None:
        return float(given["c1"] / n_sequences)
    papers = _PAPERS_LAM if given["train"] is None else None
    return papers if given["lam"] is None else float(given["lam"])


def draw(given: Mapping[str, Any], progress: Progress) -> tuple[Labelled, Labelled | None]:
    """Return sequences and labels drawn from a random chain, to learn from and to test on.

    Sizes that are not given are those of the paper.
    """
    from graftwork.datasets import labelled_chains

    progress.note("drawing sequences")
    size = {n: usual if given[n] is None else given[n] for n, usual in _DRAWN.items()}
    made = labelled_chains(
        size["sequences"] + size["test_sequences"], size["length"], size["inputs"],
        size["relevant"], size["labels"], random_state=given["seed"],
    )  # fmt: skip
    train, test = ((part.X, part.y) for part in made.split(size["sequences"]))
    return train, test


def read_files(files: Files, progress: Progress) -> tuple[Labelled, Labelled | None]:
    """Return attributes and labels of a file's sentences, and of another's to test on."""
    found = read_material(files, progress.note)
    train, test = (found.sequences, found.train.labels), found.test
    if test is None:
        return train, None
    return train, (found.template.attributes(test.tokens), test.labels)
