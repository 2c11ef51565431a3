"""Answering in batches: a run's missing requests as batch files, or as jobs of the OpenAI Batch API.

What is missing is what the flow would ask: the groups are examined with nobody to answer but the cache, and
each request that is not found there is written down (``missing``). The answers, brought by a file (``files``)
or by a job (``jobs``, ``run``), go into the cache, where the flow then finds them like any others.
"""
