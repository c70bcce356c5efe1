"""Numbers behind forecasts: frailties, counts and waiting times."""
