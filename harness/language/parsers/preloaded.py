"""What every process that parses imports, for one that only imports it and is then copied."""

from __future__ import annotations

import spacy as spacy

from harness.language.parsers import spacy_parser as spacy_parser
from harness.language.parsers import token_vectors as token_vectors
