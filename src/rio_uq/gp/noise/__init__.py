"""The noise of outcomes."""
