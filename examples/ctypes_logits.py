#!/usr/bin/env python3
"""Logits from Python, with nothing but its standard library: ctypes_logits.py LIBSLUICE MODEL ID..."""
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_void_p


class Tokens(ctypes.Structure):
    _fields_ = [("ids", POINTER(c_int32)), ("count", c_size_t)]


class Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("values", POINTER(c_float)), ("shape", POINTER(c_int64)), ("rank", c_size_t)]


library, directory, ids = sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]]
sluice = ctypes.CDLL(library)
sluice.sluice_last_error.restype = c_char_p
sluice.sluice_tensor_at.restype = POINTER(Tensor)
sluice.sluice_load_model.argtypes = [c_char_p, c_void_p, POINTER(c_void_p)]
sluice.sluice_logits.argtypes = [c_void_p, POINTER(Tokens), POINTER(c_void_p)]
sluice.sluice_tensor_at.argtypes = [c_void_p, c_size_t]
sluice.sluice_free_tensors.argtypes = sluice.sluice_free_model.argtypes = [c_void_p]


def check(status):
    if status != 0:
        print(sluice.sluice_last_error().decode(), file=sys.stderr)
        sys.exit(status)


model, tensors = c_void_p(), c_void_p()
check(sluice.sluice_load_model(directory.encode(), None, byref(model)))
tokens = Tokens((c_int32 * len(ids))(*ids), len(ids))
check(sluice.sluice_logits(model, byref(tokens), byref(tensors)))
logits = sluice.sluice_tensor_at(tensors, 0).contents
rows, columns = logits.shape[0], logits.shape[1]
for row in range(rows):
    print(*logits.values[row * columns:(row + 1) * columns])
sluice.sluice_free_tensors(tensors)
sluice.sluice_free_model(model)
