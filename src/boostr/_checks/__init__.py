"""Checks of what users pass, each rule and its message once."""
