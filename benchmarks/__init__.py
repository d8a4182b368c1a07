"""Benchmarks: `python -m benchmarks` prints ratios, `python -m pytest benchmarks` compares groups."""
