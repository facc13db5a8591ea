"""Every control of the page does what it says, and nothing goes wrong on the way."""

import csv
import re
from itertools import pairwise

import numpy as np
import pytest

import graftwork as gw

from doors.report import EdgeTest, network_view, write_page

pytestmark = pytest.mark.browser

AGREE, DIFFER = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.7], [0.7, 0.0]]
NAMES = ("rain", "wet", "sprinkler", "mood", "coat", "alone")


@pytest.fixture(scope="module")
def model():
    """Two communities; four edges with a sign, one of them negative; one without."""
    states = {name: ["no", "yes"] for name in NAMES} | {"mood": ["low", "fair", "high"]}
    return gw.PairwiseMRF(
        states,
        {"rain": [0.8, 0.0], "mood": [0.1, 0.0, 0.4]},
        {
            ("rain", "wet"): [[1.5, 0.0], [0.0, 1.5]],
            ("wet", "sprinkler"): AGREE,
            ("rain", "sprinkler"): DIFFER,
            ("rain", "coat"): AGREE,
            ("mood", "coat"): [[0.2, 0.0], [0.0, 0.3], [0.9, 0.0]],
        },
    )


@pytest.fixture(scope="module")
def tests(model):
    found = enumerate(model.edges)
    return {edge: EdgeTest(10.0 ** (-2 - k), 10.0 ** (-1.5 - k)) for k, edge in found}


@pytest.fixture(scope="module")
def path(model, tests, tmp_path_factory):
    shown = network_view(
        model,
        "Rain and moods",
        tests=tests,
        groups={"rain": "sky", "wet": "sky", "mood": "people"},
        predictability=dict.fromkeys(NAMES, 0.5),
        info={"rows": 500, "data": "rain.csv", "fdr": 0.1},
    )
    return write_page(tmp_path_factory.mktemp("pages") / "net.html", shown)


def rows(page):
    return page.texts(".tab-panel tbody tr")


def test_it_opens_with_an_overview_that_answers_the_first_questions(page, path):
    page.open(path).settle()
    assert page.driver.title == "Rain and moods"
    assert page.text(".size") == "6 variables, 5 edges"
    facts = dict(zip(page.texts(".facts dt"), page.texts(".facts dd"), strict=True))
    assert facts["Best connected"] == "rain, with 3 edges"
    assert facts["Least sure edge"] == "rain – wet (q = 0.032)"
    assert facts["Negative pairs"] == "1 of 5 show them"
    groups = " ".join(page.texts(".groups li"))
    assert "sky" in groups
    assert page.text(".badge") == "exact arithmetic"
    page.click("#least-sure")
    assert page.text(".details h2") == "rain – wet"


def test_nothing_is_asked_of_anywhere(page, path):
    text = path.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", text)
    page.open(path).settle()
    asked = "return performance.getEntriesByType('resource').map(e => e.name)"
    assert [name for name in page.js(asked) if not name.startswith("blob:")] == []
    # What computes is a worker of the page's own, so that the page never waits.
    targets = page.driver.execute_cdp_cmd("Target.getTargets", {})["targetInfos"]
    assert [target["url"][:5] for target in targets if target["type"] == "worker"] == ["blob:"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [420, 1400])
