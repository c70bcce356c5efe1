"""Forecasts on real fleets: boostr and baselines at past dates."""
