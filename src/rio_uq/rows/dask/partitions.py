"""The rows of a partition of Dask collections, as they are made inside of one task.

A partition is usually the end of a chain: a file is read, columns are chosen, a few are computed. Were each link a task
of its own, Dask might send rows to another worker between two of them. So what only one partition needs is run inside
of the task that works on it; what it takes from outside are data that a worker holds already, and links that several
partitions share.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from rio_uq._base.extras import require

Graph = dict[Hashable, Any]


class Partition(NamedTuple):
    """The inputs of the task that makes the rows of a partition.

    Attributes
    ----------
    recipe : Recipe
    needed : list
        Futures and delayed objects, which Dask replaces by their values.
    """

    recipe: Recipe
    needed: list[Any]

    @property
    def held(self) -> list[Any]:
        """Those of them that are, or will be, in the memory of a worker."""
        return [value for value in self.needed if _is_held(value)]


class Recipe:
    """The part of a graph that only one partition needs; not a container that Dask would look into.

    Parameters
    ----------
    graph : dict
    keys : list
        Of the results.
    outside : list
        Keys of what is needed and not in the graph.
    """

    def __init__(self, graph: Graph, keys: list[Hashable], outside: list[Hashable]) -> None:
        self.graph, self.keys, self.outside = graph, keys, outside

    def made_of(self, needed: Sequence[Any]) -> list[Any]:
        """The results, on a worker."""
        graph = {**self.graph, **dict(zip(self.outside, needed, strict=True))}
        return list(require("dask", "dask").get(graph, self.keys))


def partitions(collections: Sequence[Sequence[Any]]) -> list[Partition]:
    """Of collections with the same rows in each of their partitions.

    Parameters
    ----------
    collections : sequence of sequences of Delayed
        The partitions of each collection.
    """
    layered = {id(part.dask): part.dask for parts in collections for part in parts}  # one for each collection
    graph = {key: node for one in layered.values() for key, node in dict(one).items()}
    ends = [[part.key for part in parts] for parts in zip(*collections, strict=True)]
    shared = _delayed(_shared(graph, ends), layered.values())
    return [_partition(graph, keys, shared) for keys in ends]


def _partition(graph: Graph, keys: list[Hashable], shared: Graph) -> Partition:
    own, needed = {}, {}
    for key in _below(graph, keys, stop=shared):
        if key in shared:
            needed[key] = shared[key]
        elif _is_held(graph[key]):
            needed[key] = graph[key]
        else:
            own[key] = graph[key]
    return Partition(Recipe(own, keys, list(needed)), list(needed.values()))


def _shared(graph: Graph, ends: list[list[Hashable]]) -> set[Hashable]:
    """Keys that several partitions depend on. No key is looked below twice, however many need it."""
    seen: set[Hashable] = set()
    shared: set[Hashable] = set()
    for keys in ends:
        below = _below(graph, keys, stop=seen)
        shared |= below & seen
        seen |= below
    return shared


def _delayed(keys: set[Hashable], graphs: Iterable[Any]) -> Graph:
    """A delayed object for each of the keys, with the graph of layers that it comes from: Dask joins these by name."""
    delayed = require("dask.delayed", "dask").Delayed
    layers = [(graph, name, layer) for graph in graphs for name, layer in graph.layers.items()]
    return {key: delayed(key, graph, layer=name) for graph, name, layer in layers for key in keys & layer.keys()}


def _below(graph: Graph, keys: Iterable[Hashable], stop: Collection[Hashable]) -> set[Hashable]:
    """The keys, and those of all that they are made of, down to data that are held and to keys where to stop."""
    get_dependencies = require("dask.core", "dask").get_dependencies
    reached = set(keys)
    waiting = list(reached)
    while waiting:
        key = waiting.pop()
        if key not in stop and not _is_held(graph[key]):
            below = get_dependencies(graph, key) - reached
            reached |= below
            waiting += below
    return reached


def _is_held(node: Any) -> bool:
    """Whether it is data that are, or will be, in the memory of a worker."""
    return type(node).__name__ == "Future" and type(node).__module__.startswith("distributed")
