#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The build checks must fail on bad trees. Usage: test_tools.py CC"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools")
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)
sys.path.insert(0, os.path.join(TOOLS, "..", "bench"))

import chart  # noqa: E402
import check_doc  # noqa: E402
import check_edge_cases  # noqa: E402
import check_exports  # noqa: E402
import check_headers  # noqa: E402
import check_layers  # noqa: E402
import check_linking  # noqa: E402
import check_seed_map  # noqa: E402
import check_tidy  # noqa: E402
import run_tests  # noqa: E402

SPDX = "/* SPDX-License-" + "Identifier: Apache-2.0 */\n"
CC = "cc"


def tree(folder, files):
    """Write {path: text} below folder."""
    for path, text in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


class Tree(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = self.temporary.name
        os.makedirs(os.path.join(self.root, "src"))

    def tearDown(self):
        self.temporary.cleanup()


class Layers(Tree):
    def problems(self, files):
        tree(self.root, files)
        return check_layers.check_direction(self.root)

    def test_downward_includes_pass(self):
        self.assertEqual([], self.problems({
            "src/api/pod.c": '#include "api/pod.h"\n#include <stdio.h>\n#include "base/str.h"\n'
                             '#include "berth/error.h"\n',
            "src/sched/engine.c": '#include "queue/queue.h"\n#include "plugins/registry.h"\n',
            "bench/bench_run.c": '#include "bench/bench_run.h"\n#include "cli/setup.h"\n',
            "tests/soak/run.c": '#include "soak/world.h"\n#include "sched/scheduler.h"\n',
            "tests/conformance/life.c": '#include "conformance/life.h"\n',
            "src/compat/cache.c": '#include "berth/cache.h"\n#include "lib/convert.h"\n',
            "include/berth-compat/berth/cache.h": '#include "berth/a.h"\n',
            "include/berth/a.h": '#include "berth/b.h"\n#include <stdint.h>\n'}))

    def test_wrong_ways_fail(self):
        rows = {
            '#include "api/pod.h"\n': "src/base/x.c",
            '#include "sched/engine.h"\n': "src/plugins/x.c",
            '#include "queue/queue.h"\n': "src/plugins/y.h",
            '# include "config/config.h"\n': "src/state/x.c",
            '#include "../base/str.h"\n': "src/api/x.c",
            '#include "str.h"\n': "src/base/y.c",
            '#include <base/str.h>\n': "src/base/z.c",
            '#include "nowhere/x.h"\n': "src/base/w.c",
            '#include "base/str.h"\n': "include/berth/x.h",
            '#include "compat/cache.h"\n': "src/cli/x.c",
            '#include "bench/bench_run.h"\n': "src/cli/x.c",
            '#include "soak/world.h"\n': "src/sched/x.c",
            '#include "conformance/life.h"\n': "tests/soak/x.c",
            '#include "world.h"\n': "tests/soak/y.c",
            "": "src/unknown/x.c",
            "int soak;\n": "src/soak/x.c",
        }
        for text, path in rows.items():
            with tempfile.TemporaryDirectory() as root:
                os.makedirs(os.path.join(root, "src"))
                tree(root, {path: "int x;\n" + text})
                self.assertEqual(1, len(check_layers.check_direction(root)), path)

    def test_only_compat_uses_the_headers_of_compat(self):
        for path in ("src/lib/x.c", "src/cli/x.c", "include/berth/x.h"):
            with tempfile.TemporaryDirectory() as root:
                tree(root, {"src/base/x.c": "int x;\n", path: '#include "berth/cache.h"\n',
                            "include/berth-compat/berth/cache.h": "int y;\n"})
                self.assertEqual(1, len(check_layers.check_direction(root)), path)
        self.assertEqual(1, len(self.problems({
            "include/berth/str.h": "int x;\n", "include/berth-compat/berth/str.h": "int y;\n"})))

    def test_a_problem_fails_the_command_and_leaves_no_stamp(self):
        tree(self.root, {"src/base/x.c": '\n#include "cli/x.h"\n'})
        stamp = os.path.join(self.root, "stamp")
        command = [sys.executable, os.path.join(TOOLS, "check_layers.py"),
                   "--stamp", stamp, self.root]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(1, result.returncode)
        self.assertIn("src/base/x.c:2:", result.stderr)
        self.assertFalse(os.path.exists(stamp))
        os.remove(os.path.join(self.root, "src/base/x.c"))
        self.assertEqual(0, subprocess.call(command))
        self.assertTrue(os.path.exists(stamp))


class Layout(Tree):
    # Every file has a header with two users; nothing is defined twice.
    GOOD = {
        "src/base/str.h": "struct bt_str {\n};\nstruct row;\n",
        "src/base/str.c": '#include "base/str.h"\nstruct row {\n};\n',
        "src/base/vec.h": '#include "base/str.h"\nunion bt_vec;\nstruct bt_str *first(void);\n',
        "src/api/pod.c": '#include "api/pod_private.h"\n#include "base/vec.h"\nstruct row {\n};\n',
        "src/api/pod_spec.c": '#include "api/pod_private.h"\n#include "base/str.h"\n',
        "src/api/pod.h": "struct bt_pod;\n",
        "src/api/pod_private.h": '#include "api/pod.h"\nstruct bt_pod {\n};\n',
        "tests/unit/api/test_pod.c": '#include "api/pod.h"\n',
        "fuzz/vec.c": '#include "base/vec.h"\n',
    }

    def problems(self, files=None, allowed=""):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "src"))
            tree(root, dict(self.GOOD, **(files or {})))
            tree(root, {"tools/open_layout.txt": allowed} if allowed else {})
            return check_layers.check(root)

    def test_a_good_tree_passes(self):
        self.assertEqual([], self.problems())
        self.assertEqual([], self.problems(allowed="# words\n\n"))

    # Each breach, and the line of the list that allows it.
    BREACHES = [
        ({"src/api/name.c": "struct bt_str {\n};\n"}, "tag bt_str"),
        ({"src/api/name.c": "union bt_str\n{\n};\n"}, "tag bt_str"),
        ({"src/api/name.c": "enum bt_pod {\n};\n"}, "tag bt_pod"),
        ({"src/api/str.c": ""}, "basename str"),
        ({"src/state/deep/vec.c": ""}, "basename vec"),
        ({"src/base/str.h": '#include "base/vec.h"\n'}, "circle base/str base/vec"),
        ({"src/base/str.c": '#include "base/vec.h"\n'}, "circle base/str base/vec"),
        ({"src/base/a.c": '#include "base/b_private.h"\n',
          "src/base/d.c": '#include "base/b_private.h"\n#include "base/a.h"\n',
          "src/base/a.h": "", "src/base/b_private.h": "", "src/base/c.h": "",
          "src/base/e.c": '#include "base/a.h"\n#include "base/c.h"\n',
          "src/base/b.c": '#include "base/c.h"\n',
          "src/base/c.c": '#include "base/a.h"\n'}, "circle base/a base/b base/c"),
        ({"src/api/name.h": ""}, "header api/name.h"),
        ({"src/api/name.h": "", "src/api/name.c": '#include "api/name.h"\n',
          "src/api/other.c": '#include "api/name.h"\n'}, "header api/name.h"),
        ({"src/api/x_private.h": "", "src/api/x.c": '#include "api/x_private.h"\n',
          "tests/unit/api/test_x.c": '#include "api/x_private.h"\n'}, "header api/x_private.h"),
    ]

    def test_each_rule_fails_but_for_the_list(self):
        for files, line in self.BREACHES:
            problems = self.problems(files)
            self.assertEqual(1, len(problems), (line, problems))
            self.assertIn(line.split()[-1], problems[0])
            self.assertEqual([], self.problems(files, line + "\n"), line)
            self.assertEqual(3, len(self.problems(files, "tag bt_x\ncircle base/str\n")), line)

    def test_a_test_is_a_user_of_a_header_that_is_not_private(self):
        self.assertEqual([], self.problems({
            "src/api/x.h": "", "src/api/x.c": '#include "api/x.h"\n',
            "src/api/y.c": '#include "api/x.h"\n',
            "tests/unit/api/test_x.c": '#include "api/x.h"\n'}))

    def test_the_list_only_shrinks(self):
        circle = {"src/base/str.c": '#include "base/vec.h"\n'}
        self.assertEqual([], self.problems(circle, "circle base/gone base/str base/vec\n"))
        self.assertEqual(2, len(self.problems(circle, "circle base/str base/gone\n")))
        problems = self.problems({}, "# words\nbasename str\n")
        self.assertEqual(1, len(problems))
        self.assertIn("open_layout.txt:2:", problems[0])

    def test_shrink_removes_lines_and_adds_none(self):
        tree(self.root, self.GOOD)
        tree(self.root, {"src/api/str.c": "", "src/api/vec.c": "",
                         "tools/open_layout.txt": "# words\nbasename str\ntag bt_gone\n"})
        command = [sys.executable, os.path.join(TOOLS, "check_layers.py"), "--shrink", self.root]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(1, result.returncode)
        self.assertEqual(1, len(result.stderr.splitlines()), result.stderr)
        self.assertIn("basename vec", result.stderr)
        with open(os.path.join(self.root, "tools/open_layout.txt"), encoding="utf-8") as file:
            self.assertEqual("# words\nbasename str\n", file.read())
        os.remove(os.path.join(self.root, "src/api/vec.c"))
        self.assertEqual(0, subprocess.call(command))


