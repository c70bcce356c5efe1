"""Events, features and sensors from files, matched by id."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr.cli._events import EventTable, Reading, read_event_table
from boostr.cli._features import read_feature_table
from boostr.cli._files import open_file, quote_names
from boostr.cli._guess import guess_id
from boostr.cli._inputs import FleetFiles, Known
from boostr.cli._matching import as_keys
from boostr.cli._moments import is_date
from boostr.cli._output import echo
from boostr.cli._sensors import (
    join_sensors,
    read_sensor_table,
    read_shared,
    restore_seasons,
)
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.data.times import INDIVIDUAL, counts_from_elsewhere, name_origin
from boostr.exceptions import InvalidEventsError, InvalidParameterError

__all__ = ["FleetData", "read_fleet", "read_when"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FleetData:
    """EventTable, and the features and sensors of the same individuals."""

    X: Any  # a table of polars, or an array without columns
    y: RecurrentEvents
    Z: Trajectories | SharedSensors | None
    future: Trajectories | None
    reading: Reading
    groups: Any = None  # one label per individual, if wanted

    def add_seasons(self, names: str) -> FleetData:
        """Return the fleet with seasonal sensors, where enough cycles were seen."""
        wanted = [name.strip() for name in names.split(",")]
        season = Trajectories.seasonal(self.y, wanted)
        if not season.names:
            return self
        found = {"season": ",".join(season.names), "resolution": str(season.resolution)}
        reading = self.reading | found
        return replace(self, Z=join_sensors(self.Z, season), reading=reading)

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
    shared = read_shared(files, histories, known)
    season = None if known is None else restore_seasons(histories.y, known.reading)
    if known is not None:
        known = known.without([*_names(shared), *_names(season)])
        _check_complete(files, known)
    _check_named(files)
    exposure = _find_exposure(files, known)
    X: Any = np.empty((len(histories.y), 0))
    y, reading, groups = histories.y, histories.reading, None
    is_needed = known is None or known.features or exposure or files.by
    if files.static is not None and is_needed:
        X, others = read_feature_table(files, histories, known, exposure)
        if exposure in others:
            y = y.with_exposure(others[exposure].to_numpy())
        groups = others.get(files.by)
    is_sensor = exposure is not None and y.exposure is None
    has_own = known is None or known.sensors != {} or is_sensor
    own, future = (
        None
        if path is None or not has_own
        else read_sensor_table(
            path, files, histories, known, is_plan, exposure if is_sensor else None
        )
        for path, is_plan in ((files.sensors, False), (files.future, True))
    )
    if exposure is not None and is_sensor:
        y = y.with_exposure(_follow(own, future, exposure, y))
        own, future = _drop(own, exposure), _drop(future, exposure)
    if exposure is not None:
        reading = reading | {"exposure": exposure}
    Z = join_sensors(join_sensors(own, shared), season)
    return FleetData(X=X, y=y, Z=Z, future=future, reading=reading, groups=groups)


def _check_named(files: FleetFiles) -> None:
    """Refuse named columns that no table has."""
    paths = {"--features": [files.static]}
    paths["--drop"] = [files.static, files.sensors, files.shared]
    named = {"--features": files.features or (), "--drop": files.left_out}
    for option, names in named.items():
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
    exposure = files.given.get("exposure")
    if known is not None and not known.has_exposure and exposure is not None:
        raise InvalidParameterError(
            "The model was fitted without exposures, but --exposure names some.\n\n"
            "Hint: leave --exposure out, or name it when the model is fitted, too."
        )
    if known is None or not known.has_exposure:
        return exposure
    exposure = exposure or known.reading.get("exposure")
    if exposure is None:
        raise InvalidParameterError(
            "The model was fitted with exposures, but none are named.\n\n"
            "Hint: --exposure COLUMN, of --static or --sensors."
        )
    return exposure


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
        "Events must have costs if and only if those of training had costs, but these "
        f"have {has} and those had {had}.\n\nHint: {hint}."
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
                "Some individuals must be in all tables, but no individual of the events "
                f"is in {path.name!r}.\n\nHint: ids there are like "
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


def _names(sensors: SharedSensors | None) -> tuple[str, ...]:
    return () if sensors is None else sensors.names
