"""``python -m harness`` is ``hinter``."""

from harness.cli import main

main()
