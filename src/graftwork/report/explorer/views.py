"""From anything learned to the page that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.errors import DataError, ParameterError
from graftwork.estimators import ChainCRF, MarkovNetwork
from graftwork.estimators.bootstrap import Bootstrap
from graftwork.estimators.centrality import edge_arrays
from graftwork.groups import GroupComparison
from graftwork.models import ChainModel, PairwiseMRF
from graftwork.models.inputs import find, number
from graftwork.report.bootstrap import bootstrap_dict
from graftwork.report.chain_summary import chain_words
from graftwork.report.choice_text import meaning_text
from graftwork.report.edges import Tested, tests_of
from graftwork.report.explorer.bootstraps import (
    bootstrap_view,
    resampled_columns,
    variable_columns,
)
from graftwork.report.explorer.chains import chain_view
from graftwork.report.explorer.comparisons import comparison_view
from graftwork.report.explorer.networks import (
    Meanings,
    groupings_of,
    network_model,
    places_of,
    state_texts,
    view_of,
)
from graftwork.report.explorer.packing import Record, column
from graftwork.report.explorer.page import page_path, write_page
from graftwork.report.groups import groups_dict
from graftwork.report.predictability import ring_shares
from graftwork.text import count

#: Instead of the least sure edge, where a network was given without the fit that tested it.
_MODEL_ALONE = (
    "a model alone carries no tests; use net.explore of the fitted network, or its model file: "
    "graftwork explore run/model.gw"
)


def explore(
    learned: Any,
    path: str | PathLike[str],
    *,
    groups: Mapping[Any, Any] | None = None,
    title: str | None = None,
) -> Path:
    """Write a page to look at something learned in a browser, and return where it is."""
    options = {} if groups is None else {"groups": groups}
    # A name that cannot be written to is refused before the layout is computed.
    if title is not None and not isinstance(title, str):
        raise ParameterError(f"title must be a text, got {title!r}.")
    return write_page(page_path(path), view(learned, title, **options))


@singledispatch
def view(learned: Any, title: str | None = None, **options: Any) -> Record:
    """Return what the page shows of something learned."""
    raise DataError(
        f"a {type(learned).__name__} cannot be explored; pass a network, a chain, a bootstrap or a "
        "comparison of groups."
    )


@view.register
def _(net: MarkovNetwork, title: str | None = None, **options: Any) -> Record:
    found = getattr(net, "predictability_", None)
    boot = getattr(net, "bootstrap_", None)
    return network_view(
        net.model_,
        title,
        tests=tests_of(net),
        predictability=None if found is None else ring_shares(found)[0],
        bootstrap=None if boot is None else bootstrap_dict(boot),
        info=net.info() | {"rows": net.data_.n_rows},
        **options,
    )


@view.register
def _(model: PairwiseMRF, title: str | None = None, **options: Any) -> Record:
    return network_view(model, title, untested=_MODEL_ALONE, **options)


@view.register
def _(boot: Bootstrap, title: str | None = None) -> Record:
    return bootstrap_view(bootstrap_dict(boot), boot.names, boot.model, title or "Bootstrap")


@view.register
def _(found: GroupComparison, title: str | None = None) -> Record:
    nets = [found.networks[group] for group in found.groups]
    return comparison_view(
        groups_dict(found),
        [net.model_ for net in nets],
        [tests_of(net) for net in nets],
        title or f"Groups by {found.by}",
    )


@view.register
def _(crf: ChainCRF, title: str | None = None) -> Record:
    data = f"{count(crf.n_sequences_, 'sequence')} with {count(crf.n_positions_, 'position')}"
    return chain_view(
        crf.model_, title or "Chain", [f"Learned from {data}.", chain_words(crf.model_)]
    )


@view.register
def _(model: ChainModel, title: str | None = None) -> Record:
    return chain_view(model, title or "Chain", [chain_words(model)])


def network_view(
    model: PairwiseMRF,
    title: str | None = None,
    *,
    groups: Mapping[Any, Any] | None = None,
    tests: Tested | None = None,
    predictability: Mapping[Any, float] | None = None,
    bootstrap: Mapping[str, Any] | None = None,
    info: Mapping[str, Any] | None = None,
    meanings: Meanings | None = None,
    untested: str = "its edges were not tested",
) -> Record:
    """Return what the page shows of a network, with what is known besides."""
    names = [str(name) for name in model.names]
    more = [] if bootstrap is None else resampled_columns(bootstrap, _edge_names(model))
    columns = [] if bootstrap is None else variable_columns(bootstrap, names)
    if predictability:
        shares = [predictability.get(name, np.nan) for name in model.names]
        about = "How well it is predicted from all others: normalised accuracy, 1 is perfect."
        columns.insert(0, column("predictability", "Predicted", shares, about))
    return view_of(
        title or "Network",
        model.names,
        state_texts(model, meanings),
        places_of(*edge_arrays(model)),
        [network_model(model, tests, more) | {"untested": untested}],
        groupings=groupings_of(model, _checked(groups, model)),
        columns=columns,
        words=_words(info or {}, tests or {}),
    )


def _edge_names(model: PairwiseMRF) -> list[tuple[str, str]]:
    return [(str(a), str(b)) for a, b in model.edges]


def _checked(groups: Any, model: PairwiseMRF) -> dict[Any, Any] | None:
    """Return groups by the names of the variables; refuse names there are not."""
    if groups is None:
        return None
    if not isinstance(groups, Mapping):
        raise ParameterError(
            f"groups must be a dict {{variable: group}}, got {type(groups).__name__}."
        )
    index = number(model.names)
    return {model.names[find(name, model.names, index)]: group for name, group in groups.items()}


def _words(info: Mapping[str, Any], tests: Tested) -> list[str]:
    """Return how a network was learned, and what its numbers mean."""
    out, rows, fdr = [], info.get("rows"), info.get("fdr")
    if isinstance(rows, int | float):
        source = f" of {info['data']}" if isinstance(info.get("data"), str) else ""
        group = info.get("group")
        if isinstance(group, dict) and {"variable", "value"} <= group.keys():
            source = f" with {group['variable']} = {group['value']}"
        out.append(f"Learned from {count(int(rows), 'row')}{source}.")
    if tests and isinstance(fdr, float):
        out.append(meaning_text(np.array([test.q_value for test in tests.values()]), fdr))
    return out
