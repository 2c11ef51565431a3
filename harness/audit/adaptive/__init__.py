"""A budget spent well: which mutants to ask about when there are requests for some of them only.

What is found this way is no sample of all mutants: its rates are no estimates.
"""
