/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/build_info.h"

#include <string.h>

#include "api/time.h"
#include "base/nanoseconds.h"
#include "daemon/commit.h"

#if defined(__clang__)
#define BUILD_COMPILER "clang"
#else
#define BUILD_COMPILER "gcc"
#endif

#if defined(__x86_64__)
#define BUILD_PLATFORM "linux/amd64"
#elif defined(__aarch64__)
#define BUILD_PLATFORM "linux/arm64"
#elif defined(__arm__)
#define BUILD_PLATFORM "linux/arm"
#elif defined(__riscv)
#define BUILD_PLATFORM "linux/riscv64"
#elif defined(__s390x__)
#define BUILD_PLATFORM "linux/s390x"
#elif defined(__powerpc64__)
#define BUILD_PLATFORM "linux/ppc64le"
#else
#define BUILD_PLATFORM "linux/unknown"
#endif

struct bt_build bt_build_about(struct bt_arena *arena)
{
	/* "<commit> <seconds since 1970>", or another text if the build had no repository. */
	static const struct bt_str commit = BT_STR_INIT(BT_COMMIT);
	static char digits[41] = "0000000000000000000000000000000000000000";
	int64_t seconds = 0;
	if (commit.length > 41 && commit.data[40] == ' ' &&
		bt_str_parse_int64(bt_str_sub(commit, 41, commit.length), &seconds)) {
		memcpy(digits, commit.data, 40);
	}
	return (struct bt_build){
		.git_commit = digits,
		.git_tree_state = "clean",
		.build_date = bt_time_text(arena, seconds * BT_NS_PER_SECOND),
		.toolchain = BUILD_COMPILER " " __VERSION__,
		.compiler = BUILD_COMPILER,
		.platform = BUILD_PLATFORM,
	};
}

static void write_field(struct bt_strbuf *out, const char *name, struct bt_str value)
{
	bt_strbuf_printf(out, "%s:", name);
	bt_strbuf_append_quoted(out, value);
}

void bt_build_write_raw(const struct bt_versions *versions, struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	struct bt_build build = bt_build_about(&arena);
	bt_strbuf_printf(out,
		"version.Info{Major:\"1\", Minor:\"%d\", EmulationMajor:\"\", "
		"EmulationMinor:\"\", MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\"",
		BT_KUBERNETES_MINOR);
	write_field(out, ", GitVersion", versions->git_version);
	write_field(out, ", GitCommit", bt_str_from(build.git_commit));
	write_field(out, ", GitTreeState", bt_str_from(build.git_tree_state));
	write_field(out, ", BuildDate", build.build_date);
	write_field(out, ", GoVersion", bt_str_from(build.toolchain));
	write_field(out, ", Compiler", bt_str_from(build.compiler));
	write_field(out, ", Platform", bt_str_from(build.platform));
	bt_strbuf_append_c(out, "}\n");
	bt_arena_finish(&arena);
}
