#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth import: how manifests and the rows of traces become events, and at which times."""
import gzip
import json
import os
import sqlite3
import subprocess

import scenario

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: running}
spec: {nodeName: n1, containers: [{name: c, image: x}]}
---
apiVersion: v1
kind: Pod
metadata: {name: late, annotations: {berth.dev/arrives-after: 90s, berth.dev/run-time: 10m}}
spec: {priorityClassName: high, containers: [{name: c, image: x}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 200
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x}]}
"""


def read_recording(path):
    """Returns (the first line, the other lines, the whole text)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[0], lines[1:], text


def recorded(program, name, *flags, cluster=CLUSTER):
    path = os.path.join(program.folder, name)
    program.run("import", "manifests", program.write("cluster.yaml", cluster), "-o", path,
                "--no-gzip", *flags).expect(0)
    return read_recording(path)


def imported(program, kind, *arguments):
    """Returns (the first line, the other lines, messages)."""
    path = os.path.join(program.folder, "out.berthrec")
    if os.path.exists(path):
        os.remove(path)
    done = program.run("import", kind, *arguments, "-o", path, "--no-gzip").expect(0)
    header, lines, _ = read_recording(path)
    return header, lines, done.out + done.err


def brief(line):
    """A recorded line in short: "t add Kind/name" and so on."""
    name = line.get("name")
    if "add" in line:
        item = line["add"]
        node = item.get("spec", {}).get("nodeName")
        text = "add %s/%s%s" % (item["kind"], item["metadata"]["name"],
                                " on " + node if node else "")
    elif "change" in line:
        patch = line["patch"]
        status, spec = patch.get("status", {}), patch.get("spec", {})
        text = "change %s %s" % (
            name, spec.get("nodeName") or status.get("phase") or
            "".join(item["reason"] for item in status.get("conditions", [])) or
            "".join(sorted(status) + sorted(spec) + sorted(patch.get("metadata", {}))))
    elif "delete" in line:
        text = "delete " + name
    else:
        text = "end"
    return "%g %s" % (line["t"], text)


def test_pods_with_a_node_are_there_and_others_arrive(program):
    header, lines, _ = recorded(program, "a.berthrec", "--arrivals", "poisson:2/s")
    start = lines[:header["objects"]]
    assert all(line["t"] == 0 for line in start), start
    names = {(line["add"]["kind"], line["add"]["metadata"]["name"]) for line in start}
    assert {("Node", "n1"), ("PriorityClass", "high"), ("Pod", "running"),
            ("Deployment", "web")} <= names, names
    pods = lines[header["objects"]:-1]
    assert len(pods) == 201 and lines[-1]["end"], len(pods)
    times = [line["t"] for line in pods]
    assert times == sorted(times) and len(set(times)) == 201
    late = [line for line in pods if line["add"]["metadata"]["name"] == "late"]
    assert late[0]["t"] == 90 and late[0]["runs"] == 600, late
    assert late[0]["add"]["spec"]["priority"] == 1000, late
    # 200 pods at 2 a second: 100 s, with a standard deviation of 7.
    last = max(line["t"] for line in pods if line not in late)
    assert 65 < last < 135, last


def test_a_recording_ends_within_the_limits_of_its_times(program):
    cluster = CLUSTER.replace("90s", "600000h").replace("10m", "500000h").replace("200", "1")
    _, lines, _ = recorded(program, "a.berthrec", cluster=cluster)
    assert lines[-1] == {"t": 3000000000, "end": True}, lines[-1]
    program.run("replay", os.path.join(program.folder, "a.berthrec")).expect(0)


def test_the_seed_decides(program):
    flags = ["--arrivals", "poisson:30/m"]
    first = recorded(program, "a.berthrec", *flags)[2]
    assert first == recorded(program, "b.berthrec", *flags)[2]
    assert first != recorded(program, "c.berthrec", *flags, "--seed", "1")[2]


