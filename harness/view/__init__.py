"""The local web page: the runs of a folder, their reports, comparisons, one text tried live."""
