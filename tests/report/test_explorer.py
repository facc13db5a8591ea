"""The explorer's page: exact numbers, one file, the committed bundle, what is refused."""

import base64
import hashlib
import json
import math
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import graftwork as gw

from doors.report import (
    _DIFFERS,
    NEGATIVE,
    POSITIVE,
    asset,
    embedded,
    grouping,
    network_view,
    packed,
    page_html,
    texts,
    view,
)
from doors.report import UNSIGNED_MARK as UNSIGNED

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "explorer"
ALIKE = [[1.0, 0.0], [0.0, 1.0]]


def unpacked(value):
    """Return packed numbers by the letter of the format: base64, little-endian."""
    (kind, text), *rest = value.items()
    assert not rest
    return np.frombuffer(base64.b64decode(text), {"f8": "<f8", "f4": "<f4", "i4": "<i4"}[kind])


def data_of(path):
    """Return the data that stand in a page."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def columns_of(model):
    return {column["key"]: unpacked(column["values"]) for column in model["columns"]}


def three():
    return gw.PairwiseMRF(
        {"a": [0, 1], "b": ["x", "y", "z"], "c": [True, False]},
        {"a": [0.1, 1 / 3]},
        {("a", "b"): [[1e-300, -2.0, 0.1], [5e-324, -np.inf, 3.3]], ("a", "c"): ALIKE},
    )


def test_potentials_are_in_the_page_bit_for_bit(tmp_path):
    model = three()
    path = model.explore(tmp_path / "net.HTM", title="Three")
    data = data_of(path)
    assert data["title"] == "Three"
    assert data["names"] == ["a", "b", "c"]
    assert data["states"] == [["0", "1"], ["x", "y", "z"], ["True", "False"]]
    (shown,) = data["models"]
    assert unpacked(shown["weights"]).tobytes() == model.potentials.weights.astype("<f8").tobytes()
    edges = unpacked(shown["edges"]).reshape(-1, 2)
    np.testing.assert_array_equal(edges, model.potentials.layout.edges)
    columns = columns_of(shown)
    np.testing.assert_array_equal(columns["strength"], model.strengths)
    np.testing.assert_array_equal(columns["correlation"], model.correlations)
    np.testing.assert_array_equal(columns["weight"], [math.nan, 2.0])


def test_a_fitted_network_brings_its_tests_and_whatever_was_measured(tmp_path):
    rng = np.random.default_rng(0)
    a, noise = rng.integers(0, 2, (2, 500))
    rows = np.stack([a, np.where(rng.random(500) < 0.9, a, noise), noise], axis=1)
    net = gw.MarkovNetwork(random_state=0).fit(rows)
    net.predictability(rows)
    net.bootstrap(rows, 5, case_dropping=False)
    data = data_of(net.explore(tmp_path / "net.html", groups={"x0": "first"}))
    (shown,) = data["models"]
    columns = columns_of(shown)
    records = {(r["first"], r["second"]): r for r in net.edges_.to_dict("records")}
    assert len(records) >= 1
    for k, edge in enumerate(net.model_.edges):
        for key in ("strength", "weight", "p_value", "q_value", "correlation"):
            assert columns[key][k] == records[edge][key]
        assert columns["frequency"][k] == net.bootstrap_.frequency(*edge)
    variables = {column["key"]: unpacked(column["values"]) for column in data["columns"]}
    shares = net.predictability_.normalised_accuracy
    np.testing.assert_allclose(variables["predictability"], np.clip(np.nan_to_num(shares), 0, 1))
    assert data["groupings"][0] == {"label": "Group", "names": ["first"], "of": [0, -1, -1]}
    assert data["groupings"][1]["label"] == "Community"
    assert "Learned from 500 rows." in data["words"]


def test_a_model_alone_says_that_it_carries_no_tests():
    rows = np.random.default_rng(0).integers(0, 2, (60, 2))
    net = gw.MarkovNetwork(lam=0.001).fit(np.column_stack([rows, rows[:, 0]]))
    assert "a model alone carries no tests" in view(net.model_)["models"][0]["untested"]
    assert view(net)["models"][0]["untested"] == "its edges were not tested"


def grouped(states, tables, seed):
    """Return rows of two groups: the first two variables are connected by each of the tables."""
    names, parts = list(states), []
    for k, table in enumerate(tables):
        model = gw.PairwiseMRF(states, None, {(names[0], names[1]): table})
        parts.append(model.sample(500, random_state=seed + k).to_dict())
    rows = {name: list(parts[0][name]) + list(parts[1][name]) for name in names}
    return rows | {"where": ["n"] * 500 + ["s"] * 500}


def test_differences_of_groups_are_of_what_was_tested():
    binary = {"a": ["no", "yes"], "b": ["no", "yes"], "c": ["no", "yes"]}
    found = gw.compare_groups(grouped(binary, [np.eye(2), -np.eye(2)], 0), by="where")
    columns = columns_of(view(found)["models"][0])
    records = found.edges()
    assert len(records) >= 1
    # The groups are about as strong, with opposite signs: strengths hardly differ, weights do.
    assert abs(records[0]["difference"]) < 1 < records[0]["weight_difference"]
    for key in ("weight_difference", "q_value"):
        np.testing.assert_array_equal(columns[key], [r[key] for r in records])
    assert "difference" not in columns
    means = [(r["weight_n"] + r["weight_s"]) / 2 for r in records]
    np.testing.assert_allclose(columns["weight"], means, rtol=1e-12)
    assert any("fitted together in each group" in text for text in view(found)["words"])

    three_states = {"a": ["x", "y", "z"], "b": ["x", "y", "z"]}
    tables = [2 * np.eye(3), 0.5 * np.eye(3)]
    found = gw.compare_groups(grouped(three_states, tables, 4), by="where")
    columns = columns_of(view(found)["models"][0])
    np.testing.assert_array_equal(columns["difference"], [r["difference"] for r in found.edges()])
    assert not {"weight", "weight_0", "weight_difference"} & set(columns)


def test_lines_between_groups_are_those_of_the_groups_own_networks():
    points = np.arange(5) - 2.0
    bent = 0.3 * np.outer(points, points**2 - 2) + 0.1 * np.outer(points, points)
    items = dict.fromkeys("ab", range(5))
    found = gw.compare_groups(grouped(items, [bent, bent], 0), by="where", ordinal=["a", "b"])
    (record,) = found.edges()
    assert np.isnan(record["weight_n"])  # bent: compared by whole tables
    models = [net.model_ for net in found.networks.values()]
    columns = columns_of(view(found)["models"][0])
    assert columns["strength"][0] == np.mean([model.strength("a", "b") for model in models])
    assert columns["correlation"][0] == np.mean([model.correlation("a", "b") for model in models])
    assert [columns["norm_0"][0], columns["norm_1"][0]] == [record["norm_n"], record["norm_s"]]
    assert columns["strength"][0] < 1 < record["norm_n"]


def test_colours_are_those_of_the_figures():
    colours = {
        "positive": POSITIVE, "negative": NEGATIVE, "unsigned": UNSIGNED, "differs": _DIFFERS,
    }  # fmt: skip
    for name, colour in colours.items():
        # The first of each is that of light paper.
        assert re.search(rf"--{name}: ?(#\w+)", asset("explorer.css"))[1] == colour
        assert re.search(rf"\b{name}:\"(#\w+)\"", asset("explorer.js"))[1] == colour


def test_names_and_states_are_texts_that_can_be_told_apart():
    assert texts([1, "1", 2.5, None, True]) == ["1", "'1'", "2.5", "None", "True"]
    assert grouping("Group", ["b", None, "a", "b"]) == {
        "label": "Group", "names": ["b", "a"], "of": [0, -1, 1, 0],
    }  # fmt: skip


def test_data_cannot_leave_their_element():
    hostile = "</script><!--<script>\u2028\ud800"
    text = embedded({"name": hostile})
    assert "<" not in text
    assert text.encode("utf-8")
    assert json.loads(text)["name"] == hostile
    page = page_html({"title": hostile.replace("\ud800", "")})
    assert page.count("</script>") == 2


def test_the_page_is_small_and_runs_only_its_own_script():
    page = page_html({"title": "t"})
    assert len(page.encode("utf-8")) < 1_500_000
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind in ("explorer.js", "explorer.css"):
        digest = base64.b64encode(hashlib.sha256(asset(kind).encode("utf-8")).digest()).decode()
        assert f"sha256-{digest}" in policy
    urls = set(re.findall(r"https?://[\w./-]+", page))
    assert urls <= {"http://www.w3.org/2000/svg"}


def test_packed_numbers_are_little_endian():
    np.testing.assert_array_equal(unpacked(packed(np.array([1.5, np.nan], ">f8"))), [1.5, np.nan])
    np.testing.assert_array_equal(unpacked(packed([None, 2.0])), [np.nan, 2.0])
    np.testing.assert_array_equal(unpacked(packed(np.array([[1, -2]]), "i4")), [1, -2])


# ---- the bundle --------------------------------------------------------------------------------


def digest_of_sources():
    """Return what build.mjs writes into the bundle, computed here by itself."""
    hasher = hashlib.sha256()
    inside = sorted((SOURCES / "src").rglob("*.*"), key=lambda path: str(path))
    for path in [*inside, SOURCES / "package.json", SOURCES / "build.mjs"]:
        hasher.update(path.relative_to(SOURCES).as_posix().encode() + b"\0")
        hasher.update(path.read_bytes() + b"\0")
    return hasher.hexdigest()


@pytest.mark.parametrize("name", ["explorer.js", "explorer.css"])
def test_the_committed_bundle_was_made_from_the_sources(name):
    assert f"from sources {digest_of_sources()}" in asset(name), "run make explorer"


needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (SOURCES / "node_modules" / "esbuild").is_dir(),
    reason="node, or explorer/node_modules, is not there; make explorer installs the latter",
)


@needs_node
def test_bundling_again_gives_the_same_bytes(tmp_path):
    done = subprocess.run(
        ["node", "build.mjs", "--out", str(tmp_path)], cwd=SOURCES, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in ("explorer.js", "explorer.css"):
        assert (tmp_path / name).read_text(encoding="utf-8") == asset(name)


@needs_node
def test_the_modules_of_the_page_pass_their_tests():
    for words in (["npm", "run", "--silent", "check"], ["npm", "test", "--silent"]):
        done = subprocess.run(words, cwd=SOURCES, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_versions_of_the_build_are_pinned_without_any_host():
    wanted = json.loads((SOURCES / "package.json").read_text())["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    lock = (SOURCES / "package-lock.json").read_text()
    assert "resolved" not in lock
    packages = json.loads(lock)["packages"]
    for name, version in wanted.items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_the_bundle_is_in_the_wheel(tmp_path):
    from hatchling.builders.wheel import WheelBuilder

    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    inside = set(zipfile.ZipFile(built).namelist())
    folder = "graftwork/report/explorer"
    assert {f"{folder}/explorer.js", f"{folder}/explorer.css"} <= inside


def test_a_network_of_many_states_and_one_without_edges(tmp_path):
    wide = gw.PairwiseMRF({"a": range(200), "b": range(3)}, None, {("a", "b"): np.ones((200, 3))})
    data = data_of(wide.explore(tmp_path / "wide.html"))
    assert len(data["states"][0]) == 200
    empty = network_view(gw.PairwiseMRF({"a": [0]}))
    assert unpacked(empty["models"][0]["pairs"]).size == 0