def test_without_arrivals_all_come_at_once(program):
    header, lines, _ = recorded(program, "a.berthrec")
    times = {line["t"] for line in lines[header["objects"]:-1]}
    assert times == {0, 90}, times


MACHINES = """\
{"time":"0","machine_id":"1","type":"1","switch_id":"s+/1=","capacity":{"cpus":0.5,"memory":0.25}}
{"time":"0","machine_id":"2","type":"1","capacity":{"cpus":1,"memory":1},"platform_id":"p"}
{"time":"700000000","machine_id":"3","type":"ADD","capacity":{"cpus":1,"memory":1}}
{"time":"800000000","machine_id":"1","type":"2"}
{"time":"810000000","machine_id":"9","type":"2"}
{"time":"820000000","machine_id":"2","type":"3","capacity":{"cpus":0.75,"memory":1}}
"""
ATTRIBUTES = """\
time,machine_id,name,value,deleted
0,2,a/b,3,false
820000000,2,a/b,,true
"""
COLLECTIONS = """\
{"time":"600000000","type":"0","collection_id":"11","max_per_machine":"1"}
{"time":"600000000","type":"0","collection_id":"14","max_per_machine":"2"}
"""
COLUMNS = ("time,type,collection_id,priority,instance_index,machine_id,resource_request_cpus,"
           "resource_request_memory,constraint,collection_type,alloc_collection_id\n")
# The two halves are separate files, which are merged by time.
INSTANCES = [COLUMNS + """\
0,0,10,200,0,,0.1,0.1,,0,0
0,3,10,200,0,1,0.1,0.1,,0,0
0,0,10,200,1,,0.1,0.1,,0,0
800000000,4,10,200,0,1,0.1,0.1,,0,0
801000000,0,10,200,0,,0.1,0.1,,0,0
802000000,3,10,200,0,3,0.1,0.1,,0,0
802000000,7,10,200,1,,0.1,0.1,,0,0
900000000,5,10,200,0,3,0.1,0.1,,0,0
""", COLUMNS + """\
600000000,SUBMIT,11,25,0,,0.5,0.05,"[{""name"":""a/b"",""value"":""2"",""relation"":""5""}]",0,0
600000000,QUEUE,11,25,0,,0.5,0.05,,0,0
610000000,ENABLE,11,25,0,,0.5,0.05,,0,0
611000000,SCHEDULE,11,25,0,2,0.5,0.05,,0,0
650000000,UPDATE_RUNNING,11,25,0,2,0.25,0.05,,0,0
660000000,EVICT,11,25,0,2,0.25,0.05,,0,0
661000000,SUBMIT,11,25,0,,0.25,0.05,,0,0
662000000,SCHEDULE,11,25,0,2,0.25,0.05,,0,0
670000000,FINISH,11,25,0,2,0.25,0.05,,0,0
671000000,0,12,110,0,,0.25,0.05,,1,0
672000000,0,13,25,0,,0.25,0.05,,0,12
600000000,5,10,200,0,3,0.1,0.1,,0,0
900000000,99,10,200,0,3,0.1,0.1,,0,0
"""]
GOOGLE_LINES = """\
0 add Node/m-1
0 add Node/m-2
0 add Pod/10-0 on m-1
0 add Pod/10-1
610 add Pod/11-0
611 change default/11-0 m-2
650 change default/11-0 containers
660 change default/11-0 PreemptionByScheduler
660 delete default/11-0
661 add Pod/11-0
662 change default/11-0 m-2
670 change default/11-0 Succeeded
670 delete default/11-0
671 add Pod/12-0
700 add Node/m-3
800 delete m-1
800 change default/10-0 DeletionByPodGC
800 delete default/10-0
801 add Pod/10-0
802 change default/10-0 m-3
802 delete default/10-1
820 change m-2 allocatablecapacity
820 change m-2 labels
900 change default/10-0 Failed
900 delete default/10-0
900 end
"""


