"""Pictures for papers: what is drawn, measured on the drawing itself."""

import itertools
import json
import os
import pickle
import subprocess
import sys

import matplotlib
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_rgba

import graftwork as gw

from doors.report import (
    MOST_RINGS,
    NEGATIVE,
    PALETTE,
    POSITIVE,
    network_layout,
    new_axes,
    ring_shares,
)
from doors.report import UNSIGNED_MARK as UNSIGNED

ODD = ["$\\frac{1}{", "$x$", "tab\tand\x07bell", "_hidden", "<script>", "עברית", "x" * 300, "a\nb"]
LONG = [f"Questionnaire item number {i}: a rather long name of it" for i in range(60)]
RINGS = {f"variable {i}": i / 20 for i in range(20)}


def network(n, edges, seed=0, names=None):
    """A network of binary variables: a share of all pairs, a tree or a scale-free graph."""
    rng = np.random.default_rng(seed)
    made = {"tree": nx.random_labeled_tree, "scale-free": lambda n, seed: nx.barabasi_albert_graph(
        n, 2, seed=seed), "path": lambda n, seed: nx.path_graph(n)}  # fmt: skip
    graph = made[edges](n, seed=seed) if edges in made else nx.gnp_random_graph(n, edges, seed)
    names = names or [f"variable {i}" for i in range(n)]
    weights = rng.gamma(1.3, 0.6, len(graph.edges)) * rng.choice([-1, 1], len(graph.edges))
    pairs = {
        (names[a], names[b]): [[w / 2, 0.0], [0.0, w / 2]]
        for (a, b), w in zip(graph.edges, weights, strict=True)
    }
    return gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)


def labels_of(ax):
    """The labels of nodes: texts with a background."""
    return [text for text in ax.texts if text.get_bbox_patch() is not None]


def boxes_of_labels(ax):
    return [text.get_window_extent() for text in labels_of(ax)]


def boxes_of_nodes(ax):
    """The boxes of nodes and their rings, in pixels, from the shapes that are drawn."""
    out = []
    for each in ax.collections:
        if each.zorder <= 2:
            continue
        spots = each.get_offset_transform().transform(each.get_offsets())
        shapes, [path] = each.get_transforms(), each.get_paths()
        for k, spot in enumerate(spots):
            scale = matplotlib.transforms.Affine2D(shapes[k % len(shapes)])
            out.append(path.get_extents(scale).translated(*spot))
    return out


def covered(boxes, others):
    return sum(
        a.xmin < b.xmax - 0.5
        and b.xmin < a.xmax - 0.5
        and a.ymin < b.ymax - 0.5
        and b.ymin < a.ymax - 0.5
        for a in boxes
        for b in others
    )


def said(ax):
    return " ".join(" ".join(text.get_text().split()) for text in ax.texts)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def lines_of(ax):
    """Ends, colour and whether it is dashed, of each edge drawn."""
    [lines] = [each for each in ax.collections if each.zorder == 1]
    dashed = [pattern is not None for _, pattern in lines.get_linestyle()]
    colours = [tuple(colour[:3]) for colour in lines.get_colors()]
    return list(zip(lines.get_segments(), colours, dashed, strict=True))


def rings_of(ax):
    """What lies between edges and nodes."""
    return [each for each in ax.collections if 2 < each.zorder < 3]


def nodes_of(ax):
    """{place: (colour, shape)} of the nodes drawn."""
    out = {}
    for each in ax.collections:
        if each.zorder == 3:
            [shape] = each.get_paths()
            for place, colour in zip(each.get_offsets(), each.get_facecolors(), strict=True):
                out[tuple(np.round(place, 6))] = (tuple(colour), len(shape.vertices))
    return out


# ---- labels ------------------------------------------------------------------------------------

