"""What the networks of a comparison are worth, worked out when all clocks have stopped."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.compact import Sample, prepare
from graftwork.estimators.assemble import to_model
from graftwork.estimators.starts import words_of_start
from graftwork.grafting import Recipe, Round
from graftwork.inference.layout import Potentials
from graftwork.models import PairwiseMRF
from graftwork.report.compare_runs import Attempt, Task, Trial
from graftwork.report.comparison import COUNTERS, SHARES, Comparison, MethodRun, Record
from graftwork.report.edges import EdgeScores, score_edges
from graftwork.report.trace import plain

#: What a comparison keeps of a round.
_TOLD = (*COUNTERS, "objective", "loss", "edges")


def evaluate(trial: Trial) -> Comparison:
    """Return the comparison of the methods that were run, with some of their rounds evaluated."""
    task = trial.task
    samples: dict[bool, Sample] = {}
    runs = []
    for attempt in trial.attempts:
        whole = bool(attempt.net.penalize_unary)
        if whole not in samples:
            samples[whole] = prepare(task.table, keep_all_states=whole, n_jobs=attempt.net.n_jobs)
        runs.append(_evaluated(attempt, task, samples[whole]))
    return Comparison(
        tuple(runs),
        trial.lam,
        trial.lam_words,
        task.table.n_rows,
        task.table.n_variables,
        None if task.test is None else task.test.n_rows,
        None if task.truth is None else len(task.truth),
        dict(trial.missing),
        trial.interrupted,
    )


def _evaluated(attempt: Attempt, task: Task, sample: Sample) -> MethodRun:
    net = attempt.net
    measured = {
        index: _measure(task, net, sample, potentials) for index, potentials in attempt.networks
    }
    records = [_record(told, measured.get(told.index), task, net) for told in net.trace_]
    return MethodRun(
        attempt.label,
        _settings(net),
        net.model_,
        net.certificate_,
        tuple(net.trace_),
        tuple(records),
        _final_nlpl(net, task.table),
        None if task.test is None else _nlpl(net.model_, task.test, net.n_jobs),
        _found(net.model_.potentials, task),
    )


def _final_nlpl(net: Any, table: Table) -> float:
    """Return the NLPL of the rows learned from; the certificate has it if no weights were tied."""
    if _loss_is_nlpl(net) and net.tying_ is None:
        return float(net.certificate_.loss)
    return _nlpl(net.model_, table, net.n_jobs)


def _loss_is_nlpl(net: Any) -> bool:
    """Return whether every round has told the NLPL of the rows learned from already."""
    return bool(net.loss == "pseudolikelihood")


def _measure(task: Task, net: Any, sample: Sample, potentials: Potentials) -> Record:
    """Return what a round's network is worth."""
    record: Record = {}
    if task.test is not None or not _loss_is_nlpl(net):
        model = to_model(task.table, sample, potentials)
        if not _loss_is_nlpl(net):
            record["nlpl"] = _nlpl(model, task.table, net.n_jobs)
        if task.test is not None:
            record["test_nlpl"] = _nlpl(model, task.test, net.n_jobs)
    found = _found(potentials, task)
    return record | ({name: getattr(found, name) for name in SHARES} if found else {})


def _record(told: Round, measured: Record | None, task: Task, net: Any) -> Record:
    """Return a round's numbers, in the same columns whether it was evaluated or not."""
    record: Record = {"round": told.index, **{name: getattr(told, name) for name in _TOLD}}
    record["nlpl"] = told.loss if _loss_is_nlpl(net) else None
    if task.test is not None:
        record["test_nlpl"] = None
    if task.truth is not None:
        record |= dict.fromkeys(SHARES)
    return record | (measured or {})


def _nlpl(model: PairwiseMRF, table: Table, n_jobs: int | None) -> float:
    """Return the mean negative log pseudo-likelihood of a row."""
    rows = model.log_pseudo_likelihood(table, n_jobs=n_jobs)
    return -float(np.average(rows, weights=table.weights))


def _found(potentials: Potentials, task: Task) -> EdgeScores | None:
    return None if task.truth is None else score_edges(potentials.layout, task.truth)


def _settings(net: Any) -> dict[str, Any]:
    """Return the estimator's parameters as plain values."""
    settings = {k: v for k, v in net.get_params(deep=False).items() if k != "observer"}
    if isinstance(net.method, Recipe):
        settings["method"] = net.method.name
    settings["start"] = words_of_start(net.start)
    plain_settings: dict[str, Any] = plain(settings)
    return plain_settings
