"""graftwork bootstrap: learn again from resamples, say what stays, write the files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli.failures import INTERRUPTED, say
from graftwork.cli.interrupts import Interrupts, Stoppable
from graftwork.cli.learn import prepare, read_source, say_files, size_of
from graftwork.cli.learner import as_learned, learner_settings, with_files
from graftwork.cli.presets import completed
from graftwork.cli.progress import Progress, progress_for

if TYPE_CHECKING:
    from graftwork.estimators import MarkovNetwork

TOO_EARLY = "interrupted before a resample was done."

EXAMPLES = """Examples:
graftwork bootstrap mushroom --lam 0.05 --n 50
graftwork bootstrap data.csv --n 1000 --differences --out boot
graftwork bootstrap data.csv --keep-lam --jobs 2
graftwork bootstrap counts.csv --weights n --no-case-dropping
graftwork bootstrap data.csv --goal prediction --criterion ebic
graftwork bootstrap survey.csv --missing available-case --drop id,comment

It takes as long as N times learning, twice with rows dropped.
Ctrl-C stops and keeps what is done; a second one does not wait for the step under way."""

_BOOT = "Resampling"
Resamples = Annotated[
    int,
    typer.Option(
        "--n",
        "-n",
        metavar="N",
        help="Number of resamples, and of subsets.",
        min=1,
        rich_help_panel=_BOOT,
    ),
]
CaseDropping = Annotated[
    bool,
    typer.Option(
        "--case-dropping/--no-case-dropping",
        " /--no-drop",
        help="Also learn from subsets with 5 to 75 % of the rows dropped, which tells whether the "
        "order of centralities can be trusted.",
        rich_help_panel=_BOOT,
    ),
]
KeepLam = Annotated[
    bool,
    typer.Option(
        "--keep-lam",
        help="Choose lambda once, from all rows, not for each resample: quicker, without refits.",
        rich_help_panel=_BOOT,
    ),
]
Differences = Annotated[
    bool,
    typer.Option(
        "--differences",
        help="Also tell which edges differ in weight, and which variables in centrality: "
        "differences.csv, and pictures for edges and strength.",
        rich_help_panel=_BOOT,
    ),
]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do around the learning itself."""

    data: str
    out: Path
    reading: opt.Reading
    n: int
    case_dropping: bool
    keep_lam: bool
    differences: bool
    plot: bool
    quiet: bool


@opt.takes(
    opt.learning_options() | opt.reading_options(),
    settings=learner_settings,
    reading=opt.Reading.of,
)
def bootstrap(
    data: opt.Data,
    settings: dict[str, Any],
    reading: opt.Reading,
    n: Resamples = 200,
    out: opt.Out = Path("bootstrap"),
    case_dropping: CaseDropping = True,
    keep_lam: KeepLam = False,
    differences: Differences = False,
    seed: opt.Seed = 0,
    no_plot: opt.NoPlot = False,
    quiet: opt.Quiet = False,
) -> None:
    """Learn again from resamples of a table: which edges and centralities are stable.

    Limits apply to each resample. Files: edges.csv (the edges of the network of all rows, as learn
    writes them, with the share of resamples that have each), bootstrap.csv (one line per pair:
    mean, low and high are of its strength in all resamples, those with _if_edge of the resamples
    that have the edge),
    bootstrap_centrality.csv, stability.csv (centralities with rows dropped), bootstrap.txt,
    bootstrap.json, reference.gw (the network of all rows), bootstrap.png.
    """
    plan = Plan(
        data, out, reading, n, case_dropping, keep_lam, differences, plot=not no_plot, quiet=quiet
    )
    try:
        code = run(plan, settings)
    except KeyboardInterrupt:  # while reading, or before a resample was done
        say(TOO_EARLY)
        code = INTERRUPTED
    raise typer.Exit(code)