def google_files(program):
    """Write the trace's files, compressed or not, in any order."""
    paths = [program.write("machines.json", MACHINES), program.write("x.csv", ATTRIBUTES),
             program.write("collections", COLLECTIONS)]
    for number, text in enumerate(INSTANCES):
        paths.insert(number, os.path.join(program.folder, "%d.csv.gz" % number))
        with gzip.open(paths[number], "wt", encoding="utf-8") as file:
            file.write(text)
    return paths


def test_google(program):
    header, lines, said = imported(program, "google-2019", *google_files(program))
    assert "\n".join(map(brief, lines)) + "\n" == GOOGLE_LINES, "\n".join(map(brief, lines))
    assert header["objects"] == 3 and header["start"] == "2019-05-01T06:50:00.000000Z", header
    node = lines[0]["add"]
    assert node["status"]["capacity"] == {
        "cpu": "32000m", "memory": "68719476736", "pods": "1000"}, node
    assert node["metadata"]["labels"]["google-2019/switch"] == "xs_2b_2f1_3dx", node
    pod = lines[4]["add"]
    assert pod["spec"]["priority"] == 25 and pod["metadata"]["labels"] == {
        "google-2019/collection": "11", "google-2019/tier": "free", "google-2019/type": "task"}
    affinity = pod["spec"]["affinity"]
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms["nodeSelectorTerms"][0]["matchExpressions"] == [
        {"key": "google-2019/xa_2fbx", "operator": "Gt", "values": ["1"]}], affinity
    apart = affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [term["topologyKey"] for term in apart] == ["kubernetes.io/hostname"], affinity
    assert lines[13]["add"]["metadata"]["labels"]["google-2019/type"] == "alloc"
    for part in ["rows left out 4,",
                 "1 row used in part: max_per_machine and max_per_switch count only if they are 1",
                 "1.csv.gz: 1 row left out: the instance runs inside an alloc set, whose own pods "
                 "stand for it (line 12)",
                 "1.csv.gz: 1 row left out: time is before that of a row above: the file must be "
                 "sorted by it (line 13)",
                 "1 row left out: type is no event of an instance (line 14)",
                 "1 row left out: REMOVE or UPDATE of a machine that is not there (line 5)"]:
        assert part in said, (part, said)


def test_google_machines_are_as_large_as_the_flags_say(program):
    flags = ["--machine-cpu", "10", "--machine-memory", "1Gi"]
    _, lines, _ = imported(program, "google-2019", *google_files(program), *flags)
    assert lines[0]["add"]["status"]["capacity"]["cpu"] == "5000m", lines[0]
    assert lines[0]["add"]["status"]["capacity"]["memory"] == str(1 << 28), lines[0]
    for flags, part in [(["--machine-cpu", "x"], "--machine-cpu: "),
                        (["--machine-cpu", "0"], "--machine-cpu: must be above 0"),
                        (["--machine-memory", "2Pi"], "--machine-memory: must be above 0")]:
        done = program.run("import", "google-2019", *google_files(program), *flags, "-o", "x")
        assert part in done.expect(2).err, done.err


def test_google_tables_that_are_missing(program):
    paths = google_files(program)
    for chosen, part in [
            (paths[:2], "the table machine_events is missing"),
            (paths[2:], "the table instance_events is missing"),
            ([program.write("y.csv", "a,b\n")], "is none of the tables machine_events, ")]:
        done = program.run("import", "google-2019", *chosen, "-o", "x").expect(2)
        assert part in done.err, done.err


VM_TYPES = [  # id, vmTypeId, machineId, core, memory, hdd, ssd, nic
    (1, 5, 0, 0.5, 0.25, None, 0.125, 0.1), (2, 5, 1, 1 / 6, 0.25, None, 0.125, 0.1),
    (3, 6, 1, 0.5, 0.5, 0.5, 0, 0), (4, 7, 0, 1, 1, 0, 0, 0), (5, 8, 1, 2, 1, 0, 0, 0)]
