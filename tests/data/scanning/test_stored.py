"""StoredTable: parts, rows, pickles, folders that go and folders that stay."""

import errno
import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graftwork as gw
from graftwork.data import as_table
from graftwork.errors import DataError

from doors.data import Ordered, encode_piece, folder, unite
from support.stored_tables import assert_same, whole


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Return the folder that temporary folders are made in."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def frame(rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], rows),
            "b": rng.integers(0, 300, rows),
            "c": rng.integers(0, 2, rows),
            "w": rng.random(rows),
        }
    )


def test_rows_by_number_mask_and_share():
    data = frame()
    table = as_table(data[["a", "b", "c"]], weights=data["w"].to_numpy())
    with gw.scan(data, weights="w", part_rows=100, memory="1 MB").store() as stored:
        assert_same(stored, table)
        assert stored.memory == 10**6
        for rows in ([5, 999, 5, -1, 0], np.arange(1000) % 7 == 0, [500]):
            taken, expected = stored.take_rows(rows), table.take_rows(rows)
            assert taken.states == expected.states
            assert np.array_equal(taken.codes, expected.codes)
            assert np.array_equal(taken.weights, expected.weights)
        sample = stored.sample_rows(0.3, 5)
        expected = table.take_rows(np.random.default_rng(5).random(1000) < 0.3)
        assert np.array_equal(sample.codes, expected.codes)
        assert stored.part(-1).n_rows == 100
        for rows in ([], [1000], [0.5], [True]):
            with pytest.raises(DataError):
                stored.take_rows(rows)
        with pytest.raises(DataError, match="share"):
            stored.sample_rows(0, 1)
        with pytest.raises(IndexError):
            stored.part(10)
        assert stored.columns == ("a", "b", "c")
        assert len(stored) == 1000


def test_codes_of_all_widths():
    rng = np.random.default_rng(1)
    sizes = (1, 2, 3, 4, 5, 16, 17, 256, 257, 3000)
    data = {f"v{s}": np.concatenate([np.arange(s), rng.integers(0, s, 5000 - s)]) for s in sizes}
    with gw.scan(data, part_rows=777).store() as stored:
        assert_same(stored, as_table(data))
        assert {bits for own in stored.bits for bits in own} == {1, 2, 4, 8, 16}


def test_order_is_kept_and_replaced():
    data = pd.DataFrame({"a": pd.Categorical(["hi", "lo"], ["lo", "hi"], ordered=True)})
    with gw.scan(data).store() as stored:
        assert stored.ordered.scores == {"a": {"lo": 0.0, "hi": 1.0}}
        other = stored.with_order(None)
        assert other.ordered is None
        assert stored.part(0).ordered is stored.ordered
        assert other.part(0).ordered is None
        order = Ordered.by_rank({"a": ("hi", "lo")})
        assert stored.with_order(order).part(0).ordered is order


def test_pickled_copies_read_and_do_not_remove(scratch):
    stored = gw.scan(frame(), weights="w", part_rows=300).store()
    copy = pickle.loads(pickle.dumps(stored))
    assert np.array_equal(whole(copy)[0], whole(stored)[0])
    copy.close()
    del copy
    gc.collect()
    assert stored.part(0).n_rows == 300
    stored.close()
    assert list(scratch.iterdir()) == []


def test_folders_go_with_the_last_reference(scratch):
    stored = gw.scan(frame(), drop=["w"]).store()
    other = stored.with_order(None)
    path = stored.paths
    assert path.parent == scratch
    del stored
    gc.collect()
    assert other.part(0).n_rows == 1000
    del other
    gc.collect()
    assert not path.exists()
    with gw.scan(frame(), drop=["w"]).store() as stored:
        pass
    with pytest.raises(DataError, match="closed"):
        stored.part(0)
    stored.close()


