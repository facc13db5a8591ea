"""Pictures for papers: what is drawn, measured on the drawing itself."""

import itertools
import json
import os
import subprocess
import sys

import matplotlib
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import graftwork as gw
from graftwork.errors import DataError

from doors.report import NEGATIVE, POSITIVE, new_axes
from doors.report import UNSIGNED_MARK as UNSIGNED

ODD = ["$\\frac{1}{", "$x$", "tab\tand\x07bell", "_hidden", "<script>", "עברית", "x" * 300, "a\nb"]


def network(n, edges, seed=0, names=None):
    """A network of binary variables: a share of all pairs, a tree or a scale-free graph."""
    rng = np.random.default_rng(seed)
    made = {"tree": nx.random_labeled_tree, "scale-free": lambda n, seed: nx.barabasi_albert_graph(
        n, 2, seed=seed)}  # fmt: skip
    graph = made[edges](n, seed=seed) if edges in made else nx.gnp_random_graph(n, edges, seed)
    names = names or [f"variable {i}" for i in range(n)]
    weights = rng.gamma(1.3, 0.6, len(graph.edges)) * rng.choice([-1, 1], len(graph.edges))
    pairs = {
        (names[a], names[b]): [[w / 2, 0.0], [0.0, w / 2]]
        for (a, b), w in zip(graph.edges, weights, strict=True)
    }
    return gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)


def label_boxes(ax):
    """The boxes of labels, in pixels: texts with a background."""
    return [text.get_window_extent() for text in ax.texts if text.get_bbox_patch() is not None]


def node_boxes(ax):
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


