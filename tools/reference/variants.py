"""The goldens by name: each a config.json. Tiny, so that all files together stay below 2.5 MB.

No size equals another one that it could be mistaken for. eps and rope_theta are far from the usual values: with those,
ten channels and nine tokens would not show a wrong one.
"""

BASE = {
    "model_type": "qwen3",
    "vocab_size": 23,
    "hidden_size": 10,
    "intermediate_size": 11,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "max_position_embeddings": 64,
    "rms_norm_eps": 0.01,
    "rope_theta": 50.0,
    "tie_word_embeddings": True,
}

# Families bring their own defaults, so these say only what has none. Qwen2 and Llama get a head_dim of 4 from them.
FAMILY = {
    "vocab_size": 23,
    "hidden_size": 16,
    "intermediate_size": 11,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def model(**changes):
    return {**BASE, **changes}


def gated(position="g1", **axes):
    return model(gates=[{"position": position, **axes}])


def family(name, **changes):
    return {"model_type": name, **FAMILY, **changes}


POSITIONS = {f"g{n}_elementwise": gated(f"g{n}") for n in range(1, 6)}

GRANULARITY = {f"g{n}_headwise": gated(f"g{n}", granularity="headwise") for n in range(1, 5)}

SHARING = {
    "g1_shared": gated(sharing="shared"),
    "g1_headwise_shared": gated(sharing="shared", granularity="headwise"),
    "g2_shared": gated("g2", sharing="shared"),
    "g4_headwise_shared": gated("g4", sharing="shared", granularity="headwise"),
}

MODE = {
    "g1_add_silu": gated(mode="add", activation="silu"),
    "g2_headwise_add": gated("g2", mode="add", granularity="headwise"),
    "g5_add_identity": gated("g5", mode="add", activation="identity"),
}

ACTIVATION = {
    f"g1_{name}": gated(activation=name)
    for name in ("silu", "identity", "ns_sigmoid", "two_sigmoid", "softplus", "tanh")
}

INPUT = {
    "g1_constant": gated(input="constant"),
    "g1_headwise_constant": gated(input="constant", granularity="headwise"),
    "g1_truncated": gated(input="truncated", channels=3),
    "g5_truncated": gated("g5", input="truncated", channels=7),
}

LAYERS_AND_BIAS = {
    "g1_last_layer": gated(layers=[1]),
    "g1_g2_by_layer": model(
        gates=[
            {"position": "g1", "layers": [0]},
            {"position": "g2", "layers": [1], "granularity": "headwise"},
        ]
    ),
    "g1_bias": gated(bias=True),
    "g1_headwise_truncated_bias": gated(granularity="headwise", input="truncated", channels=3, bias=True),
}

ORDER = {
    "g3_before_norm": gated("g3", order="before_norm"),
    "g4_before_norm": gated("g4", order="before_norm"),
    "g4_before_norm_add": gated("g4", order="before_norm", mode="add", granularity="headwise"),
}

SEVERAL = {
    "all_positions": model(gates=[{"position": f"g{n}"} for n in range(1, 6)]),
    "all_positions_mixed": model(
        qkv_bias=True,
        gates=[
            {"position": "g1", "activation": "silu", "mode": "add", "bias": True},
            {"position": "g2", "granularity": "headwise", "activation": "two_sigmoid", "layers": [1]},
            {"position": "g3", "order": "before_norm", "activation": "ns_sigmoid"},
            {"position": "g4", "sharing": "shared", "activation": "softplus"},
            {"position": "g5", "input": "constant", "activation": "tanh"},
        ],
    ),
}

# The limit lies well inside the outputs' range: the script refuses one that clips nothing.
CONTROLS = {
    "sdpa_norm": model(sdpa_norm=True),
    "sdpa_silu": model(sdpa_silu=True),
    "clip": model(clip_block_output=0.6),
    "sandwich_norm": model(sandwich_norm=True),
    "all_controls_gated": model(
        sdpa_norm=True, sdpa_silu=True, clip_block_output=0.9, sandwich_norm=True, gates=[{"position": "g1"}]
    ),
}

PLAIN = {
    "tied": model(),
    "untied": model(tie_word_embeddings=False),
    "no_qk_norm": model(use_qk_norm=False),
}

ROPE = {
    "partial_rotary": model(head_dim=8, partial_rotary_factor=0.5),
    "rope_linear": model(rope_scaling={"rope_type": "linear", "factor": 3.0}),
    "rope_yarn": model(
        head_dim=8,
        rope_theta=100.0,
        max_position_embeddings=256,
        rope_scaling={
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 64,
            "beta_fast": 2.0,
            "beta_slow": 0.25,
        },
    ),
    # Older files say "type", and leave the original length to max_position_embeddings.
    "rope_yarn_partial": model(
        head_dim=8,
        rope_theta=100.0,
        partial_rotary_factor=0.5,
        rope_scaling={"type": "yarn", "factor": 2.0, "attention_factor": 0.7},
    ),
}

FAMILIES = {
    "qwen3": family("qwen3", head_dim=4),
    "qwen2": family("qwen2"),
    "llama": family("llama", rms_norm_eps=1e-5, rope_theta=500.0),
    "llama_bias": family("llama", attention_bias=True),
    "qwen3_next": family("qwen3_next", hidden_size=10, head_dim=8),
    "qwen3_next_bias": family(
        "qwen3_next", hidden_size=10, head_dim=8, attention_bias=True, partial_rotary_factor=0.5
    ),
    "qwen3_next_controls": family("qwen3_next", hidden_size=10, head_dim=8, sdpa_norm=True, sandwich_norm=True),
}

PACKED = {
    "official_headwise": model(headwise_attn_output_gate=True),
    "official_elementwise": model(elementwise_attn_output_gate=True),
    "official_headwise_bias": model(headwise_attn_output_gate=True, qkv_bias=True),
    "official_elementwise_bias": model(elementwise_attn_output_gate=True, qkv_bias=True),
    "official_both_flags": model(headwise_attn_output_gate=True, elementwise_attn_output_gate=True),
    "official_groups_of_three": model(elementwise_attn_output_gate=True, num_attention_heads=6, head_dim=4),
    "packed_per_head": model(attn_output_gate=True),
    "packed_per_head_bias": model(attn_output_gate=True, qkv_bias=True),
}

# Six experts of width 5, of which some get no token. Sparse layers between dense ones, with and without what is shared.
EXPERTS = {"model_type": "qwen3_moe", "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 5}
MOE = {
    "moe_normalised": model(**EXPERTS, norm_topk_prob=True),
    "moe_raw_top3": model(**{**EXPERTS, "num_experts_per_tok": 3}, norm_topk_prob=False, tie_word_embeddings=False),
    "moe_gated": model(**EXPERTS, norm_topk_prob=True, elementwise_attn_output_gate=True),
    "moe_all_positions": model(**EXPERTS, norm_topk_prob=True, gates=[{"position": f"g{n}"} for n in range(1, 6)]),
    "moe_between_dense": model(**EXPERTS, num_hidden_layers=4, decoder_sparse_step=2, mlp_only_layers=[3]),
    "moe_shared": model(**EXPERTS, norm_topk_prob=True, shared_expert_intermediate_size=7),
    "moe_shared_ungated": model(**EXPERTS, shared_expert_intermediate_size=7, shared_expert_gate=False),
    "qwen2_moe": {**family("qwen2_moe", shared_expert_intermediate_size=7), **EXPERTS, "model_type": "qwen2_moe"},
}

VARIANTS = {
    **POSITIONS,
    **GRANULARITY,
    **SHARING,
    **MODE,
    **ACTIVATION,
    **INPUT,
    **LAYERS_AND_BIAS,
    **ORDER,
    **SEVERAL,
    **CONTROLS,
    **PLAIN,
    **ROPE,
    **FAMILIES,
    **PACKED,
    **MOE,
}
