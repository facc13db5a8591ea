import json
from types import SimpleNamespace

import pytest

from graftwork.report import write_path, write_trace

from doors.grafting import Round


def record(index, violation=0.1):
    return Round(index, 1, 1, 1, 0, 2.0, 1.5, violation, 0.0, 1e-6, True, 3, 4, 5, 0.1, 0.01)


def test_trace_is_one_object_a_line(tmp_path):
    write_trace(tmp_path / "t.jsonl", [record(0, float("inf")), record(1)])
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [row["index"] for row in rows] == [0, 1]
    assert rows[0]["violation"] is None
    assert rows[1] == record(1).to_dict()


def test_path_is_one_line_a_lambda(tmp_path):
    point = SimpleNamespace(
        lam=0.1,
        n_edges=2,
        loss=1.0,
        objective=1.2,
        refit_loss=0.9,
        criterion=3.0,
        held_out=float("nan"),
        chosen=True,
    )
    write_path(tmp_path / "p.csv", [point])
    assert (tmp_path / "p.csv").read_text().splitlines()[1] == "0.1,2,1.0,1.2,0.9,3.0,,True"


def test_old_file_stays_when_writing_fails(tmp_path):
    target = tmp_path / "t.jsonl"
    target.write_text("old")
    with pytest.raises(AttributeError):
        write_trace(target, [object()])
    assert target.read_text() == "old"
