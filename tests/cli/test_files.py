import gzip
import sys
import zipfile

import pytest

pl = pytest.importorskip("polars")

from boostr.cli._files import open_file  # noqa: E402
from boostr.exceptions import InvalidParameterError, MissingDependencyError  # noqa: E402


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "table.csv"
        path.write_bytes(content)
        file = open_file(path, "events")
        return file.read(file.names, **options)

    return read


@pytest.mark.parametrize(
    "content",
    [
        b"pump,day\nP1,1.5\n",
        b"\xef\xbb\xbfpump,day\nP1,1.5\n",
        b"pump;day\nP1;1.5\n",
        b"pump;day\nP1;1,5\n",
        b"pump\tday\r\nP1\t1.5\r\n",
        b'"pump", day\n"P1",1.5\n',
        b",pump,day\n0,P1,1.5\n",
        b"pump,day\nP1,1.5",
    ],
    ids=["plain", "bom", "semicolon", "decimal comma", "tab", "quotes", "index", "no end"],
)
def test_usual_dialects_of_csv_give_the_same_table(read, content):
    assert read(content).to_dict(as_series=False) == {"pump": ["P1"], "day": [1.5]}


@pytest.mark.parametrize("content", [b"pump,day\n007,1\n", b"day, pump\n1,007\n"])
def test_ids_with_leading_zeros_can_be_read_as_written(read, content):
    assert read(content, as_text=["pump"])["pump"].to_list() == ["007"]


def test_a_type_that_shows_late_is_found(read):
    table = read(b"pump,day\n" + b"1,2\n" * 12_000 + b"x,2.5\n")
    assert table["pump"].dtype == pl.String
    assert table["day"][-1] == 2.5


def test_the_usual_words_for_missing_are_missing(read):
    table = read(b"pump,day\nP1,NA\nP2,\nP3,nan\nP4,2\n")
    assert table["day"].to_list() == [None, None, None, 2.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"pump,day\n", "has none"),
        ("pump,day\nJürgen,1\n".encode("latin-1"), "UTF-8"),
        ("pump,day\nP1,1\n".encode("utf-16"), "UTF-16"),
        (b"pump,day\n" + b"P1,1\n" * 20_000 + b"\xfc,1\n", "utf-8"),
        (b"PK\x03\x04", "spreadsheet whose name does not end in .xlsx"),
        (gzip.compress(b"pump,day\n" * 99, mtime=0)[:-9], "cannot be unpacked"),
        (b"pump,day\x00\n", "not text"),
        (b"pump,day\rP1,1\r", "carriage"),
        (b"pump,pump\n1,2\n", "`pump` stands twice"),
        (b"pump,day\n1,2,3\n", "cannot be read"),
        (b'pump,day\n"1,2\n', "cannot be read"),
        (b"PAR1 and then nothing of the kind", "cannot be read"),
    ],
)
def test_what_is_no_table_is_refused_with_the_way_out(read, content, message):
    with pytest.raises(InvalidParameterError, match=message) as caught:
        read(content)
    assert "Hint:" in str(caught.value)


def test_parquet_is_known_by_what_is_inside(tmp_path):
    pl.DataFrame({"pump": [1], "day": [2.0]}).write_parquet(tmp_path / "table.csv")
    file = open_file(tmp_path / "table.csv", "events")
    assert file.read(["day"]).to_dict(as_series=False) == {"day": [2.0]}


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    for number in range(2):
        pl.DataFrame({"pump": [number]}).write_parquet(tmp_path / f"{number}.parquet")
    assert open_file(tmp_path, "events").read(["pump"])["pump"].to_list() == [0, 1]


def test_a_folder_of_anything_else_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="folder must hold Parquet"):
        open_file(tmp_path, "events")
    with pytest.raises(InvalidParameterError, match="there is nothing at"):
        open_file(tmp_path / "events.csv", "events")


def test_a_table_that_does_not_fit_into_memory_is_told(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("pump\n1\n")
    file = open_file(path, "events")

    def run_out(*_arguments):
        raise MemoryError

    monkeypatch.setattr(type(file), "_collect", run_out)
    with pytest.raises(InvalidParameterError, match="fit into memory"):
        file.read(["pump"])


def test_a_packed_file_is_read_as_it_was(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"pump;day\n007;1,5\n"))
    file = open_file(path, "events")
    found = file.read(file.names, as_text=["pump"]).to_dict(as_series=False)
    assert found == {"pump": ["007"], "day": [1.5]}


@pytest.mark.parametrize("end", [b"", b"\n", b",\n,\n", b"\n\n,\n"])
def test_blank_rows_at_the_end_are_none(read, end):
    assert read(b"pump,day\nP1,1\n,\nP2,2\n" + end)["pump"].to_list() == ["P1", None, "P2"]


def test_a_row_that_has_something_elsewhere_is_not_blank(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("pump,day,note\nP1,1,\n,,total\n,,\n")
    file = open_file(path, "events")
    assert file.read(["pump", "day"]).height == 2
    assert file.lines([1]) == "3"  # as an editor counts, from the names on


def test_rows_of_parquet_are_counted_from_one(tmp_path):
    pl.DataFrame({"pump": [1]}).write_parquet(tmp_path / "table.parquet")
    assert open_file(tmp_path / "table.parquet", "events").lines([0]) == "1"


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def write_spreadsheet(path, rows, sheets=("Events",)):
    """Write texts and numbers to the first sheet of a spreadsheet."""
    cells = [
        "".join(
            f'<c t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else "<c/>"
            if value is None
            else f"<c><v>{value}</v></c>"
            for value in row
        )
        for row in rows
    ]
    data = "".join(f"<row>{row}</row>" for row in cells)
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        for name, number in zip(sheets, numbers, strict=True)
    )
    links = "".join(
        f'<Relationship Id="r{number}" Type="{DOCUMENT}/worksheet" '
        f'Target="worksheets/sheet{number}.xml"/>'
        for number in numbers
    )
    root = (
        f'<Relationship Id="r1" Type="{DOCUMENT}/officeDocument" Target="xl/workbook.xml"/>'
    )
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">{root}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">{links}'
        "</Relationships>",
    }
    for number in numbers:
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, f'<?xml version="1.0"?>{content}')


def test_the_first_sheet_of_a_spreadsheet_is_the_table(tmp_path, capsys):
    pytest.importorskip("fastexcel")
    rows = [["pump", "day"], ["007", 1.5], [None, None], ["8", 2], [None, None]]
    write_spreadsheet(tmp_path / "table.xlsx", rows, ["Events", "Notes"])
    file = open_file(tmp_path / "table.xlsx", "events")
    found = file.read(file.names).to_dict(as_series=False)
    assert found == {"pump": ["007", None, "8"], "day": [1.5, None, 2.0]}
    assert "the first of 2 sheets, 'Events'" in capsys.readouterr().err


def test_a_damaged_spreadsheet_is_refused(tmp_path):
    pytest.importorskip("fastexcel")
    (tmp_path / "table.xlsx").write_bytes(b"PK\x03\x04 and nothing else")
    with pytest.raises(InvalidParameterError, match=r"must be a spreadsheet(?s:.*)Hint"):
        open_file(tmp_path / "table.xlsx", "events")


def test_without_the_reader_of_spreadsheets_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    (tmp_path / "table.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(MissingDependencyError, match=r"boostr\[excel\]"):
        open_file(tmp_path / "table.xlsx", "events")
