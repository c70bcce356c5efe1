"""Events, features and sensors from files, matched by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr.cli._events import ENTRY, KEY, EventTable, Reading, read_event_table
from boostr.cli._files import TableFile, load_polars, open_file, quote_names
from boostr.cli._guess import guess_id, guess_sample_columns, guess_time
from boostr.cli._matching import as_keys, match_rows
from boostr.cli._moments import is_date, parse_times
from boostr.cli._output import echo
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.data.events.fingerprint import find_origin, had_costs, had_exposure
from boostr.data.times import INDIVIDUAL, counts_from_elsewhere, name_origin
from boostr.exceptions import (
    BoostrError,
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = ["FleetData", "FleetFiles", "Known", "read_fleet", "read_when"]

_ISO = r"^\s*\d{4}-\d{2}-\d{2}([T ].*)?$"
_DAY = 86_400_000_000.0  # microseconds


@dataclass(frozen=True, kw_only=True)
class FleetFiles:
    """Paths of the tables, and the given column roles."""

    events: Path
    static: Path | None = None
    sensors: Path | None = None
    shared: Path | None = None
    future: Path | None = None
    given: Reading  # what was said about columns, units and the like, by option
    features: tuple[str, ...] | None = None  # None for all columns
    left_out: tuple[str, ...] = ()  # columns of any table but the events
    skips_unmatched: bool = False  # whether who is not in all tables is left out
    by: str | None = None  # column of features with groups, which need not be a feature


@dataclass(frozen=True, kw_only=True)
class Known:
    """Features and sensors that a model was trained with, and how they were read."""

    features: Mapping[str, bool]  # whether each is categorical
    sensors: Mapping[str, bool] | None
    unit: str | None
    reading: Reading
    origin: np.datetime64 | None
    has_costs: bool
    has_exposure: bool = False

    @classmethod
    def of(cls, model: Any) -> Known:
        """Return the inputs that a fitted model needs."""
        layout, encoder = model.sensor_layout_, model.encoder_
        pairs = zip(encoder.names, encoder.is_categorical.tolist(), strict=True)
        kept = model.reading_
        is_sound = isinstance(kept, dict) and all(
            isinstance(text, str) for text in (*kept, *filter(None, kept.values()))
        )
        reading: Reading = dict(kept) if isinstance(kept, dict) and is_sound else {}
        origin = find_origin(model)
        if origin is not None:  # of a model that was fitted from Python, too
            reading["origin"] = str(origin)
        return cls(
            features=dict(pairs),
            sensors=layout and {name: name in layout.categories for name in layout.names},
            unit=model.time_unit_,
            reading=reading | {"unit": model.time_unit_},
            origin=origin,
            has_costs=bool(had_costs(model)),
            has_exposure=had_exposure(model),
        )

    def without(self, names: Sequence[str]) -> Known:
        """Return the inputs without some sensors."""
        if self.sensors is None:
            return self
        rest = {name: kind for name, kind in self.sensors.items() if name not in names}
        return replace(self, sensors=rest)


@dataclass(frozen=True, kw_only=True, eq=False)
class FleetData:
    """EventTable, and the features and sensors of the same individuals."""

    X: Any  # a table of polars, or an array without columns
    y: RecurrentEvents
    Z: Trajectories | SharedSensors | None
    future: Trajectories | None
    reading: Reading
    groups: Any = None  # one label per individual, if asked for

    def add_seasons(self, names: str) -> FleetData:
        """Return the fleet with seasonal sensors, where enough cycles were seen."""
        asked = [name.strip() for name in names.split(",")]
        season = Trajectories.seasonal(self.y, asked)
        if not season.names:
            return self
        found = {"season": ",".join(season.names), "resolution": str(season.resolution)}
        reading = self.reading | found
        return replace(self, Z=_merge(self.Z, season), reading=reading)

    def take(self, rows: Any, y: RecurrentEvents | None = None) -> FleetData:
        """Return some individuals, with other histories if given."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows] if y is None else y,
            Z=None if self.Z is None else self.Z[rows],
            future=None if self.future is None else self.future[rows],
            groups=None if self.groups is None else self.groups[rows],
        )