def test_it_draws_at_every_size_in_light_and_dark(page, path, width, dark):
    page.open(path, width=width, height=800, dark=dark).settle()
    assert page.js("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
    colours = page.js("""
        const canvas = document.querySelector("canvas");
        const pen = canvas.getContext("2d");
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let k = 0; k < data.length; k += 4) seen.add(data.slice(k, k + 3).join());
        return seen.size;
    """)
    assert colours > 50
    assert page.js("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_variable_is_found_by_name_and_shows_its_neighbours(page, path):
    page.open(path).type("#search", "RAI", "\ue007")
    assert page.text(".details h2") == "rain"
    assert "3 edges" in page.text(".facts-line")
    assert "group sky" in page.text(".facts-line")
    page.settle()
    assert [row.split("\t")[0] for row in page.texts(".details tbody tr")] == [
        "wet",
        "coat",
        "sprinkler",
    ]
    page.click("[data-ego='1']")
    assert page.state()["ego"] == "1"
    page.click("#back")
    assert page.state().get("v") is None
    page.type("#search", "nobody", "\ue007")
    assert page.text(".found") == "no variable of that name"


def test_evidence_moves_all_marginals(page, path, model):
    page.open(path, f"v={NAMES.index('wet')}").settle()
    page.click(".marginal [data-state='1']").settle()
    assert page.text(".chip") == "wet = yes\n×"
    page.click("[data-tab='whatif']").settle()
    wanted = model.marginals({"wet": "yes"})
    for i, name in enumerate(NAMES):
        shown = page.numbers(f"[data-node='{i}'] .number")
        np.testing.assert_allclose(shown, wanted[name], rtol=0, atol=1e-9)
    assert page.js("return document.querySelectorAll('[data-node] .bar-0').length") == 13
    page.wait("document.querySelector('#mode-note').textContent.includes('exact')")
    marked = page.js("""
        return [...document.querySelectorAll("[data-node]")].map((section) => [
          +section.dataset.node,
          [...section.querySelectorAll(".mark")].findIndex((mark) => mark.textContent),
        ]);
    """)
    best = model.map({"wet": "yes"})
    assert {NAMES[i]: model.states[NAMES[i]][a] for i, a in marked} == best
    # The first are what was observed, then what moved most.
    before = model.marginals()
    moved = {name: np.abs(before[name] - wanted[name]).sum() for name in NAMES if name != "wet"}
    order = [NAMES[i] for i, _ in marked]
    assert order == ["wet", *sorted(moved, key=lambda name: -moved[name])]
    page.click("[data-node] [data-state='1'][aria-pressed='true']").settle()
    assert "if" not in page.state()


def test_states_can_be_weighed(page, path, model):
    page.open(path, f"v={NAMES.index('coat')}").settle()
    page.click(".softly input")
    page.slide(".marginal li:nth-child(1) .likelihood", 0.25).settle()
    assert page.state()["if"] == "4:0.25,1"
    unary = {"coat": model.unary("coat") + np.log([0.25, 1.0])}
    given = {name: model.unary(name) for name in NAMES} | unary
    true = gw.PairwiseMRF(model.states, given, {e: model.table(*e) for e in model.edges})
    shown = page.numbers(".marginal .number")
    np.testing.assert_allclose(shown, true.marginals()["coat"], rtol=0, atol=1e-9)
    assert "weighed" in page.text(".chip")
    page.click("#clear-evidence").settle()
    assert page.texts(".chip") == []


def test_impossible_evidence_is_said_to_be(page, tmp_path):
    never = gw.PairwiseMRF(
        {"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[0.0, -np.inf], [-np.inf, 0.0]]}
    )
    page.open(never.explore(tmp_path / "net.html"), "if=0:0,1;1:1,0").settle()
    assert page.text(".badge") == "impossible"


def test_the_table_sorts_filters_and_pages(page, path):
    page.open(path, "tab=edges").settle()
    assert rows(page)[0].split("\t")[0] == "rain – wet"
    head = "thead [data-sort='q_value']"
    page.click(head)
    assert (
        page.js("return document.querySelector(arguments[0]).closest('th').ariaSort", head)
        == "ascending"
    )
    assert rows(page)[-1].split("\t")[0] == "rain – wet"
    page.click(head)
    assert rows(page)[0].split("\t")[0] == "rain – wet"
    page.type("#edge-filter", "coat")
    assert len(rows(page)) == 2
    assert page.text(".tab-panel .counted") == "2 edges"
    # A row is a button for the keyboard, and arrows go from row to row.
    page.js("document.querySelector('.tab-panel tbody button').focus()")
    page.driver.switch_to.active_element.send_keys("\ue015")
    assert page.js("return document.activeElement.closest('tr').rowIndex") == 2
    page.driver.switch_to.active_element.send_keys("\ue007")
    assert page.text("[data-tab='details'][aria-selected='true']") == "Details"
    assert "coat" in page.text(".details h2")


@pytest.mark.parametrize("width", [1300, 420])
def test_columns_fit_or_are_seen_to_go_on(page, path, width):
    page.open(path, "tab=edges", width=width, height=850).settle()
    scroll = "document.querySelector('.tab-panel .scroll')"
    beyond = "getComputedStyle(document.querySelector('.beyond')).display !== 'none'"
    headings = page.texts(".tab-panel thead th")
    assert page.js(f"return {scroll}.scrollWidth <= {scroll}.clientWidth")
    assert not page.js(f"return {beyond}")
    before = page.js(f"return {scroll}.clientWidth")
    page.click("#all-columns").settle()
    assert len(page.texts(".tab-panel thead th")) > len(headings)
    if width > 899:
        assert page.js(f"return {scroll}.clientWidth") > 1.3 * before
    else:
        # More than fit: that is said, and the names stay in sight.
        page.js("document.querySelector('table.data').style.width = '700px'")
        page.wait(beyond)
        page.js(f"{scroll}.scrollLeft = 200")
        left = "document.querySelector('.tab-panel tbody th').getBoundingClientRect().left"
        assert page.js(f"return {left}") == 0


def test_variables_are_listed_with_their_connections(page, path):
    page.open(path, "tab=variables").settle()
    first = rows(page)[0].split("\t")
    assert first[:2] == ["rain", "3"]
    page.click("thead [data-sort='name']")
    assert [row.split("\t")[0] for row in rows(page)] == sorted(NAMES)
    page.click(".tab-panel tbody tr:first-child button")
    assert page.text(".details h2") == "alone"


def test_filters_hide_edges_everywhere(page, path, model):
    page.open(path, "tab=edges").settle()
    page.click("[data-sign='negative']")
    assert [row.split("\t")[0] for row in rows(page)] == ["rain – sprinkler"]
    assert page.text(".toolbar .counted") == "1 of 5 edges"
    page.click("[data-sign='positive']")
    assert len(rows(page)) == 3
    page.click("#reset")
    assert len(rows(page)) == 5
    page.slide("#filter-strength", 150)
    strongest = [e for e in model.edges if model.strength(*e) >= float(page.state()["s"])]
    assert len(rows(page)) == len(strongest) < 5
    page.click("#reset")
    page.slide("#filter-q", 170)
    assert len(rows(page)) == 4
    assert float(page.state()["q"]) < 0.032
    assert "rain – wet" not in " ".join(rows(page))


def test_a_pair_shows_its_table(page, path, model, tests):
    place = model.edges.index(("rain", "coat"))
    page.open(path, f"e={place}").settle()
    facts = dict(zip(page.texts(".facts dt"), page.texts(".facts dd"), strict=True))
    assert facts["Weight"] == "+2.00"
    written = [facts[key].replace("−", "-") for key in ("p", "q")]
    assert written == ["1.0e-4", "3.2e-4"]
    assert [float(text) for text in written] == pytest.approx(tests["rain", "coat"][:2], rel=0.02)

    def cells():
        return page.numbers(".pair-table td")

    np.testing.assert_allclose(cells(), [0.5, -0.5, -0.5, 0.5], atol=1e-12)
    joint = model.pair_marginal("rain", "coat")
    for shown, wanted in (
        ("joint", joint),
        ("rows", joint / joint.sum(axis=1, keepdims=True)),
        ("columns", joint / joint.sum(axis=0)),
    ):
        page.click(f"[data-shown='{shown}']").settle()
        np.testing.assert_allclose(cells(), wanted.ravel(), rtol=0, atol=1e-9)


def test_the_picture_is_panned_zoomed_and_clicked(page, path):
    page.open(path).settle()
    box = page.js("""
        const box = document.querySelector("canvas").getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];
    """)

    def mouse(kind, x, y, **more):
        given = {"type": kind, "x": x, "y": y, "button": "left", **more}
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", given)

    x, y = box[0] + 30, box[1] + box[3] - 120  # nothing is drawn there
    mouse("mousePressed", x, y, clickCount=1)
    for step in range(1, 6):
        mouse("mouseMoved", x + 20 * step, y, buttons=1)
    mouse("mouseReleased", x + 100, y, clickCount=1)
    page.wait("location.hash.includes('at=')")
    moved = [float(part) for part in page.state()["at"].split(",")]
    mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    page.wait("!location.hash.includes(arguments[0])", page.state()["at"])
    zoomed = [float(part) for part in page.state()["at"].split(",")]
    assert zoomed[2] > moved[2]
    page.click("#zoom-out").click("#zoom-in").click("#zoom-fit")
    page.wait("!location.hash.includes('at=')")
    page.type("canvas", "+")
    page.wait("location.hash.includes('at=')")
    page.type("canvas", "0")
    page.wait("!location.hash.includes('at=')")
    # The disc of rain: where the data and the camera say.
    page.open(path, "at=0,0,100").settle()
    shown = network_place(path, NAMES.index("rain"))
    u, v = box[0] + box[2] / 2 + 100 * shown[0], box[1] + box[3] / 2 + 100 * shown[1]
    mouse("mouseMoved", u, v)
    page.wait("!document.querySelector('.tip').hidden")
    assert page.text(".tip") == "rain"
    mouse("mousePressed", u, v, clickCount=1)
    mouse("mouseReleased", u, v, clickCount=1)
    assert page.text(".details h2") == "rain"
    page.driver.switch_to.active_element.send_keys("\ue00c")
    assert "v" not in page.state()


def network_place(path, i):
    """Return where a variable is drawn, as the page's data have it."""
    import base64
    import json

    found = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    data = json.loads(found[1])
    return [float(np.frombuffer(base64.b64decode(data[axis]["f4"]), "<f4")[i]) for axis in "xy"]


def test_a_link_brings_everything_back(page, path):
    page.open(path).settle()
    page.js("location.hash = 'v=1&ego=2&s=0.5&q=0.5&sign=positive&c=1&if=3:0.5,1,0&tab=whatif'")
    page.wait("document.querySelector('[data-tab=whatif][aria-selected=true]')")
    page.settle()
    assert page.text(".chip") == "mood = weighed\n×"
    assert page.js("return document.querySelector('#colour-by').value") == "1"
    link = page.js("return location.hash")
    page.click("#copy-link")
    page.wait("document.querySelector('.said').textContent.includes('shows the page as it is now')")
    assert page.js("return location.hash") == link
    for nonsense in ("v=99&e=-3&if=9:1;1:x,y;&q=7&at=1,2&tab=none&c=55", "%%%&&==", "if=1:0,0"):
        page.open(path, nonsense).settle()
        assert page.text(".size") == "6 variables, 5 edges"
        assert page.texts(".chip") == []


def test_colours_follow_what_was_chosen(page, path):
    page.open(path).settle()
    assert page.texts(".legend .group") == ["sky", "people"]
    page.click(".legend [data-group='0']")
    assert page.state()["g"] == "0"
    page.choose("#colour-by", "1")
    assert page.texts(".legend .group")[:2] == ["1", "2"]
    page.click("#theme").click("#theme")
    assert page.js("return document.documentElement.dataset.theme") == "dark"


def test_picture_and_table_are_saved(page, path, model):
    page.open(path, "if=1:0,1").settle()
    root = page.svg()
    space = "{http://www.w3.org/2000/svg}"
    assert {text.text for text in root.iter(f"{space}text")} == set(NAMES)
    lines = list(root.iter(f"{space}line"))
    assert len(lines) == 5
    assert sum("stroke-dasharray" in line.attrib for line in lines) == 1
    page.click("#save-png")
    assert page.downloaded(".png").read_bytes()[1:4] == b"PNG"
    page.click("[data-tab='edges']")
    page.click(".table-bar button")
    with page.downloaded(".csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert {(r["first"], r["second"]): float(r["strength"]) for r in records} == {
        edge: model.strength(*edge) for edge in model.edges
    }


def test_it_prints_without_its_controls(page, path):
    page.open(path, "tab=edges").settle()
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for hidden in (".actions", ".filters", ".tabs", ".zoom"):
            assert (
                page.js(
                    "return getComputedStyle(document.querySelector(arguments[0])).display", hidden
                )
                == "none"
            )
        assert (
            page.js("return document.querySelector('canvas').getBoundingClientRect().height") > 200
        )
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_printed_picture_is_as_wide_as_the_page(page, path):
    page.open(path, "tab=edges", width=1000, height=800).settle()
    before = page.js("const c = document.querySelector('canvas'); return [c.width, c.height]")
    page.js("""
        addEventListener("beforeprint", () => {
          const canvas = document.querySelector("canvas");
          const pen = canvas.getContext("2d");
          const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
          let [left, right] = [canvas.width, 0];
          for (let k = 0; k < data.length; k += 4) {
            if (data[k] > 250) continue;
            const x = (k / 4) % canvas.width;
            [left, right] = [Math.min(left, x), Math.max(right, x)];
          }
          window.printed = [canvas.width, canvas.height, (right - left) / canvas.width];
        });
    """)
    page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    width, height, inked = page.js("return window.printed")
    assert width > 2000
    assert 0.45 * width < height < 1.35 * width
    assert inked > 0.75
    page.wait(
        "(c => c.width === arguments[0] && c.height === arguments[1])"
        "(document.querySelector('canvas'))",
        *before,
    )


@pytest.fixture(scope="module")
def loopy(tmp_path_factory):
    """A network too large for exact answers."""
    rng = np.random.default_rng(1)
    names = [f"a-long-name-of-variable-{i}" for i in range(40)]
    pairs = {
        (a, b): rng.normal(0.0, 1.5, (4, 4))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if rng.random() < 0.6
    }
    model = gw.PairwiseMRF({name: list("abcd") for name in names}, None, pairs)
    return model.explore(tmp_path_factory.mktemp("loopy") / "net.html")


def test_how_answers_were_computed_is_said_once_there_are_some(page, loopy):
    page.open(loopy).drawn()
    assert page.text(".evidence").startswith("What if?")
    assert not page.js("return document.querySelector('.badge').checkVisibility()")
    page.js("location.hash = 'v=0'")
    page.wait("document.querySelector('.badge').checkVisibility()")
    assert page.text(".badge") != "exact arithmetic"


def test_what_evidence_moved_far_stays_in_sight(page, tmp_path):
    """In a chain, selecting one end fades all but its neighbour; evidence reaches further."""
    names = [f"v{i}" for i in range(5)]
    bound = [[2.0, 0.0], [0.0, 2.0]]
    pairs = dict.fromkeys(pairwise(names[:4]), bound)
    model = gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)
    path = model.explore(tmp_path / "net.html")

    def seen(link):
        root = page.open(path, link).settle().svg()
        space = "{http://www.w3.org/2000/svg}"
        faded = [disc.get("fill-opacity") for disc in root.iter(f"{space}circle")].count("0.22")
        return {text.text for text in root.iter(f"{space}text")}, faded

    assert seen("v=0") == ({"v0", "v1"}, 3)
    assert seen("v=0&if=0:0,1") == ({"v0", "v1", "v2", "v3"}, 1)


def test_columns_of_which_nothing_is_known_are_left_out_and_names_stay_whole(page, loopy):
    page.open(loopy, "tab=edges", width=1000).drawn()
    assert [text.split("\u00a0")[0] for text in page.texts(".tab-panel thead th")] == [
        "Edge",
        "Strength",
    ]
    lines = page.js("""
        return [...document.querySelectorAll(".tab-panel tbody .name")].map((each) => {
          const range = document.createRange();
          range.selectNodeContents(each);
          return [each.textContent, range.getClientRects().length];
        });
    """)
    assert lines
    # A name of 25 letters may be broken at its hyphens, but not into pieces smaller than words.
    assert max(count for _, count in lines) <= 2
    page.open(loopy, "e=0").drawn()
    assert "–" not in page.texts(".facts.numbers dd")


def test_what_was_in_sight_stays_there_when_the_table_takes_more_room(page, loopy):
    page.open(loopy, "tab=edges&at=0,0,60").drawn()
    canvas = "document.querySelector('canvas').getBoundingClientRect()"
    before = page.js(f"const b = {canvas}; return [b.width, b.height]")
    page.click("#all-columns").drawn()
    after = page.js(f"const b = {canvas}; return [b.width, b.height]")
    assert after[0] < 0.8 * before[0]
    page.type("canvas", "+")
    page.wait("!location.hash.includes('at=0,0,60')")
    scale = float(page.state()["at"].split(",")[2])
    assert scale == pytest.approx(60 * 1.25 * after[0] / before[0], rel=0.01)


def test_help_opens_and_closes(page, path):
    page.open(path).click("#help")
    assert page.js("return document.querySelector('dialog').open")
    page.click("dialog button")
    assert not page.js("return document.querySelector('dialog').open")


HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f344\U0001f468\u200d\U0001f469\u200d\U0001f467 mushroom",
    "x" * 300,
    "]]>&amp;\"'`${1}\u2028\u0000\x1b",
    "-1",
)


def test_hostile_names_are_text(page, tmp_path):
    names = list(HOSTILE)
    pairs = {(names[k], names[k + 1]): AGREE for k in range(len(names) - 1)}
    model = gw.PairwiseMRF({name: ["</script>", name] for name in names}, None, pairs)
    path = model.explore(
        tmp_path / "net.html", title=HOSTILE[0], groups={name: name for name in names}
    )
    page.open(path).settle()
    for i, name in enumerate(names):
        page.open(path, f"v={i}&if={i}:0,1").settle()
        assert page.js("return document.querySelector('.details h2 bdi').textContent") == name
        assert (
            page.js("return document.querySelectorAll('.details .state-name')[1].textContent")
            == name
        )
        assert page.js("return document.documentElement.scrollWidth <= window.innerWidth")
    page.open(path, "e=0").settle()
    page.click("[data-tab='whatif']").click("[data-tab='variables']").click("[data-tab='edges']")
    assert page.js("return document.querySelector('.tab-panel tbody bdi').textContent") in names
    page.click("#save-svg")
    assert page.js("return window.hacked") is None
    assert page.js("return document.querySelectorAll('img').length") == 0
    assert page.js("return document.querySelector('h1 bdi').textContent") == HOSTILE[0]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_networks_without_edges_can_be_looked_at(page, tmp_path, n):
    model = gw.PairwiseMRF({f"v{i}": ["only"] if i else [0, 1] for i in range(n + 1)})
    page.open(model.explore(tmp_path / "net.html"), "v=0").settle()
    assert page.text(".badge") == "exact arithmetic"
    page.click("[data-tab='edges']")
    assert page.text(".pager") == "Nothing passes the filters."


def test_tables_of_many_rows_have_pages(page, tmp_path):
    names = [f"v{i}" for i in range(260)]
    pairs = {(names[0], name): [[0.01 * k, 0.0], [0.0, 0.0]] for k, name in enumerate(names[1:], 1)}
    model = gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)
    page.open(model.explore(tmp_path / "net.html"), "tab=edges").settle()
    assert len(rows(page)) == 100
    assert "1–100 of 259" in page.text(".pager")
    page.js("[...document.querySelectorAll('.pager button')][1].click()")
    page.js("[...document.querySelectorAll('.pager button')][1].click()")
    assert len(rows(page)) == 59
    assert "201–259 of 259" in page.text(".pager")
    assert page.js("return [...document.querySelectorAll('.pager button')][1].disabled")


