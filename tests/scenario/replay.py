#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth replay and berth compare: a generated day, the page with charts in a browser, invalid
input."""
import collections
import datetime
import gzip
import heapq
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import time

import scenario

MOST_ALLOCATED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]
"""
NODES = 20
PODS = 800
SPAN = 14400
START = 1767225600  # 2026-01-01
SIZES = [(250, 512, 600), (1000, 1024, 3600), (4000, 8192, 5000), (8000, 16384, 9000)]


def pod(name, cpu, memory, owner):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": "batch", "name": name, "uid": "uid-" + name,
                         "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job",
                                              "name": owner, "uid": owner, "controller": True}]},
            "spec": {"priority": 100 if owner.endswith("7") else 0,
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": {
                         "cpu": "%dm" % cpu, "memory": "%dMi" % memory}}}]}}


def made_up_day():
    """Lines of a recording: nodes, pods that arrive, run and end, a node that is deleted."""
    choice = random.Random(7)
    lines = [{"berthrec": 1, "start": "2026-01-01T00:00:00Z", "objects": NODES, "source": "test"}]
    for i in range(NODES):
        lines.append({"t": 0, "add": {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "node-%02d" % i,
                         "labels": {"node.kubernetes.io/instance-type": "large"}},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}}}})
    ends = []

    def end_until(time):
        while ends and ends[0][0] <= time:
            at, name = heapq.heappop(ends)
            lines.append({"t": at, "change": "Pod", "name": "batch/" + name,
                          "patch": {"status": {"phase": "Succeeded"}}})
            lines.append({"t": at, "delete": "Pod", "name": "batch/" + name})

    for i in range(PODS):
        time = round(SPAN * i / PODS, 3)
        end_until(time)
        cpu, memory, length = choice.choices(SIZES, [5, 3, 2, 1])[0]
        name = "pod-%d" % i
        lines.append({"t": time, "add": pod(name, cpu, memory, "job-%d" % (i // 40))})
        lines.append({"t": time, "change": "Pod", "name": "batch/" + name,
                      "patch": {"spec": {"nodeName": "node-%02d" % choice.randrange(NODES)}}})
        heapq.heappush(ends, (round(time + choice.expovariate(1 / length), 3), name))
        if i == PODS // 2:
            lines.append({"t": time, "delete": "Node", "name": "node-03"})
    end_until(SPAN)
    lines.append({"t": SPAN, "end": True})
    return lines


def write(path, lines):
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def day(program):
    return write(os.path.join(program.folder, "day.berthrec"), made_up_day())


def text(program, name, content):
    path = os.path.join(program.folder, name)
    with open(path, "w") as file:
        file.write(content)
    return path


def test_a_replay_reports_the_end_of_each_pod(program):
    path = day(program)
    answer = program.run("replay", path, "-o", "json").expect(0)
    replay = json.loads(answer.out)
    pods = replay["pods"]
    assert pods["created"] - pods["preempted"] - pods["lost"] == PODS, pods
    assert pods["created"] == (pods["pending"] + pods["running"] + pods["succeeded"] +
                               pods["deleted"] + pods["preempted"] + pods["lost"] +
                               pods["evicted"]), pods
    assert sum(group["pods"] for group in replay["priorities"]) == pods["bound"] + pods["pending"]
    assert [group["name"] for group in replay["priorities"]] == ["100", "0"]
    assert replay["comparison"]["bindings"] > 0
    assert len(replay["comparison"]["differences"]) == (
        replay["comparison"]["bindings"] - replay["comparison"]["same"])
    assert all(difference["reason"] for difference in replay["comparison"]["differences"])
    table = program.run("replay", path).expect(0).out
    assert ": %d bound, " % pods["bound"] in table


def answers_on_processors(program, count, *arguments):
    """Returns the output of a run on this number of processors. Every run uses another secret for
    its hash tables, so the output must not depend on their order."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(processors)[:count])
    try:
        return program.run(*arguments).expect(0).out
    finally:
        os.sched_setaffinity(0, processors)


def test_the_answer_does_not_depend_on_threads_or_chance(program):
    path = day(program)
    config = text(program, "most.yaml", MOST_ALLOCATED)
    ways = ((1, False), (64, False), (64, True), (1, True))  # processors, two threads
    for command, more in (
            (["replay", path], ["--threads"]), (["replay", path, "--seed", "3"], ["--threads"]),
            (["compare", path, "--config", config], ["--jobs"]),
            (["compare", path, "--config", config, "--seed", "3"], ["--jobs"])):
        answers = {answers_on_processors(program, count, *command, "-o", "json",
                                         *(more + ["2"] if two else []))
                   for count, two in (ways[::2] if program.sanitized else ways)}
        assert len(answers) == 1, command


def test_the_seed_draws_among_equal_nodes(program):
    path = os.path.join(program.folder, "equal.berthrec")
    lines = made_up_day()[:NODES + 1]
    lines += [{"t": i, "add": pod("pod-%d" % i, 500, 1024, "job")} for i in range(NODES)]
    write(path, lines)
    nodes = []
    for flags in [], ["--seed", "0"], ["--seed", "1"], ["--seed", "1"]:
        events, _ = events_of(program, path, *flags)
        nodes.append([event["node"] for event in events if event["event"] == "bound"])
    assert nodes[2] == nodes[3] and nodes[0] != nodes[1] != nodes[2] != nodes[0]
    for chosen in nodes:  # all draws are among equal nodes: each node gets one pod
        assert len(chosen) == len(set(chosen)) == NODES, chosen
    answer = program.run("replay", path, "--seed", "-2").expect(2)
    assert "--seed: must not be negative" in answer.err, answer.err


def events_of(program, path, *flags):
    """Returns the pods' events, and the answer."""
    events = os.path.join(program.folder, "events")
    answer = json.loads(program.run(
        "replay", path, "--events", events, "-o", "json", *flags).expect(0).out)
    with open(events) as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        line["at"] = datetime.datetime.strptime(
            line["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(
                tzinfo=datetime.timezone.utc).timestamp() - START
    return lines, answer


def busy_day():
    """A day with too little room at times, and with a node that evicts its pods for a while."""
    lines = [line for line in made_up_day() if not (
        line.get("add", {}).get("kind") == "Node" and line["add"]["metadata"]["name"] > "node-11")]
    lines[0]["objects"] = 12
    taint = {"key": "broken", "effect": "NoExecute"}
    for time, taints in [(SPAN * 0.6, [taint]), (SPAN * 0.7, None)]:
        at = next(i for i, line in enumerate(lines) if line.get("t", 0) >= time)
        lines.insert(at, {"t": time, "change": "Node", "name": "node-05",
                          "patch": {"spec": {"taints": taints}}})
    return lines


def test_events_are_written_and_fit(program):
    lines = busy_day()
    events, _ = events_of(program, write(os.path.join(program.folder, "day.berthrec"), lines))
    requests = {line["add"]["metadata"]["name"]: int(line["add"]["spec"]["containers"][0][
        "resources"]["requests"]["cpu"][:-1])
        for line in lines if line.get("add", {}).get("kind") == "Pod"}
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    used = {}
    for event in events:
        cpu = requests[event["name"].split(".")[0]]
        node = event.get("node")
        if event["event"] == "bound":
            assert node != "node-03" or event["at"] <= SPAN / 2 + 1, event
            assert node != "node-05" or not SPAN * 0.6 <= event["at"] < SPAN * 0.7, event
            used[node] = used.get(node, 0) + cpu
            assert used[node] <= 16000, event
        elif node is not None:
            used[node] -= cpu
    assert {"created", "bound", "succeeded", "preempted", "lost", "evicted"} <= {
        event["event"] for event in events}


def quantile(values, part):
    return sorted(values)[max(math.ceil(part * len(values)), 1) - 1]


def test_the_numbers_are_what_the_events_say(program):
    """The answer's sums equal those calculated from the events and the recording alone."""
    lines = busy_day()
    path = write(os.path.join(program.folder, "day.berthrec"), lines)
    prices = text(program, "prices.yaml", "large: 0.5\n")
    config = text(program, "most.yaml", MOST_ALLOCATED)
    for flags in ([], ["--config", config]):
        events, answer = events_of(program, path, "--prices", prices, *flags)
        check_numbers(lines, events, answer)


def check_numbers(lines, events, answer):
    pods = {line["add"]["metadata"]["name"]: line["add"]["spec"]
            for line in lines if line.get("add", {}).get("kind") == "Pod"}
    counts = collections.Counter(event["event"] for event in events)
    for name in ("created", "bound", "succeeded", "deleted", "preempted", "lost", "evicted"):
        assert answer["pods"][name] == counts[name], (name, answer["pods"], counts)
    created, bound, waits, lost, uses = {}, {}, collections.defaultdict(list), 0, []
    for event in events:
        name = event["name"]
        if event["event"] == "created":
            created[name] = event["at"]
        elif event["event"] == "bound":
            waits[pods[name.split(".")[0]]["priority"]].append(event["at"] - created.pop(name))
            bound[name] = event
        elif name in bound:
            began = bound.pop(name)
            assert began["node"] == event["node"]
            uses.append((event["node"], began["at"], event["at"], name))
            if event["event"] in ("preempted", "lost", "evicted"):
                lost += event["at"] - began["at"]
        else:
            created.pop(name)  # the pod never had a node
    assert answer["pods"]["pending"] == len(created)
    assert answer["pods"]["running"] == len(bound)
    for name, at in created.items():
        waits[pods[name.split(".")[0]]["priority"]].append(SPAN - at)
    uses += [(event["node"], event["at"], SPAN, name) for name, event in bound.items()]
    assert abs(answer["lostHours"] * 3600 - lost) < 1e-3 * (1 + lost), (answer["lostHours"], lost)
    for group in answer["priorities"]:
        values = waits[int(group["name"])]
        assert group["pods"] == len(values)
        assert abs(group["waitedSeconds"]["max"] - max(values)) < 1e-3
        for name, part in (("p50", .5), ("p95", .95), ("p99", .99)):
            exact = quantile(values, part)
            assert abs(group["waitedSeconds"][name] - exact) <= exact / 16 + 0.002, (
                group, name, exact)
    # Sums over time use 1,000 samples; the state at a sample counts for the time since the sample
    # before.
    step = (SPAN / 1000)
    node_hours = (12 - 0.5) * SPAN / 3600  # node-03 exists for half of the time
    assert abs(answer["nodes"]["hours"] - node_hours) < 2 * step / 3600
    # Pods that the recording leaves on node-03 are not part of the sums.
    uses = [(node, began, min(ended, SPAN / 2) if node == "node-03" else ended, name)
            for node, began, ended, name in uses]
    used, cpu = 0, 0
    for node in {use[0] for use in uses}:
        spans = sorted((began, ended) for where, began, ended, _ in uses if where == node)
        until = 0
        for began, ended in spans:
            used += max(0, ended - max(began, until))
            until = max(until, ended)
    for _, began, ended, name in uses:
        milli = int(pods[name.split(".")[0]]["containers"][0]["resources"]["requests"]["cpu"][:-1])
        cpu += (ended - began) * milli / 1000
    assert abs(answer["nodes"]["usedHours"] * 3600 - used) < 0.01 * used, (answer["nodes"], used)
    assert abs(answer["nodes"]["usedCost"] - used / 3600 / 2) < 0.01 * used / 3600
    assert abs(answer["nodes"]["cost"] - answer["nodes"]["hours"] / 2) < 1e-6
    share = next(item["inUse"] for item in answer["resources"] if item["name"] == "cpu")
    assert abs(share - cpu / (node_hours * 3600 * 16)) < 0.01, (share, cpu)
    assert answer["nodes"]["neverUsed"] == 0 and answer["nodes"]["most"] == 12


def test_a_node_in_the_place_of_a_removed_one_stayed_empty(program):
    first, *nodes = made_up_day()[:4]
    lines = [dict(first, objects=2)] + nodes[:2]
    for number in range(2):  # one on each node
        lines += [{"t": 1, "add": pod("p-%d" % number, 9000, 1, "job"), "runs": 5}]
    lines += [{"t": 10, "delete": "Node", "name": "node-01"},
              # The scheduler drops the node at its next attempt.
              {"t": 12, "add": pod("large", 99000, 1, "job")},
              dict(nodes[2], t=20), {"t": 40, "end": True}]
    path = write(os.path.join(program.folder, "a.berthrec"), lines)
    answer = json.loads(program.run("replay", path, "-o", "json").expect(0).out)
    assert answer["nodes"]["neverUsed"] == 1, answer["nodes"]


def test_from_and_to_cut_the_recording(program):
    path = day(program)
    whole = json.loads(program.run("replay", path, "-o", "json").expect(0).out)
    half = json.loads(program.run(
        "replay", path, "--from", "1h", "--to", "2h", "-o", "json").expect(0).out)
    assert half["start"] == "2026-01-01T01:00:00.000000Z"
    assert half["end"] == "2026-01-01T02:00:00.000000Z"
    assert 0 < half["pods"]["bound"] < whole["pods"]["bound"] / 2


def test_a_pod_that_tolerates_a_taint_for_no_time(program):
    """It is evicted and bound again once a second, and its names stay short."""
    first, node = made_up_day()[:2]
    restless = pod("p", 1000, 1, "job")
    restless["spec"]["tolerations"] = [{"key": "broken", "operator": "Exists",
                                        "effect": "NoExecute", "tolerationSeconds": 0}]
    taint = {"key": "broken", "effect": "NoExecute"}
    path = write(os.path.join(program.folder, "a.berthrec"), [
        dict(first, objects=1), node, {"t": 1, "add": restless},
        {"t": 10, "change": "Node", "name": "node-00", "patch": {"spec": {"taints": [taint]}}},
        {"t": 20, "change": "Node", "name": "node-00", "patch": {"spec": {"taints": None}}},
        {"t": 30, "end": True}])
    evicted = [(event["at"], event["name"]) for event in events_of(program, path)[0]
               if event["event"] == "evicted"]
    assert evicted == [(10 + i, "p.%d" % i if i else "p") for i in range(10)], evicted


def test_pods_of_other_schedulers_are_bound_as_recorded(program):
    first, node = made_up_day()[:2]
    other = pod("other", 9000, 1, "job")
    other["spec"]["schedulerName"] = "other-scheduler"
    lines = [dict(first, objects=1), node, {"t": 1, "add": other},
             {"t": 2, "change": "Pod", "name": "batch/other",
              "patch": {"spec": {"nodeName": "node-00"}}},
             {"t": 10, "add": pod("waits", 9000, 1, "job")},
             {"t": 50, "change": "Pod", "name": "batch/other",
              "patch": {"status": {"phase": "Succeeded"}}},
             {"t": 60, "end": True}]
    path = write(os.path.join(program.folder, "a.berthrec"), lines)
    answer = json.loads(program.run("replay", path, "-o", "json").expect(0).out)
    pods = answer["pods"]
    assert pods["created"] == pods["bound"] == pods["succeeded"] == 1, pods
    assert answer["priorities"][0]["waitedSeconds"]["max"] == 40, answer["priorities"]


def test_the_counts_begin_with_from(program):
    first, node = made_up_day()[:2]
    lines = [dict(first, objects=1), node]
    for name in "ran", "left", "waits":
        lines.append({"t": 10, "add": pod(name, 1000, 1, "job")})
    lines += [{"t": 11, "change": "Pod", "name": "batch/ran",
               "patch": {"spec": {"nodeName": "node-00"}}},
              {"t": 20, "change": "Pod", "name": "batch/ran",
               "patch": {"status": {"phase": "Succeeded"}}},
              {"t": 20, "delete": "Pod", "name": "batch/ran"},
              {"t": 20, "delete": "Pod", "name": "batch/left"},
              {"t": 100, "add": pod("late", 1000, 1, "job")}, {"t": 200, "end": True}]
    path = write(os.path.join(program.folder, "a.berthrec"), lines)
    for to, created in ("60s", 1), ("200s", 2):
        answer = json.loads(program.run("replay", path, "--from", "50s", "--to", to, "-o",
                                        "json").expect(0).out)
        pods = answer["pods"]
        assert pods["created"] == pods["bound"] == pods["running"] == created, pods
        assert pods["succeeded"] == pods["deleted"] == 0, pods
        # The first decision is made at the time of --from, not at the next line.
        assert answer["priorities"][0]["waitedSeconds"]["max"] == 40, answer["priorities"]


def test_a_short_wait_between_samples_counts(program):
    first, node = made_up_day()[:2]
    lines = [dict(first, objects=1), node]
    for number in range(20):  # ten at a time fit
        lines.append({"t": 112, "add": pod("p-%d" % number, 1600, 1, "job"), "runs": 15})
    lines.append({"t": 36000, "end": True})  # a sample every 37 s
    path = write(os.path.join(program.folder, "a.berthrec"), lines)
    assert "At most 10 pods waited at a time." in program.run("replay", path).expect(0).out


def test_alternatives_side_by_side(program):
    path = day(program)
    config = text(program, "most.yaml", MOST_ALLOCATED)
    prices = text(program, "prices.yaml", "large: 0.5\n")
    table = program.run("compare", path, "--config", config, "--prices", prices).expect(0).out
    assert re.search(r"^ +default +most$", table, re.M)
    used = re.search(r"^node-hours in use +([\d.]+) +([\d.]+)$", table, re.M)
    assert float(used[1]) > float(used[2]), "packing tightly must need fewer nodes"
    cost = re.search(r"^cost of nodes in use +([\d.]+) +([\d.]+)$", table, re.M)
    assert abs(float(cost[1]) - float(used[1]) / 2) < 0.1
    alone = program.run("replay", path, "--config", config, "-o", "json").expect(0).out
    both = json.loads(program.run("compare", path, "--config", "default", "--config", config,
                                  "-o", "json").expect(0).out)
    assert [a["name"] for a in both["alternatives"]] == ["default", "most"]
    assert both["alternatives"][1]["replay"] == json.loads(alone)
    same = text(program, "default.yaml", MOST_ALLOCATED)
    both = json.loads(program.run("compare", path, "--config", same, "-o", "json").expect(0).out)
    assert [a["name"] for a in both["alternatives"]] == ["default", same]


def state_of(process):
    """The letter of the process's state in /proc; Z: it has ended."""
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


def test_the_replays_end_with_the_comparison(program):
    first = dict(made_up_day()[0], objects=0)
    path = write(os.path.join(program.folder, "endless.berthrec"), [
        first, {"t": 0, "add": pod("waits", 1, 1, "job")}, {"t": 3000000000, "end": True}])
    process = subprocess.Popen([program.path, "compare", path, "--config", "default", "-j", "2"],
                               stderr=subprocess.DEVNULL)
    children = []
    deadline = time.monotonic() + 60
    while len(children) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            children = [int(word) for word in file.read().split()]
    process.kill()
    process.wait()
    while {state_of(child) for child in children} != {"Z"} and time.monotonic() < deadline:
        time.sleep(0.02)
    left = [child for child in children if state_of(child) != "Z"]
    for child in left:
        os.kill(child, signal.SIGKILL)
    assert len(children) == 2 and not left, (children, left)


# --- the page ---

PROBE = """
<script>
const chart = document.querySelector("svg.chart");
chart.focus();
for (const key of ["Home", "ArrowRight", "ArrowRight"]) {
	chart.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
}
document.documentElement.dataset.keyboard = chart.parentNode.querySelector("output").textContent;
document.documentElement.dataset.wide = document.documentElement.scrollWidth;
document.documentElement.dataset.back = getComputedStyle(document.body).backgroundColor;
document.documentElement.dataset.unnamed = [...document.querySelectorAll("[role=img], table")]
	.filter((e) => !e.getAttribute("aria-label"))
	.filter((e) => !e.closest("section").querySelector("h2")).length;
</script>
"""


def browse(program, page, *flags):
    """The document after its scripts ran, and the messages on its console."""
    browser = shutil.which("chromium")
    assert browser, "chromium is missing: tools/install-deps.sh build test"
    done = subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--user-data-dir=" + os.path.join(program.folder, "profile"),
         "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--dump-dom",
         "--virtual-time-budget=5000", *flags, "file://" + page],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=True)
    log = done.stderr.decode(errors="replace")
    return done.stdout.decode(), [line for line in log.split("\n") if "CONSOLE" in line]


def test_the_page_works_in_a_browser(program):
    lines = made_up_day()
    for line in lines:  # names are hostile
        owners = line.get("add", {}).get("metadata", {}).get("ownerReferences")
        if owners and owners[0]["name"] == "job-3":
            owners[0]["name"] = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    path = write(os.path.join(program.folder, "hostile.berthrec"), lines)
    config = text(program, "most.yaml", MOST_ALLOCATED)
    page = os.path.join(program.folder, "report.html")
    program.run("compare", path, "--config", config, "--report", page).expect(0)
    with open(page) as file:
        source = file.read()
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", source), "the page is to stand alone"
    assert source.count("</script>") == 2, "a name got out of the data"
    probed = text(program, "probed.html", source.replace("</html>", PROBE + "</html>"))
    document, complaints = browse(program, probed, "--window-size=1280,900")
    assert not complaints, complaints
    assert document.count('class="chart"') == 5 and document.count("<canvas") == 2
    assert document.count("<path d=\"M") >= 10
    assert re.search(r'data-keyboard="2026-01-01 00:00:\d\d: default [\d,]+, most [\d,]+"',
                     document)
    assert 'data-unnamed="0"' in document
    assert "&lt;img src=x onerror=alert(1)&gt;" in document
    narrow, complaints = browse(program, probed, "--window-size=500,900")
    assert not complaints and int(re.search(r'data-wide="(\d+)"', narrow)[1]) <= 500
    dark, _ = browse(program, probed, "--blink-settings=preferredColorScheme=0")
    assert 'data-back="rgb(18, 21, 27)"' in dark, re.search(r'data-back="[^"]*"', dark)[0]
    assert 'data-back="rgb(251, 251, 253)"' in document


def test_the_axes_of_a_small_recording_have_different_labels(program):
    path = write(os.path.join(program.folder, "small.berthrec"), [
        dict(made_up_day()[0], objects=0), {"t": 10, "add": pod("waits", 1, 1, "job")},
        {"t": 100, "end": True}])
    page = os.path.join(program.folder, "report.html")
    program.run("compare", path, "--config", "default", "--report", page).expect(0)
    document, complaints = browse(program, page)
    assert not complaints, complaints
    chart = re.search(r'<svg class="chart".*?</svg>', document, re.S)[0]
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", chart)
    assert labels == ["0", "1", "01-01 00:00:00", "01-01 00:00:33", "01-01 00:01:06",
                      "01-01 00:01:40"], labels


# --- bad input ---

def test_wrong_recordings_are_refused(program):
    lines = made_up_day()
    shuffled = lines[:60] + [lines[70], lines[60]]
    newer = [dict(lines[0], berthrec=9)] + lines[1:]
    missing = lines[:1] + [{"t": 1, "change": "Node", "name": "n", "patch": {}}]
    no_pod = lines[:30] + [{"t": 99, "add": {"apiVersion": "v1", "kind": "Pod",
                                           "spec": {"priority": "high"}}}]
    for content, message in ((shuffled, "line 62: t: the time goes back"),
                             (newer, "has format 9; this berth reads recordings up to format 1"),
                             (missing, "line 2: Node n: changes, but is not there"),
                             (no_pod, "line 31: Pod: spec.priority: "),
                             (lines + lines, "line %d: lines follow the end" % len(lines))):
        path = write(os.path.join(program.folder, "wrong.berthrec"), content)
        answer = program.run("replay", path).expect(2)
        assert message in answer.err and not answer.out, answer.err
    config = text(program, "wrong.yaml", "apiVersion: v1\n")
    answer = program.run("compare", day(program), "--config", config).expect(2)
    assert "wrong.yaml" in answer.err and not answer.out
    pipe = os.path.join(program.folder, "pipe")
    os.mkfifo(pipe)
    for arguments, message in (
            (["replay"], "no recording: name a file"), (["replay", "-"], "read twice"),
            (["replay", "nothing.berthrec"], "nothing.berthrec: No such file"),
            (["replay", "x", "--from", "2h", "--to", "1h"], "--to: must not be before --from"),
            (["replay", "x", "--from", "soon"], "--from: "),
            (["replay", day(program), "--from", "2500000h"], "nothing to replay: "),
            (["replay", pipe], "read twice: name a file instead of " + pipe),
            (["compare", "x"], "nothing to compare with")):
        answer = program.run(*arguments).expect(2)
        assert message in answer.err, (message, answer.err)


def test_a_cut_recording_is_replayed_as_far_as_it_goes(program):
    path = day(program)
    with open(path, "rb") as file:
        data = file.read()
    whole = json.loads(program.run("replay", path, "-o", "json").expect(0).out)
    with open(path, "wb") as file:
        file.write(data[:len(data) // 2])
    answer = program.run("replay", path, "-o", "json").expect(0)
    assert "warning: the recording was cut off" in answer.err
    assert 0 < json.loads(answer.out)["pods"]["bound"] < whole["pods"]["bound"]


def test_inputs_are_not_overwritten(program):
    path = day(program)
    link = os.path.join(program.folder, "link")
    os.symlink(path, link)
    config = text(program, "most.yaml", MOST_ALLOCATED)
    prices = text(program, "prices.yaml", "large: 2\n")
    replay = ["replay", path, "--config", config, "--prices", prices, "--events"]
    compare = ["compare", path, "--config", "default", "--config", config, "--prices", prices,
               "--report"]
    for arguments in replay, compare:
        for output in path, link, config, prices:
            with open(output, "rb") as file:
                content = file.read()
            answer = program.run(*arguments, output).expect(2)
            assert "%s: %s is a file that this command reads" % (
                arguments[-1], output) in answer.err, answer.err
            with open(output, "rb") as file:
                assert file.read() == content, arguments


def test_files_that_cannot_be_written(program):
    path = day(program)
    answer = program.run("replay", path, "--events", "/dev/full").expect(2)
    assert "--events: /dev/full: No space left on device" in answer.err, answer.err
    folder = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = os.path.join(program.folder, "nowhere")
    try:
        answer = program.run("replay", path).expect(2)
    finally:
        del os.environ["TMPDIR"]
        if folder is not None:
            os.environ["TMPDIR"] = folder
    assert "the temporary file for the lives of pods: No such file" in answer.err, answer.err


if __name__ == "__main__":
    scenario.main(globals())