class Tidy(Tree):
    def problems(self, text, path="src/api/x.c"):
        return [problem for _, problem in check_tidy.problems_of(path, SPDX + text)]

    def test_clean_code_passes(self):
        self.assertEqual([], self.problems(
            'const char *s = "http://x, strcpy(a), time(now)"; /* malloc(1) */\n'
            "int a = object->time(1) + bt_malloc(2) + queue.free(3);\n"))

    def test_each_rule_fails(self):
        for text in ("char *a = strcpy(b, c);\n", "int a = atoi (b);\n", "free(a);\n",
                     "int a; // why\n", "x" * 101 + "\n", "\t" * 12 + "12345\n",
                     "/* %s: later */\n" % ("TO" + "DO"), "/* %s */\n" % ("FIX" + "ME"),
                     'char *a = "/%s/x";\n' % ("wo" + "rk"), "int a; \n", "int a;"):
            self.assertEqual(1, len(self.problems(text)), text)
        self.assertEqual(1, len(list(check_tidy.problems_of("src/a/b.c", "int a;\n"))))

    def test_vague_words_are_refused_where_people_read(self):
        for words in ("nobody listens", "Nobody", "for whom", "is told of it"):
            self.assertEqual(1, len(self.problems("/* %s */\n" % words)), words)
            self.assertEqual([], self.problems("/* %s */\n" % words, "tests/unit/api/x.c"))
        self.assertEqual([], self.problems("int nobody_uid;\n"))

    def test_subjects_of_commits(self):
        for good in ("queue: flush the backoff heap once per tick", "docs, bench: name figures",
                     "cli/view: bring back the slider", "api/x.c: seed the hash"):
            self.assertEqual("", check_tidy.subject_problem(good), good)
        for bad in ("flush the heap", "queue: the heap is flushed", "queue: flushed the heap",
                    "queue: flushing the heap", "queue: " + "x" * 72, "Revert \"queue: x\""):
            self.assertNotEqual("", check_tidy.subject_problem(bad), bad)

    def test_rows_of_a_table_may_be_long(self):
        self.assertEqual([], self.problems("BT_ROW(%s)\n" % ("x" * 100), "src/api/x.def"))

    def test_programs_of_the_tests_allocate_as_the_engine_does(self):
        for path in ("tests/soak/x.c", "tests/conformance/x.c", "bench/bench_x.c"):
            self.assertEqual(1, len(self.problems("free(a);\n", path)), path)
        for path in ("tests/unit/api/x.c", "bench/x_bench.c"):
            self.assertEqual([], self.problems("free(a);\n", path), path)

    def test_alloc_may_allocate(self):
        self.assertEqual([], self.problems("free(malloc(1));\n", "src/base/alloc.c"))

    def test_a_bad_tree_fails_the_command(self):
        tree(self.root, {"src/api/x.c": "int a;\n", "src/api/y.c": SPDX})
        result = subprocess.run([sys.executable, os.path.join(TOOLS, "check_tidy.py"), self.root],
                                capture_output=True, text=True, check=False)
        self.assertEqual(1, result.returncode)
        self.assertEqual("2 passed, 1 failed", result.stdout.splitlines()[-1])


