#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Out-of-tree plugins: custom_score and coscheduling of examples/plugins, broken shared objects.

Usage: plugins.py BERTH plain|sanitized. The shared objects are in the build folder of BERTH.
"""
import json
import os
import shutil

import scenario

PLUGINS = os.path.join(scenario.EXAMPLES, "plugins")
KIND = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CUSTOM_ARGS = """profiles:
- plugins:
    score:
      enabled:
      - {name: CustomScore, weight: 10}
  pluginConfig:
  - name: CustomScore
    args: %s
"""


def example_object(program, name):
    return os.path.join(os.path.dirname(program.path), "examples", "plugins", name + ".so")


def wrong_object(program, name):
    return os.path.join(os.path.dirname(program.path), "tests", "unit", "lib", "plugins",
                        name + ".so")


def simulate_example(program, name, *arguments):
    return program.run("simulate", "-f", os.path.join(PLUGINS, name, "cluster.yaml"), "--config",
                       os.path.join(PLUGINS, name, "scheduler-config.yaml"), "-o", "json",
                       *arguments)


def node_of_web(program, config):
    answer = program.run(
        "simulate", "-f", os.path.join(PLUGINS, "custom_score", "cluster.yaml"), "--config",
        program.write("config.yaml", KIND + config), "-o", "json", "--plugin",
        example_object(program, "custom_score"))
    return answer.expect(0).pods()["default/web"]["node"]


def test_custom_score(program):
    answer = simulate_example(program, "custom_score", "--plugin",
                              example_object(program, "custom_score")).expect(0)
    web = answer.pods()["default/web"]
    assert web["node"] == "fast" and web["feasibleNodes"] == 3, web
    assert web["score"] >= 10 * 100, web


def test_custom_score_in_a_replay(program):
    folder = os.path.join(PLUGINS, "custom_score")
    flags = ["--config", os.path.join(folder, "scheduler-config.yaml"), "--plugin",
             example_object(program, "custom_score")]
    path, events = (os.path.join(program.folder, name) for name in ("a.berthrec", "events"))
    program.run("import", "manifests", os.path.join(folder, "cluster.yaml"), "-o", path).expect(0)
    program.run("replay", path, "--events", events, *flags).expect(0)
    with open(events, encoding="utf-8") as file:
        assert [event["node"] for event in map(json.loads, file)
                if event["event"] == "bound"] == ["fast"]
    answer = json.loads(program.run("compare", path, "-o", "json", *flags).expect(0).out)
    assert "scheduler-config" in json.dumps(answer), answer
    answer = program.run("replay", path, "--config", flags[1]).expect(2)
    assert "CustomScore" in answer.err, answer.err


def test_custom_score_arguments(program):
    assert node_of_web(program, CUSTOM_ARGS % "{}") == "fast"
    assert node_of_web(program, CUSTOM_ARGS % "{smallerIsBetter: true}") == "unknown"


def test_custom_score_wrong_arguments(program):
    for arguments, message in (
            ("{labl: x}", 'strict decoding error: unknown field "labl"'),
            ("{label: ''}", "label: must not be empty"),
            ("{label: 7}", "json: cannot unmarshal number into Go struct field "
                           "CustomScoreArgs.label of type string")):
        answer = program.run(
            "simulate", "-f", os.path.join(PLUGINS, "custom_score", "cluster.yaml"), "--config",
            program.write("config.yaml", KIND + CUSTOM_ARGS % arguments), "--plugin",
            example_object(program, "custom_score")).expect(2)
        assert 'initializing plugin "CustomScore": ' + message in answer.err, answer.err


def test_plugin_folder(program):
    """All plugins of the folder are registered; the configuration enables some of them."""
    folder = os.path.dirname(example_object(program, "custom_score"))
    answer = simulate_example(program, "custom_score", "--plugin-dir", folder).expect(0)
    assert answer.pods()["default/web"]["node"] == "fast"
    answer = program.run("simulate", "-f", os.path.join(PLUGINS, "custom_score", "cluster.yaml"),
                         "-o", "json", "--plugin-dir", folder).expect(0)
    assert answer.pods()["default/web"]["score"] < 1000


def test_not_loaded(program):
    answer = simulate_example(program, "custom_score").expect(2)
    assert '"CustomScore" does not exist' in answer.err, answer.err


def placed_of(answer):
    return sorted(name.rsplit("-", 1)[0] for name, pod in answer.pods().items() if pod["node"])


def test_gangs_start_as_a_whole(program):
    answer = simulate_example(program, "coscheduling", "--plugin",
                              example_object(program, "coscheduling")).expect(1)
    assert placed_of(answer) == ["default/training"] * 4, placed_of(answer)
    waited = [pod for name, pod in answer.pods().items() if "too-wide" in name]
    assert len(waited) == 9
    for pod in waited:
        assert pod["reason"] == "Unschedulable"
        assert "rejected due to timeout after waiting 30s at plugin Coscheduling" in pod["message"]


def test_gangs_without_the_plugin(program):
    answer = program.run("simulate", "-f", os.path.join(PLUGINS, "coscheduling", "cluster.yaml"),
                         "-o", "json").expect(1)
    assert placed_of(answer) == ["default/too-wide"] * 8, placed_of(answer)


def gang_pod(name, minimum, cpu, **labels):
    labels.update({"pod-group.example.com/name": "gang",
                   "pod-group.example.com/min-available": minimum})
    return {"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}


def gang_cluster(*pods):
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"},
            "status": {"allocatable": {"cpu": "4", "memory": "1Gi", "pods": "110"}}}
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [node] + list(pods)})


def gang_answer(program, *pods):
    config = os.path.join(PLUGINS, "coscheduling", "scheduler-config.yaml")
    return program.simulate(gang_cluster(*pods), "--config", config, "--plugin",
                            example_object(program, "coscheduling"))


def test_running_members_count(program):
    running = gang_pod("a", "3", "1")
    running["spec"]["nodeName"] = "n1"
    answer = gang_answer(program, running, gang_pod("b", "3", "1"), gang_pod("c", "3", "1"))
    assert [pod["node"] for pod in answer.expect(0).json()["pods"]] == ["n1", "n1"]
    answer = gang_answer(program, running, gang_pod("b", "4", "1"), gang_pod("c", "4", "1"))
    assert [pod["node"] for pod in answer.expect(1).json()["pods"]] == ["", ""]


def test_senseless_labels_make_no_gang(program):
    for minimum in ("", "x", "-1", "9999999", "1e3", "\u0663"):
        answer = gang_answer(program, gang_pod("a", minimum, "1"))
        assert answer.expect(0).pods()["default/a"]["node"] == "n1", minimum


def test_a_member_that_waits_keeps_its_room(program):
    """While a gang of two waits for its second member, another pod does not get the reserved room.
    """
    single = {"kind": "Pod", "apiVersion": "v1",
              "metadata": {"name": "single", "namespace": "default"},
              "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}
    answer = gang_answer(program, gang_pod("a", "2", "2"), single, gang_pod("b", "2", "2"))
    pods = answer.expect(1).pods()
    assert pods["default/a"]["node"] == pods["default/b"]["node"] == "n1", pods
    assert pods["default/single"]["node"] == ""
    # A gang that times out releases its room.
    answer = gang_answer(program, gang_pod("a", "3", "2"), single, gang_pod("b", "3", "2"))
    pods = answer.expect(1).pods()
    assert pods["default/single"]["node"] == "n1", pods
    assert pods["default/a"]["node"] == pods["default/b"]["node"] == "", pods


def refused(program, *arguments):
    answer = program.run("simulate", "-f", os.path.join(PLUGINS, "custom_score", "cluster.yaml"),
                         *arguments).expect(2)
    assert answer.out == "" and answer.err.count("\n") == 1, answer.err
    return answer.err


def test_wrong_objects(program):
    for name, message in (
            ("wrong_version", "was built for version 2 of the plugin interface, this is version 1"),
            ("no_symbol", "is no berth plugin: it has no symbol berth_plugin_module"),
            ("no_plugins", "has no plugins"),
            ("unknown_symbol", "undefined symbol: berth_of_a_later_version"),
            ("missing", "No such file or directory")):
        path = wrong_object(program, name)
        text = refused(program, "--plugin", path)
        assert text.startswith("berth simulate: --plugin: " + path + ": "), text
        assert message in text, text


def test_duplicate_name(program):
    path = wrong_object(program, "good")
    text = refused(program, "--plugin", path, "--plugin", path)
    assert text == ("berth simulate: --plugin: %s: a plugin named First already exists\n"
                    % path), text


def test_in_tree_names_are_taken(program):
    """A shared object cannot register the name of an in-tree plugin."""
    text = refused(program, "--plugin", wrong_object(program, "in_tree_name"))
    assert "a plugin named NodeName already exists" in text, text


def test_failing_factory(program):
    config = program.write("config.yaml", KIND + "profiles:\n- plugins:\n    filter:\n"
                           "      enabled:\n      - name: Failing\n")
    text = refused(program, "--config", config, "--plugin",
                   wrong_object(program, "failing_factory"))
    assert 'initializing plugin "Failing": today is a bad day' in text, text


def test_plugins_that_are_not_enabled_are_not_made(program):
    program.run("simulate", "-f", os.path.join(PLUGINS, "custom_score", "cluster.yaml"),
                "--plugin", wrong_object(program, "failing_factory")).expect(0)


def test_files_that_are_no_objects(program):
    path = program.write("plugins/a.so", "#!/bin/sh\n")
    program.write("plugins/readme.txt", "hello")
    folder = os.path.dirname(path)
    text = refused(program, "--plugin", path)
    assert text.startswith("berth simulate: --plugin: " + path + ": "), text
    text = refused(program, "--plugin-dir", folder)
    assert text.startswith("berth simulate: --plugin-dir: " + path + ": "), text
    os.remove(path)
    shutil.copy(example_object(program, "custom_score"), path)
    simulate_example(program, "custom_score", "--plugin-dir", folder).expect(0)


def test_folders(program):
    text = refused(program, "--plugin-dir", os.path.join(program.folder, "none"))
    assert "none: No such file or directory" in text, text
    text = refused(program, "--plugin-dir", program.write("file", ""))
    assert "file: Not a directory" in text, text


def test_bench(program):
    lines = [
        '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n%d"},"status":{"allocatable":'
        '{"cpu":"4","memory":"4Gi","pods":"9"}}}' % i for i in range(3)]
    lines += ['{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p%d","namespace":"default",'
              '"uid":"u%d"},"spec":{"schedulerName":"default-scheduler","containers":['
              '{"name":"c"}]}}' % (i, i) for i in range(5)]
    path = program.write("bench.jsonl", "\n".join(lines) + "\n")
    config = os.path.join(PLUGINS, "custom_score", "scheduler-config.yaml")
    answer = program.run("bench", path, "--config", config, "--repeat", "2", "--plugin",
                         example_object(program, "custom_score")).expect(0)
    runs = [json.loads(line) for line in answer.out.splitlines()]
    assert [run["scheduled"] for run in runs] == [5, 5], runs


if __name__ == "__main__":
    scenario.main(globals())
