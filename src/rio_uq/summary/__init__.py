"""Summary of a fit: what was learnt, in numbers and in words."""

from rio_uq.summary.bands import Band
from rio_uq.summary.classifier import ClassifierSummary, LabelErrors
from rio_uq.summary.parts import Feature, Shares
from rio_uq.summary.summarize import summarize
from rio_uq.summary.summary import Summary

__all__ = ["Band", "ClassifierSummary", "Feature", "LabelErrors", "Shares", "Summary", "summarize"]
