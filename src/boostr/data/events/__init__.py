"""Event histories in memory."""
