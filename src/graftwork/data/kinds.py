"""What a file is, by its first bytes and its name: kinds that are read, and advice for others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graftwork.data.sources import Source, is_gzip, start_of
from graftwork.errors import DataError

_SAMPLES = "save a table with a row for each sample and a column for each place as CSV"
_SEQUENCES = (
    "save a table with a row for each sequence of the alignment and a column for each position "
    "as CSV"
)
_ARRAY = ", or save the table as CSV"
_PANDAS = "read it with pandas.{reader} and fit that frame" + _ARRAY


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    name: str  # what it is, in words
    begins: str = ""  # A regular expression of its first bytes
    suffixes: tuple[str, ...] = ()  # how its name ends
    advice: str = ""  # what to do with it, where it is not read
    whole: bool = False  # whether it is read whole or not at all

    def matches(self, start: bytes) -> bool:
        """Return whether a file that starts like this may be of this kind."""
        return bool(self.begins) and re.match(self.begins.encode("latin-1"), start) is not None


PARQUET = Kind("Parquet", "PAR1", (".parquet", ".pq"))
ARROW = Kind("Arrow", "ARROW1|FEA1|\xff\xff\xff\xff", (".arrow", ".arrows", ".feather", ".ipc"))
EXCEL = Kind("Excel", "PK\x03\x04", (".xlsx", ".xlsm"), whole=True)
SPSS = Kind("SPSS", r"\$FL[23]", (".sav", ".zsav"), whole=True)
TEXT = Kind("text", "", (".csv", ".tsv", ".tab", ".txt"))
_ZIP = Kind(
    "a zip archive",
    "PK\x03\x04",
    (),
    "unpack it first, or end its name in .xlsx if it is an Excel file",
)
#: All kinds that are known; any other file is read as text. Of kinds that begin alike, the first
#: is meant where the name does not say more.
KINDS = (
    PARQUET,
    ARROW,
    SPSS,
    TEXT,
    _ZIP,
    EXCEL,
    Kind("an OpenDocument sheet", "PK\x03\x04", (".ods",), "save it as .xlsx or CSV"),
    Kind(
        "an archive of NumPy arrays",
        "PK\x03\x04",
        (".npz",),
        "fit one of its arrays in Python: fit(numpy.load(path)[name])",
    ),
    Kind("a network that graftwork learned", "PK\x03\x04", (".gw",), "name a file of rows instead"),
    Kind("an old Excel file", "\xd0\xcf\x11\xe0", (), "save it as .xlsx or CSV"),
    Kind("a portable SPSS file", "", (".por",), "save it as .sav or CSV"),
    Kind(
        "a Stata file",
        "<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00",
        (),
        _PANDAS.format(reader="read_stata"),
    ),
    Kind(
        "a SAS file",
        "\x00{12}\xc2\xea\x81\x60|HEADER RECORD\\*{7}",
        (),
        _PANDAS.format(reader="read_sas"),
    ),
    Kind(
        "an R object",
        "[XA]\n(\x00\x00\x00|[23]\n)|RD[AX][23]\n",
        (),
        "save the table from R: write.csv(x, file, row.names = FALSE)",
    ),
    Kind("a NumPy array", "\x93NUMPY", (), "fit it in Python: fit(numpy.load(path))" + _ARRAY),
    Kind(
        "a pickle of Python",
        "\x80[\x02-\x05]",
        (),
        "load it in Python and fit what it holds" + _ARRAY,
    ),
    Kind(
        "an HDF5 file",
        "\x89HDF\r\n\x1a\n",
        (),
        "read its table in Python and fit that, or save it as CSV",
    ),
    Kind(
        "an AnnData file",
        "\x89HDF\r\n\x1a\n",
        (".h5ad",),
        "read it with anndata.read_h5ad, and save a table with a row for each cell as CSV",
    ),
    Kind(
        "a MATLAB file",
        "MATLAB 5\\.0 MAT-file",
        (),
        "fit an array of scipy.io.loadmat(path)" + _ARRAY,
    ),
    Kind("an SQLite database", "SQLite format 3\x00", (), _PANDAS.format(reader="read_sql")),
    Kind(
        "an ARFF file",
        "(?i)(%[^\n]*\n|\\s)*@relation\\b",
        (),
        "read it with scipy.io.arff.loadarff" + _ARRAY,
    ),
    Kind(
        "a web page or XML",
        "\\s*(?i:<(\\?xml|!doctype|html|table)\\b)",
        (),
        "save the table as CSV",
    ),
    Kind(
        "a JSON file",
        "\\s*[{\\[]",
        (".json", ".jsonl", ".ndjson"),
        _PANDAS.format(reader="read_json"),
    ),
    Kind("a VCF file of genotypes", "##fileformat=VCF|BCF\x02", (), _SAMPLES),
    Kind("a PLINK file of genotypes", "\x6c\x1b[\x00\x01]", (), _SAMPLES),
    Kind("a BED file of places in a genome", "", (".bed", ".bedgraph"), _SAMPLES),
    Kind("a BAM file of aligned reads", "BAM\x01", (), _SAMPLES),
    Kind("a FASTQ file of reads", "@[^\n]*\n[ACGTNacgtn.]+\r?\n\\+", (), _SAMPLES),
    Kind(
        "a FASTA file of sequences",
        ">[^\n]*\n([A-Za-z*.-]{40}|([A-Za-z*.-]+\r?\n)+>)",
        (),
        _SEQUENCES,
    ),
    Kind("a Stockholm file of sequences", "# STOCKHOLM ", (), _SEQUENCES),
    Kind("a PDF file", "%PDF-", (), "save its table as CSV"),
    Kind("a picture", "\x89PNG|\xff\xd8\xff|GIF8", (), "name a file of rows instead"),
    Kind(
        "a file compressed by other means than gzip",
        "BZh[1-9]|\xfd7zXZ\x00|\\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!",
        (),
        "unpack it first",
    ),
    Kind("text in UTF-16", "\xff\xfe|\xfe\xff", (), "save it as UTF-8 (in Excel: CSV UTF-8)"),
)


def kind_of(source: Source) -> Kind:
    """Return the kind of a table in a file; refuse what is none.

    The first bytes decide, those of an unpacked file if it is gzipped; the name where these say
    nothing.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "x.npy")
    >>> _ = path.write_bytes(b"\\x93NUMPY")
    >>> kind_of(Source.of(path))
    Traceback (most recent call last):
    graftwork.errors.DataError: this is a NumPy array; fit it in Python: fit(numpy.load(path)), ...
    """
    start, suffix = start_of(source), suffix_of(source.path)
    alike = [kind for kind in KINDS if kind.matches(start)]
    named = [kind for kind in KINDS if suffix in kind.suffixes]
    both = [kind for kind in alike if kind in named]
    usual = [kind for kind in alike if not (kind.advice and kind.suffixes)]
    if both or usual:
        found = (both or usual)[0]
    else:
        found = next((kind for kind in named if not (kind.advice and kind.begins)), TEXT)
    if found.advice:
        raise DataError(f"this is {found.name}; {found.advice}.")
    if found is not TEXT and is_gzip(source):
        raise DataError(f"this is a gzipped {found.name} file; unpack it first.")
    return found


def suffix_of(file: Path) -> str:
    """Return the extension in small letters, looking through .gz.

    Examples
    --------
    >>> suffix_of(Path("a.CSV.gz")), suffix_of(Path("a.xlsx"))
    ('.csv', '.xlsx')
    """
    inner = Path(file.stem) if file.suffix.lower() == ".gz" else file
    return inner.suffix.lower()


def named_kind(file: Path) -> Kind | None:
    """Return the kind that a file's name says it is, None if it says nothing.

    Examples
    --------
    >>> named_kind(Path("a.sav")).name, named_kind(Path("README.md"))
    ('SPSS', None)
    """
    return next((kind for kind in KINDS if suffix_of(file) in kind.suffixes), None)
