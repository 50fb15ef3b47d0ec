"""Where rows come from: memory, Parquet and Arrow, CSV, memory maps, Dask."""

from rio_uq.rows.parquet import ArrowRows

__all__ = ["ArrowRows"]
