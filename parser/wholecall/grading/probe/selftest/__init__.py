"""A server that is good, or has one named fault, to test the judge: pure functions, and a loopback server of them."""