CASES = {
    "8 dense": (network(8, 0.9), {}),
    "8 sparse": (network(8, "tree"), {}),
    "8 odd names": (network(8, 0.5, names=ODD), {}),
    "20 with rings": (network(20, 0.2), {"predictability": RINGS}),
    "60 dense": (network(60, 0.2), {"communities": True}),
    "60 sparse": (network(60, "tree"), {}),
    "60 long names": (network(60, "scale-free", names=LONG), {}),
    "150": (network(150, "scale-free"), {}),
    "no room": (network(40, 0.2, names=LONG[:40]), {"ax": (5, 3.5, (0, 0, 1, 1))}),
    "circle": (network(6, "tree"), {"layout": nx.circular_layout}),
}


@pytest.mark.parametrize("case", CASES)
def test_labels_cover_no_node_and_no_other_label(case):
    model, options = CASES[case]
    kinds = {"ax": lambda size: new_axes(*size), "layout": lambda own: own(model.to_networkx())}
    ax = gw.plot_network(model, **{k: kinds.get(k, lambda v: v)(v) for k, v in options.items()})
    labels, nodes = boxes_of_labels(ax), boxes_of_nodes(ax)
    joined = {name for edge in model.edges for name in edge}
    assert covered(labels, nodes) == 0
    assert not any(covered([a], [b]) for a, b in itertools.combinations(labels, 2))
    view = ax.get_window_extent()
    assert all(view.xmin <= box.xmin and box.xmax <= view.xmax for box in labels)
    if case == "no room":
        assert 0 < len(labels) < 40
        assert "No room to name: Questionnaire item" in said(ax)
    else:
        assert len(labels) == min(len(joined), 80)


def test_long_names_that_differ_have_labels_that_differ():
    for names in (LONG, [f"a long name that ends in a number, which is {i}" for i in range(60)]):
        labels = labels_of(gw.plot_network(network(60, "tree", names=names)))
        assert len({text.get_text() for text in labels}) == 60


def test_a_label_nearer_to_another_node_has_a_line_to_its_own():
    """Names in the crowd of a small picture."""
    named = nx.relabel_nodes(
        nx.gnp_random_graph(30, 0.16, seed=0), {i: f"a name of {i}" for i in range(30)}
    )
    nx.set_edge_attributes(named, 1.0, "strength")
    ax = gw.plot_network(named, ax=new_axes(4.5, 3.2, (0, 0, 1, 1)))
    places = network_layout(named)
    pixels = {node: ax.transData.transform(place) for node, place in places.items()}
    starts = {tuple(line.get_xydata()[0].round(6)) for line in ax.lines}
    strange = 0
    for text in ax.texts:
        node = " ".join(text.get_text().split())
        if node not in places:
            continue
        box = text.get_window_extent()
        gaps = {
            other: np.hypot(max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0))
            for other, (x, y) in pixels.items()
        }
        # By more than discs differ in size.
        if min(gaps.values()) < gaps[node] - 3:
            strange += 1
            assert tuple(np.round(places[node], 6)) in starts
    assert strange > 1


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_odd_names_are_drawn_as_they_are_in_every_format(kind, tmp_path):
    model = network(8, 0.6, names=ODD)
    groups = dict.fromkeys(ODD, "$\\frac{") | {"$x$": "_group"}
    ax = gw.plot_network(model, tmp_path / f"n.{kind}", communities=groups,
                         title="$\\frac{1}{\x00", caption="$$\\")  # fmt: skip
    gw.plot_pair(model, *model.edges[0], tmp_path / f"p.{kind}")
    assert all((tmp_path / f"{name}.{kind}").stat().st_size > 2000 for name in "np")
    shown = {text.get_text().replace("\\$", "$") for text in ax.texts}
    assert {"$\\frac{1}{", "$x$", "tab and?bell", "_hidden", "<script>", "a b"} <= shown


# ---- edges and nodes ---------------------------------------------------------------------------


