"""Compile what most tests need, once: several processes would all compile the same."""

from boostr import BoostR, simulate
from boostr.inspection import explain


def main():
    """Fit, predict, forecast and explain on small data, without and with sensors."""
    pumps = simulate.dataset_b(n=80, random_state=0)
    wells = simulate.wells(n=40, random_state=0)
    for fleet in (pumps, wells):
        X, y, Z = fleet.X, fleet.y, fleet.Z
        model = BoostR(n_estimators=5, random_state=0).fit(X, y, Z)
        model.predict_cumulative(X, [10.0, 50.0], Z)
        model.predict_intensity(X, [10.0, 50.0], Z)
        model.forecast(X, y, 10.0, Z)
        explain(model, X, horizon=50.0, Z=Z)
    # Shards on a cluster are grown node by node.
    BoostR(n_estimators=2, growth="level", random_state=0).fit(pumps.X, pumps.y)


if __name__ == "__main__":
    main()
