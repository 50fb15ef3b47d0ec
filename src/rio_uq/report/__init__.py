"""One HTML file that shows what RIO does to a model; it needs Jinja2 (``pip install 'rio-uq[report]'``)."""

from rio_uq.report.writer import write_report

__all__ = ["write_report"]