def test_folders_go_with_the_process(scratch):
    code = f"""
        import tempfile; tempfile.tempdir = {str(scratch)!r}
        import graftwork as gw
        stored = gw.scan({{"a": [1, 2]}}).store()
        print(stored.paths.exists())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
    assert list(scratch.iterdir()) == []


def test_forked_processes_leave_the_folder():
    stored = gw.scan({"a": [1, 2]}).store()
    child = os.fork()
    if child == 0:
        stored.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert stored.part(0).n_rows == 2


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EACCES])
@pytest.mark.parametrize("workdir", [False, True])
def test_disks_that_are_full(code, workdir, scratch, monkeypatch, tmp_path):
    write, calls = folder.write_arrays, []

    def fail(path, arrays, **options):
        write(path, arrays, **options)
        calls.append(path)
        if len(calls) == 3:
            raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(folder, "write_arrays", fail)
    place = tmp_path / "kept" if workdir else None
    words = "cannot be written" if code == errno.EACCES else "is full"
    with pytest.raises(DataError, match=words) as caught:
        gw.scan(frame(), workdir=place, part_rows=100).store()
    assert "workdir=" in str(caught.value)
    assert str(place or scratch) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list((place or scratch).iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_interrupts_leave_nothing(error, scratch, tmp_path):
    def batches():
        yield frame(500)
        yield frame(500)
        raise error

    for place in (None, tmp_path / "kept"):
        with pytest.raises(error):
            gw.scan(batches, part_rows=100, workdir=place).store()
    assert list(scratch.iterdir()) == []
    assert list((tmp_path / "kept").iterdir()) == []


def files(tmp_path):
    place = tmp_path / "rows"
    place.mkdir()
    for k in range(3):
        frame(seed=k).to_parquet(place / f"{k}.parquet")
    return place


def test_the_next_run_uses_the_folder(tmp_path, scratch):
    source, kept = files(tmp_path), tmp_path / "kept"
    kept.mkdir()
    (kept / "mine.txt").write_text("stays")
    reads = []

    def store(**options):
        reads.clear()
        scan = gw.scan(source, workdir=kept, part_rows=400, drop=["w"], **options)
        return scan.store(progress=lambda *rows: reads.append(rows))

    first = store()
    assert reads
    second = store()
    assert not reads
    assert_same(second, as_table(first.take_rows(np.arange(3000))))
    assert first.paths == second.paths
    assert second.notes == first.notes
    first.close()
    assert store().part(0).n_rows == 400
    assert list(scratch.iterdir()) == []
    # other options and files that changed are written anew, and what nobody uses goes
    del second
    declared = store(states={"a": ["x", "y", "z", "other"]})
    assert reads
    assert declared.states[0][-1] == "other"
    declared.close()
    store().close()
    assert reads
    changed = frame(seed=9)
    changed.to_parquet(source / "2.parquet")
    os.utime(source / "2.parquet", (0, 0))
    third = store()
    assert reads
    assert_same(
        third, as_table(pd.concat([frame(seed=0), frame(seed=1), changed]).drop(columns="w"))
    )
    assert sorted(path.name for path in kept.iterdir()) == [third.paths.name, "mine.txt"]


def test_sources_that_cannot_be_known_again_are_read_again(tmp_path):
    reads = []
    for _ in range(2):
        stored = gw.scan(frame(), workdir=tmp_path / "kept", drop=["w"]).store(
            progress=lambda *rows: reads.append(rows)
        )
        assert_same(stored, as_table(frame().drop(columns="w")))
        stored.close()
    assert len(reads) == 2
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_states_of_many_types_are_known_again(tmp_path):
    table = pa.table(
        {
            "t": pa.array([1, 2], pa.timestamp("us")),
            "d": pa.array([1.5, -2.0]),
            "b": [True, False],
            "s": pa.array(["u", "v"]).dictionary_encode(),
            "y": [b"1", b"2"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    for _ in range(2):
        stored = gw.scan(tmp_path / "t.parquet", workdir=tmp_path / "kept").store()
        assert_same(stored, gw.read_table(tmp_path / "t.parquet"))


def test_a_killed_process_leaves_nothing_that_is_taken_for_whole(tmp_path):
    source, kept = files(tmp_path), tmp_path / "kept"
    code = f"""
        import os, signal
        import graftwork as gw
        def stop(rows, total):
            if rows >= 1500:
                os.kill(os.getpid(), signal.SIGKILL)
        gw.scan({str(source)!r}, workdir={str(kept)!r}, part_rows=100, drop=["w"]).store(
            progress=stop)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    left = list(kept.iterdir())
    assert len(left) == 1
    assert left[0].name.startswith(".")
    reads = []
    stored = gw.scan(source, workdir=kept, part_rows=100, drop=["w"]).store(
        progress=lambda *rows: reads.append(rows)
    )
    assert reads[-1] == (3000, 3000)
    assert list(kept.iterdir()) == [stored.paths]


def test_a_workdir_that_is_a_file(tmp_path):
    path = tmp_path / "x"
    path.write_text("")
    with pytest.raises(DataError, match="which is a file"):
        gw.scan({"a": [1]}, workdir=path)


def test_progress(tmp_path):
    seen = []
    gw.scan(files(tmp_path), drop=["w"]).store(progress=lambda *rows: seen.append(rows)).close()
    assert seen == [(1000, 3000), (2000, 3000), (3000, 3000)]
    seen.clear()
    gw.scan(iter([{"a": [1, 2]}])).store(progress=lambda *rows: seen.append(rows)).close()
    assert seen == [(2, None)]


