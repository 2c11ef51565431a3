"""Pure renderers of a run: summary, terminal, HTML, JUnit."""
