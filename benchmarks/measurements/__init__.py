"""The parts of ``benchmarks.speed``; each has ``measure(scale) -> list[Finding]``."""
