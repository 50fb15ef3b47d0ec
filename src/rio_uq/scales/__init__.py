"""Scales of outcomes: logarithms, square roots, logits, and the range that outcomes stay in."""
