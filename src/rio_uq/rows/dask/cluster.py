"""Work on a Dask cluster: done where the rows are, and taken back when it fails.

By itself Dask sends rows to a worker that is free before they would have to wait for the one that has them. Here work
is bound to the worker that holds most of the bytes of its partition, so that what travels does not grow with the rows.
A partition that no worker holds yet is made wherever Dask likes, and worked on there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import chain
from typing import Any

from rio_uq._base.extras import require
from rio_uq.rows.dask.partitions import Partition

ATTEMPTS = 3
"""Times that work is handed out anew if what it needs was lost with the workers that had it."""

WATCH_SECONDS = 1.0
"""Between looks whether all workers are there that work is bound to."""

Homes = dict[int, str]
"""The address of the worker that holds a partition, by the number of the partition."""

Build = Callable[[Any, Homes], list[Any]]


def client_if_any() -> Any:
    """The client of a running cluster, if there is one."""
    try:
        return require("distributed", "dask").default_client()
    except ValueError:
        return None


def on_each(
    function: Callable[..., Any], parts: Sequence[Partition], homes: Homes, arguments: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """Delayed calls, one for each partition, which is bound to the worker that holds it, if one does.

    Parameters
    ----------
    function : callable
        Given a recipe, the further arguments for this partition, and what the recipe needs, each an argument of its
        own: in a list, Dask would go through the whole graph for each of them.
    parts : sequence of Partition
    homes : dict
    arguments : sequence of tuple
    """
    dask = require("dask", "dask")
    delayed, calls = dask.delayed(function), []
    for i, (part, more) in enumerate(zip(parts, arguments, strict=True)):
        with dask.annotate(workers=[homes[i]]) if i in homes else nullcontext():
            calls.append(delayed(part.recipe, *more, *part.needed))
    return calls


def computed(client: Any, build: Build, context: Any = None, parts: Sequence[Partition] = ()) -> list[Any]:
    """The results of tasks, in their order.

    Parameters
    ----------
    client : distributed.Client
    build : callable
        Given the context on the workers and the homes of partitions, it returns delayed tasks.
    context : object, optional
        It is sent once to each worker.
    parts : sequence of Partition
        To which work is to be bound.
    """
    distributed = require("distributed", "dask")
    _check_is_running(client)
    for attempt in range(1, ATTEMPTS + 1):
        remote, futures = None, []
        try:
            if context is not None:
                remote = _sent(client, context)
            homes = _homes(client, parts) if attempt < ATTEMPTS else {}
            futures = client.compute(build(remote, homes))
            _watch(client, futures, set(homes.values()))
            return list(client.gather(futures))
        except (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError, OSError) as error:
            _check_is_running(client, error)
            if attempt == ATTEMPTS and isinstance(error, distributed.CancelledError):
                raise RuntimeError(
                    "rows were lost with the worker that held them, and Dask cannot make them again: read them again, "
                    "or persist or scatter them again, and start anew"
                ) from error
            if attempt == ATTEMPTS:
                raise
        finally:
            # Also on an error or Ctrl-C: nothing that was asked for goes on, or stays.
            if futures and client.status == "running":
                client.cancel(futures)
            if remote is not None:
                remote.release()
    raise AssertionError("unreachable")


def _check_is_running(client: Any, cause: BaseException | None = None) -> None:
    if client.status != "running":
        raise ConnectionError(
            "the connection to the Dask scheduler was lost, and the work with it: start the cluster again"
        ) from cause


def _sent(client: Any, context: Any) -> Any:
    """A future of the context, which all workers have."""
    if not client.nthreads():  # a cluster that adapts to its work has none where there has been nothing to do
        client.submit(int, pure=False).result()
    try:
        return client.scatter(context, broadcast=True, hash=False)
    except TypeError as error:
        raise TypeError(
            "the regressor cannot be sent to the workers: its model, or what is given as features, cannot be pickled; "
            "use a class or function of a module that the workers can import"
        ) from error


def _homes(client: Any, parts: Sequence[Partition]) -> Homes:
    """The worker that holds most of each partition; partitions that no worker holds are left out."""
    futures = list(chain.from_iterable(part.held for part in parts))
    if not futures:
        return {}
    require("distributed", "dask").wait(futures)
    who_has, n_bytes = client.who_has(futures), client.nbytes([future.key for future in futures], summary=False)
    homes: Homes = {}
    for i, part in enumerate(parts):
        bytes_at: Counter[str] = Counter()
        for future in part.held:
            for address in who_has[future.key]:
                bytes_at[address] += n_bytes.get(future.key, 0)
        if bytes_at:
            homes[i] = bytes_at.most_common(1)[0][0]
    return homes


def _watch(client: Any, futures: list[Any], needed: set[str]) -> None:
    """Until all are done, or one has failed; work that is bound to a worker that is gone would wait for ever."""
    distributed = require("distributed", "dask")
    pending = set(futures) if needed else set()
    while pending:
        try:
            done, pending = distributed.wait(pending, timeout=WATCH_SECONDS, return_when="FIRST_COMPLETED")
        except TimeoutError:
            if not needed <= client.nthreads().keys():
                raise
        else:
            if any(future.status == "error" for future in done):
                return
