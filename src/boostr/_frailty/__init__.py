"""The mathematics of own history: frailties, counts, waiting times and pace."""
