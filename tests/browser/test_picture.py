"""The picture says nothing false: no line under a disc that is not its end, no label astray."""

import re

import numpy as np
import pytest

import graftwork as gw

from doors.report import network_view, packed, write_page

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
WAY = np.linspace(0.0, 1.0, 65)[:, None]
LONG = "number {} of all that was felt last week"

WIDTH = """
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
    return pen.measureText(arguments[0]).width;
"""


def network(n, m, name="v{}", seed=0):
    """Return a network of n variables and m edges, as many of them without a sign as with one."""
    rng = np.random.default_rng(seed)
    names = [name.format(i) for i in range(n)]
    pairs = {(names[int(rng.integers(j))], names[j]) for j in range(1, n)}
    while len(pairs) < m:
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        pairs.add((names[i], names[j]))
    states = {own: [0, 1] if k % 3 else ["a", "b", "c"] for k, own in enumerate(names)}
    tables = {
        (a, b): rng.normal(0.0, 0.8, (len(states[a]), len(states[b]))) for a, b in sorted(pairs)
    }
    return gw.PairwiseMRF(states, None, tables)


def numbers(element, *keys):
    return np.array([float(element.get(key)) for key in keys])


def lines_of(root):
    """Return the points of each line, shape (65, 2), and how wide it is."""
    out = []
    for each in root.iter():
        if each.tag == f"{SVG}line":
            start, end = numbers(each, "x1", "y1"), numbers(each, "x2", "y2")
            points = start + WAY * (end - start)
        elif each.tag == f"{SVG}path" and "Q" in each.get("d"):
            given = np.array([float(x) for x in re.findall(r"-?[\d.]+", each.get("d"))])
            start, middle, end = given.reshape(3, 2)
            points = (1 - WAY) ** 2 * start + 2 * WAY * (1 - WAY) * middle + WAY**2 * end
        else:
            continue
        out.append((points, float(each.get("stroke-width"))))
    return out


def discs_of(root):
    return np.array([numbers(each, "cx", "cy", "r") for each in root.iter(f"{SVG}circle")])


def lines_under_discs(root):
    """Return how many lines lie under a disc that they neither start nor end at."""
    discs, under = discs_of(root), 0
    for points, _ in lines_of(root):
        away = np.hypot(*(discs[:, None, :2] - points).transpose(2, 0, 1))
        others = np.ones(len(discs), dtype=bool)
        others[[away[:, 0].argmin(), away[:, -1].argmin()]] = False
        under += bool((away.min(axis=1) < discs[:, 2])[others].any())
    return under


def straight_under_discs(model, root):
    """Return how many edges would, if all lines were straight."""
    discs = discs_of(root)
    place = {name: k for k, name in enumerate(model.names)}
    under = 0
    for a, b in model.edges:
        i, j = place[a], place[b]
        points = discs[i, :2] + WAY * (discs[j, :2] - discs[i, :2])
        away = np.hypot(*(discs[:, None, :2] - points).transpose(2, 0, 1)).min(axis=1)
        away[[i, j]] = np.inf
        under += bool((away < discs[:, 2]).any())
    return under


@pytest.mark.parametrize(("n", "m", "least"), [(23, 100, 8), (300, 524, 200)])
def test_no_line_passes_under_a_disc_that_is_not_its_end(page, tmp_path, n, m, least):
    model = network(n, m)
    page.open(model.explore(tmp_path / "net.html")).drawn()
    root = page.svg()
    assert straight_under_discs(model, root) > least
    assert lines_under_discs(root) == 0
    # Lines are bent for the scale: discs grow less than distances do.
    page.click("#zoom-out").click("#zoom-out")
    page.wait("location.hash.includes('at=')")
    assert lines_under_discs(page.drawn().svg()) == 0


def test_a_bent_line_is_found_where_it_is_drawn(page, tmp_path):
    """c lies between a and b: the line from a to b is clicked on where it passes c."""
    agree = [[1.0, 0.0], [0.0, 1.0]]
    pairs = {("a", "b"): agree, ("a", "c"): agree, ("c", "b"): agree, ("c", "d"): agree}
    model = gw.PairwiseMRF({name: [0, 1] for name in "abcd"}, None, pairs)
    places = {"x": packed([-2.0, 2.0, 0.0, 0.0], "f4"), "y": packed([0.0, 0.0, 0.0, 1.0], "f4")}
    path = write_page(tmp_path / "net.html", network_view(model) | places)
    page.open(path).drawn()
    drawn = [points for points, _ in lines_of(page.svg())]
    bent = [way for way in drawn if np.hypot(*(way[32] - (way[0] + way[-1]) / 2)) > 3]
    assert len(bent) == 1
    box = page.js("const b = document.querySelector('canvas').getBoundingClientRect();"
                  "return [b.left, b.top]")  # fmt: skip
    x, y = bent[0][32] + box
    for kind in ("mousePressed", "mouseReleased"):
        page.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent",
            {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1},
        )
    assert page.text(".details h2") == "a – b"


@pytest.mark.parametrize("name", ["v{}", LONG])
@pytest.mark.parametrize("n", [12, 60])
def test_labels_are_nearest_to_their_own_disc_or_led_to_it(page, tmp_path, name, n):
    model = network(n, 2 * n, name)
    page.open(model.explore(tmp_path / "net.html")).drawn()
    root = page.svg()
    discs = discs_of(root)
    leaders = {
        tuple(map(float, re.findall(r"-?[\d.]+", path.get("d"))[:2]))
        for path in root.iter(f"{SVG}path")
        if re.fullmatch(r"M[-\d. ]+L[-\d. ]+", path.get("d"))
    }
    texts = list(root.iter(f"{SVG}text"))
    assert len(texts) > 10
    for text in texts:
        shown = text.text.rstrip("…")
        (own,) = [k for k, whole in enumerate(model.names) if whole[:27] == shown[:27]]
        half = np.array([page.js(WIDTH, text.text) / 2 + 2, 7.5])
        beyond = np.maximum(np.abs(discs[:, :2] - numbers(text, "x", "y")) - half, 0.0)
        gaps = np.hypot(*beyond.T) - discs[:, 2]
        assert tuple(discs[own, :2]) in leaders or gaps[own] <= gaps.min() + 0.1
