import pytest

pl = pytest.importorskip("polars")

from boostr.cli._files import open_table  # noqa: E402
from boostr.exceptions import InvalidParameterError  # noqa: E402


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "table.csv"
        path.write_bytes(content)
        file = open_table(path, "events")
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
        (b"PK\x03\x04", "spreadsheet"),
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
    file = open_table(tmp_path / "table.csv", "events")
    assert file.read(["day"]).to_dict(as_series=False) == {"day": [2.0]}


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    for number in range(2):
        pl.DataFrame({"pump": [number]}).write_parquet(tmp_path / f"{number}.parquet")
    assert open_table(tmp_path, "events").read(["pump"])["pump"].to_list() == [0, 1]


def test_a_folder_of_anything_else_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="is a folder"):
        open_table(tmp_path, "events")
    with pytest.raises(InvalidParameterError, match="there is nothing at"):
        open_table(tmp_path / "events.csv", "events")


def test_a_table_that_does_not_fit_into_memory_is_told(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("pump\n1\n")
    file = open_table(path, "events")

    def run_out(*_arguments):
        raise MemoryError

    monkeypatch.setattr(type(file), "_collect", run_out)
    with pytest.raises(InvalidParameterError, match="fit into memory"):
        file.read(["pump"])