LONG = [f"Questionnaire item number {i}: a rather long name of it" for i in range(60)]
RINGS = {f"variable {i}": i / 20 for i in range(20)}
CASES = {
    "8 dense": (network(8, 0.9), {}),
    "8 sparse": (network(8, "tree"), {}),
    "8 odd names": (network(8, 0.5, names=ODD), {}),
    "20 with rings": (network(20, 0.2), {"predictability": RINGS}),
    "60 dense": (network(60, 0.2), {"communities": True}),
    "60 sparse": (network(60, "tree"), {}),
    "60 long names": (network(60, "scale-free", names=LONG), {}),
    "150": (network(150, "scale-free"), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_labels_cover_no_node_and_no_other_label(case):
    model, options = CASES[case]
    ax = gw.plot_network(model, **options)
    labels, nodes = label_boxes(ax), node_boxes(ax)
    joined = {name for edge in model.edges for name in edge}
    assert len(labels) == min(len(joined), 80)
    assert covered(labels, nodes) == 0
    assert not any(covered([a], [b]) for a, b in itertools.combinations(labels, 2))
    view = ax.get_window_extent()
    assert all(view.xmin <= box.xmin and box.xmax <= view.xmax for box in labels)


def test_labels_without_room_are_left_out_and_named():
    ax = gw.plot_network(network(40, 0.2, names=LONG[:40]), ax=new_axes(5, 3.5, (0, 0, 1, 1)))
    labels = label_boxes(ax)
    assert 0 < len(labels) < 40
    assert covered(labels, node_boxes(ax)) == 0
    assert "No room to name: Questionnaire item" in " ".join(ax.texts[-1].get_text().split())


def test_long_names_that_differ_have_labels_that_differ():
    for names in (LONG, [f"a long name that ends in a number, which is {i}" for i in range(60)]):
        ax = gw.plot_network(network(60, "tree", names=names))
        labels = [text.get_text() for text in ax.texts if text.get_bbox_patch() is not None]
        assert len(set(labels)) == 60


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_odd_names_are_drawn_as_they_are_in_every_format(kind, tmp_path):
    model = network(8, 0.6, names=ODD)
    groups = dict.fromkeys(ODD, "$\\frac{") | {"$x$": "_group"}
    gw.plot_network(model, tmp_path / f"n.{kind}", communities=groups, title="$\\frac{1}{\x00",
                    caption="$$\\")  # fmt: skip
    first, second = model.edges[0]
    gw.plot_pair(model, first, second, tmp_path / f"p.{kind}")
    assert all((tmp_path / f"{name}.{kind}").stat().st_size > 2000 for name in "np")
    ax = gw.plot_network(model)
    shown = {text.get_text().replace("\\$", "$") for text in ax.texts}
    assert {"$\\frac{1}{", "$x$", "tab and?bell", "_hidden", "<script>", "a b"} <= shown


def edge_lines(ax):
    """Ends, colour and whether it is dashed, of each edge drawn."""
    [lines] = [each for each in ax.collections if each.zorder == 1]
    dashed = [pattern is not None for _, pattern in lines.get_linestyle()]
    colours = [tuple(colour[:3]) for colour in lines.get_colors()]
    return list(zip(lines.get_segments(), colours, dashed, strict=True))


def test_signs_are_told_by_colour_and_by_dashes():
    model = network(9, 0.5)
    places = gw.network_layout(model)
    at = {tuple(np.round(place, 6)): name for name, place in places.items()}
    drawn = {}
    for ends, colour, dashed in edge_lines(gw.plot_network(model, layout=places)):
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


def test_edges_without_a_sign_are_grey():
    table = np.random.default_rng(0).normal(size=(3, 3))
    model = gw.PairwiseMRF({"a": [0, 1, 2], "b": [0, 1, 2]}, None, {("a", "b"): table})
    ax = gw.plot_network(model)
    [(_, colour, dashed)] = edge_lines(ax)
    assert (colour, dashed) == (to_rgba(UNSIGNED)[:3], False)
    assert ax.get_legend() is None


def nodes_of(ax):
    """{place: (colour, shape)} of the nodes drawn."""
    out = {}
    for each in ax.collections:
        if each.zorder == 3:
            [shape] = each.get_paths()
            for place, colour in zip(each.get_offsets(), each.get_facecolors(), strict=True):
                out[tuple(np.round(place, 6))] = (tuple(colour), len(shape.vertices))
    return out


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
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[:2] == ["mood", "sleep"]
    with pytest.raises(DataError, match="'no colour' for 'a', which is not a colour"):
        gw.plot_network(model, colors={"a": "no colour"})


def test_captions_and_titles_are_your_own():
    model = network(6, "tree")
    ax = gw.plot_network(model, title="", caption="Figure 1.")
    assert ax.get_title() == ""
    assert ax.texts[-1].get_text() == "Figure 1."
    assert gw.plot_network(model, caption="").texts[-1].get_text() == ""


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


def test_layouts_that_do_not_fit_are_refused():
    model = network(5, 1.0)
    with pytest.raises(DataError, match="no place for variable 1, variable 2"):
        gw.plot_network(model, layout={"variable 0": (0, 0)})
    for wrong in ((0, 1, 2), "ab", (0, float("nan")), None):
        with pytest.raises(DataError, match="for 'variable 0'; give two numbers"):
            gw.plot_network(model, layout={"variable 0": wrong})
    with pytest.raises(DataError, match=r"layout is a list, and .* give a mapping"):
        gw.plot_network(model, layout=[1, 2])


def test_the_layout_of_networkx_is_taken():
    model = network(6, "tree")
    places = nx.circular_layout(model.to_networkx())
    ax = gw.plot_network(model, layout=places)
    assert set(nodes_of(ax)) == {tuple(np.round(place, 6)) for place in places.values()}
    assert covered(label_boxes(ax), node_boxes(ax)) == 0


def test_pictures_do_not_depend_on_the_process(tmp_path):
    script = (
        "import hashlib, graftwork as gw, networkx as nx\n"
        "g = nx.relabel_nodes(nx.barabasi_albert_graph(25, 2, seed=0), lambda i: f'v{i}')\n"
        "for kind in ('png', 'svg', 'pdf'):\n"
        "    gw.plot_network(g, f'n.{kind}', communities=True)\n"
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


@pytest.fixture
def triangle():
    """Three variables whose probabilities can be counted out."""
    rng = np.random.default_rng(3)
    states = {"a": ["low", "high"], "b": [1, 2, 3], "c": ["x", "y"]}
    pairs = {("a", "b"): rng.normal(size=(2, 3)), ("b", "c"): rng.normal(size=(3, 2)),
             ("a", "c"): rng.normal(size=(2, 2))}  # fmt: skip
    return gw.PairwiseMRF(states, {"b": [0.3, -0.2, 0.0]}, pairs), pairs


def test_heat_maps_show_probabilities_and_log_potentials(triangle, tmp_path):
    model, pairs = triangle
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
    ax = gw.plot_pair(gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, never), "a", "b")
    assert "\u2212\u221e" in [text.get_text() for text in ax.texts]


def test_heat_maps_that_cannot_be_are_refused(triangle):
    model, _ = triangle
    with pytest.raises(DataError, match="values is 'odds'; use"):
        gw.plot_pair(model, "a", "b", values="odds")
    apart = gw.PairwiseMRF({"a": [0, 1], "b": [0, 1]})
    with pytest.raises(DataError, match="no edge between 'a' and 'b'"):
        gw.plot_pair(apart, "a", "b")
    gw.plot_pair(apart, "a", "b", values="joint")
    with pytest.raises(DataError, match="'z'"):
        gw.plot_pair(model, "a", "z")


def test_heat_maps_go_on_axes_given(triangle):
    ax = Figure().add_subplot()
    assert gw.plot_pair(triangle[0], "a", "b", ax=ax, title="mine") is ax
    assert ax.get_title() == "mine"


def test_estimators_draw_themselves(tmp_path):
    rows = [["sun", "dry"], ["sun", "wet"], ["rain", "wet"], ["sun", "dry"], ["rain", "wet"]] * 30
    net = gw.MarkovNetwork(lam=0.01).fit(rows)
    ax = net.plot(tmp_path / "net.png", title="Weather", colors={"x0": "black"})
    assert ax.get_title() == "Weather"
    assert ax._repr_png_() == (tmp_path / "net.png").read_bytes()  # what notebooks show
    assert net.plot_pair("x0", "x1")._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="not fitted"):
        gw.MarkovNetwork().plot()
    with pytest.raises(ValueError, match="not fitted"):
        gw.MarkovNetwork().plot_pair("a", "b")
