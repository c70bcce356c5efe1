"""Draw the pictures of the start page: one pump's forecast, what came, and the reasons.

The pumps are simulated. ``python docs/forecast_picture.py FOLDER`` writes
``forecast-*.svg`` and ``reasons-*.svg``, each for the light and the dark theme. Those of
README and start page are in ``docs/_static``; ``make demo`` draws them again.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents

N_PUMPS, HORIZON = 400, 60.0
RANK = 17  # the pump that is shown, from the highest risk
THEMES = {
    "light": {"ink": "#222222", "line": "#005a8f", "more": "#b34700", "less": "#00755a"},
    "dark": {"ink": "#e6e6e6", "line": "#56b4e9", "more": "#ff9d5c", "less": "#4fd1ad"},
}


def simulate_pumps():
    """Return features, and all failures of each pump up to 60 days after now."""
    rng = np.random.default_rng(5)
    pumps = pd.Index([f"P{number:03d}" for number in range(N_PUMPS)], name="pump")
    X = pd.DataFrame(
        {
            "load": rng.uniform(0.0, 1.0, N_PUMPS),
            "salinity": rng.uniform(0.0, 35.0, N_PUMPS),
            "depth": rng.uniform(50.0, 900.0, N_PUMPS),
            "age": rng.integers(1, 15, N_PUMPS).astype(float),
        },
        index=pumps,
    ).round(2)
    rate = 0.012 * (1 + 2 * (X["load"] > 0.5)) * (1 + (X["salinity"] > 20))
    rate = rate.to_numpy() * rng.gamma(4.0, 0.25, N_PUMPS)
    now = rng.uniform(120.0, 180.0, N_PUMPS).round()
    failures = [
        np.sort(rng.uniform(0.0, end + HORIZON, rng.poisson(each * (end + HORIZON))))
        for each, end in zip(rate, now, strict=True)
    ]
    return X, failures, now


def draw_history(ax, band, days, failures, now, colours):
    """Draw failures so far, the forecast with its interval, and what came."""
    so_far = failures[failures <= now]
    steps = np.concatenate([[0.0], so_far, [now]])
    counts = np.append(np.arange(len(so_far) + 1), len(so_far))
    ax.step(
        steps, counts, where="post", color=colours["line"], lw=2, label="failures so far"
    )
    ax.fill_between(
        days, band.lower[0], band.upper[0], color=colours["line"], alpha=0.25, lw=0,
        label="90 % interval",
    )  # fmt: skip
    ax.plot(days, band.expected[0], "--", color=colours["line"], lw=2, label="forecast")
    came = failures[failures > now]
    steps = np.concatenate([[now], came, [now + HORIZON]])
    counts = len(so_far) + np.append(np.arange(len(came) + 1), len(came))
    ax.step(steps, counts, where="post", color=colours["more"], lw=1.5, label="what came")
    ax.axvline(now, color=colours["ink"], lw=0.8, ls=":")
    ax.annotate("now", (now, 0.0), (-4, 4), textcoords="offset points", ha="right")
    ax.set(xlabel="Day", ylabel="Failures", xlim=(0, now + HORIZON), ylim=(0, None))
    ax.legend(frameon=False, loc="upper left")


def draw_reasons(ax, names, values, colours):
    """Draw what each reason adds to the average, the largest on top."""
    order = np.argsort(np.abs(values))
    signs = [colours["more"] if values[k] > 0 else colours["less"] for k in order]
    bars = ax.barh([names[k] for k in order], values[order], color=signs, height=0.6)
    ax.bar_label(bars, fmt="%+.1f", padding=4, color=colours["ink"])
    ax.axvline(0.0, color=colours["ink"], lw=0.8)
    ax.margins(x=0.2)
    ax.tick_params(left=False, bottom=False, labelbottom=False)
    ax.spines[["left", "bottom"]].set_visible(False)


def list_reasons(reasons, place):
    """Return names and amounts of the reasons of one pump that make a difference."""
    values = dict(zip(reasons.features, reasons.values[place], strict=True))
    row = dict(zip(reasons.features, reasons.data[place], strict=True))
    named = {f"{name} = {row[name]:g}": amount for name, amount in values.items()}
    named["own history"] = reasons.own_history[place]
    shown = {name: amount for name, amount in named.items() if abs(amount) >= 0.05}
    return list(shown), np.array(list(shown.values()))


def make_style(ink):
    """Return matplotlib's settings for a colour of text and axes."""
    parts = (
        "text.color",
        "axes.labelcolor",
        "axes.edgecolor",
        "xtick.color",
        "ytick.color",
    )
    return {
        **dict.fromkeys(parts, ink),
        "font.size": 11,
        "svg.hashsalt": "boostr",  # the same file each time
        "axes.spines.top": False,
        "axes.spines.right": False,
    }


def save(figure, title, path):
    """Give the figure its title, and write it without a background."""
    figure.suptitle(title, x=0.01, ha="left", fontsize="medium", fontweight="bold")
    figure.savefig(path, transparent=True, metadata={"Date": None})
    plt.close(figure)


def main(folder):
    """Fit, choose a pump at risk, and draw it for both themes."""
    X, failures, now = simulate_pumps()
    known = [times[times <= end] for times, end in zip(failures, now, strict=True)]
    y = RecurrentEvents.from_lists(known, end=now, ids=X.index.to_numpy())
    model = BoostR(random_state=0).fit(X, y)
    one = model.forecast(X, y, horizon=HORIZON).iloc[RANK]
    place = X.index.get_loc(one["id"])
    days = np.linspace(now[place], now[place] + HORIZON, 61)
    band = model.predict_band(X.iloc[[place]], days, y=y[[place]])
    reasons = model.explain_forecast(X, y, horizon=HORIZON)
    said = (
        f"Pump {one['id']}: {one['expected']:.1f} failures expected in {HORIZON:.0f} days, "
        f"between {one['lower']:.0f} and {one['upper']:.0f}"
    )
    why = f"Why {one['expected']:.1f}? {reasons.base[place]:.1f} on average, and"
    for theme, colours in THEMES.items():
        with plt.rc_context(make_style(colours["ink"])):
            figure, ax = plt.subplots(figsize=(6.6, 3.3), layout="constrained")
            draw_history(ax, band, days, failures[place], now[place], colours)
            save(figure, said, folder / f"forecast-{theme}.svg")
            figure, ax = plt.subplots(figsize=(4.4, 3.3), layout="constrained")
            draw_reasons(ax, *list_reasons(reasons, place), colours)
            save(figure, why, folder / f"reasons-{theme}.svg")

    print(f"Pictures of a forecast and its reasons: {folder / 'forecast-light.svg'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
