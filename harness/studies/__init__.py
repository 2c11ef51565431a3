"""Studies of a finished run: explanations, fluency, human review, coverage."""