def test_signs_are_told_by_colour_and_by_dashes():
    model = network(9, 0.5)
    places = gw.network_layout(model)
    at = {tuple(np.round(place, 6)): name for name, place in places.items()}
    drawn = {}
    for ends, colour, dashed in lines_of(gw.plot_network(model, layout=places)):
        pair = frozenset(at[tuple(np.round(end, 6))] for end in ends)
        drawn[pair] = (colour, dashed)
    expected = {
        frozenset(edge): (to_rgba(POSITIVE)[:3], False)
        if model.weight(*edge) > 0
        else (to_rgba(NEGATIVE)[:3], True)
        for edge in model.edges
    }
    assert drawn == expected
    assert len(set(expected.values())) == 2

    table = np.random.default_rng(0).normal(size=(3, 3))
    unsigned = gw.PairwiseMRF({"a": [0, 1, 2], "b": [0, 1, 2]}, None, {("a", "b"): table})
    ax = gw.plot_network(unsigned)
    assert [line[1:] for line in lines_of(ax)] == [(to_rgba(UNSIGNED)[:3], False)]
    assert ax.get_legend() is None


def test_an_edge_passes_next_to_a_node_on_its_way():
    row = nx.Graph()
    row.add_weighted_edges_from([("a", "c", 1.0), ("c", "b", 1.0)], "strength")
    places = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (2.0, 0.0)}
    ax = gw.plot_network(row, layout=places)
    [drawn] = [each for each in ax.collections if each.zorder == 1]
    straight, bent = sorted((path.vertices for path in drawn.get_paths()), key=len)
    assert len(straight) == 2
    [marker] = [c for c in ax.collections if len(c.get_offsets()) == 3]
    radius = np.sqrt(marker.get_sizes().max()) / 2 * ax.figure.dpi / 72
    line, node = ax.transData.transform(bent), ax.transData.transform(places["b"])
    assert np.linalg.norm(line - node, axis=1).min() > radius
    assert np.allclose(bent[[0, -1]], [places["a"], places["c"]])


def test_groups_have_colours_and_shapes_and_colours_may_be_your_own():
    model = network(6, "tree", names=list("abcdef"))
    places = gw.network_layout(model)
    groups = {name: "mood" if name in "abc" else "sleep" for name in "abcdef"}
    ax = gw.plot_network(model, layout=places, communities=groups,
                         colors={"sleep": "#123456", "a": "red"})  # fmt: skip
    drawn = {name: nodes_of(ax)[tuple(np.round(places[name], 6))] for name in "abcdef"}
    assert {drawn[name][0] for name in "def"} == {to_rgba("#123456")}
    assert drawn["a"][0] == to_rgba("red")
    assert drawn["b"][0] == drawn["c"][0] != drawn["d"][0]
    assert {drawn[name][1] for name in "abc"} != {drawn[name][1] for name in "def"}
    assert legend_of(ax)[:2] == ["mood", "sleep"]
    # Communities that were found, and the same from a file, where numbers are text.
    parts = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(5))  # the second is larger
    nx.set_edge_attributes(parts, 1.0, "strength")
    found = [nodes_of(gw.plot_network(parts, communities=own)) for own in (
        True, {k: "1" if k > 2 else "2" for k in range(8)})]  # fmt: skip
    assert found[0] == found[1]
    assert legend_of(gw.plot_network(parts, communities=True))[:2] == ["community 1", "community 2"]


