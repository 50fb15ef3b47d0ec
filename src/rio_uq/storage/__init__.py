"""Fitted regressors in files without pickle, see docs/format.md."""