def read_fleet(files: FleetFiles, known: Known | None = None) -> FleetData:
    """Return all tables of a fleet, matched and sorted by id; print the column roles.

    With ``known`` only the columns that a model needs are read.
    """
    usual = {} if known is None else known.reading
    histories = read_event_table(files.events, files.given, usual, files.static)
    if files.skips_unmatched:
        histories = _skip_unmatched(histories, files)
    if known is not None:
        _check_clock(histories, known, files.given)
        _check_costs(histories, known)
    shared = _read_shared(files, histories, known)
    season = None if known is None else _restore_seasons(histories.y, known.reading)
    if known is not None:
        known = known.without([*_names(shared), *_names(season)])
        _check_complete(files, known)
    _check_named(files)
    asked = _find_exposure(files, known)
    X: Any = np.empty((len(histories.y), 0))
    y, reading, groups = histories.y, histories.reading, None
    is_needed = known is None or known.features or asked or files.by
    if files.static is not None and is_needed:
        X, others = _read_static(files, histories, known, asked)
        if asked in others:
            y = y.with_exposure(others[asked].to_numpy())
        groups = others.get(files.by)
    is_sensor = asked is not None and y.exposure is None
    has_own = known is None or known.sensors != {} or is_sensor
    own, future = (
        None
        if path is None or not has_own
        else _read_samples(
            path, files, histories, known, is_plan, asked if is_sensor else None
        )
        for path, is_plan in ((files.sensors, False), (files.future, True))
    )
    if asked is not None and is_sensor:
        y = y.with_exposure(_follow(own, future, asked, y))
        own, future = _drop(own, asked), _drop(future, asked)
    if asked is not None:
        reading = reading | {"exposure": asked}
    Z = _merge(_merge(own, shared), season)
    return FleetData(X=X, y=y, Z=Z, future=future, reading=reading, groups=groups)


def _check_named(files: FleetFiles) -> None:
    """Refuse named columns that no table has."""
    paths = {"--features": [files.static]}
    paths["--drop"] = [files.static, files.sensors, files.shared]
    asked = {"--features": files.features or (), "--drop": files.left_out}
    for option, names in asked.items():
        there = [
            name
            for path in paths[option]
            if path is not None and names
            for name in open_file(path, "features").names
        ]
        missing = [name for name in names if name not in there]
        if missing:
            raise InvalidParameterError(
                f"{option} must name columns of "
                f"{'--static' if option == '--features' else 'the tables'}, but there is "
                f"no {quote_names(missing)}.\n\nHint: there are {quote_names(there)}."
            )


def _find_exposure(files: FleetFiles, known: Known | None) -> str | None:
    """Return the column of exposures: the named one, or that of training."""
    asked = files.given.get("exposure")
    if known is not None and not known.has_exposure and asked is not None:
        raise InvalidParameterError(
            "The model was fitted without exposures, but --exposure names some.\n\n"
            "Hint: leave --exposure out, or name it when the model is fitted, too."
        )
    if known is None or not known.has_exposure:
        return asked
    asked = asked or known.reading.get("exposure")
    if asked is None:
        raise InvalidParameterError(
            "The model was fitted with exposures, but none are named.\n\n"
            "Hint: --exposure COLUMN, of --static or --sensors."
        )
    return asked


def _follow(
    Z: Trajectories | None, future: Trajectories | None, name: str, y: RecurrentEvents
) -> Trajectories:
    """Return exposures from a sensor, followed by the planned ones after the end."""
    if Z is None or name not in Z.names:
        raise InvalidParameterError(
            f"--exposure must be a column of --static or --sensors, but {name!r} is in "
            "neither.\n\nHint: name the file that has it."
        )
    past = Z.select(name)
    if future is None or name not in future.names:
        return past
    return past.followed_by(future.select(name), at=y.end)


def _drop(Z: Trajectories | None, name: str) -> Trajectories | None:
    """Return all sensors but one, None if there is no other."""
    others = [] if Z is None else [one for one in Z.names if one != name]
    return None if Z is None or not others else Z.select(others)


def read_when(text: str, y: RecurrentEvents, option: str) -> Any:
    """Return the time given as an option, on the time axis of the histories.

    If each individual has its own origin, it may be a date or a time since the origin.
    """
    if y.origin is not None or (y.origins is not None and is_date(text)):
        return text
    try:
        return float(text)
    except ValueError as error:
        if y.origins is not None:
            raise InvalidParameterError(
                f"{option} must be a date, or a time since each one's own start, but it is "
                f"{text!r}.\n\nHint: write dates as 2024-01-31 or 2024-01-31T12:00:00."
            ) from error
        raise InvalidParameterError(
            f"{option} must be a number, as the times of events are, but it is {text!r}."
            f"\n\nHint: follow-up ends between {y.end.min():g} and {y.end.max():g}."
        ) from error


