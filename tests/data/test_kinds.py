"""What a file is: every reader says the same, before a row is taken for what it is not."""

from __future__ import annotations

import gzip
import io
import random
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, DataWarning, TooLargeError

from doors.cli import main


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(20).reshape(10, 2))
    return stream.getvalue()


def _npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(20).reshape(10, 2))
    return stream.getvalue()


SEQUENCES = "".join(f">seq{k} a protein\n{'ACDEFGHIKL' * 6}\n" for k in range(300))
VARIANTS = "##fileformat=VCFv4.2\n#CHROM\tPOS\tS1\n" + "".join(f"1\t{k}\t0/1\n" for k in range(300))
PLACES = "".join(f"chr1\t{k}\t{k + 50}\n" for k in range(300))
NOISE = bytes(random.Random(1).choices(range(256), k=2000))
NO_TABLES = [
    ("x.fasta", SEQUENCES.encode(), "a FASTA file of sequences; save a table with a row for each"),
    ("x.txt", b">a\nAC\nGT\n>b\nACGT\n", "a FASTA file of sequences"),
    ("x.fa.gz", gzip.compress(SEQUENCES.encode()), "a FASTA file"),
    ("x.vcf", VARIANTS.encode(), "a VCF file of genotypes; save a table with a row for each"),
    ("x.vcf.gz", gzip.compress(VARIANTS.encode()), "a VCF file"),
    ("x.npy", _npy(), r"a NumPy array; fit it in Python: fit\(numpy.load\(path\)\)"),
    ("x.npz", _npz(), "an archive of NumPy arrays"),
    ("x.h5ad", b"\x89HDF\r\n\x1a\n" + NOISE, "an AnnData file; read it with anndata"),
    ("x.h5", b"\x89HDF\r\n\x1a\n" + NOISE, "an HDF5 file"),
    ("x.bed", b"\x6c\x1b\x01" + NOISE, "a PLINK file of genotypes"),
    ("y.bed", PLACES.encode(), "a BED file of places in a genome"),
    ("x.rds", gzip.compress(b"X\n\x00\x00\x00\x03" + NOISE), r"an R object; .*write.csv\("),
    ("x.RData", gzip.compress(b"RDX3\nX\n" + NOISE), "an R object"),
    ("x.dta", b"<stata_dta><header>" + NOISE, "a Stata file; read it with pandas.read_stata"),
    ("x.json", b'[{"a": 1}, {"a": 2}]', "a JSON file"),
    ("x.xls", b"<html><table><tr><td>1</td></tr></table>", "a web page or XML"),
    ("x.zip", _npz(), "a zip archive; unpack it first"),
    ("x.csv", b"a,b\n1,\x002\n" + NOISE, "no text, as it has zero bytes"),
    ("x.parquet.gz", gzip.compress(b"PAR1" + NOISE), "a gzipped Parquet file; unpack it first"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), NO_TABLES, ids=[n for n, *_ in NO_TABLES])
