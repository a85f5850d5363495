#!/usr/bin/python3 -B
"""The training step of the 51M reproduction in PyTorch on the CPU, as fast as its plain operations allow.

    bench/pytorch/train_step.py --dtype f32|bf16

Takes a step for every line on stdin and answers with a line of JSON, so that somebody else can measure in between;
compare.py does. The model is that of configs/models/51m-elementwise.json.

Shapes: B sequences, T tokens, D hidden, H query heads, K key/value heads, G = H / K, hd head_dim, V vocabulary.
"""

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

CONFIG = Path(__file__).resolve().parents[2] / "configs" / "models" / "51m-elementwise.json"
SEQUENCES, TOKENS = 8, 512


class Norm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps) * self.weight


class Attention(nn.Module):
    """Queries, gate scores, keys and values come out of one product: a wide one is faster than four narrow ones."""

    def __init__(self, config):
        super().__init__()
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.head_dim = config["head_dim"]
        self.queries, self.keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        widths = 2 * self.queries + 2 * self.keys
        self.project = nn.Linear(config["hidden_size"], widths, bias=False)
        self.out = nn.Linear(self.queries, config["hidden_size"], bias=False)

    def forward(self, x, place):
        sequences, tokens, _ = x.shape
        sizes = [self.queries, self.queries, self.keys, self.keys]
        query, scores, key, value = self.project(x).split(sizes, dim=-1)
        query = rotated(query.view(sequences, tokens, self.heads, self.head_dim), place)
        key = rotated(key.view(sequences, tokens, self.kv_heads, self.head_dim), place)
        value = value.view(sequences, tokens, self.kv_heads, self.head_dim).transpose(1, 2)
        mixed = self.mix(query.transpose(1, 2), key.transpose(1, 2), value, place.future)
        return self.out(mixed * torch.sigmoid(scores))

    def mix(self, query, key, value, future):
        """The G heads of a group lie one below the other in one product with their key head: no key is repeated."""
        sequences, _, tokens, _ = query.shape
        grouped = (query / math.sqrt(self.head_dim)).reshape(sequences, self.kv_heads, -1, self.head_dim)
        scores = grouped @ key.transpose(-1, -2)  # [B, K, G T, T]
        by_head = scores.view(sequences, self.heads, tokens, tokens) + future
        mixed = by_head.softmax(dim=-1).to(value.dtype).view_as(scores) @ value
        by_head = mixed.view(sequences, self.heads, tokens, self.head_dim)
        return by_head.transpose(1, 2).reshape(sequences, tokens, self.queries)


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_and_up = nn.Linear(config["hidden_size"], 2 * config["intermediate_size"], bias=False)
        self.down = nn.Linear(config["intermediate_size"], config["hidden_size"], bias=False)

    def forward(self, x):
        gate, up = self.gate_and_up(x).chunk(2, dim=-1)
        return self.down(functional.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, eps = config["hidden_size"], config["rms_norm_eps"]
        self.attention_norm, self.feed_forward_norm = Norm(width, eps), Norm(width, eps)
        self.attention, self.feed_forward = Attention(config), FeedForward(config)

    def forward(self, x, place):
        x = x + self.attention(self.attention_norm(x), place)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Place:
    """What is the same in every layer and step: rotations [T, 1, hd] and the mask [T, T] of what lies ahead."""

    def __init__(self, config, tokens):
        width = config["head_dim"]
        frequencies = config["rope_theta"] ** (-torch.arange(0, width, 2).double() / width)
        angles = torch.outer(torch.arange(tokens).double(), frequencies)
        angles = torch.cat([angles, angles], dim=-1)[:, None, :]
        self.cos, self.sin = angles.cos().float(), angles.sin().float()
        self.future = torch.full((tokens, tokens), -math.inf).triu(1)


def rotated(x, place):
    first, second = x.chunk(2, dim=-1)
    return x * place.cos + torch.cat([-second, first], dim=-1) * place.sin


class Decoder(nn.Module):
    def __init__(self, config, tokens):
        super().__init__()
        self.embedding = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.blocks = nn.ModuleList(Block(config) for _ in range(config["num_hidden_layers"]))
        self.norm = Norm(config["hidden_size"], config["rms_norm_eps"])
        self.head = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)
        self.place = Place(config, tokens)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.place)
        return self.head(self.norm(x))


def made_optimizer(model):
    """Sluice's defaults. Norms do not decay."""
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    norms = [parameter for parameter in model.parameters() if parameter.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=6e-4, betas=(0.9, 0.95), eps=1e-8, foreach=True)


def use_best_threads():
    """All cores or half of them (hyper-threads may be counted as cores), whichever multiplies faster."""
    cores = len(os.sched_getaffinity(0))
    a, b = torch.randn(4096, 512), torch.randn(512, 1376)

    def seconds():
        start = time.perf_counter()
        a @ b
        return time.perf_counter() - start

    # The best of many: what else the machine does must not decide.
    best = {}
    for threads in sorted({cores, max(cores // 2, 1)}):
        torch.set_num_threads(threads)
        best[threads] = min(seconds() for _ in range(20))
    chosen = min(best, key=best.get)
    torch.set_num_threads(chosen)
    return chosen


class Step:
    def __init__(self, dtype):
        config = json.loads(CONFIG.read_text())
        torch.manual_seed(0)
        self.dtype = dtype
        self.model = Decoder(config, TOKENS)
        self.optimizer = made_optimizer(self.model)
        ids = torch.randint(config["vocab_size"], (2, SEQUENCES, TOKENS))
        self.inputs, self.targets = ids[0], ids[1].reshape(-1)

    def take(self):
        """Forward, backward, clip, update; the loss."""
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.dtype == "bf16"):
            logits = self.model(self.inputs)
        loss = functional.cross_entropy(logits.view(len(self.targets), -1).float(), self.targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    step = Step(parser.parse_args().dtype)
    torch.set_flush_denormal(True)
    about = {
        "torch": torch.__version__,
        "threads": use_best_threads(),
        "parameters": sum(parameter.numel() for parameter in step.model.parameters()),
        "tokens": step.targets.numel(),
    }
    print(json.dumps(about), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        loss = step.take()
        print(json.dumps({"seconds": time.perf_counter() - start, "loss": loss}), flush=True)


if __name__ == "__main__":
    main()
