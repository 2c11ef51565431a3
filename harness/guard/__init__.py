"""Check each answer as it is given, and put it right where groups are treated differently.

``Guard`` is what a program uses; ``hinter guard`` serves the same before an endpoint.
"""

from harness.guard.guard import Guard
from harness.guard.records import Checked

__all__ = ["Checked", "Guard"]
