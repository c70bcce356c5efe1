"""Forecasts of real fleets at several past dates, beside baselines.

    python -m benchmarks.real FOLDER

FOLDER holds one folder per fleet, each with ``events.csv``, ``static.csv`` and sometimes
``dynamic.parquet``; those that are not there are left out. Every candidate is fitted as of
each date to what was known then, by `boostr.backtest`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks._timing import RESULTS, describe_environment
from benchmarks.real.fleets import READERS, Fleet, read_fleets
from boostr import BoostR, backtest
from boostr.exceptions import BoostrError
from boostr.tuning import Backtest

QUICK = {"n_estimators": 30, "validation": 0.2}
COLUMNS = {
    "candidate": "forecast",
    "ratio": "expected / observed",
    "deviance": "deviance",
    "mae": "MAE",
    "concordance": "concordance",
    "capture": "riskiest tenth",
    "coverage": "intervals",
    "held": "totals",
    "zeros": "zeros",
    "seconds": "seconds",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fleets", help=f"some of {','.join(READERS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="few dates and trees")
    parser.add_argument("--out", type=Path, default=RESULTS / "real.json")
    parser.add_argument("--checkpoints", type=Path, help="folder of finished runs")
    asked = parser.parse_args()
    names = asked.fleets.split(",") if asked.fleets else None
    if unknown := set(names or ()) - set(READERS):
        parser.error(f"there is no fleet {', '.join(sorted(unknown))}")
    boostr = BoostR(random_state=0, **(QUICK if asked.quick else {}))
    found: list[dict[str, Any]] = []
    for read in read_fleets(asked.folder, boostr, names):
        for fleet in read():
            found.append(run(fleet.thin(2) if asked.quick else fleet, asked.checkpoints))
            asked.out.parent.mkdir(exist_ok=True)
            everything = {"fleets": found, "environment": describe_environment()}
            asked.out.write_text(json.dumps(everything, indent=1) + "\n")
    print(f"## All fleets: mean deviance per individual\n\n{summarise(found)}")


def run(fleet: Fleet, checkpoints: Path | None) -> dict[str, Any]:
    """Back-test all candidates of a fleet and print their table."""
    path = None
    if checkpoints is not None:
        checkpoints.mkdir(parents=True, exist_ok=True)
        path = checkpoints / f"{fleet.name.replace(' ', '-')}.jsonl"
    print(f"## {fleet.name}\n\n{fleet.y!r}, as of {len(fleet.dates)} dates\n", flush=True)
    rows, summaries = [], []
    for name, model in fleet.models.items():
        try:
            result = backtest(
                {name: model},
                fleet.X,
                fleet.y,
                as_of=fleet.dates,
                horizon=fleet.horizon,
                checkpoint=path,
            )
        except BoostrError as error:
            print(f"{name}: {str(error).splitlines()[0]}\n", flush=True)
            continue
        rows.append(result.table)
        summaries.append(result.summary())
    summary = pd.concat(summaries, ignore_index=True)
    print(f"{_format(summary)}\n", flush=True)
    table = pd.concat(rows, ignore_index=True)
    if len(fleet.dates) > 1:
        last = Backtest(table[table["date"] == table["date"].max()])
        print(f"As of {fleet.dates[-1]} alone:\n\n{_format(last.summary())}\n", flush=True)
    return {
        "fleet": fleet.name,
        "horizon": fleet.horizon,
        "individuals": len(fleet.y),
        "events": int(fleet.y.n_events.sum()),
        "summary": _records(summary),
        "table": _records(table.assign(date=table["date"].astype(str))),
    }


def summarise(found: list[dict[str, Any]]) -> str:
    """Return one row per fleet: the deviances of boostr and of the best baseline."""
    lines = ["| fleet | dates | boostr | best baseline | which |", "|---|---|---|---|---|"]
    for fleet in found:
        ours = [one for one in fleet["summary"] if "BoostR" in one["candidate"]]
        others = [one for one in fleet["summary"] if "BoostR" not in one["candidate"]]
        cells = [fleet["fleet"], fleet["summary"][0]["n_dates"]]
        cells.append("; ".join(f"{one['deviance']:.3f}" for one in ours) or "-")
        best = min(others, key=lambda one: one["deviance"], default=None)
        cells += (
            ["-", "-"] if best is None else [f"{best['deviance']:.3f}", best["candidate"]]
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _format(summary: pd.DataFrame) -> str:
    """Return a table of Markdown."""
    lines = [f"| {' | '.join(COLUMNS.values())} |", "|" + "---|" * len(COLUMNS)]
    for row in summary.to_dict("records"):
        cells = [_show(name, row[name]) for name in COLUMNS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _show(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "-"
    if name in {"zeros", "seconds"}:
        return f"{value:.0f}"
    return f"{value:.2f}" if name in {"ratio", "held", "coverage"} else f"{value:.3f}"


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(table.to_json(orient="records"))


if __name__ == "__main__":
    main()
