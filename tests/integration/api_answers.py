#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the answers of `berth up` and of kube-apiserver 1.36 to sequences of requests.

Usage: api_answers.py BERTH plain|sanitized [NAME]...

The recordings are tests/conformance/vectors/api.*: creates, applies of two managers, updates, the
three patches, lists, tables and deletions of objects of 32 kinds, with whole, partial and damaged
bodies. A sequence agrees if all answers have the same code, body and warnings; uids, versions,
times and random values are not compared. DIFFERENT_NUMBERS lists the sequences that differ on
purpose, with the reason. NAME: prints the differences of the sequence with this name.
"""
import gzip
import http.client
import json
import os
import re
import sys

import up

VECTORS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                       "conformance", "vectors")
# Runs almost no controllers. The flag needs a name, and this controller has nothing to do here.
FLAGS = ["--nodes", "0", "--no-scheduler", "--controllers=podgroup-protection-controller"]
SHARE_MIN = 0.95

# The reason for each group of differing sequences, and the numbers of the sequences.
DIFFERENT_NUMBERS = {
    "the recorded server mounts a token, and a certificate of its own distribution, into pods":
        "102 134 170 289 333 537 772 783 803 835",
    "a refusal shows the whole object with its resource version": "59 88 152 330",
    "a list that was sent empty is shown as null": "527 721",
    "no warning about an affinity term without selector": "475",
}
DIFFERENT = {"api-a1-" + number for numbers in DIFFERENT_NUMBERS.values()
             for number in numbers.split()}

DROPPED = {"uid", "resourceVersion", "creationTimestamp", "time", "deletionTimestamp", "selfLink",
           "Age", "remainingItemCount", "continue"}
ALLOCATED = {"clusterIP", "clusterIPs", "nodePort"}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def normalised(value):
    """Returns the document without the fields that differ between any two servers."""
    if isinstance(value, dict):
        result = {}
        for name, member in value.items():
            if name in ALLOCATED and member not in ("None", ["None"]):
                member = "*"
            if name not in DROPPED:
                result[name] = normalised(member)
        return result
    if isinstance(value, list):
        return [normalised(element) for element in value]
    if isinstance(value, str):
        value = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access-*", value)
        return TIME.sub("TIME", UUID.sub("*", value))
    return value


def read(name):
    with gzip.open(os.path.join(VECTORS, name), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def number_of(case):
    return int(case["name"].rsplit("-", 1)[1])


class Client:
    """One connection without a User-Agent, so that the field manager of its writes is "unknown"."""

    def __init__(self, cluster):
        self.token = cluster.token
        self.connection = http.client.HTTPSConnection(
            "127.0.0.1", cluster.port, context=cluster.tls(), timeout=60)

    def answer(self, step):
        body = None if step.get("body") is None else json.dumps(step["body"])
        self.connection.request(step["method"], step["path"], body, {
            "Authorization": "Bearer " + self.token,
            "Accept": step.get("accept", "application/json"),
            "Content-Type": step.get("type", "application/json")})
        response = self.connection.getresponse()
        document = json.loads(response.read())
        if document.get("kind") == "Table":
            names = [column["name"] for column in document["columnDefinitions"]]
            document = {"columns": names,
                        "cells": [["*" if name == "Age" else cell
                                   for name, cell in zip(names, row["cells"])]
                                  for row in document.get("rows", [])]}
        result = {"code": response.status, "body": normalised(document)}
        warnings = [re.sub("^299 - ", "", text) for name, text in response.getheaders()
                    if name.lower() == "warning"]
        if warnings:
            result["warnings"] = warnings
        return result


def comparable(answer, names):
    """If the answer is a list, removes the objects of all recorded sequences that are not in names:
    the recorded server had these objects, but this server does not have them."""
    body = answer.get("body")
    if not isinstance(body, dict) or "items" not in body:
        return answer
    items = [item for item in body["items"]
             if not item["metadata"]["name"].startswith("o-a1-") or
             "api-" + item["metadata"]["name"][2:] in names]
    return dict(answer, body=dict(body, items=items))


def differences(cluster):
    """Returns the number of sequences and, for those that differ, {name: [(step, answer,
    expected)]}."""
    cases = sorted(read("api.cases.jsonl.gz"), key=number_of)
    expected = {line["name"]: line["results"] for line in read("api.expected.jsonl.gz")}
    client = Client(cluster)
    different = {}
    for case in cases:  # in the order of the recording, since the content of lists depends on it
        for step, wanted in zip(case["steps"], expected[case["name"]]):
            answer = client.answer(step)
            if step.get("setup"):
                continue
            answer = comparable(answer, expected)
            wanted = comparable(wanted, expected)
            if answer != wanted:
                different.setdefault(case["name"], []).append((step, answer, wanted))
    return len(cases), different


def test_answers_are_those_of_a_kube_apiserver(cluster):
    count, different = differences(cluster)
    for name in sys.argv[3:]:
        for step, answer, wanted in different.get(name, []):
            print("%s: %s %s %s\n  answered %s\n  recorded %s" % (
                name, step["method"], step["path"], json.dumps(step.get("body")),
                json.dumps(answer), json.dumps(wanted)))
    unexpected = sorted(set(different) - DIFFERENT)
    assert not unexpected, "differ, and are not listed: %s" % " ".join(unexpected)
    agreeing = sorted(DIFFERENT - set(different))
    assert not agreeing, "agree by now, and are listed: %s" % " ".join(agreeing)
    assert len(different) <= (1 - SHARE_MIN) * count, "%d of %d differ" % (len(different), count)


up.main(globals())
