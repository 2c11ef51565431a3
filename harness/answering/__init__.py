"""From cases to outcomes: render, plan, ask once, keep, read."""
