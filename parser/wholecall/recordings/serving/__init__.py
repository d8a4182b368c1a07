"""Recordings served like answers of their provider: over HTTP on the loopback interface, or without a socket."""
