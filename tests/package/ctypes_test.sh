#!/usr/bin/env bash
# Python's logits through the C interface are those of sluice trace, bit for bit: ctypes_test.sh LIBRARY SOURCE_DIR
# The program is $SLUICE.
set -euo pipefail
library=${1:?usage: ctypes_test.sh LIBRARY SOURCE_DIR}
source=${2:?usage: ctypes_test.sh LIBRARY SOURCE_DIR}
python=/usr/bin/python3 # the system's: a user's own may be without ctypes
model=$source/tests/golden/official/tiny_gate_elementwise

if [[ ! -x $python ]]; then
  echo "$python is not installed: the Python example is not run"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$source/examples/ctypes_logits.py" "$library" "$model" 5 6 7 >"$work/logits"
"$SLUICE" trace "$model" --ids 5,6,7 --out "$work/trace" --quiet >/dev/null

"$python" - "$work/logits" "$work/trace" <<'END'
import array, json, struct, sys

printed = [float(word) for word in open(sys.argv[1]).read().split()]
content = open(sys.argv[2], "rb").read()
(size,) = struct.unpack("<Q", content[:8])
begin, end = json.loads(content[8:8 + size])["logits"]["data_offsets"]
traced = array.array("f", content[8 + size + begin:8 + size + end]).tolist()
if printed != traced or len(traced) != 3 * 128:
    sys.exit(f"{len(printed)} logits of the example, {len(traced)} of the trace, not the same")
END

status=0
"$python" "$source/examples/ctypes_logits.py" "$library" "$model" 5 128 >/dev/null 2>"$work/error" || status=$?
expected="token 1: bad token id: expected integer from 0 to 127, got 128"
if ((status != 2)) || [[ $(<"$work/error") != "$expected" ]]; then
  echo "a bad token id: exit code $status, $(<"$work/error")"
  exit 1
fi