def test_a_large_picture_is_dragged_and_stays_whole(page, tmp_path):
    """More than 1,500 lines and discs are shifted while they move, and painted again at rest."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(700)]
    pairs = {(names[int(rng.integers(j))], names[j]): AGREE for j in range(1, 700)}
    while len(pairs) < 1500:
        i, j = sorted(rng.choice(700, 2, replace=False).tolist())
        pairs[names[i], names[j]] = AGREE
    model = gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs)
    page.open(model.explore(tmp_path / "net.html")).settle()
    inked = """
        const canvas = document.querySelector("canvas");
        const copy = document.createElement("canvas");
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const pen = copy.getContext("2d", { willReadFrequently: true });
        pen.drawImage(canvas, 0, 0);
        const { data } = pen.getImageData(0, 0, copy.width, copy.height);
        let inked = 0;
        for (let k = 0; k < data.length; k += 4) if (data[k] < 250) inked++;
        return inked;
    """
    before = page.js(inked)
    given = {"button": "left", "buttons": 1, "clickCount": 1}

    def mouse(kind, x):
        page.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent", {"type": kind, "x": x, "y": 120, **given}
        )

    mouse("mousePressed", 120)
    for step in range(1, 30):
        mouse("mouseMoved", 120 + 3 * step)
    while_moving = page.js(inked)
    mouse("mouseReleased", 207)
    page.wait("location.hash.includes('at=')")
    page.settle()
    after = page.js(inked)
    assert before > 20_000
    assert while_moving > 0.7 * before
    assert after == pytest.approx(before, rel=0.1)
