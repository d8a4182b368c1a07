"""What the proxy costs, beside a plain relay, itself without repair, and LiteLLM's proxy: `python -m benchmarks.proxy`."""