def test_pieces_that_give_nothing():
    scan = gw.scan([{"a": [1, 2]}, {"a": []}, {"a": [0]}])
    first, second, third = (encode_piece(piece, scan.options) for piece in scan.pieces())
    empty = encode_piece(gw.scan(iter([])).pieces()[0], scan.options)
    pieces = [each.running for each in (empty, first, second, third)]
    united = unite(pieces, scan.options)
    assert united.states == ((0, 1, 2),)
    assert [len(lookups) for lookups in united.lookups] == [0, 1, 1, 1]
    assert third.parts[0].unpacked(united.lookups[3]).tolist() == [[0]]
    assert second.parts == ()


def test_large_parquet_files_have_several_pieces(tmp_path, monkeypatch):
    from doors.data import pieces

    monkeypatch.setattr(pieces, "PIECE_ROWS", 250)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.arange(1000) % 7}), path, row_group_size=100)
    found = gw.scan(path).pieces()
    assert [piece.rows for piece in found] == [200] * 5
    with gw.scan(path).store() as stored:
        assert_same(stored, gw.read_table(path))


#: Stores a source in a workdir when told to on standard input, and then reads all parts.
STORES = """
    import sys
    import graftwork as gw
    source, kept, states = sys.argv[1:]
    chosen = {"a": list(states)} if states else None
    def wait(rows, total):
        if rows == total:
            print("read", flush=True)
            sys.stdin.readline()
    scan = gw.scan(source, workdir=kept, part_rows=400, drop=["w"], states=chosen)
    with scan.store(progress=wait) as stored:
        print("stored", flush=True)
        sys.stdin.readline()
        print(sum(stored.part(k).n_rows for k in range(stored.n_parts)), stored.states[0][-1])
"""


@pytest.mark.skipif(os.name != "posix", reason="locks")
@pytest.mark.parametrize("states", [("", ""), ("xyzv", "xyzw")])
def test_two_runs_in_one_workdir(states, tmp_path):
    """Both end well, whether they pack the same rows or others, and leave whole folders."""
    source, kept = files(tmp_path), tmp_path / "kept"
    code = textwrap.dedent(STORES)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(source), str(kept), own],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for own in states
    ]  # fmt: skip
    try:
        for word in ("read", "stored"):  # both have read all, then both are ready
            assert [run.stdout.readline().strip() for run in runs] == [word] * 2
            for run in runs:
                print(file=run.stdin, flush=True)
        ends = [run.communicate(timeout=120) for run in runs]
    finally:
        for run in runs:
            run.kill()
    assert [out.split()[0] for out, _ in ends] == ["3000"] * 2, ends
    assert [out.split()[1] for out, _ in ends] == [own[-1:] or "z" for own in states]
    left = sorted(path.name for path in kept.iterdir())
    assert len(left) == len(set(states))
    assert not any(name.startswith(".") for name in left)
    reads = []
    chosen = {"a": list(states[1])} if states[1] else None
    again = gw.scan(source, workdir=kept, part_rows=400, drop=["w"], states=chosen)
    with again.store(progress=lambda *rows: reads.append(rows)) as stored:
        assert stored.n_rows == 3000
    assert not reads


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    ("number", "what"),
    [(signal.SIGKILL, "packing"), (signal.SIGTERM, "fit"), (signal.SIGKILL, "draws")],
)
def test_what_killed_processes_leave_goes_with_the_next_run(number, what, scratch):
    """Of plain Python, while rows are packed, networks learned and missing cells drawn."""
    code = f"""
        import tempfile; tempfile.tempdir = {str(scratch)!r}
        import time
        import graftwork as gw
        from graftwork.data.engines import here
        def wait(*_):
            print("now", flush=True)
            time.sleep(60)
        rows = {{"a": [0, 1, None, 1] * 500, "b": [0, 1, 1, 0] * 500}}
        scan = gw.scan(rows, part_rows=500)
        if {what!r} == "packing":
            scan.store(missing="state", progress=wait)
        if {what!r} == "fit":
            stored = scan.store(missing="state")
            wait()
        kept = here.Here._kept
        here.Here._kept = lambda *of: (kept(*of), wait())
        gw.MarkovNetwork(lam=0.01, missing="impute", n_jobs=1).fit(scan)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "now\n"
        with gw.scan({"a": [0, 1]}).store():
            others = 2 if what == "draws" else 1
            assert len(list(scratch.iterdir())) == others + 1  # what is in use stays
    finally:
        process.send_signal(number)
        process.communicate(timeout=120)
    assert list(scratch.iterdir()) != []
    with gw.scan({"a": [0, 1]}).store() as stored:
        assert list(scratch.iterdir()) == [stored.paths]
    assert list(scratch.iterdir()) == []
