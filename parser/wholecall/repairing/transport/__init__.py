"""Repair under an unmodified SDK: an HTTP transport that makes event streams strict while they are read.

::

    import wholecall.transport

    client = openai.OpenAI(http_client=wholecall.transport.client())
"""
