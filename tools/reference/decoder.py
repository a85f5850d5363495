"""The decoder of the goldens in PyTorch: one sequence, no cache, clarity before speed.

Written from the specification and from how the Hugging Face models compute, not translated from the C++, so that the
two are unlikely to be wrong in the same way. Two things are taken from the C++ because nothing else defines them: names
of parameters and keys, and how controls combine (per-head norm, SiLU, g1; sandwich norm, clip). It works on the tensors
as a checkpoint stores them, packed gates included.

Shapes: T tokens, D hidden, H query heads, K key/value heads, G = H / K, hd head_dim, R rotary channels, V vocabulary,
E experts.
"""

import math

import torch
import torch.nn.functional as functional

ACTIVATIONS = {
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "identity": lambda x: x,
    "ns_sigmoid": lambda x: 0.5 + 0.5 * torch.sigmoid(x),
    "two_sigmoid": lambda x: 2.0 * torch.sigmoid(x),
    "softplus": functional.softplus,
    "tanh": torch.tanh,
}


def packed_with_gate(architecture, query, gate):
    """q_proj as a file with a packed gate holds it: [rows of query | rows of gate], run after run.

    A run is a key/value group in the official code ("group"), a query head in Qwen3-Next ("head").
    """
    runs = architecture.kv_heads if architecture.packing == "group" else architecture.heads
    rest = query.shape[1:]
    by_run = [part.reshape(runs, -1, *rest) for part in (query, gate)]
    return torch.cat(by_run, dim=1).reshape(-1, *rest)


def stored_tensors(architecture, parameters):
    """The tensors of model.safetensors, made from parameters whose gates are separate."""
    stored = dict(parameters)
    if architecture.packing is None:
        return stored
    for layer in range(architecture.layers):
        attention = f"model.layers.{layer}.self_attn."
        for end in ("weight", "bias"):
            gate = stored.pop(f"{attention}gate_proj.{end}", None)
            if gate is not None:
                query = stored[f"{attention}q_proj.{end}"]
                stored[f"{attention}q_proj.{end}"] = packed_with_gate(architecture, query, gate)
    return stored


