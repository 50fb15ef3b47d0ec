"""How the engine computes: blocks of rows, threads, linear algebra."""
