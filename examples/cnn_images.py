"""A convolutional network on images, with one of its layers as what the GP sees.

    python -m examples.cnn_images

The network estimates the radius of a bright disc from a noisy image of 16 × 16 pixels. 256 pixels say little to a
kernel; the largest value of each channel of a layer says much, as in the paper's experiment with a DenseNet.
"""

from __future__ import annotations

import numpy as np
import torch

from examples.compare import Comparison, compare
from rio_uq import RIORegressor
from rio_uq.features import layer
from rio_uq.models import torch_model


def discs(n_images: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 1, 16, 16) of a disc somewhere, brighter or darker, and its radius in pixels."""
    rng = np.random.default_rng(seed)
    radius, brightness = rng.uniform(1.5, 5.0, n_images), rng.uniform(0.5, 1.5, n_images)
    centre = rng.uniform(5.0, 10.0, size=(2, n_images, 1, 1))
    down, across = np.mgrid[:16, :16]
    distance = np.hypot(down - centre[0], across - centre[1])
    image = brightness[:, None, None] / (1 + np.exp(3 * (distance - radius[:, None, None])))
    image += rng.normal(scale=0.05, size=image.shape)
    return image[:, None].astype(np.float32), radius


def trained(images: np.ndarray, radius: np.ndarray, epochs: int = 20) -> torch.nn.Module:
    torch.manual_seed(0)
    nn = torch.nn
    body = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU())
    head = nn.Sequential(nn.Flatten(), nn.Linear(16 * 25, 1), nn.Flatten(0))
    network = nn.Sequential()
    network.add_module("body", body)
    network.add_module("head", head)
    rows, outcomes = torch.tensor(images), torch.tensor(radius, dtype=torch.float32)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    for _ in range(epochs):
        for batch in torch.randperm(len(rows)).split(50):
            optimizer.zero_grad()
            nn.functional.mse_loss(network(rows[batch]), outcomes[batch]).backward()
            optimizer.step()
    return network


def main() -> Comparison:
    (images, radius), (new_images, new_radius) = discs(400, seed=0), discs(300, seed=1)
    network = trained(images, radius)
    model = torch_model(network)

    features = layer(network, "body.4", pool="max")
    rio = RIORegressor(model, features=features, random_state=0).fit(images, radius, held_out=True)
    mean, std = rio.predict(new_images, return_std=True)
    return compare("convolutional network", new_radius, model.predict(new_images), mean, std)


if __name__ == "__main__":
    main()
