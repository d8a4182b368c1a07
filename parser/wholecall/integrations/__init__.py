"""Plug-ins for the programs in which accumulators are: serving engines and frameworks, a module for each."""