def test_the_smallest_of_many_groups_share_a_colour():
    model = network(12, "path")
    own = {name: i // 2 * (i < 4) or i for i, name in enumerate(model.names)}
    words = legend_of(gw.plot_network(model, communities=own))
    assert "others" in words
    assert len([word for word in words if word not in ("positive", "negative")]) == len(PALETTE) + 1


def test_rings_are_filled_as_far_as_accuracies_go():
    net = gw.MarkovNetwork(lam=0.02).fit(rows := [["a", "x"], ["b", "y"], ["b", "x"]] * 30)
    table = net.predictability(rows)
    expected = {
        name: max(share, 0)
        for name, share in zip(table["variable"], table["normalised_accuracy"], strict=True)
    }
    for given in (table, net.predictability_, table.to_dict("records")):
        assert ring_shares(given)[0] == expected
    assert ring_shares({"x": 1.5, "y": float("nan"), "z": -1})[0] == {"x": 1.0, "y": 0.0, "z": 0.0}
    assert "in sample (90 rows)" in said(gw.plot_network(net, predictability=True))

    model = network(6, "path")  # the last has no ring
    shares = dict(zip(model.names, [0.0, 0.25, 0.5, 0.75, 1.0], strict=False))
    ax = gw.plot_network(model, predictability=shares)
    # a white disc, a pale one and one for the node to lie on, and a sector where it is not empty
    assert len(rings_of(ax)) == 3 + 4
    assert "Rings show the values given" in said(ax)
    many = network(MOST_RINGS + 1, "path")
    for ax in (
        gw.plot_network(model, predictability=False),
        gw.plot_network(many, predictability=dict.fromkeys(many.names, 0.5), max_labels=2),
    ):
        assert not rings_of(ax)
        assert ("No rings are drawn" in said(ax)) == (len(labels_of(ax)) == 2)


def test_what_is_not_drawn_is_told():
    path = nx.Graph()
    path.add_weighted_edges_from([("a", "b", 3), ("b", "c", 2), ("c", "d", 1)], "strength")
    path.add_node("alone")
    ax = gw.plot_network(path, min_strength=1.5)
    assert ax.get_title() == "2 of 3 edges among 5 variables"
    assert "1 weaker edge not drawn. Left out with their edges: d." in said(ax)
    assert "Without an edge: alone." in said(gw.plot_network(path))
    assert "weaker edges not drawn" in said(gw.plot_network(network(30, 0.3), max_nodes=10))
    empty = gw.plot_network(gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}), communities=True,
                            predictability={"a": 0.5})  # fmt: skip
    assert empty.get_title() == "0 edges among 2 variables"
    for ax in (empty, gw.plot_network(path, min_strength=1e9)):
        assert "no edges" in said(ax)
        assert ax.get_legend() is None


def test_titles_captions_and_axes_are_your_own():
    model, axes = network(6, "tree"), new_axes(3, 3, (0, 0, 1, 1))
    ax = gw.plot_network(model, ax=axes, title="", caption="Figure 1.")
    assert ax is axes
    assert (ax.get_title(), ax.texts[-1].get_text()) == ("", "Figure 1.")
    assert gw.plot_network(model, caption="").texts[-1].get_text() == ""
    assert gw.plot_pair(model, *model.edges[0], ax=axes, title="mine") is axes
    assert axes.get_title() == "mine"


def test_a_layout_is_kept_and_shared(tmp_path):
    first, second = network(10, 0.3, seed=1), network(10, 0.3, seed=2)
    gw.plot_network(first, tmp_path / "a.png")
    kept = json.loads(json.dumps(gw.network_layout(first)))
    gw.plot_network(first, tmp_path / "b.png", layout=kept)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    both = gw.network_layout(first, second)
    joined = {name for model in (first, second) for edge in model.edges for name in edge}
    assert set(both) == joined
    drawn = [gw.plot_network(model, layout=both) for model in (first, second)]
    assert set(nodes_of(drawn[0])) == set(nodes_of(drawn[1]))  # also those without an edge here
    assert drawn[0].get_xlim() == drawn[1].get_xlim()
    assert len(nodes_of(drawn[0])) == len(joined)


# ---- files and notebooks -----------------------------------------------------------------------


