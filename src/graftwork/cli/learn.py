"""graftwork learn: read, learn, measure, say what was found, write the files."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import INTERRUPTED, as_options, explain, mention, say, tell
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learner import as_learned, chosen, learner_settings, with_files
from graftwork.cli.measure import INTERRUPTED as UNMEASURED
from graftwork.cli.measure import NO_PARTS, measure
from graftwork.cli.parts import (
    asks_for_parts,
    check_criterion,
    is_pattern,
    name_of,
    rows_in_parts,
    source_words,
    too_large,
)
from graftwork.cli.presets import completed
from graftwork.cli.progress import Progress, progress_for
from graftwork.errors import DataError

if TYPE_CHECKING:
    from graftwork.contingency import PairTables
    from graftwork.data.placed import AnyTable
    from graftwork.estimators import MarkovNetwork
    from graftwork.estimators.predictability import Predictability
    from graftwork.models import PairwiseMRF
    from graftwork.report import HeldOut

    Measured = tuple[HeldOut | None, str]

LEFT_OUT = "predictability, centralities and the picture"
#: Share of the rows that are held out, unless they are read in parts.
HELD_OUT = 0.1
_FEW = 3
TOO_EARLY = "interrupted before there was a model to save."

EXAMPLES = """Examples:
graftwork learn mushroom
graftwork learn data.csv --out run --holdout 0.2 --jobs 2
graftwork learn data.csv --dry-run
graftwork learn survey.csv --drop id,comment
graftwork learn survey.csv --bins 7
graftwork learn survey.csv --columns age,sex,mood --columns 'height, cm'
graftwork learn counts.csv --weights n --strings
graftwork learn big.csv --lam 0.01 --max-edges 500 --max-seconds 600
graftwork learn 'sales/*.parquet' --memory 2GB
graftwork learn sales/ --memory 2GB --workdir packed --drop id
graftwork learn april.csv may.csv june.csv --holdout 0.1
graftwork learn 'sales/*.parquet' --scheduler tcp://10.0.0.1:8786
graftwork learn data.csv --method grafting-light:count=10 --penalty l1 --lam 0.02
graftwork learn data.csv --method chow-liu --loss likelihood
graftwork learn data.csv --method forced-pruning:exchange=5:delete=greedy --edges 40
graftwork learn data.csv --start out/model.gw --lam 0.01
graftwork learn data.csv --goal prediction --criterion k-fold:folds=5 --path
graftwork learn data.csv --tie 10
graftwork learn data.csv --preset best-choice-paper
graftwork learn data.csv --preset l1-markov-paper --lam 0.05
graftwork learn survey.csv --communities
graftwork learn data.csv --required smokes~cough --forbidden never.csv
graftwork learn survey.csv --missing available-case --missing-values '?'
graftwork learn counts.gwc --loss likelihood --lam 0.01

Ctrl-C stops and keeps the best network so far; a second one does not wait for the step under
way."""


#: The network of a run that is under way, and seconds between two writings of it.
SO_FAR, PAUSE = "so-far.gw", 60.0
#: Files of another run that would not fit, if this one does not write them.
_STALE = (
    "path.csv", "predictability.csv", "centrality.csv", "communities.csv", "network.png",
    "path.png", SO_FAR,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Rows, where they come from, and words for their states; files are of rows in parts."""

    table: AnyTable
    name: str
    embedded: bool
    meanings: dict[str, dict[str, str]] | None
    files: int = 0

    @property
    def words(self) -> str:
        """A sentence about rows that were read in parts, else an empty text."""
        return source_words(self.files, self.name) if self.files else ""


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts in place of rows, and where they come from."""

    table: PairTables
    name: str
    embedded: bool = False
    meanings: None = None
    files: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do around the learning itself."""

    data: Sequence[str]
    out: Path
    reading: opt.Reading
    parts: opt.InParts
    holdout: float | None
    seed: int
    plot: bool
    quiet: bool
    communities: bool = False
    path: bool = False

    def share(self, table: AnyTable) -> float:
        """Return the share of the rows to hold out: none of those in parts, unless asked for."""
        usual = HELD_OUT if _in_memory(table) else 0.0
        return usual if self.holdout is None else self.holdout


