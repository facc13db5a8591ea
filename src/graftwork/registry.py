"""Parts by name, for users and the command line: tables of where each is, imported when asked for.

The tables hold text only, so that the command line can list names without loading a compiler. A
part of your own is added by `Registry.add`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a part is: ``module:attribute``, what it is in a line, and what else is to be known."""

    where: str
    help: str = ""
    traits: Mapping[str, Any] = field(default_factory=dict)


class Registry(Mapping[str, Callable[..., T]], Generic[T]):
    """Factories of parts by name, in alphabetical order.

    Examples
    --------
    >>> "grafting-light" in RECIPES, RECIPES.having("chains")[:2], RECIPES["full"]().name
    (True, ('full', 'gain'), 'full')
    """

    def __init__(self, package: str, entries: Mapping[str, Entry | str]) -> None:
        self._entries: dict[str, Entry] = {}
        for name, entry in entries.items():
            entry = Entry(entry) if isinstance(entry, str) else entry
            self.add(name, f"{package}.{entry.where}", entry.help, **entry.traits)

    def add(self, name: str, where: str, help: str = "", **traits: Any) -> None:
        """Add a part: ``where`` is "module:attribute"."""
        if name in self._entries:
            raise ValueError(f"{name!r} is already the name of {self._entries[name].where}")
        self._entries[name] = Entry(where, help, traits)

    def __getitem__(self, name: str) -> Callable[..., T]:
        module, _, attribute = self._entries[name].where.partition(":")
        factory: Callable[..., T] = getattr(importlib.import_module(module), attribute)
        return factory

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def entry(self, name: str) -> Entry:
        """Return what is known of a part without importing its file."""
        return self._entries[name]

    def having(self, trait: str, value: Any = True) -> tuple[str, ...]:
        """Return the names of the parts whose trait is, or contains, this value."""
        found = {name: self._entries[name].traits.get(trait) for name in self}
        return tuple(
            name
            for name, given in found.items()
            if given == value or (isinstance(given, tuple) and value in given)
        )


_CHAINS = {"chains": True}
#: The methods. Those that learn the features of chains, too, have the trait "chains".
RECIPES: Registry[Any] = Registry(
    "graftwork.recipes",
    {
        "best-choice": "best_choice:best_choice",
        "chow-liu": "chow_liu:chow_liu",
        "edge-grafting": "edge_grafting:edge_grafting",
        "first-hit": "first_hit:first_hit",
        "forced-pruning": "forced_pruning:forced_pruning",
        "full": Entry("full:full", traits=_CHAINS),
        "gain": Entry("gain:gain", traits=_CHAINS),
        "gauss-seidel": Entry("gauss_seidel:gauss_seidel", traits=_CHAINS),
        "grafting": Entry("grafting:grafting", traits=_CHAINS),
        "grafting-light": Entry("grafting_light:grafting_light", traits=_CHAINS),
        "mutual-information": "mutual_information:mutual_information",
        "priority": "priority:priority",
        "working-set": "working_set:working_set",
    },
)
#: Engines; where one takes a rule for inactive pairs, its parameter is ``rule``.
ENGINES: Registry[Any] = Registry(
    "graftwork.inference",
    {
        "auto": "loopy:automatic",
        "bp": "loopy:LoopyBP",
        "exact": "junction:JunctionTree",
        "trw": "reweighted:TreeReweighted",
    },
)
#: Penalties; each takes lam, l2, unary_lam and unary_l2.
PENALTIES: Registry[Any] = Registry(
    "graftwork.penalties",
    {
        "elastic-net": "lasso:L1",
        "group-l1": "group:GroupL1",
        "l1": "lasso:L1",
        "l2": "lasso:ridge",
        "none": "lasso:unpenalised",
    },
)
_BOTH = {"goals": ("prediction", "structure")}
#: Criteria for lambda; the trait "goals" says what each serves.
CRITERIA: Registry[Any] = Registry(
    "graftwork.selection.criteria",
    {
        "adaptive": Entry("adaptive:Adaptive", traits={"goals": ("structure",)}),
        "ebic": Entry("information:Ebic", traits=_BOTH),
        "ebic-refit": Entry("information:EbicRefit", traits=_BOTH),
        "ebic-then-refit": Entry("information:EbicThenRefit", traits=_BOTH),
        "hold-out": Entry("held_out:HoldOut", traits={"goals": ("prediction",)}),
        "k-fold": Entry("held_out:KFold", traits={"goals": ("prediction",)}),
        "stars": Entry("stars:Stars", traits={"goals": ("structure",)}),
    },
)


def _format(where: str, help: str, *suffixes: str, **traits: Any) -> Entry:
    return Entry(where, help, {"suffixes": suffixes, **traits})


_READ_AND_WRITTEN = {"reads": "network", "writes": "network"}
#: Formats of files. Traits: ``suffixes`` of its files, ``magic`` bytes they begin with, and
#: whether it ``reads`` and ``writes`` "network", "chain" or "both".
FORMATS: Registry[Any] = Registry(
    "graftwork.exchange.formats",
    {
        "graftwork": _format(
            "own:graftwork", "our own format: everything, bit for bit, with how it was learned.",
            ".gw", magic=b"PK", reads="both", writes="both",
        ),
        "crfsuite": _format(
            "crfsuite:crfsuite", "CRFsuite's models: chains of first order, with all weights.",
            ".crfsuite", magic=b"lCRF", reads="chain",
        ),
        "csv": _format(
            "edge_lists:gephi",
            "a list of edges for Gephi: Source, Target, Type, Weight (strength), Sign, numbers.",
            ".csv", writes="network",
        ),
        "cytoscape": _format(
            "cytoscape:cytoscape",
            "Cytoscape JSON, for Cytoscape and cytoscape.js: edges with all numbers.",
            ".cyjs", writes="network",
        ),
        "gexf": _format(
            "gexf:gexf", "GEXF, for Gephi: edges with all numbers.", ".gexf", writes="network"
        ),
        "graphml": _format(
            "graphml:graphml",
            "GraphML, for Gephi, Cytoscape, yEd, igraph, networkx: edges with all numbers.",
            ".graphml", writes="network",
        ),
        "lg": _format(
            "uai:lg",
            "toulbar2's .LG: UAI with logarithms of factors; names and states in another file.",
            ".LG", **_READ_AND_WRITTEN,
        ),
        "libdai": _format(
            "libdai:libdai",
            "libDAI's factor graphs: factors; names and states in another file.",
            ".fg", **_READ_AND_WRITTEN,
        ),
        "plmc": _format(
            "plmc:plmc",
            "plmc's binary .params, for EVcouplings: fields and couplings over one alphabet.",
            ".params", writes="network",
        ),
        "qgraph": _format(
            "edge_lists:qgraph",
            "a list of edges for R's qgraph: Source, Target, Weight (the signed correlation).",
            ".qgraph.csv", writes="network",
        ),
        "uai": _format(
            "uai:uai", "UAI (MARKOV): factors; names and states in another file.", ".uai",
            **_READ_AND_WRITTEN,
        ),
        "uai-basic": _format(
            "uai:uai_basic",
            "UAI for readers that know less (pgmpy, pyAgrum): no variables of one state.",
            ".basic.uai", **_READ_AND_WRITTEN,
        ),
    },
)  # fmt: skip
