/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_CALLER_H
#define BT_DAEMON_CALLER_H
/** Who sent a request to the HTTPS endpoints. Spec: 11 section 9.2. */
#include "base/vec.h"
#include "codec/json.h"

struct bt_caller_extra {
	struct bt_str key;
	struct bt_str value;
};

/** Texts live in the arena of the request. All-zero memory is nobody. */
struct bt_caller {
	struct bt_str name;
	struct bt_str uid;
	BT_VEC(struct bt_str) groups;
	BT_VEC(struct bt_caller_extra) extra; /* one element a value, equal keys side by side */
};

void bt_caller_finish(struct bt_caller *caller);
bool bt_caller_has_group(const struct bt_caller *caller, struct bt_str group);
/** As members `user` (or `name_member`), uid, groups and extra of a review's spec. */
void bt_caller_write(const struct bt_caller *caller, struct bt_arena *arena,
	const char *name_member, struct bt_json_value *spec);
/** A UserInfo: username, uid, groups, extra. Texts are copied into the arena. */
void bt_caller_read(
	struct bt_caller *caller, struct bt_arena *arena, const struct bt_json_value *user_info);
#endif
