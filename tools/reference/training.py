"""Training as the publications define it, in plain tensors: schedule, clipping, AdamW. No torch.optim in it.

A run is described by the JSON that `sluice train` reads (docs: configs/runs), every value of it given.
"""

import math

import torch
from torch.nn.functional import cross_entropy

from decoder import Decoder, stored_tensors

# AdamW decays what multiplies an input. Norms, biases and constant gates only scale or shift.
DECAYING = ("embedding", "weight", "gate_weight")


def learning_rate(run, step):
    """Warm-up in equal stairs, the peak at the first step after it, then half a cosine to the last step."""
    schedule, last = run["schedule"], run["steps"] - 1
    peak, warmup = schedule["peak"], schedule["warmup"]
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    low = peak * schedule["final_share"]
    return low + (peak - low) * (1 + math.cos(math.pi * (step - warmup) / (last - warmup))) / 2


def global_norm(gradients):
    return math.sqrt(sum(gradient.double().pow(2).sum().item() for gradient in gradients.values()))


def batch_loss(architecture, leaves, inputs, targets):
    """Mean over all tokens of the sequences [B, T]; the sequences do not see each other."""
    decoder = Decoder(architecture, stored_tensors(architecture, leaves))
    logits = [decoder.forward(sequence)[0] for sequence in inputs]
    return cross_entropy(torch.cat(logits), targets.reshape(-1))


class AdamW:
    """Loshchilov and Hutter 2019, algorithm 2, with the decay multiplied by the learning rate as frameworks do."""

    def __init__(self, run, values):
        self.options = run["optimizer"]
        self.first = {name: torch.zeros_like(value) for name, value in values.items()}
        self.second = {name: torch.zeros_like(value) for name, value in values.items()}
        self.steps = 0

    def updated(self, values, gradients, rate, decaying):
        """The values after a step. `decaying` holds the names that decay."""
        self.steps += 1
        beta1, beta2, eps = (self.options[key] for key in ("beta1", "beta2", "eps"))
        result = {}
        for name, value in values.items():
            gradient = gradients[name]
            self.first[name] = beta1 * self.first[name] + (1 - beta1) * gradient
            self.second[name] = beta2 * self.second[name] + (1 - beta2) * gradient * gradient
            first = self.first[name] / (1 - beta1**self.steps)
            second = self.second[name] / (1 - beta2**self.steps)
            decay = self.options["weight_decay"] if name in decaying else 0.0
            result[name] = value - rate * (first / (second.sqrt() + eps) + decay * value)
        return result


def gradients_of(architecture, values, passes):
    """Loss and gradients of a step whose sequences come in several passes of equal size."""
    leaves = {name: value.clone().requires_grad_() for name, value in values.items()}
    total = 0.0
    for inputs, targets in passes:
        loss = batch_loss(architecture, leaves, inputs, targets) / len(passes)
        loss.backward()
        total += loss.item()
    return total, {name: leaf.grad for name, leaf in leaves.items()}


def clipped(gradients, norm, limit):
    scale = min(1.0, limit / norm)
    return {name: gradient * scale for name, gradient in gradients.items()}


def trained(run, architecture, initial, batches):
    """Plays a run. `batches`: per step a list of passes, each (inputs, targets) of shape [B, T]."""
    decaying = {name for name, (kind, _) in architecture.parameters().items() if kind in DECAYING}
    values, optimizer = initial, AdamW(run, initial)
    result = {"loss": [], "gradient_norm": [], "rate": [], "first_gradients": None}
    for step, passes in enumerate(batches):
        loss, gradients = gradients_of(architecture, values, passes)
        norm, rate = global_norm(gradients), learning_rate(run, step)
        for key, value in (("loss", loss), ("gradient_norm", norm), ("rate", rate)):
            result[key].append(value)
        result["first_gradients"] = result["first_gradients"] or gradients
        limited = clipped(gradients, norm, run["optimizer"]["max_norm"])
        values = optimizer.updated(values, limited, rate, decaying)
    return {**result, "final": values}