def test_what_is_no_table_is_refused_by_every_reader(
    name: str, content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for read in (gw.read_table, gw.scan, gw.MarkovNetwork().fit, gw.as_table):
        with pytest.raises(DataError, match=f"{name}: this is {words}"):
            read(path)
    for how in ([], ["--memory", "1GB"]):
        assert main(["learn", str(path), "--out", str(tmp_path / "out"), *how]) == 2
        assert f"{name}: this is " in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("name", ["a.feather", "a.arrow", "a.txt"])
def test_arrow_files_are_read_whole_as_in_parts(name: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": ["x", "y", "x"], "b": [1, 2, 2]})
    with pa.ipc.new_file(tmp_path / name, table.schema) as writer:
        writer.write_table(table)
    read = gw.read_table(tmp_path / name)
    assert (read.names, read.states, read.n_rows) == (("a", "b"), (("x", "y"), (1, 2)), 3)
    stored = gw.scan(tmp_path / name).store()
    assert (stored.names, stored.states, stored.n_rows) == (read.names, read.states, read.n_rows)
    assert gw.read_table(tmp_path / name, columns=["b"]).names == ("b",)


def test_text_with_a_name_of_another_kind_is_still_text(tmp_path: Path) -> None:
    for name in ("a.xls", "a.dta", "a.csv", "a"):
        (tmp_path / name).write_text("a,b\nx,1\ny,2\n")
        assert gw.read_table(tmp_path / name).names == ("a", "b")


ONE_COLUMN = [
    ([f"{w} {k}" for k, w in enumerate(["ab", "c"] * 30)], "spaces seem to part its cells"),
    ([f"AC{chr(65 + k)}{chr(90 - k % 7)}" for k in range(26)], "aligned sequences"),
    (["word " * (k + 1) + "end" for k in range(40)], "free text or a list of names"),
]


@pytest.mark.parametrize(("texts", "words"), ONE_COLUMN)
def test_one_column_of_different_texts_is_refused_with_a_guess(
    texts: list[str], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.csv"
    path.write_text("\n".join(["title", *texts]))
    with pytest.raises(DataError, match=rf"^one.csv: there is one column only, 'title'.*{words}"):
        gw.read_table(path)
    with pytest.raises(DataError, match=words):
        gw.scan(path).store()
    path.write_text("\n".join(["n", *map(str, range(60))]))  # numbers are warned of
    with pytest.warns(DataWarning, match="value of its own"):
        assert gw.read_table(path).n_variables == 1


def _lines(first: list[str], header: str) -> str:
    return header + "".join(f"{each},{k % 2},{k % 3}\n" for k, each in enumerate(first))


INDEX = [
    ("of R", '"","a","b"\n', [f'"{k}"' for k in range(1, 31)]),
    ("of pandas", ",a,b\n", [str(k) for k in range(30)]),
    ("of rows chosen", ",a,b\n", [str(3 * k + 7) for k in range(30)]),
    ("of names", '"","a","b"\n', [f'"Mazda RX{k}"' for k in range(30)]),
    ("of an array", ",0,1\n", [str(k) for k in range(30)]),
]


@pytest.mark.parametrize(
    ("header", "first"), [each[1:] for each in INDEX], ids=[e[0] for e in INDEX]
)
def test_names_of_rows_are_left_out(header: str, first: list[str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(_lines(first, header))
    names = ("0", "1") if "0" in header else ("a", "b")
    for table in (gw.read_table(path), gw.scan(path).store()):
        assert (table.names, table.n_rows, table.n_variables) == (names, 30, 2)
        assert any("names of the rows" in note for note in table.notes)
    assert gw.read_table(path, columns=[names[0]]).names == names[:1]
    assert gw.read_table(path, drop=["x0"]).names == names
    with pytest.warns(DataWarning, match="value of its own"):
        assert gw.read_table(path, columns=["x0", names[0]]).names == ("x0", names[0])


def test_a_first_column_without_a_name_that_repeats_is_a_variable(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(_lines([f"g{k % 4}" for k in range(30)], ",a,b\n"))
    for table in (gw.read_table(path), gw.scan(path).store()):
        assert (table.names, table.states[0]) == (("x0", "a", "b"), ("g0", "g1", "g2", "g3"))
        assert table.notes == (
            "The first column has no name, and cells that come up again: it is called 'x0'.",
        )


def test_names_of_rows_in_several_files(tmp_path: Path) -> None:
    # the second repeats a name: the first file says what the column is
    (tmp_path / "1.csv").write_text(_lines([str(k) for k in range(30)], ",a,b\n"))
    (tmp_path / "2.csv").write_text(_lines(["7"] * 30, ",a,b\n"))
    stored = gw.scan(tmp_path).store()
    assert (stored.names, stored.n_rows) == (("a", "b"), 60)


def test_names_of_rows_with_all_columns_ordered(tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "run"
    path.write_text(_lines([str(k) for k in range(60)], ",a,b\n"))
    assert main(["learn", str(path), "--ordinal", "all", "--quiet", "--out", str(out)]) == 0
    assert gw.load(out / "model.gw").names == ("a", "b")
    assert "names of the rows" in " ".join((out / "summary.txt").read_text().split())


def test_a_first_row_with_an_empty_cell_may_be_data(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",yes,no\nx,yes,no\nx,no,yes\n" * 3)
    table = gw.read_table(path, missing="state")
    assert (table.names, table.n_rows) == (("x0", "x1", "x2"), 9)


def test_names_of_rows_of_an_excel_sheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [[None, "a", "b"], *([k, k % 2, k % 3] for k in range(30))]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = gw.read_table(tmp_path / "t.xlsx")
    assert table.names == ("a", "b")
    assert "names of the rows" in table.notes[0]


_HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
_TAIL = b"</sheetData></worksheet>"
BOMBS = {
    "a member of blanks": b" " * 20_000_000,
    "cells far to the right": b'<row><c r="XFD1"><v>1</v></c></row>' * 200,
}


@pytest.mark.parametrize("rows", BOMBS.values(), ids=BOMBS)
def test_sheets_that_unpack_to_very_much(rows: bytes, tmp_path: Path) -> None:
    path = _with_sheet(tmp_path, rows)
    with pytest.raises(
        TooLargeError, match=r"t.xlsx: .* times its size, more than the limit of 500"
    ):
        gw.read_table(path)


def test_sheets_with_a_row_far_below(tmp_path: Path) -> None:
    path = _with_sheet(tmp_path, b'<row r="1"><c><v>1</v></c></row><row r="90000000"><c/></row>')
    with pytest.raises(DataError, match="more rows than Excel writes"):
        gw.read_table(path)


def _with_sheet(folder: Path, rows: bytes) -> Path:
    """Return the path of an Excel file with these rows."""
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(folder / "empty.xlsx")
    path = folder / "t.xlsx"
    with (
        zipfile.ZipFile(folder / "empty.xlsx") as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for each in old.namelist():
            sheet = each == "xl/worksheets/sheet1.xml"
            new.writestr(each, _HEAD + rows + _TAIL if sheet else old.read(each))
    return path


def test_parquet_and_spss_files_that_unpack_to_very_much(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    zeros = pa.array(np.zeros(4_000_000, np.int8))
    pq.write_table(pa.table({"a": zeros, "b": zeros}), tmp_path / "t.parquet")
    with pytest.raises(TooLargeError, match=r"t.parquet: .* times its size"):
        gw.read_table(tmp_path / "t.parquet")
    pyreadstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    frame = pd.DataFrame({name: np.zeros(200_000) for name in "abcd"})
    pyreadstat.write_sav(frame, tmp_path / "t.zsav", compress=True)
    with pytest.raises(TooLargeError, match=r"t.zsav: .* times its size"):
        gw.read_table(tmp_path / "t.zsav")


def test_parquet_dictionaries_that_unpack_to_very_much(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    texts = pa.array(["x" * 2000, "y" * 2000] * 10_000)  # 40 MB, of which the file holds each once
    pq.write_table(pa.table({"a": texts, "b": texts}), tmp_path / "t.parquet")
    with pytest.raises(TooLargeError, match=r"t.parquet: .* times its size"):
        gw.read_table(tmp_path / "t.parquet")
    stored = gw.scan(tmp_path / "t.parquet").store()  # this unpacks nothing
    assert stored.cards.tolist() == [2, 2]
    for columns in (["a", "b"], ["b"]):
        delta = dict.fromkeys(columns, "DELTA_BYTE_ARRAY")
        options = {"use_dictionary": False, "column_encoding": {"a": "PLAIN", **delta}}
        few = pa.table({"a": ["no", "yes"], "b": ["x", "y"]})
        pq.write_table(few, tmp_path / "few.parquet", **options)
        assert gw.read_table(tmp_path / "few.parquet").states == (("no", "yes"), ("x", "y"))
    many = pa.table({"a": ["no"] * 20_000, "b": ["x" * 2000] * 20_000})
    pq.write_table(many, tmp_path / "delta.parquet", compression="zstd", **options)
    with pytest.raises(TooLargeError, match=r"delta.parquet: .* times its size"):
        gw.read_table(tmp_path / "delta.parquet")
    with_gaps = pa.table({"a": ["no", None, "yes"], "n": [1, 2, 1]})
    pq.write_table(with_gaps, tmp_path / "gaps.parquet")
    table = gw.read_table(tmp_path / "gaps.parquet", missing="state")
    assert table.states == (("no", "yes", "(missing)"), (1, 2))


CELLS = [(["no", "yes"][k % 2], str(k % 3 % 2), "lmh"[k % 3]) for k in range(30)]
BODY = "".join(f"{a},{b},{c}\n" for a, b, c in CELLS)
NAMES = ("smokes", "cough", "level")
STATES = (("no", "yes"), (0, 1), ("h", "l", "m"))


def _read_both(path: Path, text: str) -> list[gw.Table | gw.StoredTable]:
    path.write_text(text)
    return [gw.read_table(path), gw.scan(path).store()]


def test_a_first_line_that_is_one_cell_short_names_all_but_the_rows(tmp_path: Path) -> None:
    rows = "".join(f'"{k + 1}" "{a}" {b} "{c}"\n' for k, (a, b, c) in enumerate(CELLS))
    (tmp_path / "spaces.txt").write_text('"smokes" "cough" "level"\n' + rows)  # of write.table
    found = [gw.read_table(tmp_path / "spaces.txt", sep=" ")]
    tabs = '"smokes"\t"cough"\t"level"\n' + rows.replace(" ", "\t")
    found += _read_both(tmp_path / "t.txt", tabs)
    for table in found:
        assert (table.names, table.states, table.n_rows) == (NAMES, STATES, 30)
        assert any("names of the rows" in note for note in table.notes)
    assert found[0].codes.tolist() == gw.read_table(_saved(tmp_path)).codes.tolist()
    assert gw.read_table(tmp_path / "t.txt", header=True).names == NAMES


def _saved(folder: Path) -> Path:
    (folder / "plain.csv").write_text(",".join(NAMES) + "\n" + BODY)
    return folder / "plain.csv"


def test_separators_at_the_ends_of_lines_make_no_names_of_rows(tmp_path: Path) -> None:
    rows = "".join(f"{k},{a},{b},\n" for k, (a, b, _) in enumerate(CELLS))
    for text in ("id,smokes,cough\n" + rows, "smokes,cough,level\n" + BODY.replace("\n", ",\n")):
        (tmp_path / "t.csv").write_text(text)
        for read in (gw.read_table, lambda path: gw.scan(path).store()):
            with pytest.raises(DataError, match="line 2 has 4 cells, expected 3"):
                read(tmp_path / "t.csv")


def test_a_column_without_a_name_and_cells_is_left_out(tmp_path: Path) -> None:
    text = "smokes,cough,level,,\n" + BODY.replace("\n", ",,\n")
    for table in _read_both(tmp_path / "t.csv", text):
        assert (table.names, table.states, table.n_rows) == (NAMES, STATES, 30)
        assert table.notes[-1].startswith("'x3', 'x4' have no name and no cell")


@pytest.mark.parametrize("names", [("0", "1", "2"), ("2019", "2020", "2021"), ("id", "1", "2")])
def test_numbers_that_come_up_nowhere_below_are_titles(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    for table in _read_both(tmp_path / "t.csv", ",".join(names) + "\n" + BODY):
        assert (table.names, table.states, table.n_rows) == (names, STATES, 30)


@pytest.mark.parametrize(
    "first",
    [["0", "1", "1"], ["0", "1", "2"], ["1.5", "2.5", "7.5"]],
    ids=["again", "count", "new"],
)
def test_a_first_row_of_numbers_like_others_is_a_row(first: list[str], tmp_path: Path) -> None:
    rows = [first] + [[f"{k * 7 % 5 / 2}", f"{k * 3 % 4}", f"{k / 8}"] for k in range(40)]
    if first[0] == "0":
        rows = [first] + [[str(k % 2), str(k % 3), str(k * 5 % 7 % 4)] for k in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(map(",".join, rows)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert gw.read_table(tmp_path / "t.csv").n_rows == 41


ABOVE = [
    ("a comment", "# our data, from, 2024\n", 2),
    ("titles", "Survey 2024,,\n,,\n", 3),
    ("short titles", "Survey,n = 300,\n", 2),
]


@pytest.mark.parametrize(("above", "line"), [each[1:] for each in ABOVE], ids=[e[0] for e in ABOVE])
def test_titles_below_the_first_line_are_refused(above: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(above + ",".join(NAMES) + "\n" + BODY)
    for read in (gw.read_table, gw.scan):
        with pytest.raises(DataError, match=rf"line {line} seems to hold titles or units \('smok"):
            read(tmp_path / "t.csv")


def test_units_below_the_titles_are_refused_unless_the_header_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",".join(NAMES) + "\n(no/yes),(0/1),(l/m/h)\n" + BODY)
    with pytest.raises(DataError, match=r"line 2 seems to hold titles or units .*header=True"):
        gw.read_table(tmp_path / "t.csv")
    assert gw.read_table(tmp_path / "t.csv", header=True).n_rows == 31


def test_titles_of_a_sheet_below_its_first_row_are_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("Survey 2024",), (), NAMES, *[(a, int(b), c) for a, b, c in CELLS]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="line 3 seems to hold titles or units"):
        gw.read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize("times", [1, 100])  # with 100, beyond the rows that are looked at first
def test_titles_that_are_repeated_are_refused(times: int, tmp_path: Path) -> None:
    whole = ",".join(NAMES) + "\n" + BODY * times
    (tmp_path / "t.csv").write_text(whole * 2)
    for read in (gw.read_table, lambda path: gw.scan(path).store()):
        with pytest.raises(DataError, match=f"line {30 * times + 2} repeats the titles"):
            read(tmp_path / "t.csv")


def test_spaces_between_few_different_cells_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("smokes cough level\n" + BODY.replace(",", " "))
    for read in (gw.read_table, lambda path: gw.scan(path).store()):
        with pytest.raises(DataError, match=r"there is one column only.*sep=' ' says"):
            read(tmp_path / "t.txt")
    assert gw.read_table(tmp_path / "t.txt", sep=" ").names == NAMES


def test_the_line_that_says_the_separator_is_none_of_the_table(tmp_path: Path) -> None:
    text = "sep=;\r\n" + ";".join(NAMES) + "\r\n" + BODY.replace(",", ";").replace("\n", "\r\n")
    for table in _read_both(tmp_path / "t.csv", text):
        assert (table.names, table.n_rows) == (NAMES, 30)
    (tmp_path / "t.csv").write_text(text.replace(";h", ""))
    with pytest.raises(DataError, match="line 5 has 2 cells"):
        gw.read_table(tmp_path / "t.csv")


def test_zero_bytes_far_below_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,1\ny,2\n" * 200 + b"x\0,1\n")
    for read in (gw.read_table, lambda path: gw.scan(path).store()):
        with pytest.raises(DataError, match="this is no text, as it has zero bytes"):
            read(tmp_path / "t.csv")


def test_the_mark_of_utf8_hides_no_kind(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(b"\xef\xbb\xbf>a\nACGT\n>b\nACGA\n>c\nACGA\n")
    with pytest.raises(DataError, match="this is a FASTA file"):
        gw.read_table(tmp_path / "t.txt")


@pytest.mark.parametrize("stream", [False, True])
def test_arrow_files_that_unpack_to_very_much_are_refused(stream: bool, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    batch = pa.record_batch({"a": np.zeros(1 << 20, dtype=np.int64)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(tmp_path / "t.arrow", batch.schema, options=options) as writer:
        for _ in range(4):
            writer.write_batch(batch)
    with pytest.raises(TooLargeError, match=r"unpacks to [0-9,]+ times its size"):
        gw.read_table(tmp_path / "t.arrow")
