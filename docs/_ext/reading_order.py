"""The order of the examples in the gallery: from histories to decisions."""

ORDER = (
    # Histories, without a model
    *("valve_seats", "cgd", "time_scale", "seasons"),
    # A first model, and what it learned
    *("fleet", "bladder", "purchases", "importance", "two_features", "one_tree"),
    # Forecasts and reasons
    *("forecast", "next_event", "site_totals", "costs", "kinds"),
    *("deaths", "reasons", "what_if"),
    # Sensors, exposure and counts
    *("sensor_effect", "exposure", "intervals"),
    # How good is it?
    *("calibration", "residuals", "backtest", "compare"),
    # How trees are chosen and grown
    *("validation", "callbacks", "limits", "tree_sizes", "search"),
    # Large data
    *("out_of_core", "cluster"),
)


class ReadingOrder:
    """Key by which sphinx-gallery sorts the scripts of a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, script):
        """Return the place of a script."""
        return ORDER.index(script.removeprefix("plot_").removesuffix(".py"))
