"""Matching of ids between tables, whatever their types in the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boostr._checks.numbers import first_few
from boostr.cli._files import TableFile, load_polars
from boostr.cli._output import echo
from boostr.exceptions import BoostrError

__all__ = ["as_keys", "check_known", "match_rows", "restore_numbers", "warn_of_lookalikes"]


def as_keys(column: Any) -> Any:
    """Return ids as texts that do not depend on their type in the file."""
    polars = load_polars()
    if column.dtype.is_float():
        whole = column.cast(polars.Int64, strict=False)
        column = whole if (whole == column).all() else column
    texts = column.cast(polars.String)
    return texts.set(texts.str.strip_chars() == "", None)


def restore_numbers(keys: Any) -> Any:
    """Return texts as whole numbers if nothing is lost, unlike for 007."""
    polars = load_polars()
    numbers = keys.cast(polars.Int64, strict=False)
    is_same = numbers.cast(polars.String).eq_missing(keys)
    return numbers if is_same.all() else keys


def warn_of_lookalikes(keys: Any, file: TableFile) -> None:
    """Warn of ids that differ only by spaces or case."""
    different = keys.drop_nulls().unique(maintain_order=True)
    folded = _fold(different)
    alike = different.filter(folded.is_duplicated())
    if alike.len():
        first = map(repr, alike.filter(_fold(alike) == _fold(alike)[0]).to_list())
        echo(
            f"warning: {alike.len()} ids of {file.path.name!r} differ from others only by "
            f"spaces or case, and are individuals of their own: {first_few(first)}"
        )


def _show(key: str) -> str:
    """Return an id as text, in quotes if it begins or ends with spaces."""
    return key if key == key.strip() else repr(key)


def _fold(keys: Any) -> Any:
    """Return texts without spaces and case."""
    return keys.str.replace_all(r"\s", "").str.to_lowercase()


def check_known(keys: Any, file: TableFile, error: type[BoostrError]) -> None:
    """Refuse rows without an id, and name their lines."""
    if keys.null_count():
        n_rows = keys.null_count()
        rows = f"row{'s' if n_rows > 1 else ''} {file.lines(keys.is_null().arg_true())}"
        raise error(
            f"Every row must have an id, but {n_rows} of {keys.len()} rows of "
            f"{file.path.name!r} {'have' if n_rows > 1 else 'has'} none ({rows} of the "
            "file).\n\n"
            "Hint: fill in the id, or drop those rows."
        )


def match_rows(
    table: Any,
    id_name: str,
    expected: Sequence[str],
    file: TableFile,
    error: type[BoostrError],
    *,
    skips: bool = False,
    is_part: bool = False,
) -> tuple[Any, Any]:
    """Return the rows of the individuals in ``expected``, and their ids as texts.

    ``error`` is raised for other individuals, unless ``skips`` drops them, and for
    missing ones, unless ``is_part``.
    """
    keys = as_keys(table[id_name])
    check_known(keys, file, error)
    if skips:
        is_there = keys.is_in(list(expected))
        others = keys.filter(~is_there).unique(maintain_order=True)
        if others.len():
            echo(
                f"left out {others.len()} individuals of {file.path.name!r}, who are not "
                f"in the events (ids {first_few(others)})"
            )
        table, keys = table.filter(is_there), keys.filter(is_there)
    _check_same(keys, expected, file, error, is_part=is_part)
    return table, keys


def _check_same(
    keys: Any,
    expected: Sequence[str],
    file: TableFile,
    error: type[BoostrError],
    *,
    is_part: bool,
) -> None:
    """Refuse a table of other individuals than the events, and name them."""
    name = repr(file.path.name)
    found = set(keys.to_list())
    missing = [] if is_part else [key for key in expected if key not in found]
    if missing:
        seen = set(_fold(keys).to_list())
        n_alike = sum(folded in seen for folded in _fold(load_polars().Series(missing)))
        verb = "is" if n_alike == 1 else "are"
        alike = f"{n_alike} {verb} there with other spaces or case; " if n_alike else ""
        raise error(
            f"All individuals of the events must be in {name}, but {len(missing)} of "
            f"{len(expected)} are not (ids {first_few(map(_show, missing))}).\n\n"
            f"Hint: {alike}add their rows, or drop their events; ids there are like "
            f"{first_few(sorted(found)[:3])}."
        )
    known = set(expected)
    surplus = sorted(found - known)
    if surplus:
        raise error(
            f"All individuals of {name} must be in the table of events, but {len(surplus)} "
            f"of {len(found)} are not (ids {first_few(surplus)}).\n\n"
            "Hint: without a row in the events their follow-up is unknown. For individuals "
            "without events, give --end DATE or add a row with the end of follow-up; "
            "--skip-unmatched leaves out the others."
        )
