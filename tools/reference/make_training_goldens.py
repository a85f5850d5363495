#!/usr/bin/python3 -B
"""Writes tests/golden/training: ten steps of AdamW on tiny gated models, and what came out of them.

    tools/reference/make_training_goldens.py

Needs Debian's python3-torch. Per run: run.json as `sluice train` reads it, and expected.safetensors with inputs and
targets [step, sequence, token], initial.PARAMETER, grad.PARAMETER of the first step before clipping, final.PARAMETER,
and loss, gradient_norm and rate of every step. Computed in f64 from weights that f32 holds exactly, stored as F32. The
line printed for a run says how far the same run in f32 is off: what a tolerance has to allow for.
"""

import json
from pathlib import Path
from random import Random

import torch

from architecture import Architecture
from make_goldens import made_parameters
from safetensors_file import write_safetensors
from training import DECAYING, clipped, global_norm, gradients_of, learning_rate, trained
from variants import model

OUT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "training"

# Far from the usual values: with those, ten steps would not show a wrong beta, decay or eps.
RUN = {
    "sequence": 12,
    "batch_tokens": 48,
    "pass_tokens": 48,
    "steps": 10,
    "dtype": "f32",
    "schedule": {"kind": "cosine", "peak": 0.03, "final_share": 0.2, "warmup": 3},
    "optimizer": {"beta1": 0.8, "beta2": 0.9, "eps": 0.001, "weight_decay": 0.5, "max_norm": 1.5},
}

# Every kind of parameter that must not decay is in one of them: norms, biases of projections and gates, constants.
RUNS = {
    "untied": {
        "model": model(
            tie_word_embeddings=False,
            gates=[{"position": "g1", "bias": True}, {"position": "g5", "input": "constant"}],
        ),
        **RUN,
    },
    "tied_two_passes": {
        "model": model(qkv_bias=True, gates=[{"position": "g1"}, {"position": "g2", "granularity": "headwise"}]),
        **RUN,
        "pass_tokens": 24,
    },
}


def made_sequence(random, length, vocabulary):
    """Something to learn: three times in four the next token follows from the one before."""
    tokens = [random.randrange(vocabulary)]
    while len(tokens) <= length:
        follows = random.random() < 0.75
        tokens.append((3 * tokens[-1] + 1) % vocabulary if follows else random.randrange(vocabulary))
    return tokens


def made_batches(name, run):
    """inputs and targets, [step, sequence, token] each."""
    random = Random(f"{name}/batches")
    length, sequences = run["sequence"], run["batch_tokens"] // run["sequence"]
    tokens = torch.tensor(
        [
            [made_sequence(random, length, run["model"]["vocab_size"]) for _ in range(sequences)]
            for _ in range(run["steps"])
        ]
    )
    return tokens[:, :, :-1], tokens[:, :, 1:]


def in_passes(run, inputs, targets):
    size = run["pass_tokens"] // run["sequence"]
    return [list(zip(x.split(size), y.split(size))) for x, y in zip(inputs, targets)]


def check_clipping(run, result):
    limit = run["optimizer"]["max_norm"]
    clips = sum(norm > limit for norm in result["gradient_norm"])
    assert 3 <= clips <= 7, f"{clips} of the steps clip: {result['gradient_norm']}"
    assert all(abs(norm - limit) > 1e-3 for norm in result["gradient_norm"]), "a norm lies on the limit"


def check_against_torch(run, architecture, initial, batches, result):
    """The optimiser by hand and torch's own end at the same weights."""
    kinds = {name: kind for name, (kind, _) in architecture.parameters().items()}
    leaves = {name: value.clone().requires_grad_() for name, value in initial.items()}
    options = run["optimizer"]
    groups = [
        {
            "params": [leaves[name] for name in leaves if (kinds[name] in DECAYING) == decays],
            "weight_decay": options["weight_decay"] if decays else 0.0,
        }
        for decays in (True, False)
    ]
    optimizer = torch.optim.AdamW(groups, betas=(options["beta1"], options["beta2"]), eps=options["eps"])
    for step, passes in enumerate(batches):
        values = {name: leaf.detach() for name, leaf in leaves.items()}
        _, gradients = gradients_of(architecture, values, passes)
        limited = clipped(gradients, global_norm(gradients), options["max_norm"])
        for name, leaf in leaves.items():
            leaf.grad = limited[name]
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(run, step)
        optimizer.step()
    off = max((leaves[name] - value).abs().max().item() for name, value in result["final"].items())
    assert off < 1e-12, f"torch.optim.AdamW ends {off} away"


def rounding(exact, rough):
    """How far a run in f32 is off, by kind; gradients as a share of their tensor's largest element."""
    pairs = [(exact["first_gradients"][name], value) for name, value in rough["first_gradients"].items()]
    return {
        "loss": max(abs(a - b) for a, b in zip(exact["loss"], rough["loss"])),
        "gradient_norm": max(abs(a / b - 1) for a, b in zip(exact["gradient_norm"], rough["gradient_norm"])),
        "grad": max(((a - b).abs().max() / a.abs().max()).item() for a, b in pairs),
        "final": max((exact["final"][n] - value).abs().max().item() for n, value in rough["final"].items()),
    }


def expected_tensors(initial, inputs, targets, result):
    tensors = {"inputs": inputs.to(torch.int32), "targets": targets.to(torch.int32)}
    for key in ("loss", "gradient_norm", "rate"):
        tensors[key] = torch.tensor(result[key], dtype=torch.float64).to(torch.float32)
    for kind, values in (("initial", initial), ("grad", result["first_gradients"]), ("final", result["final"])):
        tensors.update({f"{kind}.{name}": value.to(torch.float32) for name, value in values.items()})
    return tensors


def make(name, run):
    architecture = Architecture(run["model"])
    parameters = made_parameters(f"training/{name}", architecture)
    inputs, targets = made_batches(name, run)
    batches = in_passes(run, inputs, targets)
    initial = {each: value.double() for each, value in parameters.items()}
    exact = trained(run, architecture, initial, batches)
    check_clipping(run, exact)
    check_against_torch(run, architecture, initial, batches, exact)

    directory = OUT / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "run.json").write_text(json.dumps(run, indent=2) + "\n")
    write_safetensors(directory / "expected.safetensors", expected_tensors(initial, inputs, targets, exact))
    return exact, rounding(exact, trained(run, architecture, parameters, batches))


def main():
    torch.set_num_threads(1)
    for name, run in RUNS.items():
        exact, off = make(name, run)
        print(f"{name:16}", "  ".join(f"{kind} {value:.1e}" for kind, value in off.items()))
        print(f"{'losses':16}", " ".join(f"{loss:.3f}" for loss in exact["loss"]))
        print(f"{'norms':16}", " ".join(f"{norm:.3f}" for norm in exact["gradient_norm"]))


if __name__ == "__main__":
    main()