VMS = [  # vmId, tenantId, vmTypeId, priority, starttime, endtime
    (0, 3, 5, 0, -1.5, 0.5), (1, 3, 6, 1, 0.25, None), (2, 4, 5, 0, 0.125, 2.5),
    (3, 4, 7, 0, 0.5, 0.75), (4, 4, 6, 0, 0.5, 0.25), (5, 4, 6, 2, 0.5, 0.75),
    (6, 4, 6, 0, "soon", 0.75), (7, 4, 6, 0, -3, -1), ("A b", 4, 6, 0, 0.5, 0.75),
    (9, 4, 8, 0, 0.5, 0.75), (10, 4, 6, 0, 0.5, 40000)]


def azure_file(program, tables=("vm", "vmType")):
    path = os.path.join(program.folder, "trace.sqlite")
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path)
    if "vm" in tables:
        database.execute("CREATE TABLE vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)")
        database.executemany("INSERT INTO vm VALUES (?, ?, ?, ?, ?, ?)", VMS)
    if "vmType" in tables:
        database.execute(
            "CREATE TABLE vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic)")
        database.executemany("INSERT INTO vmType VALUES (?, ?, ?, ?, ?, ?, ?, ?)", VM_TYPES)
    database.commit()
    database.close()
    return path


def test_azure(program):
    _, lines, said = imported(program, "azure-packing-2020", azure_file(program),
                              "--machines", "2", "--machine-cpu", "60")
    assert [brief(line) for line in lines] == [
        "0 add Node/m-0", "0 add Node/m-1", "0 add Pod/vm-0", "10800 add Pod/vm-2",
        "21600 add Pod/vm-1", "216000 end"], lines
    node, pods = lines[0]["add"], [line["add"] for line in lines[2:5]]
    assert node["metadata"]["labels"]["azure-2020/machine-type"] == "1", node
    assert node["status"]["allocatable"] == {
        "cpu": "60000m", "memory": str(256 << 30), "azure-2020/hdd": "1000000",
        "azure-2020/ssd": "1000000", "azure-2020/nic": "1000000", "pods": "1000"}, node
    # A sixth of 60 cores.
    assert pods[0]["spec"]["containers"][0]["resources"]["requests"] == {
        "cpu": "10000m", "memory": str(64 << 30), "azure-2020/ssd": "125000",
        "azure-2020/nic": "100000"}, pods[0]
    assert [pod["spec"]["priority"] for pod in pods] == [1000, 1000, 0], pods
    assert [line.get("runs") for line in lines[2:5]] == [43200, 205200, None], lines
    for part in ["rows left out 8,", "endtime is no number of days (line 11)",
                 "its VM type cannot run on the machine type (--machine-type) (line 4)",
                 "endtime is before starttime (line 5)", "priority is neither 0 nor 1 (line 6)",
                 "starttime is no number of days (line 7)",
                 "endtime is before the start of the trace (line 8)",
                 "vmId makes no name of a pod (lower case letters, digits, -) (line 9)",
                 "its VM type's core, memory, hdd, ssd or nic is not from 0 to 1 (line 10)"]:
        assert part in said, (part, said)


