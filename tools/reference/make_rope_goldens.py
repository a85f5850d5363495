#!/usr/bin/env python3
"""Writes tests/golden/rope/scaling.json: frequencies and amplitudes of every kind of rope scaling.

Computed in double precision from the published definitions, one pair of channels at a time; needs nothing but
python3 and shares no code with the C++.

    linear    Chen et al. 2023, arXiv 2306.15595
    dynamic   NTK-aware scaling by the length of the sequence, as Hugging Face transformers documents it
    yarn      Peng et al. 2023, arXiv 2309.00071
    longrope  Ding et al. 2024, arXiv 2402.13753
    llama3    the scaling of Llama 3.1, by wavelength
"""
import json
import math
import pathlib

SIZES = {
    "model_type": "llama", "vocab_size": 64, "hidden_size": 128, "intermediate_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 2, "max_position_embeddings": 4096,
}


def wavelength(base, pair, channels):
    """Positions in which a pair turns once."""
    return 2 * math.pi * base ** (2 * pair / channels)


def linear(rope, base, channels, positions, length):
    return [wavelength(base, c, channels) * rope["factor"] for c in range(channels // 2)], 1.0


def dynamic(rope, base, channels, positions, length):
    length = max(length, positions)
    alpha = rope["factor"] * length / positions - (rope["factor"] - 1)
    base *= alpha ** (channels / (channels - 2))
    return [wavelength(base, c, channels) for c in range(channels // 2)], 1.0


def mscale(factor, weight):
    return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0


def yarn(rope, base, channels, positions, length):
    original = rope.get("original_max_position_embeddings", positions)
    factor = rope.get("factor", positions / original)

    def pair_that_turns(times):
        # wavelength(pair) = original / times, solved for the pair.
        return channels / 2 * math.log(original / (2 * math.pi * times), base)

    low, high = pair_that_turns(rope.get("beta_fast", 32)), pair_that_turns(rope.get("beta_slow", 1))
    if rope.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, channels - 1)
    waves = []
    for c in range(channels // 2):
        ramp = min(max((c - low) / (high - low), 0), 1)
        wave = wavelength(base, c, channels)
        waves.append(1 / (ramp / (factor * wave) + (1 - ramp) / wave))
    amplitude = rope.get("attention_factor")
    if amplitude is None and "mscale" in rope and "mscale_all_dim" in rope:
        amplitude = mscale(factor, rope["mscale"]) / mscale(factor, rope["mscale_all_dim"])
    return waves, mscale(factor, 1) if amplitude is None else amplitude


def longrope(rope, base, channels, positions, length):
    original = rope.get("original_max_position_embeddings", positions)
    factor = rope.get("factor", positions / original)
    factors = rope["long_factor" if length > original else "short_factor"]
    amplitude = rope.get("attention_factor")
    if amplitude is None:
        amplitude = math.sqrt(1 + math.log(factor, original)) if factor > 1 else 1.0
    return [wavelength(base, c, channels) * factors[c] for c in range(channels // 2)], amplitude


def llama3(rope, base, channels, positions, length):
    original, factor = rope["original_max_position_embeddings"], rope["factor"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    waves = []
    for c in range(channels // 2):
        wave = wavelength(base, c, channels)
        if wave < original / high:
            waves.append(wave)
        elif wave > original / low:
            waves.append(wave * factor)
        else:
            smooth = (original / wave - low) / (high - low)
            waves.append(1 / ((1 - smooth) / (factor * wave) + smooth / wave))
    return waves, 1.0


def default(rope, base, channels, positions, length):
    return [wavelength(base, c, channels) for c in range(channels // 2)], 1.0


KINDS = {f.__name__: f for f in (default, linear, dynamic, yarn, longrope, llama3)}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 1024}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
LONG = {"rope_type": "longrope", "short_factor": [1 + c / 64 for c in range(32)],
        "long_factor": [1.5 + c * c / 32 for c in range(32)]}

# name, changes of the configuration, lengths of sequences
CASES = [
    ("parameters_of_transformers_5", {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}}, [64]),
    ("linear", {"rope_scaling": {"type": "linear", "factor": 2.5}}, [64]),
    ("dynamic", {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, [64, 4096, 4097, 10000]),
    ("dynamic_of_part_of_a_head",
     {"rope_parameters": {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 1e6, "partial_rotary_factor": 0.5}},
     [4096, 9000]),
    ("yarn", {"rope_scaling": YARN}, [64]),
    ("yarn_of_all_positions", {"rope_scaling": {"rope_type": "yarn", "factor": 2.0}}, [64]),
    ("yarn_by_the_ratio_of_positions",
     {"rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 512}}, [64]),
    ("yarn_not_truncated", {"rope_parameters": {**YARN, "truncate": False, "rope_theta": 150000.0}}, [64]),
    ("yarn_with_betas", {"rope_scaling": {**YARN, "beta_fast": 16.0, "beta_slow": 2.0}}, [64]),
    ("yarn_with_mscale", {"rope_scaling": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.7}}, [64]),
    ("yarn_with_attention_factor", {"rope_scaling": {**YARN, "attention_factor": 1.25}}, [64]),
    ("longrope", {"rope_scaling": {**LONG, "original_max_position_embeddings": 1024}}, [64, 1024, 1025, 4096]),
    ("longrope_with_its_positions_beside", {"rope_scaling": LONG, "original_max_position_embeddings": 512}, [64, 600]),
    ("longrope_with_factor",
     {"rope_scaling": {**LONG, "factor": 16.0, "original_max_position_embeddings": 1024}}, [64]),
    ("longrope_with_attention_factor",
     {"rope_scaling": {**LONG, "attention_factor": 1.1, "original_max_position_embeddings": 1024}}, [64]),
    ("llama3", {"rope_scaling": LLAMA3, "rope_theta": 500000.0}, [64]),
    ("llama3_in_parameters", {"rope_parameters": {**LLAMA3, "factor": 32.0, "rope_theta": 500000.0}}, [64]),
]


def values(changes, length):
    config = {**SIZES, **changes}
    rope = dict(config.get("rope_parameters") or config.get("rope_scaling"))
    if "original_max_position_embeddings" in config:
        rope.setdefault("original_max_position_embeddings", config["original_max_position_embeddings"])
    base = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    channels = int(64 * rope.get("partial_rotary_factor", 1.0))
    kind = KINDS[rope.get("rope_type") or rope["type"]]
    waves, amplitude = kind(rope, base, channels, config["max_position_embeddings"], length)
    return {"length": length, "amplitude": amplitude, "frequencies": [2 * math.pi / wave for wave in waves]}


def main():
    cases = [{"name": name, "config": {**SIZES, **changes}, "expected": [values(changes, n) for n in lengths]}
             for name, changes, lengths in CASES]
    path = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/rope/scaling.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