def yarn_frequencies(architecture, frequencies):
    """Peng et al. 2023: fast pairs keep their frequency, slow ones are interpolated, a ramp lies between."""
    scaling, dim = architecture.rope_scaling, architecture.rotary
    original = scaling.get("original_max_position_embeddings", architecture.positions)
    factor = scaling["factor"]

    def pair_of(rotations):
        return dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(architecture.rope_theta))

    low = max(math.floor(pair_of(scaling.get("beta_fast", 32))), 0)
    high = min(math.ceil(pair_of(scaling.get("beta_slow", 1))), dim - 1)
    if low == high:
        high += 0.001
    ramp = [min(max((pair - low) / (high - low), 0.0), 1.0) for pair in range(dim // 2)]
    mixed = [f / factor * r + f * (1 - r) for f, r in zip(frequencies, ramp)]
    return mixed, scaling.get("attention_factor", 0.1 * math.log(factor) + 1.0)


def rope_tables(architecture, tokens, dtype):
    """cos and sin, [T, 1, R] each: the angles of the R / 2 pairs twice over, once for each half."""
    dim = architecture.rotary
    frequencies = [architecture.rope_theta ** (-2.0 * pair / dim) for pair in range(dim // 2)]
    amplitude = 1.0
    scaling = architecture.rope_scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "linear":
        frequencies = [f / scaling["factor"] for f in frequencies]
    elif kind == "yarn":
        frequencies, amplitude = yarn_frequencies(architecture, frequencies)
    angles = torch.outer(torch.arange(tokens, dtype=torch.float64), torch.tensor(frequencies, dtype=torch.float64))
    angles = torch.cat([angles, angles], dim=-1)[:, None, :]
    return (amplitude * angles.cos()).to(dtype), (amplitude * angles.sin()).to(dtype)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


class Decoder:
    def __init__(self, architecture, stored):
        self.architecture = architecture
        self.stored = stored
        self.gates = []  # g1 gate values of the last pass, [T, H, hd or 1] per gated layer
        self.clipped = []  # every value that a clip saw in the last pass
        self.routers = []  # scores [T, E] of the last pass's routers

    def forward(self, ids):
        """→ logits [T, V], hidden [L + 1, T, D]: the embedding, then each block's output."""
        self.gates, self.clipped, self.routers = [], [], []
        embedding = self.stored["model.embed_tokens.weight"]
        hidden = [embedding[ids]]
        self.cos, self.sin = rope_tables(self.architecture, len(ids), embedding.dtype)
        for layer in range(self.architecture.layers):
            hidden.append(self.block(layer, hidden[-1]))
        head = embedding if self.architecture.tied else self.stored["lm_head.weight"]
        return self.norm("model.norm", hidden[-1]) @ head.T, torch.stack(hidden)

    def block(self, layer, x):
        prefix = f"model.layers.{layer}."
        attended = self.attention(layer, self.norm(prefix + "input_layernorm", x))
        x = x + self.finished(prefix + "attn_output_norm", attended)
        feed = self.experts if self.architecture.is_sparse(layer) else self.mlp
        fed = feed(prefix + "mlp.", self.norm(prefix + "post_attention_layernorm", x))
        return x + self.finished(prefix + "mlp_output_norm", fed)

    def finished(self, norm, y):
        """What the residual stream gets: sandwich norm and clipping, where the model has them."""
        if self.architecture.sandwich_norm:
            y = self.norm(norm, y)
        if self.architecture.clip is not None:
            self.clipped.append(y.detach())
            y = y.clamp(-self.architecture.clip, self.architecture.clip)
        return y

    def mlp(self, prefix, x):
        gate, up = self.linear(prefix + "gate_proj", x), self.linear(prefix + "up_proj", x)
        return self.linear(prefix + "down_proj", functional.silu(gate) * up)

    def experts(self, prefix, x):
        """Every expert for every token, weighed: those that were not chosen by zero."""
        a = self.architecture
        scores = self.linear(prefix + "gate", x)
        self.routers.append(scores)
        probabilities = scores.softmax(dim=-1)
        weights = torch.zeros_like(probabilities).scatter(-1, self.chosen(scores), 1.0) * probabilities
        if a.norm_topk:
            weights = weights / weights.sum(dim=-1, keepdim=True)
        outputs = torch.stack([self.mlp(f"{prefix}experts.{expert}.", x) for expert in range(a.experts)], dim=1)
        y = (weights[:, :, None] * outputs).sum(dim=1)
        if a.shared_width > 0:
            shared = self.mlp(prefix + "shared_expert.", x)
            if a.shared_gate:
                shared = torch.sigmoid(self.linear(prefix + "shared_expert_gate", x)) * shared
            y = y + shared
        return y

    def chosen(self, scores):
        return scores.topk(self.architecture.experts_per_token, dim=-1).indices

    def balance_losses(self):
        """Per router: E · sum of f_i P_i, f_i the share of all choices, which is a constant, P_i the mean probability."""
        losses = []
        for scores in self.routers:
            counts = torch.zeros_like(scores).scatter(-1, self.chosen(scores), 1.0).sum(dim=0)
            shares = (counts / counts.sum()).detach()
            losses.append(scores.shape[-1] * (shares * scores.softmax(dim=-1).mean(dim=0)).sum())
        return losses

    def z_losses(self):
        return [scores.logsumexp(dim=-1).pow(2).mean() for scores in self.routers]

    def attention(self, layer, x):
        """x is the block's input after its norm: projections and gates see the same."""
        a, prefix = self.architecture, f"model.layers.{layer}.self_attn."
        query, packed_scores = self.query_and_scores(prefix, x)
        key = self.linear(prefix + "k_proj", x).view(-1, a.kv_heads, a.head_dim)
        value = self.linear(prefix + "v_proj", x).view(-1, a.kv_heads, a.head_dim)
        query = self.placed(layer, "g4", "q_norm", x, query)
        key = self.placed(layer, "g3", "k_norm", x, key)
        value = self.gated(layer, "g2", x, value)

        mixed = self.mix(query, key, value)
        if a.sdpa_norm:
            mixed = self.norm(prefix + "sdpa_norm", mixed)
        if a.sdpa_silu:
            mixed = functional.silu(mixed)
        mixed = self.gated(layer, "g1", x, mixed, packed_scores)
        out = self.linear(prefix + "o_proj", mixed.reshape(len(x), -1))
        return self.gated(layer, "g5", x, out[:, None, :])[:, 0, :]

    def query_and_scores(self, prefix, x):
        """Query [T, H, hd] and the raw g1 scores [T, H, hd or 1] if they come out of q_proj, else None."""
        a, tokens = self.architecture, len(x)
        out = self.linear(prefix + "q_proj", x)
        if a.packing == "group":
            in_group = a.heads // a.kv_heads * a.head_dim
            query, scores = out.view(tokens, a.kv_heads, -1).tensor_split([in_group], dim=-1)
        elif a.packing == "head":
            query, scores = out.view(tokens, a.heads, 2 * a.head_dim).chunk(2, dim=-1)
        else:
            return out.view(tokens, a.heads, a.head_dim), None
        return query.reshape(tokens, a.heads, a.head_dim), scores.reshape(tokens, a.heads, -1)

    def placed(self, layer, position, norm, x, y):
        """Queries or keys [T, heads, hd], normed, rotated and gated."""
        gate = self.architecture.gate_at(position, layer)
        before = gate is not None and gate.order == "before_norm"
        if before:
            y = self.gated(layer, position, x, y)
        if self.architecture.qk_norm:
            y = self.norm(f"model.layers.{layer}.self_attn.{norm}", y)
        turned, still = y.tensor_split([self.architecture.rotary], dim=-1)
        y = torch.cat([turned * self.cos + rotate_half(turned) * self.sin, still], dim=-1)
        return y if before else self.gated(layer, position, x, y)

    def mix(self, query, key, value):
        """Causal softmax attention, [T, H, hd]. Key/value head k serves the query heads kG … kG + G - 1."""
        a, tokens = self.architecture, len(query)
        key = key.repeat_interleave(a.heads // a.kv_heads, dim=1)
        value = value.repeat_interleave(a.heads // a.kv_heads, dim=1)
        scores = torch.einsum("qhc,khc->hqk", query, key) / math.sqrt(a.head_dim)
        future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
        probabilities = scores.masked_fill(future, -math.inf).softmax(dim=-1)
        return torch.einsum("hqk,khc->qhc", probabilities, value)

    def gated(self, layer, position, x, y, raw=None):
        """y [T, heads, width] modulated by the gate of this position, if there is one."""
        gate = self.architecture.gate_at(position, layer)
        if gate is None:
            return y
        if raw is None:
            raw = self.scores(f"model.layers.{layer}.self_attn.{gate.module}", gate, x)
        values = ACTIVATIONS[gate.activation](raw)
        if gate.sharing == "shared":
            values = values.mean(dim=1, keepdim=True).expand_as(raw)
        if position == "g1":
            self.gates.append(values)
        return y * values if gate.mode == "multiply" else y + values

    def scores(self, name, gate, x):
        shape = (len(x), *self.architecture.score_shape(gate))
        if gate.input == "constant":
            return self.stored[name + ".constant"].expand(len(x), -1).reshape(shape)
        seen = x[:, : gate.channels] if gate.input == "truncated" else x
        return self.linear(name, seen).reshape(shape)

    def linear(self, name, x):
        return functional.linear(x, self.stored[name + ".weight"], self.stored.get(name + ".bias"))

    def norm(self, name, x):
        weight = self.stored[name + ".weight"]
        normed = x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.architecture.eps)
        return normed * (1 + weight) if self.architecture.one_plus_norms else normed * weight