@opt.takes(
    opt.learning_options() | opt.reading_options() | opt.parts_options(),
    settings=learner_settings,
    reading=opt.Reading.of,
    parts=opt.InParts.of,
)
def learn(
    data: opt.LearnData,
    settings: dict[str, Any],
    reading: opt.Reading,
    parts: opt.InParts,
    out: opt.Out = Path("out"),
    holdout: Annotated[
        float | None,
        typer.Option(
            help="Share of the rows to test predictions on, by a second network learned from "
            "the others; 0 for none. For rows read in parts: 0 unless given, at most 100,000 rows.",
            min=0,
            max=0.9,
            show_default=str(HELD_OUT),
        ),
    ] = None,
    seed: opt.Seed = 0,
    communities: opt.Communities = False,
    path: opt.ShowPath = False,
    no_plot: opt.NoPlot = False,
    quiet: opt.Quiet = False,
    dry_run: opt.DryRun = False,
) -> None:
    """Learn a network from all rows of a table; write model, edges, picture and summary.

    A second network is then learned without a tenth of the rows, to measure how well such networks
    predict rows they have not seen. Limits apply to each of the two. Further files:
    predictability.csv (how well each variable is predicted from all others), centrality.csv.

    With a file of counts (gw.count_pairs) nothing is measured, since there are no rows.
    Rows that do not fit into memory are read in parts, and give the same network.
    """
    plan = Plan(data, out, reading, parts, holdout, seed, not no_plot, quiet, communities, path)
    try:
        code = say_cost(plan, settings) if dry_run else run(plan, settings)
    except KeyboardInterrupt:  # while reading, or before the first round
        say(TOO_EARLY)
        code = INTERRUPTED
    raise typer.Exit(code)


def run(plan: Plan, settings: dict[str, Any]) -> int:
    """Learn, say what was found, write the files, and return the exit code."""
    began = time.monotonic()
    with Interrupts() as interrupts, ExitStack() as rows:
        with progress_for(quiet=plan.quiet) as progress:
            prepare(plan.out)
            source = rows.enter_context(opened(plan, settings, progress, interrupts))
            progress.note(f"learning from {size_of(source.table)}")
            settings = completed(settings, source.table.n_variables)
            known = with_files(settings, source.table.names)
            keeper = Keeper(progress, interrupts, plan.out / SO_FAR)
            learning, limit = time.monotonic(), settings.get("max_seconds")
            interrupts.waits = True
            net = fit(source.table, known, keeper)
            stopped = interrupts.seen
            late = limit is not None and time.monotonic() - learning >= limit
            measured: Measured = (None, "How well it predicts new rows was not measured.")
            if not stopped and isinstance(source, Source):
                measured = measure_unless_stopped(source.table, plan, known, progress, interrupts)
            interrupts.hurried = late
            if isinstance(source, Source):
                progress.on_stage("looking at how well each variable is predicted", 0, 1)
                table = source.table
                interrupts.optional(lambda: predict_each(net, table), at_once=_in_memory(table))
        text, written = conclude(plan, source, net, settings, measured, stopped, interrupts)
    if not plan.quiet:
        say_files(text, plan.out, written, time.monotonic() - began)
    where = plan.out / "model.gw"
    if stopped:
        say(f"interrupted; the best network so far is in {where}.")
        return INTERRUPTED
    if measured[1] == UNMEASURED:
        say(f"interrupted while measuring; the network in {where} is complete.")
        return INTERRUPTED
    if interrupts.seen:
        say(f"interrupted after learning; the network in {where} is complete.")
        return INTERRUPTED
    if late and isinstance(source, Source):
        say(f"note: the time was up, so {LEFT_OUT} were left out.")
    return 0


def predict_each(net: MarkovNetwork, table: AnyTable) -> None:
    """Look at how well each variable is predicted."""
    from graftwork.estimators.predictability import predict_rows

    rows = as_learned(net.missing, table)
    # as net.predictability, without a frame: importing pandas would take a fifth of the time
    net.predictability_ = predict_rows(net.model_, net.data_, rows, None, type(net).__name__)


def measure_unless_stopped(
    table: AnyTable, plan: Plan, known: dict[str, Any], progress: Progress, interrupts: Interrupts
) -> Measured:
    """Return how well such a network predicts other rows; an interrupt never loses the network."""
    if plan.holdout is None and not plan.share(table):
        return None, NO_PARTS
    watched, share = Stoppable(progress, interrupts), plan.share(table)
    found = interrupts.optional(
        lambda: measure(table, share, known, progress, watched), at_once=_in_memory(table)
    )
    return (None, UNMEASURED) if found is None else found


