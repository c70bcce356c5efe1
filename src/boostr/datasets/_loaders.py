"""Small real data sets: one loader each."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from boostr._typing import AnyArray
from boostr.data import RecurrentEvents
from boostr.data.events.frames import make_table

if TYPE_CHECKING:
    from boostr.data import RecurrentEvents, Trajectories

__all__ = [
    "Dataset",
    "load_bladder",
    "load_cgd",
    "load_valve_seats",
]

Columns = dict[str, AnyArray | list[str]]


def _read_events(name: str, *, unit: str) -> RecurrentEvents:
    """Read histories from a file of ids, times and events, sorted in this order.

    Every id has one row that is no event, its end of follow-up.
    """
    columns = _read_columns(name)
    owner, times, event = (np.asarray(values) for values in columns.values())
    is_event = event == 1
    ids = owner[~is_event]
    offsets = np.append(0, np.searchsorted(owner[is_event], ids, side="right"))
    y = RecurrentEvents.from_flat(times[is_event], offsets, end=times[~is_event], ids=ids)
    return replace(y, id_name=next(iter(columns)), time_unit=unit)


def _read_features(name: str, *, backend: str | None) -> Any:
    """Read features from a file whose first column is the id, sorted."""
    columns = _read_columns(name)
    id_name = next(iter(columns))
    ids = columns.pop(id_name)
    table = make_table(columns, backend)
    if is_pandas_dataframe(table):
        # The index lets estimators check that rows and histories belong together.
        table.index = ids
        table.index.name = id_name
    return table


def _read_columns(name: str) -> Columns:
    text = files("boostr.datasets").joinpath("data", name).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return {
        column: _read_values(values)
        for column, values in zip(header, zip(*rows, strict=True), strict=True)
    }


def _read_values(values: Sequence[str]) -> AnyArray | list[str]:
    """Return whole numbers, numbers or text, the first of them that all values are."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(values).astype(kind)
        except ValueError:
            continue
    return list(values)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Dataset:
    """Event histories with their features, and where they come from.

    Parameters
    ----------
    X : DataFrame or None
        Static features, one row per individual in the order of `y`; of pandas, with the
        ids as index, or of polars. None where there are none.
    y : RecurrentEvents
        The event histories.
    Z : Trajectories, default=None
        Dynamic features, where there are any.
    feature_names : tuple of str
        Names of the columns of `X`.
    description : str
        What was observed, in a few sentences.
    source : str
        Where the data come from, and under which terms they are distributed.

    See Also
    --------
    load_valve_seats : Repairs of machines.
    load_bladder : Recurrences of a disease under three treatments.
    load_cgd : Infections under two treatments, with ten features.

    Examples
    --------
    >>> from boostr.datasets import load_cgd
    >>> data = load_cgd()
    >>> data
    Dataset(128 individuals, 76 events, follow-up 37477 days; 10 features)
    >>> print(data.source)
    R package survival 3.5-3, data set cgd; LGPL (>= 2)
    """

    X: Any
    y: RecurrentEvents
    Z: Trajectories | None = None
    feature_names: tuple[str, ...]
    description: str
    source: str

    def __repr__(self) -> str:
        histories = repr(self.y).removeprefix("RecurrentEvents(").removesuffix(")")
        n_features = len(self.feature_names)
        count = f"{n_features} feature" + ("" if n_features == 1 else "s")
        return f"Dataset({histories}; {count if n_features else 'no features'})"


def load_valve_seats() -> Dataset:
    """Load the replacements of valve seats in 41 diesel engines.

    The valve seats of these engines wear out and are replaced. A fleet of 41 engines was
    watched for up to 761 days and had 48 replacements. On two of the engines, two
    replacements fall on the same day. There are no features.

    Returns
    -------
    Dataset
        Histories in days of age; ``X`` is None.

    See Also
    --------
    boostr.nonparametric.MeanCumulativeFunction : The estimate that Nelson drew from them.
    boostr.nonparametric.laplace_test : Whether replacements become more frequent with age.

    Notes
    -----
    The table is that of the R package survival 3.5-3 (``valveSeat``), distributed under
    the LGPL (>= 2); a README beside the file says what was changed.

    References
    ----------
    Nelson, W. (1995). Confidence limits for recurrence data, applied to cost or number
    of product repairs. Technometrics 37, 147-157.

    Nelson, W. (2003). Recurrent Events Data Analysis for Product Repairs, Disease
    Recurrences, and Other Applications. SIAM.

    Examples
    --------
    One engine in 41 has had a replacement by day 61, two by day 76.

    >>> from boostr import MeanCumulativeFunction
    >>> from boostr.datasets import load_valve_seats
    >>> data = load_valve_seats()
    >>> data.y
    RecurrentEvents(41 individuals, 48 events, follow-up 25363 days)
    >>> MeanCumulativeFunction().fit(data.y).predict([61.0, 76.0]) * 41
    array([1., 2.])
    """
    return Dataset(
        X=None,
        y=_read_events("valve_seats.csv", unit="days"),
        feature_names=(),
        description=(
            "Replacements of valve seats in 41 diesel engines of one fleet, by the age of "
            "the engine in days."
        ),
        source="R package survival 3.5-3, data set valveSeat; LGPL (>= 2)",
    )


