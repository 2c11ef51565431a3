"""A budget spent well: which mutants to ask about when there are requests for some of them only.

Each choice has a known probability, so that the figures of all mutants can be estimated.
"""
