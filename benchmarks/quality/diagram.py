"""Critical-difference diagrams: methods on a line of mean ranks, those joined by a bar are not told apart."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality.ranks import Ranking

ROW = 0.32
"""Height of a line of text, in inches."""


def draw(ranking: Ranking, ours: set[str], title: str, path: Path) -> None:
    """Write the diagram of a ranking; the format follows from the ending of the path.

    Parameters
    ----------
    ranking : Ranking
    ours : set of str
        Methods in colour.
    title : str
    path : Path
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "rio-uq"
    import matplotlib.pyplot as plt

    n = len(ranking.ranks)
    cliques = ranking.cliques()
    n_left = (n + 1) // 2
    depth = 0.5 * len(cliques) + 0.6
    height = ROW * (depth + n_left + 3.2)
    figure, axes = plt.subplots(figsize=(10.0, height))
    axes.set_xlim(1.0 - 0.42 * (n - 1), n + 0.42 * (n - 1))
    axes.set_ylim(depth + n_left + 0.2, -3.0)
    axes.axis("off")
    axes.set_title(title, fontsize=11)

    axes.plot([1, n], [0, 0], color="black", lw=1.2)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [-0.25, 0], color="black", lw=1.0)
        axes.text(rank, -0.4, str(rank), ha="center", va="bottom", fontsize=8)
    length = min(ranking.critical_difference, n - 1)
    axes.plot([1, 1 + length], [-1.7, -1.7], color="black", lw=2.0)
    said = f"critical difference {ranking.critical_difference:.2f}"
    axes.text(1 + length / 2, -1.85, said, ha="center", va="bottom", fontsize=8)

    for i, (first, last) in enumerate(cliques):
        ends = [ranking.ranks.iloc[first] - 0.06, ranking.ranks.iloc[last] + 0.06]
        axes.plot(ends, [0.5 * (i + 1)] * 2, color="dimgray", lw=3.0, solid_capstyle="round")
    for position, (method, rank) in enumerate(ranking.ranks.items()):
        is_left = position < n_left
        level = depth + (position if is_left else n - 1 - position)
        edge = 1.0 - 0.06 * (n - 1) if is_left else n + 0.06 * (n - 1)
        colour = "tab:blue" if method in ours else "black"
        axes.plot([rank, rank, edge], [0, level, level], color=colour, lw=0.8)
        label = f"{method}  {rank:.1f}" if is_left else f"{rank:.1f}  {method}"
        nudge = -0.01 * n if is_left else 0.01 * n
        axes.text(edge + nudge, level, label, ha="right" if is_left else "left", va="center", fontsize=9, color=colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, bbox_inches="tight", metadata=metadata)
    plt.close(figure)
