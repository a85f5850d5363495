#!/usr/bin/python3 -B
"""Writes tests/golden/variants: tiny models of every gate axis and family, with what they compute.

    tools/reference/make_goldens.py [NAME...]      all variants without a name

Needs Debian's python3-torch. Per variant: config.json, model.safetensors and expected.safetensors, which holds
input_ids, logits, hidden, gates (g1 only), loss and grad.PARAMETER of every parameter, gates apart from q_proj even
where the checkpoint packs them. With experts there is "auxiliary", the routers' losses with coefficients BALANCE and Z,
which the gradients are of as well. Computed in f64 from weights that f32 holds exactly, stored as F32. The line printed
for a variant says how far the same computation in f32 is off: what a tolerance has to allow for.
"""

import json
import math
import sys
from pathlib import Path
from random import Random

import torch
from torch.nn.functional import cross_entropy

from architecture import Architecture
from decoder import Decoder, stored_tensors
from safetensors_file import write_safetensors
from variants import VARIANTS

OUT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "variants"
TOKENS = 9
BALANCE, Z = 0.5, 0.125  # coefficients of the routers' losses: large enough to show


def distribution(architecture, kind, shape):
    """Mean and standard deviation. Gates get scores of deviation 2, so that they are open and closed, not 0.5.

    Embeddings are so small that eps is four per cent of the first mean square: otherwise a wrong one would not show.
    """
    if kind == "norm":
        return (0.0 if architecture.one_plus_norms else 1.0), 0.3
    return 0.0, {
        "embedding": 5.0 * math.sqrt(architecture.eps),
        "weight": 1.2 / math.sqrt(shape[-1]),
        "bias": 0.5,
        "gate_weight": 2.0 / math.sqrt(shape[-1]),
        "gate_constant": 2.0,
        "router": 2.0 / math.sqrt(shape[-1]),
    }[kind]


def made_parameters(variant, architecture):
    """f32 values. Seeded by name: a new variant or parameter changes no other."""
    made = {}
    for name, (kind, shape) in architecture.parameters().items():
        mean, deviation = distribution(architecture, kind, shape)
        random = Random(f"{variant}/{name}")
        values = [random.gauss(mean, deviation) for _ in range(math.prod(shape))]
        made[name] = torch.tensor(values, dtype=torch.float64).to(torch.float32).reshape(shape)
    return made


def made_ids(variant, vocabulary):
    """Distinct but for one that comes twice, so that an embedding's gradient has to add up."""
    ids = Random(f"{variant}/ids").sample(range(vocabulary), TOKENS - 1)
    return torch.tensor(ids[:6] + ids[1:2] + ids[6:])


def check_clipping(decoder):
    """A golden for clipping must clip, not everything, and nothing so near the limit that f32 may differ."""
    for values in decoder.clipped:
        beyond = values.abs() - decoder.architecture.clip
        share = (beyond > 0).double().mean().item()
        assert 0.05 < share < 0.95, f"{share:.2f} of a block's output is clipped"
        assert beyond.abs().min() > 1e-4, "a value lies on the limit; choose another"


def check_routers(decoder):
    """No choice so close that f32 may make another."""
    for scores in decoder.routers:
        ordered = scores.detach().sort(dim=-1, descending=True).values
        k = decoder.architecture.experts_per_token
        if k < ordered.shape[-1]:
            margin = (ordered[:, k - 1] - ordered[:, k]).min().item()
            assert margin > 1e-3, f"a router decides by {margin:.1e}; choose another name"


def computed(architecture, parameters, ids, dtype):
    """All that is expected of a model, in the given precision."""
    leaves = {name: value.to(dtype).requires_grad_() for name, value in parameters.items()}
    decoder = Decoder(architecture, stored_tensors(architecture, leaves))
    logits, hidden = decoder.forward(ids)
    loss = cross_entropy(logits[:-1], ids[1:])
    results = {"logits": logits, "hidden": hidden, "loss": loss}
    if decoder.routers:
        results["auxiliary"] = BALANCE * sum(decoder.balance_losses()) + Z * sum(decoder.z_losses())
        results["router"] = torch.stack(decoder.routers).softmax(dim=-1)
        loss = loss + results["auxiliary"]
    loss.backward()
    check_clipping(decoder)
    check_routers(decoder)
    if decoder.gates:
        results["gates"] = torch.stack(decoder.gates)
    for name, leaf in leaves.items():
        results["grad." + name] = leaf.grad
    return {name: value.detach() for name, value in results.items()}


def rounding(exact, rough):
    """The largest difference of each kind; of gradients as a share of their tensor's largest element."""
    worst = {}
    for name, value in exact.items():
        difference = (value - rough[name].double()).abs().max().item()
        kind = name.split(".")[0]
        if kind == "grad":
            difference /= max(value.abs().max().item(), 1e-30)  # an expert that nobody chose has zeros
        worst[kind] = max(worst.get(kind, 0.0), difference)
    return worst


def make(variant, config):
    architecture = Architecture(config)
    parameters = made_parameters(variant, architecture)
    ids = made_ids(variant, architecture.vocabulary)
    exact = computed(architecture, parameters, ids, torch.float64)
    expected = {name: value.to(torch.float32) for name, value in exact.items()}
    expected["input_ids"] = ids.to(torch.int32)

    directory = OUT / variant
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_safetensors(directory / "model.safetensors", stored_tensors(architecture, parameters))
    write_safetensors(directory / "expected.safetensors", expected)
    return rounding(exact, computed(architecture, parameters, ids, torch.float32))


def main(names):
    unknown = [name for name in names if name not in VARIANTS]
    if unknown:
        sys.exit(f"no such variant: {', '.join(unknown)}; variants.py lists them")
    torch.set_num_threads(1)
    worst = {}
    for name in names or VARIANTS:
        off = make(name, VARIANTS[name])
        print(f"{name:28}", "  ".join(f"{kind} {off[kind]:.1e}" for kind in sorted(off)))
        worst = {kind: max(off.get(kind, 0.0), worst.get(kind, 0.0)) for kind in {*off, *worst}}
    print(f"{'worst':28}", "  ".join(f"{kind} {worst[kind]:.1e}" for kind in sorted(worst)))
    stale = sorted(path.name for path in OUT.iterdir() if path.name not in VARIANTS)
    if stale:
        sys.exit(f"{OUT}: not in variants.py, remove them: {', '.join(stale)}")


if __name__ == "__main__":
    main(sys.argv[1:])
