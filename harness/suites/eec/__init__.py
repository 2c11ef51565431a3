"""EEC: the Equity Evaluation Corpus (Kiritchenko and Mohammad 2018)."""
