"""Where RIO beats the model under it and a plain Gaussian process, and where it does not."""
