"""Search of settings."""
