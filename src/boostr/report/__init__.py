"""Reports for people who act on forecasts: one page, no network."""

from boostr.report._page import fleet_report

__all__ = ["fleet_report"]
