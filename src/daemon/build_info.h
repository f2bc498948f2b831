/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_BUILD_INFO_H
#define BT_DAEMON_BUILD_INFO_H
/** How this program was built, for --version=raw and the metric kubernetes_build_info. Spec: 11
 * sections 4.11 and 10.6. */
#include "base/arena.h"
#include "base/strbuf.h"
#include "config/versions.h"

struct bt_build {
	const char *git_commit; /* 40 hexadecimal digits; zeros if the build had no repository */
	const char *git_tree_state;
	struct bt_str build_date; /* of the commit, RFC 3339 in UTC */
	const char *toolchain;    /* in place of upstream's Go version */
	const char *compiler;
	const char *platform;
};

/** Describe this build. build_date is allocated in arena; the other texts are static. */
struct bt_build bt_build_about(struct bt_arena *arena);
/** Append the line that --version=raw prints, with its newline. */
void bt_build_write_raw(const struct bt_versions *versions, struct bt_strbuf *out);
#endif
