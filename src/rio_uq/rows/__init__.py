"""Where rows come from: memory, Parquet and Arrow, CSV, Feather, memory maps, Dask."""

from rio_uq.rows.parquet import ArrowRows

__all__ = ["ArrowRows"]
