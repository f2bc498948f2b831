#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/tiny_sched.c schedules, also when it is built against an installed berth.

usage: tiny_sched.py PROGRAM plain|sanitized BUILD_FOLDER
"""
import glob
import os
import subprocess
import sys

import scenario

LINES = """pod a 2
node n1 4
node n2 1
pod b 2
pod c 2
delete a
pod vip 4 100
pod d 1
"""

EXPECTED = """a stays pending: no nodes available to schedule pods
a stays pending: no nodes available to schedule pods
a runs on n1
b runs on n1
c stays pending: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, \
preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, \
1 Preemption is not helpful for scheduling.
c runs on n1
vip stays pending: 0/2 nodes are available: 2 Insufficient cpu.
c is evicted from n1
b is evicted from n1
vip runs on n1
d runs on n2
"""

BUILD = ""


def schedule(path, environment=None):
    answer = subprocess.run([path], input=LINES, capture_output=True, text=True, check=False,
                            timeout=scenario.TIMEOUT_SECONDS, env=environment)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == EXPECTED, answer.stdout


def test_it_schedules(program):
    schedule(program.path)


def test_errors_name_the_cause(program):
    answer = subprocess.run([program.path], input='node n"1 4\n', capture_output=True, text=True,
                            check=False)
    assert answer.returncode == 2 and "tiny_sched: a line is no good" in answer.stderr, answer


def test_it_is_short(program):
    del program
    with open(os.path.join(scenario.EXAMPLES, "tiny_sched.c"), encoding="utf-8") as file:
        assert len(file.readlines()) < 200


def build_installed(program, library, source, static=False):
    """Build source against an installed library; returns the program's path and its environment."""
    root = os.path.join(program.folder, "root")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
                    "--destdir", root], check=True, capture_output=True)
    found = glob.glob(os.path.join(root, "**", library + ".pc"), recursive=True)
    assert len(found) == 1, found
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found[0]),
                       PKG_CONFIG_SYSROOT_DIR=root)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs"] + ["--static"] * static + [library],
                           check=True, capture_output=True, text=True,
                           env=environment).stdout.split()
    if static:
        # The folder has both libraries, and the linker would prefer the shared one.
        flags[flags.index("-l" + library[3:])] = "-l:" + library + ".a"
    path = os.path.join(program.folder, "built")
    subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", source, "-o", path] + flags,
                   check=True)
    shared = glob.glob(os.path.join(root, "**", library + ".so"), recursive=True)[0]
    return path, dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(shared))


def test_it_builds_against_an_installed_berth(program):
    if program.sanitized:
        return  # the library then needs the sanitizers' own runtime
    schedule(*build_installed(program, "libberth",
                              os.path.join(scenario.EXAMPLES, "tiny_sched.c")))


def test_it_builds_with_the_static_library(program):
    if program.sanitized:
        return
    schedule(*build_installed(program, "libberth",
                              os.path.join(scenario.EXAMPLES, "tiny_sched.c"), static=True))


def test_older_names_build_against_an_installed_libberth_compat(program):
    if program.sanitized:
        return
    source = os.path.join(program.folder, "older.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write('''
#include <stdio.h>

#include "berth/arena.h"
#include "berth/berth.h"
#include "berth/cache.h"

int main(void)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *node = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	if (berth_object_decode(BERTH_STR("{\\"apiVersion\\":\\"v1\\",\\"kind\\":\\"Node\\","
					  "\\"metadata\\":{\\"name\\":\\"n1\\"}}"),
		    &node, &err) != 0 ||
		berth_cache_add_node(cache, node, &err) != 0) {
		printf("%s\\n", berth_error_message(&err));
		return 1;
	}
	printf("%u nodes\\n", berth_cache_node_count(cache));
	berth_object_release(node);
	berth_cache_destroy(cache);
	return 0;
}
''')
    path, environment = build_installed(program, "libberth-compat", source)
    result = subprocess.run([path], check=True, capture_output=True, text=True, env=environment)
    assert result.stdout == "1 nodes\n", result.stdout


if __name__ == "__main__":
    BUILD = sys.argv.pop()
    scenario.main(globals())
