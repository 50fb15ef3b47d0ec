"""Ways to the posterior: exact, sparse, stochastic."""
