"""Writes safetensors files: eight bytes of header length, a JSON header, the tensors' bytes."""

import json
import struct

import torch

TYPES = {torch.float32: "F32", torch.int32: "I32"}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name in sorted(tensors):
        tensor = tensors[name].detach().contiguous()
        elements = tensor.reshape(-1).tolist()
        code = "f" if tensor.dtype == torch.float32 else "i"
        encoded = struct.pack(f"<{len(elements)}{code}", *elements)
        header[name] = {
            "dtype": TYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(encoded)],
        }
        data += encoded
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the tensors are aligned
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
