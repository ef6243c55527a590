"""Prompts, one module each: constant system text, schema of the reply, version, and the function that builds a call.

What users wrote goes in as one JSON value. Memories and turns are numbered from 1 within a call, in the
order in which they were given; a reply names them by these numbers.
"""
