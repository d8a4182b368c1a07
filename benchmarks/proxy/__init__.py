"""The proxy's cost next to a plain relay, itself without repair, and LiteLLM's proxy: `python -m benchmarks.proxy`."""