def say_cost(plan: Plan, settings: dict[str, Any]) -> int:
    """Print what learning would cost, write nothing, and return the exit code."""
    from graftwork.data.oddities import order_remarks
    from graftwork.estimators import MarkovNetwork
    from graftwork.estimators.missing import recommended
    from graftwork.estimators.ordering import in_order
    from graftwork.report.cost_text import cost_sections
    from graftwork.report.data_notes import data_notes
    from graftwork.report.describe import advice_text
    from graftwork.text import section

    with (
        Interrupts() as interrupts,
        ExitStack() as rows,
        progress_for(quiet=plan.quiet) as progress,
    ):
        source = rows.enter_context(opened(plan, settings, progress, interrupts, gaps=True))
        if isinstance(source, Counted):
            raise DataError(
                f"{source.name} holds counts, and what learning costs is estimated from rows; "
                "leave out --dry-run."
            )
        table = source.table
        advice = (
            recommended(table, settings.get("loss", "pseudolikelihood"))
            if settings.get("missing", "error") == "error"
            else None
        )
        if advice is not None:
            settings = settings | {"missing": advice.policy}
        settings = completed(settings, table.n_variables)
        net = MarkovNetwork(**with_files(settings, table.names))
        cost, notes = net.estimate(table), list(data_notes(table))
        if "ordinal" not in settings:
            notes += order_remarks(in_order(net.spec(), table))
    sections = cost_sections(cost)
    if notes:
        sections.append(("Look at", " ".join(notes)))
    if advice is not None:
        sections.insert(0, ("Missing cells", advice_text(advice)))
    tell("\n\n".join(section(title, as_options(text)) for title, text in sections))
    return 0


def conclude(
    plan: Plan,
    source: Source | Counted,
    net: Any,
    settings: dict[str, Any],
    measured: Measured,
    stopped: bool,
    interrupts: Interrupts,
) -> tuple[str, Sequence[str]]:
    """Write the files; return the summary and the names of the files."""
    from graftwork.report import summary

    score, why_not = measured
    parts = interrupts.optional(net.communities) if plan.communities else None
    text = summary(
        net,
        held_out=score,
        no_held_out=why_not,
        meanings=source.meanings,
        remarks=[as_options(remark) for remark in net.data_.remarks],
        communities=parts,
        source=source.words,
    )
    if plan.path:
        text += f"\n{tried(net)}"
    if stopped:
        text = f"Interrupted: this is the best network so far.\n\n{text}"
    info = facts(source, net, settings, score, plan.reading.missing)
    held = None if score is None else score.predictability
    return text, write_files(plan, net, text, info, held, parts, interrupts)


def tried(net: MarkovNetwork) -> str:
    """Return the lambdas tried as a section of the summary."""
    from graftwork.report import path_table
    from graftwork.text import section

    if not net.path_:
        return section("Lambdas tried", "None: no lambda was chosen.") + "\n"
    note = "The edges are those of penalised fits, before tests and refits.\n"
    return f"Lambdas tried\n{path_table(net.path_)}\n" + (f"  {note}" if net.refitted_ else "")


def say_files(text: str, out: Path, written: Sequence[str], seconds: float) -> None:
    """Print what was found and where it is, and return None.

    The seconds are those of the whole command, more than a limit on learning counts.
    """
    mention(text)
    mention(f"Done in {seconds:.1f} s. Files in {out}:")
    mention(f"  {', '.join(written)}")


def size_of(table: AnyTable | PairTables) -> str:
    """Return how large a table is, in words."""
    rows, columns = table.n_rows, table.n_variables
    row_word, column_word = f"row{'s'[: rows != 1]}", f"variable{'s'[: columns != 1]}"
    hint = " (one column only: is --sep right?)" if columns == 1 else ""
    return f"{rows:,} {row_word} of {columns:,} {column_word}{hint}"


