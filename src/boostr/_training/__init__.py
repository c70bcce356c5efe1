"""From what a user passes to a `Fitted`: settings, data, statistics, trees, frailties."""
