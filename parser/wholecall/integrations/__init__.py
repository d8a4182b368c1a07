"""Whole tool calls where other programs read them: in serving engines and in frameworks, one module for each.

::

    from wholecall.integrations.langchain import WholeCalls

    agent = create_agent("openai:gpt-5", tools, middleware=[WholeCalls()])

A module imports its framework or engine; this package imports none.
"""