class Chart(unittest.TestCase):
    ROW = {"name": "basic-2k <&>", "pods_per_s": 1000, "upstream_pods_per_s": 10}
    REPORT = {"commit": "abc", "machine": {"cpu": "x86"}, "measurements": [
        ROW, {"name": "million", "pods_per_s": 100000}, {"name": "failed", "pods_per_s": 0}]}

    def test_bars_are_as_long_as_the_logarithms(self):
        root = ElementTree.fromstring(chart.draw(self.REPORT))
        widths = [float(bar.get("width")) for bar in root.iter() if bar.tag.endswith("rect")]
        self.assertEqual(3, len(widths))  # berth and upstream; berth
        full = chart.WIDTH - chart.LEFT - chart.RIGHT
        for width, share in zip(widths, (0.5, 0.0, 1.0)):
            self.assertAlmostEqual(max(1, full * share), width, delta=0.1)
        self.assertIn("basic-2k <&>", [text.text for text in root.iter()])

    def test_nothing_to_draw_is_an_error(self):
        with self.assertRaises(ValueError):
            chart.draw({"measurements": []})


class Headers(Tree):
    def test_a_header_that_needs_another_fails(self):
        guard = "#ifndef G%d\n#define G%d\n%s#endif\n"
        tree(self.root, {
            "src/base/good.h": guard % (1, 1, "#include <stddef.h>\nsize_t f(void);\n"),
            "src/base/needy.h": guard % (2, 2, "size_t g(void);\n"),
            "src/base/unguarded.h": "struct s { int a; };\n",
            "tests/soak/good.h": guard % (4, 4, '#include "soak/other.h"\n'),
            "tests/soak/other.h": guard % (5, 5, "int i;\n"),
            "include/berth/good.h": guard % (3, 3, "int h(void);\n")})
        count, problems = check_headers.check(self.root, CC, None)
        self.assertEqual(6, count)
        self.assertEqual(2, len(problems))


    def test_examples_are_compiled(self):
        header = "/**\n * @file\n%s */\n#ifndef G\n#define G\nint f(void);\n#endif\n"
        call = " * @code{.c}\n * static int g(void)\n * {\n *     return %s();\n * }\n * @endcode\n"
        for example, wrong in ((call % "f", 0), (call % "h", 1), ("", 1)):
            tree(self.root, {"include/berth/berth.h": header % example})
            count, problems = check_headers.check(self.root, CC, None)
            self.assertEqual((2, wrong), (count, len(problems)), example)


