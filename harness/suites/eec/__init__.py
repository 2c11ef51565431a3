"""EEC: sentences that differ in a person alone, scored, and compared pair by pair.

Kiritchenko and Mohammad, "Examining Gender and Race Bias in Two Hundred Sentiment Analysis Systems", 2018.
"""