def prepare(out: Path) -> None:
    """Make the directory for the files, and fail now rather than after learning if that fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise DataError(
            f"--out {str(out)!r} cannot be written to ({error.strerror or error}); name another "
            "directory."
        ) from error


@contextmanager
def opened(
    plan: Plan,
    settings: dict[str, Any],
    progress: Progress,
    interrupts: Interrupts,
    *,
    gaps: bool = False,
) -> Iterator[Source | Counted]:
    """Yield the rows of a table in memory or, where that is asked for or needed, in parts.

    With ``gaps`` cells may be missing, whatever is said about that.
    """
    from graftwork.datasets import EMBEDDED

    name = name_of(plan.data)
    progress.note(f"reading {' '.join(plan.data) if len(plan.data) <= _FEW else name}")
    counts = read_counts(plan.data[0], plan.reading) if len(plan.data) == 1 else None
    if counts is not None:
        yield counts
        return
    known = [each for each in plan.data if each in EMBEDDED and not Path(each).is_file()]
    in_parts = asks_for_parts(plan.data, plan.parts)
    if known and plan.data != known[:1]:
        raise DataError(f"{known[0]} comes with graftwork; it is learned from by itself.")
    if known and plan.parts != opt.InParts():
        raise DataError(
            f"{known[0]} comes with graftwork and is in memory; leave out --memory, --workdir, "
            "--engine and --scheduler."
        )
    if not known and not in_parts:
        why = too_large(Path(plan.data[0]), plan.reading)
        in_parts = why is not None
        if why is not None:
            progress.note(why)
    if known or not in_parts:
        yield read_source(plan.data[0], plan.reading, gaps=gaps)
        return
    if plan.holdout and plan.reading.weights is not None:
        raise DataError(
            "rows with weights are not held out where they are read in parts; leave out --holdout."
        )
    check_criterion(settings)
    jobs, gaps = settings.get("n_jobs"), gaps or plan.reading.keeps_gaps
    with rows_in_parts(
        plan.data, plan.reading, plan.parts, jobs, progress, interrupts, gaps=gaps
    ) as (table, files):
        yield Source(table, name, False, None, files)


def read_source(data: str, reading: opt.Reading, *, gaps: bool = False) -> Source:
    """Return the table of a file, or of an embedded data set if there is no file of that name.

    With ``gaps`` cells may be missing, whatever is said about that.
    """
    from graftwork.contingency.files import is_counts_file
    from graftwork.data import read_table
    from graftwork.data.files import choose_columns
    from graftwork.datasets import EMBEDDED

    path = opt.file_or_stdin(Path(data))
    if is_counts_file(path):
        raise DataError(
            f"{path.name} holds counts or a model, and rows are needed here; counts are for "
            "graftwork learn."
        )
    columns, drop = chosen(reading.columns), chosen(reading.drop)
    embedded = data in EMBEDDED and not path.is_file()
    if not embedded and is_pattern(data):
        raise DataError(
            f"{data!r} stands for several files, and this command needs all rows in memory: name "
            "one file. graftwork learn and score read rows in parts."
        )
    if embedded:
        if replace(reading, columns=None, drop=None, bins=None) != opt.Reading():
            raise DataError(
                f"{data} comes with graftwork and is read as it is; leave out --sep, --header, "
                "--sheet, --weights, --missing, --missing-values, --keep-missing and --strings."
            )
        table = EMBEDDED[data]()
        places = choose_columns(table.names, columns, drop)
        kept = table.take_columns(table.names[j] for j in places)
        return Source(kept, data, True, meanings_of(data))
    try:
        table = read_table(
            path,
            sep=reading.sep,
            header=reading.header.value_for_reading(),
            missing_values=reading.missing_texts,
            infer_types=not reading.strings,
            weights=reading.weights,
            missing="state" if reading.keeps_gaps or gaps else "error",
            columns=columns,
            drop=drop,
            bins=reading.bins,
            sheet=reading.sheet,
        )
    except DataError as error:
        if path.exists() or path.suffix:
            raise
        known = ", ".join(EMBEDDED)
        raise DataError(f"{error} Data sets that come with graftwork: {known}.") from error
    return Source(table, path.name, False, None)


def read_counts(data: str, reading: opt.Reading) -> Counted | None:
    """Return the counts in a file; None if it is no such file."""
    from graftwork.contingency import PairTables
    from graftwork.contingency.files import is_counts_file

    if not is_counts_file(data):
        return None
    counts = PairTables.load(data)
    if reading != opt.Reading(keeps_gaps=reading.keeps_gaps):
        raise DataError(
            f"{Path(data).name} holds counts, which are read as they are; leave out --sep, "
            "--header, --sheet, --weights, --missing-values, --keep-missing, --strings, --bins, "
            "--columns and --drop."
        )
    return Counted(counts, Path(data).name)


def meanings_of(name: str) -> dict[str, dict[str, str]] | None:
    """Return words for the states of an embedded data set, None where it has none."""
    from graftwork.datasets import DATASETS

    found = DATASETS.get(name)
    return found.meanings if found else None


class Keeper(Stoppable):
    """Writes the network so far to a file once a minute: `--start` goes on from it."""

    def __init__(self, progress: Progress, interrupts: Interrupts, path: Path) -> None:
        super().__init__(progress, interrupts)
        self._path, self._written = path, time.monotonic()
        if path.exists():
            progress.note(
                f"{path} is the network so far of a run that was killed: --start {path} goes on "
                "from it."
            )

    def on_model(self, make: Callable[[], PairwiseMRF]) -> None:
        """Write it if the last time is long ago; learning goes on where that fails."""
        if time.monotonic() - self._written < PAUSE:
            return
        self._written = time.monotonic()
        try:
            make().save(self._path)
        except OSError as error:
            self._progress.note(f"note: the network so far was not kept: {explain(error)}")


def fit(
    train: AnyTable | PairTables, settings: dict[str, Any], observer: Stoppable
) -> MarkovNetwork:
    """Return the fitted estimator; after an interrupt, with the best network so far."""
    from graftwork.estimators import MarkovNetwork

    net = MarkovNetwork(**settings, verbose=observer)
    fit_or_leave(net, train)
    return net


def fit_or_leave(estimator: Any, *data: Any) -> None:
    """Fit an estimator, as far as an interrupt lets it; end the program if it has no model then."""
    try:
        estimator.fit(*data)
    except KeyboardInterrupt:
        if not hasattr(estimator, "model_"):
            say(TOO_EARLY)
            raise typer.Exit(INTERRUPTED) from None


def _in_memory(table: AnyTable) -> bool:
    from graftwork.data import Table

    return isinstance(table, Table)


def facts(
    source: Source | Counted,
    net: Any,
    settings: dict[str, Any],
    score: HeldOut | None,
    missing_values: Sequence[str] | None,
) -> dict[str, Any]:
    """Return what the model file keeps about how the network came about."""
    held = None
    if score is not None:
        held = {
            "rows": score.n_rows,
            "learned_from": score.n_learned,
            "nlpl": score.nlpl,
            "independent_nlpl": score.independent,
        }
    unseen = {
        str(name): [str(state) for state in states] for name, states in net.data_.unseen().items()
    }
    found = {
        **net.info(),
        "data": source.name,
        "embedded": source.embedded,
        **({"files": source.files} if source.files else {}),
        "rows": net.data_.n_rows,
        "settings": settings,
        "missing_values": None if missing_values is None else list(missing_values),
        "held_out": held,
        "unseen_states": unseen,
    }
    return plain_values(found)


def plain_values(found: dict[str, Any]) -> dict[str, Any]:
    """Return a record as JSON can hold it: Python numbers, and None for what is not finite."""
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: Python numbers, and None for what is not finite."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if isinstance(value, bool | int | float | str | list | None) else repr(value)


def write_files(
    plan: Plan,
    net: Any,
    text: str,
    info: dict[str, Any],
    held: Predictability | None,
    communities: Mapping[Any, int | None] | None,
    interrupts: Interrupts,
) -> Sequence[str]:
    """Write everything under the directory asked for, and return the names of the files.

    An interrupt leaves out what takes long: centralities and the picture.
    """
    from graftwork.data.atomic import replacing_together
    from graftwork.report import plot_network, plot_path, write_edges, write_path, write_trace
    from graftwork.report.centrality import write_centrality
    from graftwork.report.communities import write_communities
    from graftwork.report.edges import edges_of
    from graftwork.report.predictability import preferred, write_predictability
    from graftwork.report.trace import write_text

    inside, picture = getattr(net, "predictability_", None), plan.out / "network.png"
    with replacing_together(plan.out, _STALE) as out:
        net.model_.save(out / "model.gw", info=info)
        write_text(out / "summary.txt", text)
        write_edges(out / "edges.csv", edges_of(net))
        write_trace(out / "trace.jsonl", net.trace_)
        written = ["model.gw", "summary.txt", "edges.csv", "trace.jsonl"]
        if inside is not None:
            write_predictability(out / "predictability.csv", inside, held)
            written.append("predictability.csv")
        centrality = out / "centrality.csv"
        interrupts.optional(lambda: write_centrality(centrality, net.model_))
        if centrality.exists():
            written.append(centrality.name)
        if communities is not None:
            write_communities(out / "communities.csv", communities)
            written.append("communities.csv")
        if net.path_:
            write_path(out / "path.csv", net.path_)
            written.append("path.csv")
    if plan.plot:
        try:
            if plan.path and net.path_:
                plot_path(net, plan.out / "path.png")
                written.append("path.png")
            shown = None if inside is None else preferred(inside, held)
            how: dict[str, Any] = {"predictability": shown, "communities": plan.communities}
            interrupts.optional(lambda: plot_network(net, picture, **how))
            if picture.exists():
                written.append(picture.name)
        except ImportError as error:
            say(f"note: network.png was not drawn: {error}")
    return written
