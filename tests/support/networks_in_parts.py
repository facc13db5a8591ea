"""Ten small problems, as files and in memory, for fits of rows in parts."""

import numpy as np

import graftwork as gw

ROWS = 900
#: What each problem is learned with.
PROBLEMS = {
    "complete": {},
    "whole-weights": {"weights": "n"},
    "other-weights": {"weights": "n", "lam": 0.03},
    "available-case": {"missing": "available-case"},
    "impute": {"missing": "impute"},
    "drop-rows": {"missing": "drop-rows"},
    "state": {"missing": "state"},
    "ordinal": {"ordinal": ["x1", "x4"]},
    "knowledge": {"knowledge": {"forbidden": [("x0", "x1")], "required": [("x0", "x7")]}},
    "l1-grafting": {"penalty": "l1", "method": "grafting", "lam": 0.03},
    "likelihood": {"loss": "likelihood", "lam": 0.05},
    "chow-liu": {"method": "chow-liu"},
    "forced-pruning": {"method": "forced-pruning", "max_edges": 6},
    "rare": {},
    "many-configurations": {"lam": 0.03},
}
#: Those that make test runs with every engine.
QUICK = ("complete", "whole-weights", "other-weights", "available-case", "many-configurations")


def columns_of(name):
    """Return the columns of a problem, with weights under "n"."""
    rng = np.random.default_rng(len(name))
    n, cards, rows = 8, [3, 4, 2, 3, 5, 2, 3, 2], ROWS
    if name == "many-configurations":
        n, cards, rows = 30, [5] * 30, 120
    codes = np.stack([rng.integers(0, s, rows) for s in cards])
    for j in range(1, n):
        same = rng.random(rows) < 0.45
        other = int(rng.integers(0, j))
        codes[j, same] = codes[other, same] % cards[j]
    columns = {f"x{j}": row.tolist() for j, row in enumerate(codes)}
    if name in ("available-case", "impute", "drop-rows", "state"):
        for j in (0, 2, 4):
            gone = rng.random(rows) < (0.03 if name == "drop-rows" else 0.12)
            columns[f"x{j}"] = [
                None if g else x for g, x in zip(gone, columns[f"x{j}"], strict=True)
            ]
    if name == "rare":
        columns["same"] = ["always"] * rows
        columns["late"] = ["a" if k < rows - 90 else "b" for k in range(rows)]
        columns["x1"] = [
            "only here" if k in (3, 5, 7, 9) else str(x) for k, x in enumerate(columns["x1"])
        ]
    if name == "whole-weights":
        columns["n"] = rng.integers(0, 4, rows).tolist()
    if name == "other-weights":
        columns["n"] = (rng.random(rows) * 2).tolist()
    return columns


def write_files(name, folder, count=5):
    """Write the rows of a problem to Parquet files of unlike length, one of them empty."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns_of(name))
    cuts = np.sort(np.random.default_rng(3).integers(0, len(table), count - 2)).tolist()
    starts = [0, *cuts, cuts[-1], len(table)]
    for k in range(count):
        pq.write_table(table.slice(starts[k], starts[k + 1] - starts[k]), folder / f"{k}.parquet")
    return folder


def network_of(name, **more):
    """Return the learner of a problem."""
    told = {key: value for key, value in PROBLEMS[name].items() if key != "weights"}
    return gw.MarkovNetwork(**told, random_state=0, n_jobs=1, **more)


def scan_of(name, folder, **more):
    """Return a scan of a problem's files."""
    return gw.scan(str(folder), weights=PROBLEMS[name].get("weights"), **more)


def in_memory(name):
    """Return the network that all rows give at once."""
    columns = columns_of(name)
    weights = columns.pop("n", None)
    return network_of(name).fit(columns, sample_weight=weights)


def assert_same_network(one, other):
    """Raise unless edges, objective, weights and p-values are the same."""
    assert {frozenset(e) for e in one.model_.edges} == {frozenset(e) for e in other.model_.edges}
    assert one.model_.states == other.model_.states
    assert abs(one.certificate_.objective - other.certificate_.objective) <= 1e-9
    evidence = one.evidence_, other.evidence_
    assert (evidence[0] is None) == (evidence[1] is None)
    if evidence[0] is not None:
        for part in ("edges", "others"):
            mine, theirs = (
                dict(zip(map(tuple, own.pairs.tolist()), own.log_p.tolist(), strict=True))
                for own in (getattr(each, part) for each in evidence)
            )
            assert mine.keys() == theirs.keys()
            for pair, value in mine.items():
                assert abs(value - theirs[pair]) <= 1e-6 * max(1.0, abs(value))
    for mine, theirs in zip(weights_of(one), weights_of(other), strict=True):
        assert np.allclose(mine, theirs, atol=1e-6)


def weights_of(net):
    """Return the tables of edges, by name."""
    model = net.model_
    return [model.table(*sorted(edge)) for edge in sorted(map(sorted, model.edges))]
