"""The bare BLAS and LAPACK calls and ``exp``s of one evaluation of the collapsed bound, on arrays of its shapes.

Nothing is computed that means anything: no sums, no scaling, no gradients. It is the time below which an evaluation
made of these calls cannot come.
"""

from __future__ import annotations

import numpy as np

from rio_uq.gp.backend.linalg import cholesky, inverse, triangular_inverse
from rio_uq.gp.backend.walking import Block, walk
from rio_uq.gp.inference.sparse import CollapsedBound


class Roofline:
    """Call it to run through the shapes of one evaluation of ``bound``."""

    def __init__(self, bound: CollapsedBound, n_jobs: int) -> None:
        self.m, self.q = bound.n_points, bound.data.n_outputs
        self.n, self.block_rows, self.n_jobs = len(bound.data), bound.block_rows, n_jobs
        self.terms = bound.kernel.terms
        rng = np.random.default_rng(0)
        self.blocks: dict[int, list] = {}
        for start in range(0, self.n, self.block_rows):
            b = min(self.block_rows, self.n - start)
            self.blocks[start // self.block_rows] = [
                (rng.uniform(size=(t.stop - t.start + 2, b)), rng.uniform(size=(t.n_scales, b)), np.empty((self.m, b)))
                for t in self.terms
            ]
        self.left = [-rng.uniform(size=(self.m, t.stop - t.start + 2)) for t in self.terms]
        self.scales = [rng.uniform(size=t.n_scales) for t in self.terms]
        self.adjoint = rng.uniform(size=(self.m, self.m + self.q))
        self.stacked = {i: rng.uniform(size=(self.m + self.q, b[0][2].shape[1])) for i, b in self.blocks.items()}
        root = rng.uniform(size=(self.m, self.m))
        self.matrix = root @ root.T + self.m * np.eye(self.m)
        self.ones = np.ones(self.m)

    def __call__(self) -> None:
        walk(self.n, self.block_rows, self.n_jobs, self._forward)
        factor, _ = cholesky(self.matrix)
        whitener = triangular_inverse(factor)
        for _ in range(3):
            whitener @ self.matrix @ whitener.T
        inverse(cholesky(self.matrix)[0])
        walk(self.n, self.block_rows, self.n_jobs, self._backward)

    def _forward(self, span: int, blocks: list[Block]) -> None:
        for index, _ in blocks:
            for left, scales, (columns, squares, out) in zip(self.left, self.scales, self.blocks[index], strict=True):
                np.dot(scales, squares)
                np.matmul(left, columns, out=out)
                np.exp(out, out=out)
            stacked = self.stacked[index]
            stacked @ stacked.T

    def _backward(self, span: int, blocks: list[Block]) -> None:
        for index, _ in blocks:
            self.adjoint @ self.stacked[index]
            for columns, squares, out in self.blocks[index]:
                out @ columns.T
                squares @ (self.ones @ out)
