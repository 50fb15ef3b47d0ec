"""Gaussian processes of other libraries for many rows.

A module for each, with two functions: ``train(X, y, run)``, which makes whatever the other one needs, and
``predict(trained, X)``, mean and standard deviation of outcomes. Columns and outcomes are standardised.
"""
