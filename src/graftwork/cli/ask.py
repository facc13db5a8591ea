"""graftwork score, query, sample and show: what can be asked of a model."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graftwork.cli import options as opt
from graftwork.cli import render
from graftwork.cli.failures import hand_over, say, tell
from graftwork.cli.interrupts import Interrupts
from graftwork.cli.matching import (
    find_variable,
    match_text,
    read_evidence,
    read_pair,
)
from graftwork.cli.progress import Progress, progress_for
from graftwork.cli.render_chain import chain_text
from graftwork.errors import DataError, ModelFileError
from graftwork.limits import ROWS

if TYPE_CHECKING:
    from graftwork.data import Table
    from graftwork.models import PairwiseMRF

SCORE_EXAMPLES = """Examples:
graftwork score out/model.gw new.csv
graftwork score out/model.gw new.csv --log-likelihood --per-row rows.csv
graftwork score out/model.gw gaps.csv --missing available-case
graftwork score out/model.gw new.csv --predictability predictability.csv
graftwork score out/model.gw new.csv --all --truth true-edges.csv --out scores.json
graftwork score out/model.gw 'new/*.parquet' --memory 2GB"""

QUERY_EXAMPLES = """Examples:
graftwork query out/model.gw odor habitat
graftwork query out/model.gw class --given odor=f --given gill-size=b
graftwork query out/model.gw --map --given class=p
graftwork query out/model.gw --pair odor,class --json
graftwork query grid.uai --evidence grid.uai.evid --mar grid.MAR --pr grid.PR"""

SAMPLE_EXAMPLES = """Examples:
graftwork sample out/model.gw 10
graftwork sample out/model.gw 1000 --given class=p --seed 1 --out poisonous.csv"""

SHOW_EXAMPLES = """Examples:
graftwork show out/model.gw
graftwork show out/model.gw --top 30 --plot network.pdf --edges edges.csv
graftwork show out/model.gw --couplings couplings.csv
graftwork show out/model.gw --centrality --groups groups.csv
graftwork show out/model.gw --communities --plot network.png
graftwork show chunker/model.gw --top 5

The model is a network (of learn) or a chain (of crf); --plot, --edges and --couplings are for
networks, and so are --centrality, --groups and --communities."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
AskInference = Annotated[
    opt.Inference,
    typer.Option(
        "--inference",
        help="auto is exact where that is affordable, otherwise it draws joint states (bp in very "
        "large networks); trw bounds the partition function.",
    ),
]


def score(
    model: opt.Model,
    data: opt.ScoreData,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The true edges: a model file, or a CSV file with two names per line, such as "
            "edges.csv.",
        ),
    ] = None,
    log_likelihood: Annotated[
        bool, typer.Option("--log-likelihood", help="The exact log-likelihood, if affordable.")
    ] = False,
    cmll: Annotated[
        bool,
        typer.Option(
            "--cmll",
            help="The conditional marginal log-likelihood: a quarter of the variables at a time "
            "is predicted from the others.",
        ),
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="--log-likelihood and --cmll.")] = False,
    per_row: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one line per row to this CSV file.")
    ] = None,
    predictability: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write to this CSV file how well each variable is predicted from all others; "
            "marginals are those of these rows.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the scores to this JSON file.")
    ] = None,
    as_json: Json = False,
    sep: opt.Sep = None,
    header: opt.HeaderOption = opt.Header.AUTO,
    weights: opt.Weights = None,
    missing_values: opt.MissingValues = None,
    sheet: opt.Sheet = None,
    missing: opt.ScoredMissingOption = None,
    memory: opt.Memory = None,
    workdir: opt.Workdir = None,
) -> None:
    """Measure how well a model predicts rows (NLPL and others), and whether its edges are true.

    Missing cells, and texts that mean missing, are treated as in learning unless options say
    otherwise. Columns that are not variables of the model are not read. Rows that do not fit into
    memory are read in parts.
    """
    from graftwork.cli.scoring import rows_to_score, write_each
    from graftwork.cli.truth import read_truth
    from graftwork.estimators.predictability import predict_tables
    from graftwork.exchange import load_network, read_info
    from graftwork.report.edges import compare_edges
    from graftwork.report.predictability import write_predictability
    from graftwork.report.scores_parts import score_tables
    from graftwork.report.trace import plain, write_text

    network = load_network(model)
    edges = None if truth is None else compare_edges(network, read_truth(network.names, truth))
    texts = missing_values or read_info(model).get("missing_values")
    reading = opt.Reading(sep, header, weights, sheet=sheet)
    how = opt.InParts(memory, workdir)
    gaps = network.scoring(missing) != "error"
    with Interrupts(), rows_to_score(network, data, reading, how, texts, gaps=gaps) as tables:
        with write_each(per_row) as each:
            scores = score_tables(
                network,
                tables(),
                missing,
                likelihood=log_likelihood or every,
                groups=4 if cmll or every else None,
                edges=edges,
                each=each,
            )
        told = None if predictability is None else predict_tables(network, tables, missing)
    if scores.why_no_likelihood:
        say(f"note: no log-likelihood: {scores.why_no_likelihood}")
    if scores.why_no_cmll:
        say(f"note: no CMLL: {scores.why_no_cmll}")
    written = json.dumps(plain(scores.to_dict()), indent=1, ensure_ascii=False)
    tell(written if as_json else render.scores_text(scores))
    if out is not None:
        write_text(out, written + "\n")
    if predictability is not None and told is not None:
        write_predictability(predictability, told)