def _check_clock(histories: EventTable, known: Known, given: Reading) -> None:
    """Refuse a unit or origin other than in training; warn of an unknown origin."""
    y = histories.y
    if y.time_unit != known.unit:
        raise InvalidEventsError(
            "Events must count time as in training, but they count in "
            f"{y.time_unit or 'plain numbers'} and training counted in "
            f"{known.unit or 'plain numbers'}.\n\n"
            "Hint: leave --unit out, for times and --horizon count as in training; dates "
            "where there were dates, numbers where there were numbers."
        )
    if known.origin is not None:
        trained, differs = str(known.origin), counts_from_elsewhere(y, known.origin)
    else:
        trained = known.reading.get("origin") or ""
        differs = trained == INDIVIDUAL and y.origin is not None
    if differs:
        words = "each one's own start" if trained == INDIVIDUAL else trained
        raise InvalidEventsError(
            "Events must count time from the origin of training, but they count from "
            f"{name_origin(y)} and training counted from {words}.\n\n"
            f"Hint: leave --origin out, or say --origin {trained}."
        )
    if y.origin is not None and not (known.reading.get("origin") or given.get("origin")):
        echo(
            "warning: the model does not say from which date it counts time; counting from "
            f"{str(y.origin)[:10]} (say --origin DATE to choose another)"
        )


def _check_costs(histories: EventTable, known: Known) -> None:
    """Refuse costs if training counted events, and the reverse."""
    y = histories.y
    if y.has_costs == known.has_costs or not y.times.size:
        return
    has, had, hint = (
        ("costs", "none", "leave --cost out, or fit a model of costs")
        if y.has_costs
        else ("no costs", "some", "--cost COLUMN names them")
    )
    raise InvalidEventsError(
        "Events must have costs where those of training had them, but these have "
        f"{has} and those had {had}.\n\nHint: {hint}."
    )


def _check_complete(files: FleetFiles, known: Known) -> None:
    """Refuse to continue without files that the model needs."""
    needed = (
        ("features", "--static", known.features, files.static),
        ("sensors", "--sensors FILE, or --shared", known.sensors, files.sensors),
    )
    for what, option, names, path in needed:
        if names and path is None:
            raise InvalidParameterError(
                f"The model needs the {what} that it was fitted with, but no file has "
                f"them: {quote_names(names)}.\n\nHint: {option} FILE"
            )


def _select(
    file: TableFile, wanted: Mapping[str, bool], error: type[BoostrError]
) -> tuple[list[str], list[str]]:
    """Return the columns that a model needs, and the categorical ones among them."""
    missing = [name for name in wanted if name not in file.names]
    if missing:
        raise error(
            f"{file.path.name!r} must have all columns that the model was fitted with, but "
            f"it lacks {quote_names(missing)}.\n\nHint: it has {quote_names(file.names)}."
        )
    return list(wanted), [name for name, is_categorical in wanted.items() if is_categorical]


def _skip_unmatched(histories: EventTable, files: FleetFiles) -> EventTable:
    """Return the histories of individuals in all tables; print the others."""
    for path, what in ((files.static, "features"), (files.sensors, "sensors")):
        if path is None:
            continue
        file = open_file(path, what)
        id_name = guess_id(file, histories.columns)
        known = set(as_keys(file.read([id_name], as_text=[id_name])[id_name]))
        keys = histories.keys
        is_there = np.array([key in known for key in keys])
        if not is_there.any():
            raise InvalidEventsError(
                f"Somebody must be in all tables, but no individual of the events is in "
                f"{path.name!r}.\n\nHint: ids there are like "
                f"{first_few(sorted(map(str, known))[:3])}, those of events like "
                f"{first_few(keys[:3])}."
            )
        if not is_there.all():
            missing = [key for key, here in zip(keys, is_there, strict=True) if not here]
            echo(
                f"left out {len(missing)} of {len(keys)} individuals, who are not in "
                f"{path.name!r} (ids {first_few(missing)})"
            )
            histories = replace(histories, y=histories.y[is_there])
    return histories


