"""What a config.json means: sizes, family defaults, gates, and the model's parameters with names and shapes.

Shapes: V vocabulary, D hidden, F feed-forward, H query heads, K key/value heads, hd head_dim, E experts.
"""

from dataclasses import dataclass


@dataclass
class Gate:
    """A row of the "gates" list; the defaults are those of the specification."""

    position: str
    granularity: str = "elementwise"
    sharing: str = "specific"
    mode: str = "multiply"
    activation: str = "sigmoid"
    input: str = "token"
    channels: int = 0
    order: str = "after_rope"
    layers: list = None
    bias: bool = False

    def in_layer(self, layer):
        return self.layers is None or layer in self.layers

    @property
    def module(self):
        return "gate_proj" if self.position == "g1" else f"gate_{self.position}_proj"


class Architecture:
    def __init__(self, config):
        get = config.get
        self.family = config["model_type"]
        self.vocabulary = config["vocab_size"]
        self.hidden = config["hidden_size"]
        self.feed_forward = get("intermediate_size", 0)
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.kv_heads = get("num_key_value_heads", self.heads)
        self.head_dim = get("head_dim", self.hidden // self.heads)
        self.tied = get("tie_word_embeddings", False)

        is_next = self.family == "qwen3_next"
        self.eps = get("rms_norm_eps", 1e-6)
        self.one_plus_norms = is_next
        self.qk_norm = get("use_qk_norm", self.family.startswith("qwen3"))
        # Qwen2 has biases on q, k and v by definition, Qwen2 MoE unless it says otherwise. Elsewhere a flag adds them to
        # the output projection too.
        if self.family == "qwen2_moe":
            self.qkv_bias, self.o_bias = get("qkv_bias", True), False
        else:
            flagged = get("attention_bias", False) or get("qkv_bias", False)
            self.qkv_bias = flagged or self.family == "qwen2"
            self.o_bias = flagged

        self.positions = get("max_position_embeddings", 32768)
        self.rope_theta = get("rope_theta", 10000.0)
        self.rope_scaling = get("rope_scaling")
        self.rotary = int(self.head_dim * get("partial_rotary_factor", 0.25 if is_next else 1.0))

        self.sdpa_norm = get("sdpa_norm", False)
        self.sdpa_silu = get("sdpa_silu", False)
        self.sandwich_norm = get("sandwich_norm", False)
        self.clip = get("clip_block_output")
        self.packing, self.gates = self._gates(config)

        self.experts = get("num_experts", get("num_local_experts", 0))
        self.experts_per_token = get("num_experts_per_tok", 0)
        self.expert_width = get("moe_intermediate_size", 0)
        self.norm_topk = get("norm_topk_prob", is_next)
        self.shared_width = get("shared_expert_intermediate_size", 0)
        self.shared_gate = get("shared_expert_gate", True)
        self.sparse_step = get("decoder_sparse_step", 1)
        self.dense_layers = get("mlp_only_layers") or []

    def is_sparse(self, layer):
        return self.experts > 0 and layer not in self.dense_layers and (layer + 1) % self.sparse_step == 0

    def _gates(self, config):
        """How gates are stored ("group", "head" or None: tensors of their own), and what they are."""
        if config.get("headwise_attn_output_gate"):
            return "group", [Gate("g1", granularity="headwise", bias=self.qkv_bias)]
        if config.get("elementwise_attn_output_gate"):
            return "group", [Gate("g1", bias=self.qkv_bias)]
        if config.get("attn_output_gate", self.family == "qwen3_next"):
            return "head", [Gate("g1", bias=self.qkv_bias)]
        return None, [Gate(**row) for row in config.get("gates", [])]

    def gate_at(self, position, layer):
        for gate in self.gates:
            if gate.position == position and gate.in_layer(layer):
                return gate
        return None

    def gated_shape(self, position):
        """Heads that a gate at this position sees, and the channels of each. After W_O there are no heads."""
        return {
            "g1": (self.heads, self.head_dim),
            "g2": (self.kv_heads, self.head_dim),
            "g3": (self.kv_heads, self.head_dim),
            "g4": (self.heads, self.head_dim),
            "g5": (1, self.hidden),
        }[position]

    def score_shape(self, gate):
        heads, width = self.gated_shape(gate.position)
        return heads, 1 if gate.granularity == "headwise" else width

    def parameters(self):
        """{name: (kind, shape)} with gates as tensors of their own, whatever the layout of the file."""
        found = {"model.embed_tokens.weight": ("embedding", (self.vocabulary, self.hidden))}
        for layer in range(self.layers):
            for name, kind_and_shape in self._block_parameters(layer).items():
                found[f"model.layers.{layer}.{name}"] = kind_and_shape
        found["model.norm.weight"] = ("norm", (self.hidden,))
        if not self.tied:
            found["lm_head.weight"] = ("weight", (self.vocabulary, self.hidden))
        return found

    def _block_parameters(self, layer):
        found = {
            "input_layernorm.weight": ("norm", (self.hidden,)),
            "post_attention_layernorm.weight": ("norm", (self.hidden,)),
        }
        found.update(self._sparse_parameters() if self.is_sparse(layer) else self._mlp_parameters("mlp.", self.feed_forward))
        if self.sandwich_norm:
            found["attn_output_norm.weight"] = ("norm", (self.hidden,))
            found["mlp_output_norm.weight"] = ("norm", (self.hidden,))
        for name, kind_and_shape in self._attention_parameters(layer).items():
            found[f"self_attn.{name}"] = kind_and_shape
        return found

    def _mlp_parameters(self, prefix, width):
        return {
            f"{prefix}gate_proj.weight": ("weight", (width, self.hidden)),
            f"{prefix}up_proj.weight": ("weight", (width, self.hidden)),
            f"{prefix}down_proj.weight": ("weight", (self.hidden, width)),
        }

    def _sparse_parameters(self):
        found = {"mlp.gate.weight": ("router", (self.experts, self.hidden))}
        for expert in range(self.experts):
            found.update(self._mlp_parameters(f"mlp.experts.{expert}.", self.expert_width))
        if self.shared_width > 0:
            found.update(self._mlp_parameters("mlp.shared_expert.", self.shared_width))
            if self.shared_gate:
                found["mlp.shared_expert_gate.weight"] = ("gate_weight", (1, self.hidden))
        return found

    def _attention_parameters(self, layer):
        query, key = self.heads * self.head_dim, self.kv_heads * self.head_dim
        found = {
            "q_proj.weight": ("weight", (query, self.hidden)),
            "k_proj.weight": ("weight", (key, self.hidden)),
            "v_proj.weight": ("weight", (key, self.hidden)),
            "o_proj.weight": ("weight", (self.hidden, query)),
        }
        if self.qkv_bias:
            found["q_proj.bias"] = ("bias", (query,))
            found["k_proj.bias"] = ("bias", (key,))
            found["v_proj.bias"] = ("bias", (key,))
        if self.o_bias:
            found["o_proj.bias"] = ("bias", (self.hidden,))
        if self.qk_norm:
            found["q_norm.weight"] = ("norm", (self.head_dim,))
            found["k_norm.weight"] = ("norm", (self.head_dim,))
        if self.sdpa_norm:
            found["sdpa_norm.weight"] = ("norm", (self.head_dim,))
        for gate in self.gates:
            if gate.in_layer(layer):
                found.update(self._gate_parameters(gate))
        return found

    def _gate_parameters(self, gate):
        heads, width = self.score_shape(gate)
        if gate.input == "constant":
            return {f"{gate.module}.constant": ("gate_constant", (heads * width,))}
        inputs = gate.channels if gate.input == "truncated" else self.hidden
        found = {f"{gate.module}.weight": ("gate_weight", (heads * width, inputs))}
        if gate.bias:
            found[f"{gate.module}.bias"] = ("bias", (heads * width,))
        return found