class SeedMap(unittest.TestCase):
    """Names in the seed map must be declared, documented and exported."""
    headers = check_seed_map.Headers(["""
/** Opaque. */
struct berth_a;
struct berth_bare;
/** With fields. */
struct berth_b {
	int plain;
	int after;   /**< told behind it */
	/** told before it */
	int (*slot)(int argument);
};
/** Codes. */
enum berth_code {
	BERTH_ONE = 1, /**< one */
	BERTH_TWO,
};
/** A number. */
#define BERTH_MAX 100
/** Does. */
int berth_do(int what);
int berth_bare_do(int what);
/** Called back. */
typedef int (*berth_take_fn)(void *context);
/* berth_comment(1) is no declaration. */
"""])

    def problem(self, name):
        return check_seed_map.problem_of(self.headers, {"berth_do", "berth_bare_do"}, name)

    def test_declared_and_documented(self):
        for name in ("struct berth_a", "struct berth_b", "enum berth_code", "berth_b.after",
                     "berth_b.slot", "BERTH_ONE", "BERTH_MAX", "berth_do", "berth_take_fn"):
            self.assertIsNone(self.problem(name), name)

    def test_not_documented(self):
        for name in ("struct berth_bare", "berth_b.plain", "BERTH_TWO", "berth_bare_do"):
            self.assertEqual("has no documentation comment", self.problem(name), name)

    def test_not_declared(self):
        for name in ("struct berth_c", "enum berth_a", "berth_b.none", "berth_none.after",
                     "BERTH_THREE", "berth_comment", "berth_none"):
            self.assertEqual("is not declared in the public headers", self.problem(name), name)

    def test_not_exported(self):
        self.assertEqual("is not exported by the library",
                         check_seed_map.problem_of(self.headers, set(), "berth_do"))

    def test_rows_that_are_not_built(self):
        lines = ["000.", "001.5", "002.3-002.11"]
        listed = ["000.1", "000.72", "001.5", "002.3", "002.9", "002.11"]
        for row in listed + ["001.50", "002.2", "002.12", "003.5"]:
            self.assertEqual(row in listed, check_seed_map.is_listed(row, lines), row)


