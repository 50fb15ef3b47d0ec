"""The convolutional network that is under RIO: it predicts the angle of an image."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from experiments.images.data import EXTENT, Images

LAYER = "penultimate"
"""The layer before the last: what the GP sees."""

WIDTH = 32
EPOCHS = 30
BATCH_IMAGES = 64
LEARNING_RATE = 3e-3
SHIFT_PIXELS = 2
"""Training images are moved by up to so many pixels, all of a batch alike and anew each time."""


class AngleNetwork(nn.Module):
    """Three convolutions, a layer of 32 units, and one output, in degrees."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(*_convolution(1, 16), *_convolution(16, 32), *_convolution(32, 32))
        self.penultimate = nn.Sequential(nn.Flatten(), nn.Linear(32 * 3 * 3, WIDTH), nn.ReLU())
        self.last = nn.Linear(WIDTH, 1)

    def forward(self, images: Tensor) -> Tensor:
        return EXTENT * self.last(self.penultimate(self.convolutions(images)))[:, 0]


def _convolution(channels_in: int, channels_out: int) -> list[nn.Module]:
    convolution = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
    return [convolution, nn.BatchNorm2d(channels_out), nn.ReLU(), nn.MaxPool2d(2)]


def trained(images: Images, seed: int, epochs: int = EPOCHS) -> AngleNetwork:
    """A network trained by Adam on squared errors, with a learning rate that ends at zero; no image is kept back."""
    torch.manual_seed(seed)
    network = AngleNetwork()
    inputs, targets = torch.from_numpy(images.X), torch.from_numpy(images.y.astype(np.float32))
    padded = nn.functional.pad(inputs, (SHIFT_PIXELS,) * 4)
    height, width = inputs.shape[2:]
    n_steps = epochs * -(-len(targets) // BATCH_IMAGES)
    optimizer = torch.optim.Adam(network.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=n_steps)
    for _ in range(epochs):
        for batch in torch.randperm(len(targets)).split(BATCH_IMAGES):
            down, across = torch.randint(0, 2 * SHIFT_PIXELS + 1, (2,)).tolist()
            moved = padded[batch][:, :, down : down + height, across : across + width]
            optimizer.zero_grad()
            (nn.functional.mse_loss(network(moved), targets[batch]) / EXTENT**2).backward()
            optimizer.step()
            schedule.step()
    return network.eval()
