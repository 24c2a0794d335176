"""Metrics whose numbers an encoder gives: SOME, IMPARA and BERTScore."""
