#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `berth scheduler` over TLS against `berth up --no-scheduler` in another process.

Prints the scheduler's CPU time per bound pod, its peak memory and the pods per second.

Usage: daemon_figures.py BERTH [-w WORKLOAD] [--nodes N] [--bound N] [--pods N]
                         [--latency MS [--gap US]] [--json]

When the daemon starts, --pods pods are pending and --bound pods have nodes. --pods 0: measure until
the daemon is ready. BERTH: the program of a release build. WORKLOAD: a workload of `berth bench`.
--latency: delay every byte between daemon and server by MS milliseconds, in both directions. Needs
bench/delay_line of the same build. --gap: also send the server's answers and events one by one, US
microseconds apart.
"""
import argparse
import contextlib
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "integration"))

import daemon_harness as harness  # noqa: E402: the path above is needed first
import up  # noqa: E402


def write_workload(options, folder):
    path = os.path.join(folder, "workload.jsonl")
    subprocess.run(
        [options.berth, "bench", "--write", path, "-w", options.workload, "--nodes",
         str(options.nodes), "--bound", str(options.bound), "--pending", str(options.pods)],
        check=True, stdout=subprocess.DEVNULL)
    return path


class Line:
    """The delay line, with the members of a proxy that the harness uses."""

    def __init__(self, server, ca_file):
        self.server = server
        self.ca_file = ca_file


@contextlib.contextmanager
def line_to(berth, api, folder, latency_ms, gap_us):
    """Runs the relay between daemon and server during a with block. If latency_ms is 0, yields
    None, and the daemon connects directly."""
    if latency_ms == 0:
        yield None
        return
    tool = os.path.join(os.path.dirname(os.path.abspath(berth)), "bench", "delay_line")
    port = str(urllib.parse.urlsplit(api.server).port)
    line = subprocess.Popen([tool, port, str(latency_ms), str(gap_us)],
                            stdout=subprocess.PIPE, text=True)
    ca_file = os.path.join(folder, "ca.crt")
    with open(ca_file, "w", encoding="utf-8") as file:
        file.write(api.ca())
    try:
        yield Line("https://127.0.0.1:" + line.stdout.readline().strip(), ca_file)
    finally:
        line.kill()
        line.wait()


def is_ready(daemon):
    """Whether the daemon has read the whole cluster."""
    try:
        with urllib.request.urlopen("https://127.0.0.1:%d/readyz" % daemon.port, timeout=5,
                                    context=ssl._create_unverified_context()) as answer:
            return answer.status == 200
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("berth")
    parser.add_argument("-w", "--workload", default="basic")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--bound", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--latency", type=int, default=0, metavar="MS")
    parser.add_argument("--gap", type=int, default=0, metavar="US")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program = up.Program(options.berth, "plain")
    harness.VERIFY["BERTH_VERIFY"] = "0"
    with tempfile.TemporaryDirectory() as folder, \
            program.up("--no-scheduler", harness.NO_CONTROLLERS, "-f",
                       write_workload(options, folder)) as api, \
            line_to(options.berth, api, folder, options.latency, options.gap) as line:
        daemon = harness.Daemon(program, folder, api, "-v", "0", proxy=line)
        started = time.monotonic()
        path = harness.PODS + "?fieldSelector=spec.nodeName%3D&limit=1"
        descriptors = 0
        while api.json("GET", path)[1]["items"] if options.pods else not is_ready(daemon):
            descriptors = max(descriptors, len(os.listdir("/proc/%d/fd" % daemon.process.pid)))
            assert daemon.is_running(), daemon.ended()
            assert time.monotonic() - started < 300, daemon.output()[-3000:]
            time.sleep(0.05)
        seconds = time.monotonic() - started
        time.sleep(1.5)  # for the last events to be sent
        cpu = harness.cpu_seconds(daemon.process)
        peak = harness.memory_bytes(daemon.process)
        daemon.stop()
    figures = {"workload": options.workload, "nodes": options.nodes, "bound": options.bound,
               "pods": options.pods, "latency_ms": options.latency,
               "gap_us": options.gap,
               "seconds": round(seconds, 2), "pods_per_s": round(options.pods / seconds),
               "cpu_seconds": round(cpu, 2),
               "cpu_ms_per_pod": round(cpu / max(options.pods, 1) * 1000, 4),
               "peak_rss_mb": round(peak / 1e6, 1), "descriptors": descriptors}
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print("%-16s %s" % (name, value))


if __name__ == "__main__":
    main()
