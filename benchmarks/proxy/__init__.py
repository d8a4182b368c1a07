"""The cost of the proxy beside a plain relay, itself without repair, and LiteLLM's proxy: `python -m benchmarks.proxy`."""