def run(plan: Plan, settings: dict[str, Any]) -> int:
    """Learn from all rows and from resamples, write the files, and return the exit code."""
    began = time.monotonic()
    with Interrupts() as interrupts:
        with progress_for(quiet=plan.quiet) as progress:
            progress.note(f"reading {plan.data}")
            prepare(plan.out)
            table = read_source(plan.data, plan.reading).table
            progress.note(f"learning from {size_of(table)}")
            settings = completed(settings, table.n_variables)
            known = with_files(settings, table.names)
            folder = parts_in(plan.out, progress)
            interrupts.waits = True
            net = resample(plan, table, known, folder, progress, interrupts)
        found = net.bootstrap_
        written = write_files(net, plan)
        if not found.interrupted:
            shutil.rmtree(folder)
    if not plan.quiet:
        say_files(found.summary(), plan.out, written, time.monotonic() - began)
    if found.interrupted:
        say(f"interrupted; what was done by then is in {plan.out}. The same command goes on.")
    return INTERRUPTED if found.interrupted else 0


def parts_in(out: Path, progress: Progress) -> Path:
    """Return the folder of finished parts; say so if there are any already."""
    folder = out / "parts"
    if folder.exists():
        progress.note(
            f"{folder} has parts of a run that was stopped; those of the same rows and settings "
            "are not done again."
        )
    return folder


def resample(
    plan: Plan,
    table: Any,
    settings: dict[str, Any],
    folder: Path,
    progress: Progress,
    interrupts: Interrupts,
) -> MarkovNetwork:
    """Return the network with its bootstrap; after an interrupt, of the resamples until then."""
    from graftwork.estimators import MarkovNetwork
    from graftwork.estimators.replicas import check_shares
    from graftwork.report.bootstrap import too_few

    net = MarkovNetwork(**settings, verbose=Stoppable(progress, interrupts))
    net.fit(table)
    edges = net.model_.n_edges
    progress.note(f"the network has {edges:,} edge{'s'[: edges != 1]}; learning it again")
    for text in too_few(plan.n, len(check_shares(plan.case_dropping, plan.n))):
        progress.note(text)
    rows = as_learned(net.missing, table)  # dropped rows have been told of
    try:
        net.bootstrap(
            rows,
            plan.n,
            case_dropping=plan.case_dropping,
            refit_lam=not plan.keep_lam,
            observer=Countdown(progress, interrupts),
            folder=folder,
        )
    except KeyboardInterrupt:
        if not hasattr(net, "bootstrap_"):
            raise
    return net


#: The first resamples take longer than others; after these many, or seconds, they are foretold.
_ENOUGH_STEPS, _ENOUGH_SECONDS = 5, 30.0


class Countdown(Stoppable):
    """Shows how many resamples are done and about how long the others will take."""

    def __init__(
        self,
        progress: Progress,
        interrupts: Interrupts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(progress, interrupts)
        self._clock, self._began = clock, clock()
        self._first, self._text = 0, ""

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Show what is left, unless the run should have ended."""
        self.check()
        now, left = self._clock(), ""
        if step <= self._first or text != self._text:  # those done before say nothing of the time
            self._began, self._first, self._text = now, step, text
        done = step - self._first
        if done and (done >= _ENOUGH_STEPS or now - self._began >= _ENOUGH_SECONDS):
            left = f", {time_left((now - self._began) / done * (steps - step))}"
        self._progress.on_count(f"{text}{left}", step, steps)


def time_left(seconds: float) -> str:
    """Return about how long something will take, in words.

    Examples
    --------
    >>> time_left(50), time_left(200), time_left(9000)
    ('about 50 s left', 'about 3 min left', 'about 2.5 h left')
    """
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min left"
    return f"about {seconds / 3600:.1f} h left"


def write_files(net: MarkovNetwork, plan: Plan) -> list[str]:
    """Write everything under the directory asked for, and return the names of the files."""
    from graftwork.report import write_edges
    from graftwork.report.bootstrap import draw_bootstrap
    from graftwork.report.edges import edges_of

    found, out = net.bootstrap_, plan.out
    written = found.save(out, plot=False, differences=plan.differences)
    write_edges(out / "edges.csv", edges_of(net))
    written.append("edges.csv")
    if plan.plot:
        try:
            written += draw_bootstrap(found, out, differences=plan.differences)
        except ImportError as error:
            say(f"note: bootstrap.png was not drawn: {error}")
    return written
