"""One run: from a configuration to its verdicts and figures."""