def _read_static(
    files: FleetFiles, histories: EventTable, known: Known | None, exposure: str | None
) -> tuple[Any, dict[str | None, Any]]:
    """Return one row of features per individual, in the order of the histories.

    Also returns the columns of exposures and groups by name, if present.
    """
    assert files.static is not None  # noqa: S101 - or nobody asks
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
            f"{path.name}: took `{id_name}` for the id, {quote_names(names) or 'nothing'} "
            "for features"
        )
    else:
        names, as_text = _select(file, known.features, InvalidFeaturesError)
    if not names and not extra and not histories.outside:
        raise InvalidFeaturesError(
            f"The table of features must have some beside the id `{id_name}`, but "
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
            f"The table of features must have one row per individual, but {twice.len()} "
            f"ids stand in several rows of {path.name!r} (ids {first_few(twice)}).\n\n"
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


def _read_samples(
    path: Path,
    files: FleetFiles,
    histories: EventTable,
    known: Known | None,
    is_plan: bool,
    exposure: str | None,
) -> Trajectories:
    """Return the sensors of all individuals; in a plan some may have none.

    Exposures are included even if they are no sensor of the model.
    """
    file = open_file(path, "planned sensors" if is_plan else "sensors")
    columns = guess_sample_columns(file, files.given, histories.columns)
    left_out = {columns.id, columns.time, *files.left_out}
    names = [name for name in file.names if name not in left_out]
    as_text: list[str] = []
    if known is None or (known.sensors is None and exposure is None):
        echo(columns.describe(file, names))
    else:
        wanted = dict(known.sensors or {})
        if exposure is not None and exposure in names:
            wanted[exposure] = False
        if is_plan:
            wanted = {name: wanted[name] for name in wanted if name in names}
        names, as_text = _select(file, wanted, InvalidSensorsError)
    table = file.read([columns.id, columns.time, *names], as_text=[columns.id, *as_text])
    table, keys = match_rows(
        table,
        columns.id,
        histories.keys,
        file,
        InvalidSensorsError,
        skips=files.skips_unmatched,
        is_part=is_plan,
    )
    y = histories.y
    ids = keys.replace_strict(histories.keys, y.ids.tolist())
    times = parse_times(table[columns.time], file)
    _check_times(times, file, histories)
    polars = load_polars()
    table = table.with_columns(ids.alias(columns.id), times).with_columns(
        polars.col(name).cast(polars.String) for name in as_text
    )
    origin: Any = y.origin
    if histories.entries is not None:
        entries = table.select(keys.alias(KEY)).join(
            histories.entries, on=KEY, how="left", maintain_order="left"
        )
        table, origin = table.with_columns(entries[ENTRY]), ENTRY
    return Trajectories.from_long(
        table, columns.id, columns.time, names, ids=y.ids, unit=y.time_unit, origin=origin
    )


def _read_shared(
    files: FleetFiles, histories: EventTable, known: Known | None
) -> SharedSensors | None:
    """Return the shared sensors, only those that a model needs if it is given."""
    path = files.shared
    if path is None:
        return None
    file = open_file(path, "shared sensors")
    time = guess_time(file, files.given, histories.columns)
    names = [name for name in file.names if name not in {time, *files.left_out}]
    as_text: list[str] = []
    if known is None or known.sensors is None:
        echo(f"{path.name}: took `{time}` for the time, {quote_names(names)} for sensors")
    else:
        names = [name for name in names if name in known.sensors]
        as_text = [name for name in names if known.sensors[name]]
        if not names:
            return None
    table = file.read([time, *names], as_text=as_text)
    times = parse_times(table[time], file)
    _check_times(times, file, histories)
    return Trajectories.shared(table.with_columns(times), time, names)


def _restore_seasons(y: RecurrentEvents, reading: Reading) -> SharedSensors | None:
    """Return the seasonal sensors of training for other histories."""
    names = reading.get("season")
    if not names:
        return None
    season = Trajectories.seasonal(y, names.split(","), min_cycles=0)
    return replace(season, resolution=int(reading.get("resolution") or 0))


def _merge(one: Any, other: SharedSensors | None) -> Any:
    """Return the sensors of two sources, either of which may be None."""
    return one if other is None else other if one is None else one.merge(other)


def _names(sensors: SharedSensors | None) -> tuple[str, ...]:
    return () if sensors is None else sensors.names


def _check_times(times: Any, file: TableFile, histories: EventTable) -> None:
    """Refuse dates of sensors with numeric event times, and the reverse."""
    is_stamped = times.dtype.is_temporal()
    entries = histories.entries
    events_are = (
        histories.y.origin is not None
        if entries is None
        else entries[ENTRY].dtype.is_temporal()
    )
    if is_stamped != events_are:
        words = {True: "dates", False: "numbers"}
        raise InvalidSensorsError(
            f"Times of sensors and events must be of one kind, but `{times.name}` in "
            f"{file.path.name!r} holds {words[is_stamped]} and events have "
            f"{words[events_are]}.\n\nHint: --time COLUMN names another column."
        )
