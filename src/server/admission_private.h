/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_ADMISSION_PRIVATE_H
#define BT_SERVER_ADMISSION_PRIVATE_H
/**
 * The admission plugins that admission.c calls. A plugin refuses the request by setting
 * admission->failure, and otherwise leaves failure unchanged. Spec: 14b section 4.
 */
#include "server/kinds/common.h"

/** One write that passes through the plugins. */
struct bt_admission {
	const struct bt_write *write;
	const struct bt_json_value *old; /* NULL: a create */
	struct bt_failure *failure;
};

bool bt_admission_is(const struct bt_admission *admission, const char *group, const char *name);
/** Refuses the request with 403 `<resource> "<name>" is forbidden: <text>`. */
BT_PRINTF(2, 3)
void bt_admission_refuse(struct bt_admission *admission, const char *format, ...);
const struct bt_api_resource *bt_admission_resource(
	const struct bt_admission *admission, const char *group, const char *name);
/**
 * Returns the stored object of a built-in resource, as a tree in the arena of the write; NULL:
 * there is no object with this key.
 */
struct bt_json_value *bt_admission_read(const struct bt_admission *admission, const char *group,
	const char *name, struct bt_str key);
/**
 * Returns an array of the objects of the resource in the write's namespace whose text contains
 * `needle`. Only these are parsed, so most of a large collection costs only a text search.
 */
struct bt_json_value *bt_admission_list(const struct bt_admission *admission, const char *group,
	const char *name, struct bt_str needle);

/** --- Priority: 4.4 --- */

void bt_admission_set_pod_priority(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_set_group_priority(struct bt_admission *admission, struct bt_json_value *group);
void bt_admission_check_priority_class(
	struct bt_admission *admission, const struct bt_json_value *class_);

/** --- ServiceAccount, DefaultTolerationSeconds, RuntimeClass: 4.3, 4.6, 4.9 --- */

void bt_admission_set_service_account(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_set_tolerations(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_set_runtime(struct bt_admission *admission, struct bt_json_value *pod);

/** --- ResourceQuota: 4.11 --- */

void bt_admission_check_quota(struct bt_admission *admission, const struct bt_json_value *object);
#endif