def query(
    model: opt.Model,
    variables: Annotated[
        list[str] | None, typer.Argument(help="Whose probabilities; all if none is named.")
    ] = None,
    given: opt.Given = None,
    map_: Annotated[bool, typer.Option("--map", help="The most probable joint state.")] = False,
    pair: Annotated[
        str | None, typer.Option(metavar="A,B", help="The joint probabilities of two variables.")
    ] = None,
    log_partition: Annotated[
        bool, typer.Option("--log-partition", help="The log of the partition function.")
    ] = False,
    inference: AskInference = "auto",
    as_json: Json = False,
    evidence_file: Annotated[
        Path | None,
        typer.Option("--evidence", metavar="FILE", help="What is observed, as a UAI .evid file."),
    ] = None,
    mar: Annotated[
        Path | None,
        typer.Option("--mar", metavar="FILE", help="Write all marginals as a UAI MAR result."),
    ] = None,
    pr: Annotated[
        Path | None, typer.Option("--pr", metavar="FILE", help="Write log Z as a UAI PR result.")
    ] = None,
) -> None:
    """Ask a model for probabilities, given what is observed."""
    from graftwork.exchange import load_network, write_marginals, write_partition

    network = load_network(model)
    meanings = meanings_in(model)
    chosen = [find_variable(network.names, text) for text in variables or ()]
    evidence = _from_file(evidence_file, network) | read_evidence(network, given, meanings)
    how = str(inference)
    found: dict[str, Any] = {}
    if mar is not None:
        write_marginals(mar, network, network.marginals(evidence, how))
    if pr is not None:
        write_partition(pr, network.log_partition(evidence, how))
    if chosen or not (map_ or pair or log_partition):
        answer = network.answer(evidence, how)
        every, seen = answer.marginals, network.frequencies(evidence)
        rest = [name for name in network.names if name not in evidence]
        found["marginals"] = {name: every[name] for name in (chosen or rest)}
        found["data"] = {name: seen[name] for name in (chosen or rest) if name in seen}
        found["answer"] = answer
    if pair is not None:
        a, b = read_pair(network, pair)
        seen_together = None if evidence else network.pair_frequencies(a, b)
        found["pair"] = (a, b, network.pair_marginal(a, b, evidence, how), seen_together)
    if map_:
        found["map"] = network.map(evidence)
    if log_partition:
        found["log_partition"] = network.log_partition(evidence, how)
        found["bound"] = inference == "trw"
    if as_json:
        values = render.query_json(network, evidence, found)
        tell(json.dumps(values, indent=1, default=str, ensure_ascii=False))
    else:
        tell(render.query_text(network, evidence, found, meanings))


def _from_file(path: Path | None, network: PairwiseMRF) -> dict[Any, Any]:
    """Return the evidence of a UAI file; none without a file."""
    from graftwork.exchange import read_evidence

    if path is None:
        return {}
    samples = read_evidence(path, network)
    if len(samples) > 1:
        raise DataError(
            f"{str(path)!r} has {len(samples)} samples of evidence, and a query takes one; split "
            "it, or read it in Python with gw.exchange.read_evidence."
        )
    return samples[0] if samples else {}


def sample(
    model: opt.Model,
    rows: Annotated[int, typer.Argument(metavar="N", help="How many rows.", min=1)],
    given: opt.Given = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same rows.", min=0)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A CSV file instead of stdout.")
    ] = None,
    method: Annotated[
        opt.Sampler, typer.Option(help="Independent rows (exact), or Markov chains (gibbs).")
    ] = opt.Sampler.AUTO,
) -> None:
    """Draw rows from a model, as CSV."""
    from graftwork.data.export import write_parts
    from graftwork.exchange import load_network

    network = load_network(model)
    evidence = read_evidence(network, given, meanings_in(model))
    ROWS.check(rows, f"{rows:,} rows are to be drawn", "draw fewer")
    parts = network.sample_parts(rows, evidence, seed, method.value)
    if out is not None:
        with progress_for(quiet=False) as progress:
            write_parts(_counted(parts, rows, progress), out)
        return
    for k, part in enumerate(parts):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        if k == 0:
            writer.writerow(network.names)
        writer.writerows(part)
        hand_over(text.getvalue())