def test_azure_machine_types_and_mistakes(program):
    path = azure_file(program)
    _, lines, _ = imported(program, "azure-packing-2020", path, "--machines", "1",
                           "--machine-type", "0")
    assert "43200 add Pod/vm-3" in map(brief, lines), lines
    for flags, part in [
            ([path], "the trace has no machines: say how many there are with --machines N"),
            ([path, "--machines", "0"], "--machines N"),
            ([path, "--machines", "1000001"], "--machines: must be from 1 to 1000000"),
            ([path, "--machines", "1", "--machine-type=-1"],
             "--machine-type: must not be negative"),
            ([path, "--machines", "1", "--machine-type", "9"],
             "no VM can run on a machine of type 9"),
            ([path, path, "--machines", "1"], "name one file"),
            (["nothing.sqlite", "--machines", "1"], "unable to open database file"),
            ([program.write("x", "a,b\n" * 100), "--machines", "1"],
             "file is not a database")]:
        done = program.run("import", "azure-packing-2020", *flags, "-o", "x.berthrec").expect(2)
        assert part in done.err, (flags, done.err)
    path = azure_file(program, ["vm"])
    done = program.run("import", "azure-packing-2020", path, "--machines", "1", "-o", "x.berthrec")
    assert "Azure's packing trace of 2020? no such table: vmType" in done.expect(2).err, done.err


