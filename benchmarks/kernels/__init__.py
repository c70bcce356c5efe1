"""One script per compiled kernel."""
