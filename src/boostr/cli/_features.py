"""Features from a table with one row per individual."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr.cli._events import KEY, EventTable
from boostr.cli._files import TableFile, load_polars, open_file, quote_names
from boostr.cli._guess import guess_id
from boostr.cli._inputs import FleetFiles, Known, select_columns
from boostr.cli._matching import match_rows
from boostr.cli._moments import parse_times
from boostr.cli._output import echo
from boostr.data.individuals import count_of
from boostr.exceptions import (
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
)

__all__ = ["read_feature_table"]

_ISO = r"^\s*\d{4}-\d{2}-\d{2}([T ].*)?$"
_DAY = 86_400_000_000.0  # microseconds


def read_feature_table(
    files: FleetFiles, histories: EventTable, known: Known | None, exposure: str | None
) -> tuple[Any, dict[str | None, Any]]:
    """Return one row of features per individual, in the order of the histories.

    Also returns the columns of exposures and groups by name, if present.
    """
    assert files.static is not None  # noqa: S101 - checked before
    path, file = files.static, open_file(files.static, "features")
    id_name = guess_id(file, histories.columns)
    left_out = {id_name, exposure, *histories.outside, *files.left_out}
    names = [name for name in file.names if name not in left_out]
    if files.features is not None:
        names = [name for name in names if name in files.features]
    extra = {name for name in (exposure, files.by) if name in file.names and name}
    as_text: list[str] = []
    if known is None:
        echo(
            f"{path.name}: using `{id_name}` as the id, {quote_names(names) or 'nothing'} "
            "as features"
        )
    else:
        names, as_text = select_columns(file, known.features, InvalidFeaturesError)
    if not names and not extra and not histories.outside:
        raise InvalidFeaturesError(
            f"The table of features must have some besides the id `{id_name}`, but "
            f"{path.name!r} has none.\n\nHint: leave --static out where there are none."
        )
    _check_groups(files, file)
    table = file.read([id_name, *names, *extra], as_text=[id_name, *as_text])
    table, keys = match_rows(
        table,
        id_name,
        histories.keys,
        file,
        InvalidFeaturesError,
        skips=files.skips_unmatched,
    )
    twice = keys.filter(keys.is_duplicated()).unique(maintain_order=True)
    if twice.len():
        raise InvalidFeaturesError(
            f"The table of features must have one row per individual, but "
            f"{path.name!r} has more for {count_of(twice.len(), 'individual')} "
            f"(ids {first_few(twice)}).\n\n"
            "Hint: keep one row of each; what changes in time belongs into --sensors."
        )
    polars = load_polars()
    features = [_as_feature(table[name], is_text=name in as_text) for name in names]
    others = [table[name] for name in sorted(extra - {*names})]
    rows = polars.DataFrame([keys.alias(KEY), *features, *others])
    order = polars.DataFrame({KEY: histories.keys}, schema={KEY: polars.String})
    found = order.join(rows, on=KEY, how="left", maintain_order="left").drop(KEY)
    X = found.select(names) if names else np.empty((len(histories.y), 0))
    return X, {name: found[name] for name in extra}


def _check_groups(files: FleetFiles, file: TableFile) -> None:
    if files.by is not None and files.by not in file.names:
        raise InvalidParameterError(
            f"--by must be a column of --static, but {file.path.name!r} has none called "
            f"`{files.by}`."
            f"\n\nHint: it has {quote_names(file.names)}."
        )


def _as_feature(column: Any, *, is_text: bool) -> Any:
    """Return numbers or categories; dates become days since 1970, durations days."""
    polars = load_polars()
    if is_text:
        return column.cast(polars.String)
    known = column.drop_nulls()
    if column.dtype == polars.String and known.len() and known.str.contains(_ISO).all():
        with suppress(InvalidEventsError):  # texts that begin like dates
            column = parse_times(column)
    if column.dtype == polars.Duration:
        return column.dt.total_microseconds() / _DAY
    if column.dtype == polars.Date or isinstance(column.dtype, polars.Datetime):
        return column.dt.epoch("us") / _DAY
    return column