def _counted(parts: Iterable[Table], rows: int, progress: Progress) -> Iterator[Table]:
    """Yield tables, and tell how many of the rows are in those that are done."""
    done = 0
    for part in parts:
        yield part
        done += part.n_rows
        progress.on_count("rows drawn", done, rows)


def show(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="A model file, as learn or crf writes it (model.gw), or its folder.",
        ),
    ],
    top: Annotated[
        int, typer.Option(help="How many edges to name, or weights for each label.", min=0)
    ] = 10,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a network: png, pdf or svg.")
    ] = None,
    edges: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a network's edges as CSV.")
    ] = None,
    couplings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the couplings of all pairs as CSV: their norm, and what is left after "
            "the average product correction (APC), largest first.",
        ),
    ] = None,
    centrality: Annotated[
        bool, typer.Option("--centrality", help="How central each variable is.")
    ] = False,
    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A CSV file with a variable and its group per line, for bridge centralities, and "
            "for colours and a legend with --plot.",
        ),
    ] = None,
    communities: opt.Communities = False,
) -> None:
    """Describe a network (variables, edges) or a chain (labels, weights), and its learning."""
    from graftwork.cli.groups import read_groups
    from graftwork.estimators.centrality import communities_of
    from graftwork.exchange import load, read_info
    from graftwork.models import PairwiseMRF
    from graftwork.report import describe_network, plot_network, write_edges
    from graftwork.report.centrality import centrality_text
    from graftwork.report.communities import community_text
    from graftwork.report.edges import saved_edges, saved_tests, write_couplings
    from graftwork.text import section

    model = _model_file(model)
    network = load(model)
    info = read_info(model)
    if not isinstance(network, PairwiseMRF):
        if any((plot, edges, couplings, centrality, groups, communities)):
            raise ModelFileError(
                f"{str(model)!r} is a chain, and only networks have edges to draw or write; leave "
                "out --plot, --edges, --couplings, --centrality, --groups and --communities."
            )
        tell(chain_text(network, info, top))
        return
    unseen, tests = _unseen(network, info), saved_tests(network, info)
    strongest = describe_network(
        network,
        meanings=meanings_in(model),
        top=top,
        unseen=unseen,
        tests=tests,
    )
    parts = [
        render.model_text(network, info),
        render.saved_shape_text(network, info),
        render.tests_text(tests, info),
        strongest,
    ]
    tell("\n\n".join(part for part in parts if part))
    given = None if groups is None else read_groups(network.names, groups)
    if centrality or groups is not None:
        tell(f"\n{centrality_text(network, given)}")
    if communities:
        found = communities_of(network)
        tell(f"\n{section('Communities', community_text(network, found))}")
    if edges is not None:
        write_edges(edges, saved_edges(network, info, unseen))
    if couplings is not None:
        write_couplings(couplings, network)
    if plot is not None:
        groups_shown = communities if given is None else given
        plot_network(network, plot, communities=groups_shown)


def meanings_in(model: Path) -> dict[str, dict[str, str]] | None:
    """Return words for the states of a model learned from an embedded data set."""
    from graftwork.cli.learn import meanings_of
    from graftwork.exchange import read_info

    info = read_info(model)
    return meanings_of(str(info.get("data"))) if info.get("embedded") is True else None


def _unseen(network: PairwiseMRF, info: dict[str, Any]) -> dict[Any, list[Any]]:
    """Return the states no training row had, as far as the file says."""
    noted = info.get("unseen_states")
    out: dict[Any, list[Any]] = {}
    for text, states in noted.items() if isinstance(noted, dict) else ():
        place = match_text(text, network.names)
        if place is not None and isinstance(states, list):
            name = network.names[place]
            written = {str(state) for state in states}
            out[name] = [state for state in network.states[name] if str(state) in written]
    return out


def _model_file(given: Path) -> Path:
    """Return the model file of a folder that a command wrote, or the file itself."""
    if not given.is_dir():
        return given
    if (given / "model.gw").is_file():
        return given / "model.gw"
    others = sorted(each.name for each in given.glob("*.gw"))
    which = f"name one of its files: {', '.join(others[:5])}" if others else "name a model file"
    raise ModelFileError(f"{str(given)!r} is a folder without a model.gw; {which}.")
