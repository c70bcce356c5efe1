"""From a fitted model and histories to forecasts."""
