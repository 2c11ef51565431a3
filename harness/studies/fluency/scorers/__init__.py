"""Scorers of fluency: language models in this process or behind an endpoint, and LanguageTool."""
