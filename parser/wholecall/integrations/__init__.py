"""The framework's own thing with whole calls under it, one module for each framework.

::

    from wholecall.integrations.langchain import WholeCalls

    agent = create_agent("openai:gpt-5", tools, middleware=[WholeCalls()])

A module imports its framework; this package imports none.
"""
