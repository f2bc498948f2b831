#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate a workload and measure it.

usage: run_workload.py BERTH REPEATS WORKLOAD NODES BOUND PENDING ...

Arguments behind PENDING go to generate.py. Prints berth's own lines, one a run, every node
scored; the preemption workload preempts.
"""
import os
import subprocess
import sys
import tempfile


def main():
    berth, repeats, workload = sys.argv[1:4]
    generator = os.path.join(os.path.dirname(os.path.abspath(__file__)), "generate.py")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, workload + ".jsonl")
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, generator] + sys.argv[3:], stdout=file, check=True)
        command = [berth, "bench", path, "--repeat", repeats,
                   "--percentage-of-nodes-to-score", "100"]
        if workload == "preemption":
            command.append("--preempt")
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
