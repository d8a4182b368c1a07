"""The judge of an endpoint's answers: exchanges, rules, verdicts, and a faulty server to test them."""
