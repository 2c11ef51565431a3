"""Systems under test: who is asked."""
