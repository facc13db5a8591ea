import json

import numpy as np
import pytest

from doors.cli import Countdown

FILES = {
    "differences.csv", "groups.csv", "groups.txt", "groups.json", "groups.png", "model-1.gw",
    "model-2.gw",
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    """Two languages: in one of them b follows a."""
    rng = np.random.default_rng(0)
    language = np.repeat(["en", "fr"], 200)
    a = rng.integers(0, 2, 400)
    b = np.where((rng.random(400) < 0.8) & (language == "en"), a, rng.integers(0, 2, 400))
    c = np.where(rng.random(400) < 0.7, a, rng.integers(0, 2, 400))
    rows = zip(language, a, b, c, strict=True)
    lines = ["language,a,b,c", *(",".join(map(str, row)) for row in rows)]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines))
    return path


def test_it_writes_everything(graftwork, table, tmp_path):
    out = tmp_path / "deep" / "groups"
    words = ["--by", "language", "--out", out, "--permutations", 4, "--jobs", 1]
    result = graftwork("compare-groups", table, *words)
    assert result.code == 0, result.err
    assert {each.name for each in out.iterdir()} == FILES
    assert (out / "groups.txt").read_text() in result.out
    stored = json.loads((out / "groups.json").read_text())
    assert [each["group"] for each in stored["groups"]] == ["en", "fr"]
    assert stored["permutations"]["done"] == 4
    differing = [(e["first"], e["second"]) for e in stored["edges"] if e["differs"]]
    assert differing == [("a", "b")]
    for place, group in enumerate(["en", "fr"], 1):
        shown = graftwork("show", out / f"model-{place}.gw")
        assert f"group         language = {group}, 200 rows\n" in shown.out


def test_options_reach_the_networks(graftwork, table, tmp_path):
    words = ["--by", "language", "--out", tmp_path / "o", "-q", "--no-plot", "--fdr", 1e-30]
    result = graftwork("compare-groups", table, *words, "--edge-fdr", 0.2, "--drop", "c")
    assert (result.code, result.out, result.err) == (0, "", "")
    stored = json.loads((tmp_path / "o" / "groups.json").read_text())
    assert stored["fdr"] == 1e-30
    assert not any(edge["differs"] for edge in stored["edges"])
    assert {name for e in stored["edges"] for name in (e["first"], e["second"])} <= {"a", "b"}


def test_names_are_checked_before_cells(graftwork, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("group,a,b\n1,x,\n2,y,z\n")
    assert "missing cells" in graftwork("compare-groups", path, "--by", "group").err
    assert "no variable 'Grup'; did you mean 'group'?" in (
        graftwork("compare-groups", path, "--by", "Grup").err
    )
    dropped = graftwork("compare-groups", path, "--by", "group", "--drop", "group")
    assert "which --drop leaves out" in dropped.err


def test_an_interrupt_keeps_the_permutations_done(graftwork, table, tmp_path, monkeypatch):
    def stop(self, text, step, steps):
        if step == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Countdown, "on_stage", stop)
    out = tmp_path / "o"
    words = ["--by", "language", "--out", out, "--permutations", 9, "--jobs", 1, "--no-plot"]
    result = graftwork("compare-groups", table, *words)
    assert result.code == 130
    assert json.loads((out / "groups.json").read_text())["permutations"]["done"] == 2
    assert "interrupted" in result.err