def test_pictures_do_not_depend_on_the_process(tmp_path):
    script = (
        "import hashlib, graftwork as gw, networkx as nx\n"
        "g = nx.relabel_nodes(nx.barabasi_albert_graph(25, 2, seed=0), lambda i: f'v{i}')\n"
        "for kind in ('png', 'svg', 'pdf'):\n"
        "    gw.plot_network(g, f'n.{kind}', communities=True, predictability={'v1': 0.3})\n"
        "    print(hashlib.sha256(open(f'n.{kind}', 'rb').read()).hexdigest())\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, check=True, capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(seen) == 1


def test_notebooks_show_what_files_hold(tmp_path):
    backend = matplotlib.get_backend()
    rows = [["sun", "dry"], ["sun", "wet"], ["rain", "wet"], ["sun", "dry"], ["rain", "wet"]] * 30
    net = gw.MarkovNetwork(lam=0.01).fit(rows)
    ax = net.plot(tmp_path / "net.png", title="Weather", colors={"x0": "black"})
    assert ax.get_title() == "Weather"
    png = ax._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert png == ax.figure._repr_png_() == (tmp_path / "net.png").read_bytes()
    assert pickle.loads(pickle.dumps(ax.figure))._repr_png_() == png
    assert gw.plot_network(net.model_)._repr_png_() == gw.plot_network(net.graph_)._repr_png_()
    assert net.plot_pair("x0", "x1")._repr_png_().startswith(b"\x89PNG")
    # pyplot keeps its figures and backend
    from matplotlib._pylab_helpers import Gcf

    assert not Gcf.figs
    assert matplotlib.get_backend() == backend


# ---- heat maps ---------------------------------------------------------------------------------


def test_heat_maps_show_probabilities_and_log_potentials(tmp_path):
    """Three variables whose probabilities can be counted out."""
    rng = np.random.default_rng(3)
    states = {"a": ["low", "high"], "b": [1, 2, 3], "c": ["x", "y"]}
    pairs = {("a", "b"): rng.normal(size=(2, 3)), ("b", "c"): rng.normal(size=(3, 2)),
             ("a", "c"): rng.normal(size=(2, 2))}  # fmt: skip
    model = gw.PairwiseMRF(states, {"b": [0.3, -0.2, 0.0]}, pairs)
    joint = np.exp(
        pairs["a", "b"][:, :, None] + pairs["b", "c"][None] + pairs["a", "c"][:, None, :]
        + np.array([0.3, -0.2, 0.0])[None, :, None]
    ).sum(axis=2)  # fmt: skip
    joint /= joint.sum()

    def drawn(a, b, **options):
        return np.asarray(gw.plot_pair(model, a, b, **options).images[0].get_array())

    np.testing.assert_allclose(drawn("a", "b", values="joint"), joint, atol=1e-12)
    given = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(drawn("a", "b", values="conditional"), given, atol=1e-12)
    table = drawn("b", "a")
    np.testing.assert_allclose(table.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(table.sum(axis=1), 0, atol=1e-12)
    away = table - pairs["a", "b"].T  # only what is said of single variables
    np.testing.assert_allclose(np.diff(np.diff(away, axis=0), axis=1), 0, atol=1e-12)
    ax = gw.plot_pair(model, "b", "a", tmp_path / "pair.svg")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "2", "3"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["low", "high"]
    cells = [text.get_text().replace("\u2212", "-") for text in ax.texts]
    np.testing.assert_allclose(np.array(cells, dtype=float), table.ravel(), atol=0.0051)


def test_heat_maps_of_many_states_and_of_impossible_ones():
    rng = np.random.default_rng(0)
    states = {"a": [f"a rather long state {i}" for i in range(60)], "b": list(range(80))}
    ax = gw.plot_pair(
        gw.PairwiseMRF(states, None, {("a", "b"): rng.normal(size=(60, 80))}), "a", "b"
    )
    ax.figure.canvas.draw()
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = [label.get_window_extent() for label in labels]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
    never = {("a", "b"): [[0.0, -np.inf], [0.0, 1.0]]}
    model = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, never)
    assert "\u2212\u221e" in [text.get_text() for text in gw.plot_pair(model, "a", "b").texts]
    assert lines_of(gw.plot_network(model))[0][1] == to_rgba(POSITIVE)[:3]
    apart = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]})
    assert len(gw.plot_pair(apart, "a", "b", values="joint").images) == 1