def load_bladder(*, deaths: bool = False, backend: str | None = None) -> Dataset:
    """Load the recurrences of bladder tumours under placebo, pyridoxine and thiotepa.

    Patients of the Veterans Administration Cooperative Urological Research Group had
    superficial tumours of the bladder removed and were assigned to one of three
    treatments. At visits, new tumours were counted and removed. A visit with new tumours
    is an event.

    Parameters
    ----------
    deaths : bool, default=False
        Whether the 28 deaths, two of them of the disease, are terminal events; otherwise
        they are ends of follow-up like others.
    backend : {"pandas", "polars"}, optional
        Which table to make; by default pandas if it is installed, else polars.

    Returns
    -------
    Dataset
        116 patients with 189 recurrences; time in months since randomisation. Features
        are ``treatment``, the ``number`` of tumours removed at the start (8 stands for
        8 or more), and the ``size`` of the largest of them in cm.

    See Also
    --------
    boostr.nonparametric.compare_mcf : Test whether the treatments differ.

    Notes
    -----
    Of 118 patients, the two that were not followed at all (ids 1 and 49) are left out.
    All recurrences are kept, up to nine; the version with
    two treatments and four recurrences that is common in textbooks is a part of this one.
    The table is that of the R package survival 3.5-3 (``bladder1``), distributed under the
    LGPL (>= 2); a README beside the file says what was changed.

    References
    ----------
    Byar, D. P. (1980). The Veterans Administration study of chemoprophylaxis for
    recurrent stage I bladder tumors. In: Bladder Tumors and Other Topics in Urological
    Oncology. Plenum, 363-370.

    Andrews, D. F. and Herzberg, A. M. (1985). Data: A Collection of Problems from Many
    Fields for the Student and Research Worker. Springer.

    Examples
    --------
    >>> from boostr.datasets import load_bladder
    >>> data = load_bladder()
    >>> data.y
    RecurrentEvents(116 individuals, 189 events, follow-up 3704 months)
    >>> data.X.treatment.value_counts(sort=False).to_dict()
    {'placebo': 47, 'pyridoxine': 31, 'thiotepa': 38}
    >>> int(load_bladder(deaths=True).y.is_terminal.sum())
    28
    """
    y = _read_events("bladder.csv", unit="months")
    if deaths:
        died = _read_columns("bladder_deaths.csv")["patient"]
        y = y.with_terminal(np.isin(y.ids, died))
    return Dataset(
        X=_read_features("bladder_features.csv", backend=backend),
        y=y,
        feature_names=("treatment", "number", "size"),
        description=(
            "Recurrences of bladder tumours in 116 patients under placebo, pyridoxine or "
            "thiotepa, in months since randomisation; a visit with new tumours is an event."
        ),
        source="R package survival 3.5-3, data set bladder1; LGPL (>= 2)",
    )


def load_cgd(*, backend: str | None = None) -> Dataset:
    """Load the infections of patients with chronic granulomatous disease.

    The disease, which is inherited, weakens the immune system. In a trial with 13 centres
    63 patients got gamma interferon and 65 a placebo; the events are serious infections.

    Parameters
    ----------
    backend : {"pandas", "polars"}, optional
        Which table to make; by default pandas if it is installed, else polars.

    Returns
    -------
    Dataset
        128 patients with 76 infections, 20 of them under interferon; time in days since
        randomisation. Features are ``treatment`` ("placebo" or "rIFN-g"), ``sex``,
        ``age`` in years, ``height`` in cm, ``weight`` in kg, pattern of ``inheritance``,
        use of ``steroids`` and of antibiotic ``prophylaxis`` at the start (0 or 1),
        ``region`` of the hospital and ``centre``.

    See Also
    --------
    boostr.nonparametric.mcf_difference : How many infections the treatment saves.

    Notes
    -----
    The table is that of the R package survival 3.5-3 (``cgd``), distributed under the
    LGPL (>= 2); a README beside the file says what was changed.

    References
    ----------
    The International Chronic Granulomatous Disease Cooperative Study Group (1991). A
    controlled trial of interferon gamma to prevent infection in chronic granulomatous
    disease. New England Journal of Medicine 324, 509-516.

    Fleming, T. R. and Harrington, D. P. (1991). Counting Processes and Survival Analysis.
    Wiley, appendix D.2.

    Examples
    --------
    >>> from boostr.datasets import load_cgd
    >>> data = load_cgd()
    >>> data.y
    RecurrentEvents(128 individuals, 76 events, follow-up 37477 days)
    >>> int(data.y.n_events[data.X.treatment == "rIFN-g"].sum())
    20
    """
    features = _read_features("cgd_features.csv", backend=backend)
    return Dataset(
        X=features,
        y=_read_events("cgd.csv", unit="days"),
        feature_names=tuple(features.columns),
        description=(
            "Serious infections of 128 patients with chronic granulomatous disease under "
            "gamma interferon or placebo, in days since randomisation."
        ),
        source="R package survival 3.5-3, data set cgd; LGPL (>= 2)",
    )