class Exports(unittest.TestCase):
    def test_names(self):
        names = ["berth_a", "bt_b", "__asan_c", "other"]
        self.assertEqual(["bt_b", "other"], check_exports.problems_of(names, r"berth_"))
        self.assertEqual(["other"], check_exports.problems_of(names, r"berth_|bt_"))


class Linking(unittest.TestCase):
    def test_needed(self):
        text = (" 0x0000000000000001 (NEEDED)             Shared library: [libre2.so.9]\n"
                " 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]\n"
                " 0x000000000000000e (SONAME)             Library soname: [libx.so]\n")
        needed = check_linking.needed_in(text)
        self.assertEqual(["libre2.so.9", "libc.so.6"], needed)
        self.assertEqual(["libre2.so.9"], check_linking.problems_of(needed, ["libre2", "libx"]))


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Doc(Tree):
    def bad(self, header):
        with open(os.path.join(TOOLS, "..", "docs", "Doxyfile"), encoding="utf-8") as file:
            tree(self.root, {"docs/Doxyfile": file.read(), "include/berth/a.h": header})
        return check_doc.check(self.root, os.path.join(self.root, "out"))[1]

    def test_comments(self):
        self.assertEqual([], self.bad("/** @file\n * A. */\n/** Does. */\nint berth_a(void);\n"))
        self.assertEqual(["a.h"], self.bad("/** @file\n * A. */\nint berth_a(void);\n"))
        self.assertEqual(["a.h"], self.bad(
            "/** @file\n * A. */\n/** @nonsense */\nint berth_a(void);\n"))


class EdgeCases(Tree):
    SPEC = ("# 09 Things\n## 3. Edge cases\n\n1. a -> b.\n2. c\n   continued 7. times\n"
            "## 4. Messages\n1. no case\n")
    TEST = 'START_TEST(test_%s)\n{\n\t%s;\n}\nEND_TEST\n'

    def problems(self, tests, entry=None, spec=SPEC, unfinished=None):
        """tests: {name without test_: statement}."""
        tree(self.root, {"docs/spec/09-things.md": spec,
                         "tests/unit/a/test_a.c": "static void expect_it(int a)\n{\n"
                                                  "\tck_assert(a);\n}\n" +
                         "".join(self.TEST % pair for pair in sorted(tests.items()))})
        return check_edge_cases.check(
            self.root, (entry or check_edge_cases.List("09-things", "09"),), unfinished or {})

    def test_a_test_for_each_case_passes(self):
        self.assertEqual((2, []), self.problems({
            "a__edge_09_01_one": "ck_assert(a)", "a__edge_09_02": "expect_it(a)"}))
        self.assertEqual((2, []), self.problems({"a__edge_09_01_02_both": "ck_assert(a)"}))

    def test_gaps_fail(self):
        rows = (
            {"a__edge_09_01_one": "ck_assert(a)"},
            {"a__edge_09_01_one": "ck_assert(a)", "a__two": "ck_assert(a)"},
            {"a__edge_09_01_one": "ck_assert(a)", "a__edge_09b_02_two": "ck_assert(a)"},
            {"a__edge_09_01_02_both": "ck_assert(a)", "a__edge_09_03_more": "ck_assert(a)"},
            {"a__edge_09_01_02_both": "call_it(a)"},
            {"a__edge_09_01_02_both": ""},
        )
        for tests in rows:
            self.assertEqual(1, len(self.problems(tests)[1]), tests)

    def test_what_cannot_be_tested_yet_is_no_gap_until_it_is_tested(self):
        entry = check_edge_cases.List("09-things", "09", missing={2: "not built"})
        self.assertEqual((1, []), self.problems({"a__edge_09_01_one": "ck_assert(a)"}, entry))
        self.assertEqual(1, len(
            self.problems({"a__edge_09_01_02_both": "ck_assert(a)"}, entry)[1]))

    def test_the_module_tells_lists_of_a_chapter_apart(self):
        spec = self.SPEC + "## 5. Edge cases of b\n1. x\n"
        entry = check_edge_cases.List("09-things", "09", "3", ("a",))
        tests = {"a__edge_09_01_02_both": "ck_assert(a)", "b__edge_09_01_x": "ck_assert(a)"}
        self.assertEqual((2, []), self.problems(
            tests, entry, spec, {"09-things 5": "not built"}))
        # Each list is either complete or known to be unfinished.
        self.assertEqual(1, len(self.problems(tests, entry, spec)[1]))
        self.assertEqual(1, len(self.problems(
            {"b__edge_09_01_02_both": "ck_assert(a)"}, entry, self.SPEC)[1][1:]))

    def test_a_gap_fails_the_command(self):
        self.problems({"a__edge_09_01_one": "ck_assert(a)"})
        result = subprocess.run(
            [sys.executable, os.path.join(TOOLS, "check_edge_cases.py"), self.root],
            capture_output=True, text=True, check=False)
        self.assertEqual(1, result.returncode)
        self.assertRegex(result.stdout.splitlines()[-1], "^0 passed, [1-9]")