def record(time, event, kind, name, **spec):
    metadata = {"name": name, "uid": name}
    if kind == "Pod":
        metadata["namespace"] = "x"
        spec["containers"] = [{"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}]}]
    return {"time": "2026-01-01T00:00:%sZ" % time, "event": event, "resource": {
        "apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}}


RECORDS = [
    record("00.5", "Add", "Node", "n1"),
    record("00.5", "Add", "Pod", "a", nodeName="n1"),
    record("01.5", "Add", "Pod", "b"),
    record("01", "Update", "Pod", "b", nodeName="n1"),  # recorded too late
    record("02", "Update", "Pod", "b", nodeName="n1"),  # a heartbeat
    record("02.25", "MODIFIED", "Node", "n2"),
    record("02.5", "Delete", "Pod", "c"),
    record("02.5", "Grow", "Pod", "c"),
    record("02.5", "Add", "Gadget", "c"),
    record("soon", "Add", "Pod", "c"),
    record("03", "Delete", "Pod", "b"),
]
SIMULATOR_LINES = ["0 add Node/n1", "0 add Pod/a on n1", "1 add Pod/b", "1 change x/b n1",
                   "1.75 add Node/n2", "2.5 delete x/b", "2.5 end"]


def test_simulator(program):
    """Reads JSON lines or an array; drops the values of environment variables."""
    line_text = "".join(json.dumps(item) + "\n" for item in RECORDS)
    for name, text, moved in [("a.jsonl", line_text, 0), ("a.json", json.dumps(RECORDS), None),
                              ("b.jsonl", line_text.replace("\n", "\nnonsense\n", 1), 1)]:
        header, lines, said = imported(program, "simulator", program.write(name, text))
        assert [brief(line) for line in lines] == SIMULATOR_LINES, (name, lines)
        assert header["start"] == "2026-01-01T00:00:00.500000Z", header
        assert "env" not in json.dumps(lines), lines
        for number, what in [
                (4, "used in part: time is before that of the record above, whose time it gets"),
                (7, "left out: Delete of an object that is not there"),
                (8, "left out: event is none of Add, Update, Delete"),
                (9, "left out: resource is of a kind that no scheduler reads"),
                (10, "left out: time is no RFC 3339 time since 1970")]:
            line = 1 if moved is None else number + moved
            assert "%s (line %d)" % (what, line) in said, (name, what, said)
        assert ("(line 2)" in said) == (moved == 1), said


def test_simulator_mistakes(program):
    for text, part in [("", "has no record of kube-scheduler-simulator"),
                       ("[%s, 5]" % json.dumps(RECORDS[0]), "line 1: expected object, got number"),
                       ("[%s" % json.dumps(RECORDS[0]), "unexpected end of JSON input")]:
        done = program.run("import", "simulator", program.write("x", text), "-o",
                           os.path.join(program.folder, "y" + str(len(text)))).expect(2)
        assert part in done.err, (text, done.err)


PERF = os.path.join(scenario.ROOT, "examples", "scheduler-perf", "performance-config.yaml")


def test_scheduler_perf(program):
    """Imports every workload except the large one; the replay binds the same pods as the workload's
    run."""
    for workload, objects, arriving, exact in [
            ("SchedulingBasic/100Nodes", 101, 500, True),
            ("SchedulingWhileThingsChange", 101, None, True),
            ("SchedulingInManyNamespaces", 110, 100, True),
            ("SchedulingWithVolumes", 103, 200, True),
            ("PodsMakeRoomForOthers", 11, 55, True),
            ("SchedulingWithDevices", 44, 510, False),
            ("PodsWaitForNodesToGrow", 21, 60, False)]:
        header, lines, said = imported(program, "scheduler-perf", PERF, "--workload", workload)
        assert header["objects"] == objects, (workload, header)
        pods = [line for line in lines if line.get("add", {}).get("kind") == "Pod"]
        assert arriving in (None, len(pods)), (workload, len(pods))
        times = [line["t"] for line in lines]
        assert times == sorted(times), workload
        bound = [line for line in lines if line.get("patch", {}).get("spec", {}).get("nodeName")]
        done = program.run("replay", os.path.join(program.folder, "out.berthrec"), "-o", "json")
        answer = json.loads(done.expect(0).out)
        assert answer["pods"]["created"] == len(pods), (workload, answer["pods"])
        if exact:
            assert answer["comparison"]["same"] == len(bound), (workload, len(bound))
        assert answer["comparison"]["bindings"] > 0, workload


def test_scheduler_perf_times(program):
    """Operations that wait take virtual time until they end. The recording marks preempted pods, in
    contrast to deleted pods."""
    node = "metadata: {name: n1}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}\n"
    pod = ("metadata: {generateName: p-}\nspec:\n  priority: %d\n  containers: [{name: c, "
           "image: i, resources: {requests: {cpu: 3}}}]\n")
    program.write("node.yaml", "apiVersion: v1\nkind: Node\n" + node)
    program.write("low.yaml", "apiVersion: v1\nkind: Pod\n" + pod % 0)
    program.write("high.yaml", "apiVersion: v1\nkind: Pod\n" + pod % 100)
    path = program.write("perf.yaml", """
- name: t
  workloadTemplate:
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 1, podTemplatePath: low.yaml, namespace: a}
  - {opcode: sleep, duration: 10s}
  - {opcode: createPods, countParam: $high, podTemplatePath: high.yaml, namespace: b}
  - {opcode: barrier}
  - {opcode: sleep, duration: 30s}
  workloads: [{name: w, params: {high: 1}}]
""")
    _, lines, _ = imported(program, "scheduler-perf", path)
    texts = [brief(line).split("/")[0] for line in lines]
    assert "add Node" in texts[0] and texts[-1].endswith(" end"), texts
    assert [line["t"] for line in lines if "PreemptionByScheduler" in json.dumps(line)][0] > 10
    assert lines[-1]["t"] > 40, lines[-1]


def test_scheduler_perf_mistakes(program):
    for flags, part in [
            ([PERF], "name one of its workloads with --workload: SchedulingBasic/100Nodes, "),
            ([PERF, "--workload", "SchedulingBasic"],
             "has 2 such workloads; name one of these: SchedulingBasic/100Nodes, "),
            ([PERF, "--workload", "a/b"], "has 0 such workloads"),
            ([PERF, PERF], "name one file"),
            ([program.write("x.yaml", "- name: a\n  workloadTemplate: [{opcode: x}]\n"),
              "--workload", "a"], "test case a: op 1: opcode: x is unknown")]:
        done = program.run("import", "scheduler-perf", *flags, "-o", "x.berthrec").expect(2)
        assert part in done.err, (flags, done.err)


def test_a_full_disk_and_a_cut_table(program):
    paths = google_files(program)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program.path, "import", "google-2019", *paths, "-o", "-"],
                              stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"No space left on device" in done.stderr, done
    with open(paths[1], "rb") as file:
        content = file.read()
    with open(paths[1], "wb") as file:
        file.write(content[:-10])
    output = os.path.join(program.folder, "kept")
    done = program.run("import", "google-2019", *paths, "-o", output, "--no-gzip").expect(2)
    assert "1.csv.gz: gzipped data ends too early" in done.err, done.err
    done = program.run("replay", output).expect(0)  # earlier imports are kept
    assert "the recording was cut off" in done.err, done.err


def test_google_memory_does_not_grow_with_the_tables(program):
    """Twenty times as many events need no more memory if the number of instances that exist at the
    same time stays the same."""
    peaks = []
    rows = os.path.join(program.folder, "rows.csv")
    machines = program.write("machines.json", MACHINES.split("\n", maxsplit=1)[0] + "\n")
    for count in 5000, 100000:
        with open(rows, "w", encoding="utf-8") as file:  # the peak includes this Python process
            file.write(COLUMNS)
            for i in range(count):
                for event in 0, 3, 6:
                    file.write("%d,%d,%d,100,%d,1,0.01,0.01,,0,0\n" % (
                        600000000 + i * 1000000 + event, event, 1 + i // 1000, i % 1000))
        paths = [machines, rows]
        path = os.path.join(program.folder, "%d.berthrec" % count)
        done = program.run("import", "google-2019", *paths, "-o", path).expect(0)
        assert "arriving pods %d, rows left out 0" % count in done.out, done.out
        peaks.append(done.peak_rss_mb)
    assert program.sanitized or peaks[1] < peaks[0] + 2, peaks


def test_mistakes(program):
    path = program.write("cluster.yaml", CLUSTER.replace("90s", "soon"))
    done = program.run("import", "manifests", path, "-o", os.path.join(program.folder, "x"))
    assert ": document 4: Pod default/late: annotation berth.dev/arrives-after: " in (
        done.expect(2).err), done.err
    for span, part in [("-1s", "must be from 0s to 3000000000s"),
                       ("1000000h", "must be from 0s to 3000000000s"), ("soon", "time: invalid")]:
        path = program.write("cluster.yaml", CLUSTER.replace("10m", span))
        done = program.run("import", "manifests", path, "-o", os.path.join(program.folder, "x"))
        assert "berth.dev/run-time: " + part in done.expect(2).err, done.err
        assert not os.path.exists(os.path.join(program.folder, "x"))
    for flags, part in [
            (["manifests", path, "--arrivals", "poisson:0/s", "-o", "x"], "--arrivals: must be"),
            (["alibaba-gpu-2023", path, "--arrivals", "poisson:1/s", "-o", "x"],
             "--arrivals: only for manifests, not for alibaba-gpu-2023"),
            (["manifests", path, "--inflate", "2", "-o", "x"],
             "--inflate: only for alibaba-gpu-2023, not for manifests"),
            (["google-2019", path, "--seed=3", "-o", "x"],
             "--seed: only for alibaba-gpu-2023 and manifests, not for google-2019"),
            (["simulator", path, "--machine-cpu=64", "-o", "x"],
             "--machine-cpu: only for azure-packing-2020 and google-2019, not for simulator"),
            (["manifests", path, "--machine-memory=1Gi", "-o", "x"], "--machine-memory: only for"),
            (["google-2019", path, "--machines=1", "-o", "x"], "--machines: only for azure"),
            (["manifests", path, "--machine-type=0", "-o", "x"], "--machine-type: only for azure"),
            (["manifests", path, "--workload=w", "-o", "x"], "--workload: only for scheduler-perf"),
            (["borg", path, "-o", "x"], 'no source is called "borg"'),
            (["manifests", path], "name the recording: -o FILE.berthrec"),
            (["manifests"], "name the kind of source and its files")]:
        done = program.run("import", *flags).expect(2)
        assert part in done.err, (flags, done.err)


if __name__ == "__main__":
    scenario.main(globals())
