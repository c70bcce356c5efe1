import numpy as np
import pandas as pd
import pytest
from tests.dask.scenes import make_fleet, spread, write

import dask
from boostr.dask._partition import choose_cuts, count_parts, know_ranges, partition
from boostr.dask._rows import FILE, RowRules, open_table
from boostr.exceptions import InvalidEventsError, InvalidParameterError

N_PARTS = 5


@pytest.fixture(scope="module", params=[True, False], ids=["texts", "numbers"])
def fleet(request):
    return make_fleet(300, text_ids=request.param)


def split(source, client, n_parts=N_PARTS, rules=None):
    table = know_ranges(open_table(source, "unit", "events"), client)
    cuts = choose_cuts([table], n_parts, client)
    rules = rules or RowRules("events", "unit", bounded=())
    return cuts, list(dask.compute(*partition(table, cuts, rules, client).tasks))


def check(cuts, parts, expected):
    assert len(parts) == len(cuts) + 1
    for low, part in zip(cuts, parts[1:], strict=True):
        assert (part["unit"] >= low).all()
    for high, part in zip(cuts, parts[:-1], strict=True):
        assert (part["unit"] < high).all()
    names = list(expected.columns)
    joined = pd.concat(parts)[names].sort_values(names).reset_index(drop=True)
    ordered = expected.sort_values(names).reset_index(drop=True)
    pd.testing.assert_frame_equal(joined, ordered, check_dtype=False)


def moves_rows(source, client):
    table = know_ranges(open_table(source, "unit", "events"), client)
    cuts = choose_cuts([table], N_PARTS, client)
    rules = RowRules("events", "unit", bounded=())
    return partition(table, cuts, rules, client).is_moved


def test_rows_in_any_order_come_to_the_part_of_their_id(fleet, client):
    shuffled = fleet.shuffled(1).events
    cuts, parts = split(spread(shuffled, 4), client)
    assert len(parts) == N_PARTS
    check(cuts, parts, fleet.events)


def test_an_index_of_ids_needs_no_move(fleet, client):
    frame = spread(fleet.events, 6).set_index("unit", sort=True)
    frame = frame.repartition(npartitions=6).persist()
    assert frame.known_divisions
    cuts, parts = split(frame, client, 3)
    check(cuts, parts, fleet.events)
    assert not moves_rows(frame, client)


def test_sorted_files_are_cut_between_their_pieces(fleet, client, tmp_path):
    folder = write(fleet.events, tmp_path / "events", 6)
    cuts, parts = split(folder, client)
    assert len(parts) >= 4
    check(cuts, parts, fleet.events)
    assert not moves_rows(folder, client)


def test_files_in_no_order_give_the_same_parts(fleet, client, tmp_path, monkeypatch):
    folder = write(fleet.shuffled(2).events, tmp_path / "events", 3)
    check(*split(folder, client), fleet.events)  # so few that each part reads them all
    monkeypatch.setattr("boostr.dask._partition._FEW_BYTES", 0)
    assert moves_rows(folder, client)
    check(*split(folder, client), fleet.events)


def test_names_of_files_do_not_matter(fleet, client, tmp_path):
    folder = write(fleet.events, tmp_path / "events", 4)
    names = sorted((tmp_path / "events").iterdir())
    turned = [str(name) for name in reversed(names)]
    cuts, parts = split(turned, client)
    check(cuts, parts, fleet.events)
    assert cuts == split(folder, client)[0]


def test_rows_know_their_file(fleet, client, tmp_path):
    folder = write(fleet.events, tmp_path / "events", 4)
    table = open_table(folder, "unit", "events")
    _, parts = split(folder, client)
    for part in parts:
        for number, rows in part.groupby(FILE):
            there = pd.read_parquet(table.files[number])["unit"]
            assert set(rows["unit"]) <= set(there)


def test_a_table_has_parts_for_all_threads(fleet):
    table = open_table(spread(fleet.events, 2), "unit", "events")
    assert count_parts([table], 7) == 7
    assert count_parts([table], 1) == 2


def test_a_missing_id_names_the_file(fleet, client, tmp_path):
    broken = fleet.shuffled(3).static.astype({"unit": object})
    broken.iloc[250, 0] = None
    folder = write(broken, tmp_path / "static", 3)
    with pytest.raises(InvalidEventsError, match=r"must have an id.*part-002\.parquet"):
        split(folder, client)


@pytest.mark.parametrize("few_bytes", [0, 32 << 20], ids=["moved", "read in place"])
def test_bad_rows_are_named_with_their_file(client, tmp_path, monkeypatch, few_bytes):
    monkeypatch.setattr("boostr.dask._partition._FEW_BYTES", few_bytes)
    fleet = make_fleet(300)
    broken = fleet.shuffled(4).events
    broken.iloc[1, 1] = np.inf
    culprit = broken.iloc[1, 0]
    folder = write(broken, tmp_path / "events", 3)
    rules = RowRules("events", "unit", finite=("day",), positive=("day",), flag="failed")
    table = know_ranges(open_table(folder, "unit", "events"), client)
    cuts = choose_cuts([table], N_PARTS, client)
    pattern = rf"ids {culprit}\) in .*part-000\.parquet"
    with pytest.raises(InvalidEventsError, match=pattern):
        dask.compute(*partition(table, cuts, rules, client).tasks)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (pd.DataFrame({"unit": [1]}), "must be a Dask DataFrame or the path"),
        ("/nowhere/at/all", "must lead to Parquet files"),
    ],
)
def test_anything_else_is_refused(source, message):
    with pytest.raises(InvalidParameterError, match=message):
        open_table(source, "unit", "events")


def test_a_table_without_the_id_is_refused(fleet, tmp_path):
    with pytest.raises(InvalidParameterError, match="must have the id 'well'"):
        open_table(spread(fleet.static, 2), "well", "X")
    with pytest.raises(InvalidParameterError, match="must have the id 'well'"):
        open_table(write(fleet.static, tmp_path / "x", 1), "well", "X")


def test_files_with_other_columns_are_refused(fleet, tmp_path):
    folder = write(fleet.static, tmp_path / "static", 2)
    fleet.static.assign(size="large").to_parquet(tmp_path / "static" / "part-9.parquet")
    with pytest.raises(InvalidParameterError, match=r"part-9\.parquet.* in size"):
        open_table(folder, "unit", "X")


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(InvalidParameterError, match=r"broken\.parquet"):
        open_table(tmp_path / "broken.parquet", "unit", "X")
