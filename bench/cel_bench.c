/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nanoseconds for compiling and for evaluating a device selector, the best of five runs each:
 * cel_bench [ROUNDS].
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "cel/device.h"

static const char *const expressions[] = {
	"true",
	"device.driver == \"gpu.example.com\"",
	"device.attributes[\"gpu.example.com\"].model == \"x\"",
	"device.attributes[\"gpu.example.com\"].model == \"x\" && "
	"device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40Gi\")) >= 0",
	"device.attributes[\"gpu.example.com\"].driverVersion.isGreaterThan(semver(\"1.2.3\"))",
	"device.attributes[\"gpu.example.com\"].model.matches(\"^(a100|h100|x)$\")",
	"device.attributes[\"gpu.example.com\"].model in [\"a\", \"b\", \"x\"]",
	"device.attributes[\"gpu.example.com\"].model.lowerAscii().startsWith(\"x\")",
	"[\"a\", \"b\", \"x\"].exists(m, m == device.attributes[\"gpu.example.com\"].model)",
	"cel.bind(d, device.attributes[\"gpu.example.com\"], has(d.nope) || d.index < 4)",
	"device.attributes[\"gpu.example.com\"].nope == 1 || true",
};

static const char device_text[] =
	"{\"name\":\"gpu-0\",\"attributes\":{\"architecture\":{\"string\":\"ampere\"},"
	"\"driverVersion\":{\"version\":\"550.54.15\"},\"index\":{\"int\":0},"
	"\"model\":{\"string\":\"x\"},\"uuid\":{\"string\":\"0123456789abcdef\"},"
	"\"resource.example.com/pcieRoot\":{\"string\":\"pci0000:00\"}},"
	"\"capacity\":{\"cores\":{\"value\":\"100\"},\"memory\":{\"value\":\"80Gi\"}}}";

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double compile(const char *expression, uint32_t rounds)
{
	double start = now_ns();

	for (uint32_t i = 0; i < rounds; i++) {
		struct bt_cel_program *program = NULL;
		int code = bt_cel_compile(
			bt_str_from(expression), bt_cel_device_environment(false), &program, NULL);

		BT_ASSERT(code == 0);
		bt_cel_program_destroy(program);
	}
	return (now_ns() - start) / rounds;
}

static double match(const char *expression, const struct bt_cel_value *device, uint32_t rounds)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_cel_program *program = NULL;
	struct bt_arena arena = {0};
	double start;
	bool matches = false;
	int code = bt_cel_compile(
		bt_str_from(expression), bt_cel_device_environment(false), &program, NULL);

	BT_ASSERT(code == 0);
	start = now_ns();
	for (uint32_t i = 0; i < rounds; i++) {
		code = bt_cel_device_matches(program, device, &limits, &arena, &matches, NULL);
		BT_ASSERT(code == 0 && matches);
		bt_arena_reset(&arena);
	}
	start = (now_ns() - start) / rounds;
	bt_arena_finish(&arena);
	bt_cel_program_destroy(program);
	return start;
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
	struct bt_arena arena = {0};
	struct bt_device device = {0};
	struct bt_json_reader reader;
	struct bt_cel_value value;
	int code;

	bt_json_reader_init(&reader, bt_str_from(device_text));
	code = bt_message_decode_json(&bt_device_message, &reader, &arena, &device, NULL);
	BT_ASSERT(code == 0 && rounds != 0);
	code = bt_cel_device_make(BT_STR("gpu.example.com"), &device, false, &arena, &value, NULL);
	BT_ASSERT(code == 0);
	(void)printf("%10s %10s\n", "compile", "match");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(expressions); i++) {
		double compile_ns = 1e18;
		double match_ns = 1e18;

		for (int run = 0; run < 5; run++) {
			double one = compile(expressions[i], rounds / 100 + 1);
			compile_ns = one < compile_ns ? one : compile_ns;
			one = match(expressions[i], &value, rounds);
			match_ns = one < match_ns ? one : match_ns;
		}
		(void)printf("%8.0fns %8.0fns  %s\n", compile_ns, match_ns, expressions[i]);
	}
	bt_arena_finish(&arena);
	return 0;
}
