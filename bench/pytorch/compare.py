#!/usr/bin/python3 -B
"""One training step of the 51M reproduction in Sluice and in PyTorch, in turns; compare.sh makes both ready.

    bench/pytorch/compare.py SLUICE [--steps N]

PyTorch runs in f32 and, if that works and is faster, in bf16: the better one counts. Sluice runs in bf16, its default
for training, and in f32. The table has the medians.
"""

import argparse
import json
import os
import select
import signal
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Without these glibc gives large tensors back to the system after every use, and each step pays for page faults.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26)}

# bf16 that takes longer than f32 by this factor is emulated and not worth waiting for.
PATIENCE = 2.0


class Gone(Exception):
    pass


class PyTorch:
    """A process of its own: where its bf16 library picks an instruction that the machine lacks, only it dies."""

    def __init__(self, dtype):
        command = [sys.executable, "-B", str(HERE / "train_step.py"), "--dtype", dtype]
        self.name = f"PyTorch {dtype}"
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **KEEP_MEMORY}
        )
        self.about = self.answer()

    def answer(self, limit=None):
        if not select.select([self.process.stdout], [], [], limit)[0]:
            self.stop()
            raise Gone(f"slower than {limit:.0f} s a step")
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            raise Gone(f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}")
        return json.loads(line)

    def seconds(self, limit=None):
        try:
            self.process.stdin.write("step\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says why
        return self.answer(limit)["seconds"]

    def stop(self):
        self.process.kill()
        self.process.wait()


def best_pytorch():
    """The faster of f32 and bf16 by their second step; the first one allocates."""
    f32 = PyTorch("f32")
    f32.seconds()
    base = f32.seconds()
    print(f"PyTorch {f32.about['torch']} f32: {base:.1f} s a step", file=sys.stderr)
    bf16 = None
    try:
        bf16 = PyTorch("bf16")
        bf16.seconds(PATIENCE * base + 10)
        rounded = bf16.seconds(PATIENCE * base)
        print(f"PyTorch bf16: {rounded:.1f} s a step", file=sys.stderr)
    except Gone as reason:
        print(f"PyTorch bf16 does not count: {reason}", file=sys.stderr)
        return f32
    loser, winner = (f32, bf16) if rounded < base else (bf16, f32)
    loser.stop()
    return winner


def sluice_step(program, dtype):
    command = [program, "bench", "train", "--dtype", dtype, "--repeat", "1", "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def machine():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown CPU'}, {len(os.sched_getaffinity(0))} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="SLUICE")
    parser.add_argument("--steps", type=int, default=5, help="of each, measured (default: 5)")
    arguments = parser.parse_args()
    if arguments.steps < 1:
        parser.error("--steps: at least 1")

    torch = best_pytorch()
    seconds = {"Sluice bf16": [], "Sluice f32": [], torch.name: []}
    for _ in range(arguments.steps):
        for dtype in ("bf16", "f32"):
            result = sluice_step(arguments.program, dtype)
            assert result["parameters"] == torch.about["parameters"], "the models differ"
            assert result["tokens"] == torch.about["tokens"], "the batches differ"
            seconds[f"Sluice {dtype}"].append(result["seconds"]["step"])
        seconds[torch.name].append(torch.seconds())
    torch.stop()

    tokens, base = torch.about["tokens"], statistics.median(seconds[torch.name])
    print(f"{machine()}; Sluice isa {result['isa']}, {result['threads']} threads")
    print(f"PyTorch {torch.about['torch']}, {torch.about['threads']} threads")
    print(f"{torch.about['parameters']} parameters, {tokens} tokens a step, median of {arguments.steps}")
    for name, values in seconds.items():
        middle = statistics.median(values)
        print(f"{name:14} {middle:8.2f} s a step {tokens / middle:9.1f} tokens/s {base / middle:7.2f} x PyTorch")


if __name__ == "__main__":
    main()
