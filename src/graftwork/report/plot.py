"""A picture of a network, by matplotlib (an extra)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import networkx as nx
import numpy as np

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.models import PairwiseMRF
from graftwork.models.communities import find_communities
from graftwork.report.curves import legend_text
from graftwork.report.drawing import (
    DASHED,
    SHAPES,
    SOLID,
    draw_edges,
    draw_labels,
    draw_nodes,
    set_view,
)
from graftwork.report.figures import (
    GREY,
    INK,
    NEGATIVE,
    PALE,
    PALETTE,
    POSITIVE,
    UNSIGNED,
    any_letters,
    finish,
    new_axes,
    printable,
    shown,
)
from graftwork.report.layout import Floats, as_graph, check_layout, positions
from graftwork.report.predictability import ring_shares
from graftwork.text import count, names

_OTHERS = "others"
#: Rings are drawn around no more nodes than this.
MOST_RINGS = 150
#: Longer names are cut in legends and captions.
_LONGEST_NAME = 40


def plot_network(
    network: nx.Graph | PairwiseMRF | MarkovNetwork,
    path: str | PathLike[str] | None = None,
    *,
    ax: Any = None,
    title: str | None = None,
    caption: str | None = None,
    layout: Mapping[Any, Any] | None = None,
    communities: bool | Mapping[Any, Any] = False,
    colors: Mapping[Any, Any] | None = None,
    predictability: Any = None,
    max_labels: int = 80,
    max_nodes: int = 500,
    min_strength: float = 0.0,
    seed: int = 0,
) -> Any:
    """Return the axes with a network drawn on them; write the picture if a path is given.

    Edges are as wide and dark as they are strong; those of positive correlations are blue, of
    negative ones red and dashed, and those without a sign grey. Edges are bent round
    nodes that are not their ends. Colours and shapes of nodes mark the largest communities, groups
    of closely connected variables. Labels cover no node and no other label; a label that there is
    no room for is left out, and named below. Variables without an edge are named below the
    picture, too, unless a layout has a place for them. A notebook shows the picture where this is
    the value of a cell. No window opens, and pyplot is left alone.

    Parameters
    ----------
    network : networkx.Graph, PairwiseMRF or MarkovNetwork
        A graph's edges carry ``strength`` (1 where they do not), and ``correlation`` where they
        have a sign.
    path : path-like, optional
        Where to write it; the ending says the format (png, pdf, svg).
    ax : matplotlib Axes, optional
        Where to draw; otherwise on a new figure. Labels are placed for the size that it has.
    title : str, optional
        Instead of the number of edges and variables; "" for none.
    caption : str, optional
        Below the picture, instead of how to read it; "" for none.
    layout : mapping of variable to (x, y), optional
        Where the variables are, such as `network_layout` returns for one network or several.
    communities : bool or mapping of variable to group
        True for a legend with the numbers of the communities, as `MarkovNetwork.communities` has
        them; a mapping for groups of your own, with colours, shapes and a legend.
    colors : mapping of group or variable to colour, optional
        Colours of your own, of groups (communities have numbers) or of single variables.
    predictability : table, Predictability or mapping of variable to share, optional
        What `MarkovNetwork.predictability` returns (or ``predictability_``, which True stands for):
        each variable gets a ring, filled as far as its normalised accuracy goes. A mapping has
        shares of your own.
    max_labels : int
        At most this many variables, the best connected, are named.
    max_nodes : int
        Only the strongest edges are drawn in a network with more connected variables than this.
    min_strength : float
        Weaker edges are left out: strengths are between 0 and 1.
    seed : int
        Where the layout of large networks starts.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; its ``figure`` can be saved again.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    NotFittedError
        If the estimator has learned nothing yet.
    DataError
        If the ending of the path is no format matplotlib writes, there is no network, the layout
        lacks a variable, or a colour is none.

    Examples
    --------
    >>> plot_network(nx.path_graph(["a", "b", "c"])).get_title()
    '2 edges among 3 variables'
    """
    whole = as_graph(network)
    given = None if layout is None else check_layout(layout, whole)
    drawn, notes = _select(whole, min_strength, max_nodes, given or {})
    owned = ax is None
    if ax is None:
        ax = _network_axes(drawn.number_of_nodes())
    places = positions(drawn, seed) if given is None else given
    own_groups = isinstance(communities, Mapping)
    groups = dict(communities) if isinstance(communities, Mapping) else groups_of(whole)
    styles = _styles(drawn, groups, colors or {})
    if isinstance(predictability, bool):
        predictability = _predicted(network) if predictability else None
    rings, meaning = ({}, "") if predictability is None else ring_shares(predictability)
    if len(drawn) > MOST_RINGS and rings:
        rings, meaning = {}, f"No rings are drawn around more than {MOST_RINGS} variables."
    with any_letters():
        no_room = _draw(ax, drawn, places, styles, max_labels, rings)
        keys = styles.keys("" if own_groups else "community ") if communities and len(drawn) else []
        lines = _draw_legend(ax, [*keys, *_sign_keys(drawn)])
        text = _title(whole, drawn) if title is None else shown(title)
        ax.set_title(text, fontsize=13, color=INK, pad=10 + 16 * lines)
        if caption is None:
            reading = _reading(drawn, styles, max_labels, told=own_groups)
            reading += [meaning] if meaning and len(drawn) else []
            reading += [f"No room to name: {_listed(no_room)}."] if no_room else []
            caption = " ".join([*reading, *notes])
        draw_caption(ax, caption)
    return finish(ax, path, tight=owned)


def _predicted(network: Any) -> Any:
    """Return what is known of how well a network predicts its variables, or say what to pass."""
    found = getattr(network, "predictability_", None)
    if found is None:
        raise DataError(
            "predictability=True needs a MarkovNetwork whose predictability was computed; pass "
            "predictability=net.predictability(rows)."
        )
    return found


def _select(
    whole: nx.Graph, least: float, max_nodes: int, given: Mapping[Any, Any]
) -> tuple[nx.Graph, list[str]]:
    """Return the edges to draw, and what was left out, in words."""
    edges = [(a, b, float(d.get("strength", 1.0))) for a, b, d in whole.edges(data=True)]
    edges.sort(key=lambda edge: -edge[2])
    notes = []
    kept: dict[Any, None] = dict.fromkeys(given)
    drawn = []
    for a, b, strength in edges:
        if strength >= least and (given or len(kept.keys() | {a, b}) <= max_nodes):
            kept.update({a: None, b: None})
            drawn.append((a, b, strength))
    if len(drawn) < len(edges):
        notes.append(f"{count(len(edges) - len(drawn), 'weaker edge')} not drawn.")
    graph = nx.Graph()
    graph.add_nodes_from(node for node in whole if node in kept)
    for a, b, strength in drawn:
        colour, line = sign_style(whole.edges[a, b].get("correlation"))
        graph.add_edge(a, b, strength=strength, colour=colour, line=line)
    loose = [node for node in whole if whole.degree(node) == 0 and node not in kept]
    lost = [node for node in whole if whole.degree(node) and node not in kept]
    if lost:
        notes.append(f"Left out with their edges: {_listed(lost)}.")
    if loose:
        notes.append(f"Without an edge: {_listed(loose)}.")
    return graph, notes


def sign_style(signed: float | None) -> tuple[str, Any]:
    """Return the colour and the line of an edge by a signed number; None and NaN have no sign."""
    if not signed or math.isnan(signed):
        return UNSIGNED, SOLID
    return (POSITIVE, SOLID) if signed > 0 else (NEGATIVE, DASHED)


def _network_axes(n: int) -> Any:
    """Return axes on a figure of their own, larger for more nodes."""
    width = min(max(4.6 + 0.85 * math.sqrt(n), 6.5), 15.0)
    return new_axes(width, width * 0.74, (0.02, 0.07, 0.96, 0.86))


def _title(graph: nx.Graph, drawn: nx.Graph) -> str:
    edges, nodes = graph.number_of_edges(), graph.number_of_nodes()
    some = f"{drawn.number_of_edges():,} of " if drawn.number_of_edges() < edges else ""
    return f"{some}{count(edges, 'edge')} among {count(nodes, 'variable')}"


@dataclass(frozen=True, slots=True)
class _Styles:
    """Colours and shapes: of each node, and of each group that has one of its own."""

    nodes: dict[Any, tuple[str, int]]
    groups: dict[Any, tuple[str, int]]

    def keys(self, noun: str) -> list[Any]:
        """Return an entry of the legend for each group."""
        from matplotlib.lines import Line2D

        dot: dict[str, Any] = {"linestyle": "", "markeredgecolor": "white"}
        return [
            Line2D(
                [],
                [],
                color=colour,
                marker=SHAPES[shape][0],
                markersize=7.5 * math.sqrt(SHAPES[shape][1]),
                label=legend_text(
                    group if group == _OTHERS else f"{noun}{shown(group, _LONGEST_NAME)}"
                ),
                **dot,
            )
            for group, (colour, shape) in self.groups.items()
        ]


def _styles(graph: nx.Graph, groups: Mapping[Any, Any], colours: Mapping[Any, Any]) -> _Styles:
    """Return how nodes are drawn: the largest groups have a colour and a shape of their own."""
    _check_colours(colours)
    drawn: dict[Any, int] = {}
    for node in graph:
        group = groups.get(node)
        if group is not None:
            drawn[group] = drawn.get(group, 0) + 1
    largest = sorted(drawn, key=lambda group: -drawn[group])[: len(PALETTE)]
    # In the order in which the groups are named.
    known = [group for group in dict.fromkeys(groups.values()) if group in set(largest)]
    if all(isinstance(group, int) or str(group).isdecimal() for group in known):
        known.sort(key=int)  # numbers, those of files, too
    else:
        known.sort(key=lambda group: group if isinstance(group, int) else 0)
    legend = {
        group: (colours.get(group, PALETTE[k]), k % len(SHAPES)) for k, group in enumerate(known)
    }
    if any(group not in legend for group in drawn):
        legend[_OTHERS] = (GREY, 0)
    nodes = {}
    for node in graph:
        colour, shape = legend.get(groups.get(node), (GREY, 0))
        nodes[node] = (colours.get(node, colour), shape)
    return _Styles(nodes, legend)


def _check_colours(colours: Mapping[Any, Any]) -> None:
    from matplotlib.colors import is_color_like

    for key, colour in colours.items():
        if not is_color_like(colour):
            raise DataError(
                f"colors has {colour!r} for {key!r}, which is not a colour; give a name or a code "
                'such as "#0072b2".'
            )


def _sign_keys(graph: nx.Graph) -> list[Any]:
    """Return an entry of the legend for each kind of edge, where there are signs."""
    from matplotlib.lines import Line2D

    drawn = {(colour, line) for _, _, colour, line in _edge_styles(graph)}
    if not drawn - {sign_style(None)}:
        return []
    kinds = {"positive": sign_style(1.0), "negative": sign_style(-1.0), "no sign": sign_style(None)}
    return [
        Line2D([], [], color=style[0], linestyle=style[1], linewidth=2.4, label=label)
        for label, style in kinds.items()
        if style in drawn
    ]


def _edge_styles(graph: nx.Graph) -> list[tuple[Any, Any, str, Any]]:
    return [(a, b, data["colour"], data["line"]) for a, b, data in graph.edges(data=True)]


def _draw(
    ax: Any,
    graph: nx.Graph,
    places: Mapping[Any, Floats],
    styles: _Styles,
    max_labels: int,
    rings: Mapping[Any, float],
) -> list[Any]:
    """Draw edges, nodes and labels; return the names that there is no room for.

    The best connected nodes choose their label's place first.
    """
    ax.set_axis_off()
    if not len(graph):
        ax.text(0.5, 0.5, "no edges", ha="center", va="center", color=PALE, fontsize=13)
        return []
    weight = dict(graph.degree(weight="strength"))
    nodes = sorted(graph, key=lambda node: -weight[node])
    points = np.array([places[node] for node in nodes])
    set_view(ax, places)
    top = max((strength for _, _, strength in graph.edges(data="strength")), default=1.0)
    sizes = np.array([weight[node] for node in nodes]) / max(max(weight.values()), 1e-12)
    area = draw_nodes(
        ax, points, sizes, [styles.nodes[node] for node in nodes], [rings.get(n) for n in nodes]
    )
    areas = dict(zip(nodes, area.tolist(), strict=True))
    lines = draw_edges(ax, graph, places, areas, top)
    return draw_labels(ax, nodes[:max_labels], points, area, list(lines.values()))


def groups_of(graph: nx.Graph) -> dict[Any, int | None]:
    """Return the community of each node: 1 for the largest, None for nodes without an edge."""
    place = {node: i for i, node in enumerate(graph)}
    edges = [sorted((place[a], place[b])) for a, b in graph.edges if a != b]
    strengths = [d.get("strength", 1.0) for a, b, d in graph.edges(data=True) if a != b]
    found = find_communities(
        len(place),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.array(strengths, dtype=np.float64),
    )
    return {node: None if k < 0 else k + 1 for node, k in zip(graph, found.tolist(), strict=True)}


def _draw_legend(ax: Any, keys: Sequence[Any]) -> int:
    """Draw the legend between title and network; return how many lines it has."""
    if not keys:
        return 0
    width = sum(len(str(key.get_label())) + 6 for key in keys)
    room = float(ax.get_window_extent().width / ax.figure.dpi * 14)
    columns = -(-len(keys) // max(1, math.ceil(width / room)))
    ax.legend(
        handles=keys,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.995),
        ncols=columns,
        frameon=False,
        fontsize=8.5,
        labelcolor=PALE,
        handlelength=2.2,
        handletextpad=0.5,
        columnspacing=1.2,
    )
    return -(-len(keys) // columns)


def _reading(graph: nx.Graph, styles: _Styles, max_labels: int, *, told: bool) -> list[str]:
    """Return how to read the picture, in sentences; colours are told of unless they are already."""
    parts = []
    if graph.number_of_edges():
        parts.append("Wider, darker edges are stronger.")
    if len(styles.groups) > 1 and not told:
        parts.append("Colours and shapes of nodes mark communities, closely connected groups.")
    if graph.number_of_nodes() > max_labels:
        parts.append(f"Named: the {max_labels} best connected.")
    return parts


def _listed(variables: Sequence[Any]) -> str:
    return names([printable(name, _LONGEST_NAME) for name in variables])


def draw_caption(ax: Any, text: str) -> None:
    """Write a text below axes, in lines that fit their width, and return None.

    Examples
    --------
    >>> ax = new_axes(2, 2, (0, 0.2, 1, 0.8))
    >>> draw_caption(ax, "A text that is wider than two inches of a page.")
    >>> len(ax.texts[0].get_text().splitlines())
    2
    """
    inches = ax.get_window_extent().width / ax.figure.dpi
    lines = textwrap.wrap(text, max(int(inches * 14), 20))
    place = {"transform": ax.transAxes, "ha": "center", "va": "top"}
    ax.text(0.5, -0.01, "\n".join(map(shown, lines)), color=PALE, fontsize=8.5, **place)