class Schema(Tree):
    """tools/gen_types.py: what is wrong is named with its file and line."""

    GOOD = "package a/v1\n\nkind X = a.io/v1 X\n\nmessage X\n\t1 name string\n"

    def generate(self, text, *options):
        path = os.path.join(self.temporary.name, "a_v1.api")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run([sys.executable, os.path.join(TOOLS, "gen_types.py"), *options,
            path], capture_output=True, text=True, check=False)

    def test_good_types_become_tables(self):
        output = os.path.join(self.temporary.name, "tables.c")
        self.assertEqual(self.generate(self.GOOD, "--tables", output).stderr, "")
        with open(output, encoding="utf-8") as file:
            text = file.read()
        self.assertIn('.name = "name", .name_length = 4, .type = BT_SCHEMA_STRING', text)
        self.assertIn('{"a.io", "v1", "X", &messages[0]}', text)

    def test_checks_become_tables(self):
        output = os.path.join(self.temporary.name, "tables.c")
        text = """package a/v1
message X
\t1 name string given immutable enum=A|B
\t2 ports []Y maxItems=4 unique=port
\t3 old Z unchecked
message Y
\t1 port int32 range=1-9
\t2 key string format=labelKey
message Z
\t1 y Y
message W
\t1 z Z unchecked
"""
        self.assertEqual(self.generate(text, "--tables", output).stderr, "")
        with open(output, encoding="utf-8") as file:
            text = file.read()
        self.assertIn('values_1_1[] = {"A", "B", NULL}', text)
        self.assertIn(".given = true, .immutable = true, .allowed = values_1_1", text)
        self.assertIn('.items_max = 4, .unique = "port"', text)
        self.assertIn(".has_range = true, .min = 1, .max = 9", text)
        self.assertIn(".format = BT_SCHEMA_FORMAT_LABEL_KEY", text)
        # name, package, fields, places, mask and start of guesses, has_defaults, has_checks
        self.assertIn('{"W", "a/v1", 1, 1, 3, 0, false, false, f', text)
        self.assertIn('{"X", "a/v1", 3, 3, 15, 4, false, true, f', text)
        self.assertIn('{"Z", "a/v1", 1, 1, 3, 28, false, true, f', text)

    def test_rules_become_functions(self):
        rules = os.path.join(self.temporary.name, "rules.c")
        text = """package a/v1
message X
\t1 name string
\t2 count int32 nullable
\t3 parts []Y
\trule !name && count ?? 7 > 5: invalid count "not {name}"
\telse: required name
\teach parts call part
message Y
\t1 z string
\tcall part
"""
        self.assertEqual(self.generate(text, "--rules", rules).stderr, "")
        with open(rules, encoding="utf-8") as file:
            made = file.read()
        self.assertIn('bt_json_int64_at(object, "count", 7) > 5', made)
        self.assertIn('"not %.*s", BT_STR_ARG(bt_kinds_text(object, "name"))', made)
        self.assertIn("bt_rule_part(check, at1, element1)", made)
        self.assertIn("[1] = bt_rule_part,", made)
        for wrong, problem in (("rule x: required name", "no field 'x'"),
                ("rule name == 1: required name", "cannot be compared"),
                ("rule name: wrong name", "cannot read")):
            wrong = text.replace("\telse: required name", f"\t{wrong}")
            self.assertIn(problem, self.generate(wrong, "--rules", rules).stderr)

    def test_fields_marked_c_become_structures(self):
        header = os.path.join(self.temporary.name, "types.h")
        rows = os.path.join(self.temporary.name, "types.c")
        text = """package a/v1

# An X.
message X
\t2 isSmall bool c # or not
\t1 hostIP string default=::1 always c
\t3 operator int32 nullable c
\t4 other string
\t5 parts []Y c
\t6 Z Z inline c=*
message Y struct=bt_part
\t1 name string nullable c
message Z
\t9 empty W nullable c
message W struct
"""
        self.assertEqual(self.generate(text, "--header", header, "--rows", rows).stderr, "")
        with open(header, encoding="utf-8") as file:
            self.assertIn("""/** An X. */
struct bt_x {
\tstruct bt_str host_ip; /* default: ::1 */
\tbt_part_list parts;
\tconst struct bt_w *empty;
\tstruct bt_opt_i32 operator_;
\tbool is_small; /* or not */
};
""", text := file.read())
            self.assertIn('#define BT_DEFAULT_X_HOST_IP BT_STR("::1")\n', text)
        with open(rows, encoding="utf-8") as file:
            text = file.read()
        self.assertLess(text.index('"isSmall"'), text.index('"hostIP"'))
        self.assertIn('.flags = BT_FIELD_WRAPPED, .number = 9', text)
        self.assertIn('.wrapper = 6', text)
        self.assertNotIn("other", text)

    def test_configurations(self):
        header = os.path.join(self.temporary.name, "types.h")
        rows = os.path.join(self.temporary.name, "rows.c")
        imported = os.path.join(self.temporary.name, "b_v2.api")
        with open(imported, "w", encoding="utf-8") as file:
            file.write("package b/v2\nmessage Y\n\t1 op string type=Operator always c\n"
                "\t2 no bool\n")
        text = """package a/v1
message XArgs pluginArgs
\t1 wait duration nullable c=wait_ns
\t2 ys []b/v2.Y c
\t3 old bool hidden c
message Parts
\t1 last Y always c=points[BT_POINT_LAST]
\t2 first Y always c=points[BT_POINT_FIRST]
\t3 args pluginArgs c
message Y struct=bt_part
\t1 weight float32 c
"""
        self.assertEqual(self.generate(text, "--import", imported, "--header", header, "--config",
            rows, "--").stderr, "")
        with open(header, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("struct bt_y {", text)
        self.assertIn("\tstruct bt_part points[BT_POINT__COUNT];\n", text)
        self.assertIn("\tBT_ARGS_X,\n", text)
        self.assertIn("\tstruct bt_opt_i64 wait_ns;\n\tbt_y_list ys;\n\tbool old;\n", text)
        self.assertLess(text.index("struct bt_plugin_args {"), text.index("struct bt_parts {"))
        with open(rows, encoding="utf-8") as file:
            text = file.read()
        self.assertIn('{.name = "op", .kind = BT_CONFIG_SCHEMA_STR, .flags = '
            'BT_CONFIG_SCHEMA_ALWAYS, .offset = offsetof(struct bt_y, op), '
            '.go_type = "v2.Operator"}', text)
        self.assertNotIn('"old"', text)
        self.assertLess(text.index('"first"'), text.index('"last"'))
        self.assertIn("\t[BT_ARGS_X] = &bt_x_args_schema,\n", text)

    def test_mistakes_are_named(self):
        for line, wrong in (
                ("\t1 other string", "number 1 used twice"),
                ("\t2 name string", "field 'name' named twice"),
                ("\t2 other strange", "bad type 'strange'"),
                ("\t2 other Y", "no message a/v1.Y"),
                ("\t2 other map[bool]", "no map of bool"),
                ("\t2 other string odd", "bad or repeated flag 'odd'"),
                ("\t2 other string merge=name", "'merge=key' is for lists of messages"),
                ("\t2 other []X keys=uid", "a/v1.X has no member 'uid'"),
                ("\t2 other X inline nullable", "only a message without other flags"),
                ("\t| a \"quoted\" word", "expected '| text' without quotes"),
                ("\t2 other []string nullable", "a list or map is never nullable"),
                ("\t70000 other string", "number 70000 out of range"),
                ("\t2 other bytes c", "'other' cannot be a member in C"),
                ("\t2 other Y c\nmessage Y", "'other' cannot be a member in C"),
                ("\t2 other string c=Other", "bad or repeated flag 'c=Other'"),
                ("message Z odd", "bad flag 'odd'"),
                ("\t2 other bool default=1", "the default does not fit the type"),
                ("\t2 other []string default=a", "the default does not fit the type"),
                ("\t2 other string enum=a|", "bad or repeated flag 'enum=a|'"),
                ("\t2 other bool enum=a", "'enum=' is for texts"),
                ("\t2 other string format=odd", "bad or repeated flag 'format=odd'"),
                ("\t2 other string min=0", "'min=' is for numbers and quantities"),
                ("\t2 other quantity range=0-1", "'range=' is for numbers"),
                ("\t2 other string maxItems=1", "'maxItems=' is for lists and maps"),
                ("\t2 other []X unique=uid", "a/v1.X has no member 'uid'"),
                ("\t2 other []string unique=name", "'unique=' is for lists of messages"),
                ("\tother string", "expected '<number> <name> <type> [flags]'"),
                ("message X", "message X described twice"),
                ("nonsense", "cannot read 'nonsense'"),
                ("kind Y = a.io/v1 Y", "no message a/v1.Y")):
            result = self.generate(self.GOOD + line + "\n")
            self.assertEqual(result.returncode, 1, line)
            self.assertIn(f"a_v1.api:7: {wrong}", result.stderr)

    def test_other_packages_may_be_missing_unless_strict(self):
        text = self.GOOD + "\t2 other b/v1.Y\n"
        self.assertEqual(self.generate(text).returncode, 0)
        self.assertIn("no message b/v1.Y", self.generate(text, "--strict").stderr)


class Counting(unittest.TestCase):
    def count(self, *entries):
        return run_tests.count_all(json.dumps({"name": "t", "result": result, "stdout": stdout})
                                   for result, stdout in entries)[:2]

    def test_programs_count_by_their_summary(self):
        self.assertEqual((12, 0), self.count(("OK", "x\n7 passed, 0 failed\n"),
                                             ("OK", "5 passed, 0 failed")))
        self.assertEqual((3, 2), self.count(("FAIL", "3 passed, 2 failed\n")))

    def test_other_programs_count_as_one(self):
        self.assertEqual((1, 1), self.count(("OK", "fine\n"), ("FAIL", "")))

    def test_breaking_is_failing(self):
        self.assertEqual((4, 1), self.count(("ERROR", "4 passed, 0 failed\n")))
        self.assertEqual((0, 1), self.count(("TIMEOUT", "")))

    def test_doing_nothing_is_failing(self):
        self.assertEqual((0, 1), self.count(("OK", "0 passed, 0 failed\n")))

    def test_failures_count_whatever_the_exit_status(self):
        self.assertEqual((4, 1), self.count(("OK", "4 passed, 1 failed\n")))

    def test_skipped_counts_nowhere(self):
        self.assertEqual((0, 0), self.count(("SKIP", "")))


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed" % (result.testsRun - failed, failed))
    return 0 if failed == 0 and result.testsRun != 0 else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        CC = sys.argv[1]
    sys.exit(main())
