import json
from datetime import datetime

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

from boostr.cli._output import (  # noqa: E402
    check_table_output,
    print_json,
    print_table,
    write_table,
)
from boostr.exceptions import InvalidParameterError  # noqa: E402

TABLE = pl.DataFrame({"id": ["P1", "P2"], "expected": [0.5, float("inf")]})


@pytest.mark.parametrize("ending", ["csv", "CSV", "parquet", "pq"])
def test_tables_come_back_as_they_were_written(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    write_table(TABLE, path)
    read = pl.read_csv if ending.lower() == "csv" else pl.read_parquet
    assert read(path).equals(TABLE)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_json_has_no_numbers_that_json_does_not_know(tmp_path):
    write_table(TABLE, tmp_path / "table.json")
    found = json.loads((tmp_path / "table.json").read_text())
    assert found == [{"id": "P1", "expected": 0.5}, {"id": "P2", "expected": None}]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def fail(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_table(TABLE, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_impossible_places_are_refused_beforehand(tmp_path):
    check_table_output(tmp_path / "x.csv")
    with pytest.raises(InvalidParameterError, match="it is a folder"):
        check_table_output(tmp_path)
    with pytest.raises(InvalidParameterError, match="there is no folder"):
        check_table_output(tmp_path / "no" / "x.csv")
    with pytest.raises(InvalidParameterError, match=r"'\.xls' is no format"):
        check_table_output(tmp_path / "x.xls")
    with pytest.raises(InvalidParameterError, match="'no ending' is no format"):
        check_table_output(tmp_path / "x")


def print_column(capsys, *values, **options):
    print_table("t", ["a", "b"], [["x", value] for value in values], **options)
    lines = capsys.readouterr().out.splitlines()[4:-1]
    return [line.split("│")[2].strip() for line in lines]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((12.3456, 0.04), ["12.35", "0.04"]),
        ((0.5, 0.1234), ["0.500", "0.123"]),
        ((0.0079, 0.0, 0.00012), ["0.00790", "0.00000", "0.00012"]),
        ((1234.5, 2000.0), ["1,234", "2,000"]),
        ((123.4, 20.0), ["123.4", "20.0"]),
        ((3.0, 4.0), ["3", "4"]),
        ((2.5, float("inf"), None), ["2.50", "∞", "-"]),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(capsys, values, shown):
    assert print_column(capsys, *values) == shown


def test_measures_in_rows_have_decimals_of_their_own(capsys):
    assert print_column(capsys, 0.5, 120.0, 12.25, by_row=True) == ["0.500", "120", "12.2"]


def test_one_object_is_printed_whatever_types_it_has(capsys):
    print_json(
        {
            "count": np.int64(3),
            "share": np.float64("nan"),
            "when": datetime(2024, 1, 31),
            "rows": [(1, None)],
        }
    )
    assert json.loads(capsys.readouterr().out) == {
        "count": 3,
        "share": None,
        "when": "2024-01-31T00:00:00",
        "rows": [[1, None]],
    }


def test_names_on_the_screen_are_not_taken_for_markup(capsys):
    print_table("Title", ["id", "n"], [("[bold]", 1234.5), ("b", None), ("c", 0.04)])
    shown = capsys.readouterr().out
    assert "[bold]" in shown
    assert "1,234" in shown
    assert "0.04" in shown


def test_dates_on_the_screen_are_told_to_the_minute(capsys):
    print_table("Title", ["due"], [(datetime(2024, 4, 26, 4, 45, 13, 330990),)])
    assert " 2024-04-26 04:45 " in capsys.readouterr().out


def test_names_on_the_screen_cannot_steer_the_terminal(capsys):
    print_table("\x1b[1mTitle [red]", ["i\x1bd"], [("\x1b[31mP1\x07",)])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "Title [red]" in shown
    assert "\\x1b[31mP1\\x07" in shown


def test_texts_that_a_spreadsheet_would_compute_are_quoted(tmp_path, capsys):
    ids = ["=HYPERLINK(1)", "+A1", "-A1", "@x", "-12", "+1.5", "P=1", None]
    table = pl.DataFrame({"id": ids, "expected": [-1.0] * 8})
    write_table(table, tmp_path / "table.csv")
    found = pl.read_csv(tmp_path / "table.csv")
    assert found["id"].to_list() == [*(f"'{one}" for one in ids[:4]), *ids[4:]]
    assert found["expected"].to_list() == [-1.0] * 8
    assert "put ' before 4 texts of `id`" in capsys.readouterr().err
    write_table(table, tmp_path / "table.parquet")
    assert pl.read_parquet(tmp_path / "table.parquet").equals(table)
