"""Rows in a Dask cluster, whose partitions stay where they are."""
