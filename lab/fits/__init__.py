"""Whole fits by rio-uq, GPflow or GPyTorch, with their trajectories."""
