/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_ADMISSION_PRIVATE_H
#define BT_SERVER_ADMISSION_PRIVATE_H
/** The plugins of admission.c. Each leaves out_failure alone when it admits. Spec: 14b section 4.
 */
#include "server/kinds/common.h"

/** One write on its way through the plugins. */
struct bt_admission {
	const struct bt_write *write;
	const struct bt_json_value *old; /* NULL: a create */
	struct bt_failure *failure;
};

bool bt_admission_is(const struct bt_admission *admission, const char *group, const char *name);
bool bt_admission_is_refused(const struct bt_admission *admission);
/** 403 `<resource> "<name>" is forbidden: <text>`. */
BT_PRINTF(2, 3)
void bt_admission_refuse(struct bt_admission *admission, const char *format, ...);
const struct bt_api_resource *bt_admission_resource(
	const struct bt_admission *admission, const char *group, const char *name);
/** An object by key, or NULL. */
struct bt_json_value *bt_admission_read(const struct bt_admission *admission, const char *group,
	const char *name, struct bt_str key);
/**
 * Calls visit with each object under prefix whose text contains needle; it returns false to stop.
 * Only those are parsed, so that most of a collection costs a search of its text.
 */
void bt_admission_visit(const struct bt_admission *admission, const char *group, const char *name,
	struct bt_str prefix, struct bt_str needle,
	bool (*visit)(void *context, const struct bt_json_value *object), void *context);
/** spec.finalizers ... of metadata: added unless it is there. */
void bt_admission_add_finalizer(
	const struct bt_admission *admission, struct bt_json_value *object, const char *finalizer);

/** --- LimitRanger: 4.2 --- */

void bt_admission_set_limits(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_check_limits(struct bt_admission *admission, const struct bt_json_value *pod);

/** --- Priority: 4.4 --- */

void bt_admission_set_pod_priority(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_set_group_priority(struct bt_admission *admission, struct bt_json_value *group);
void bt_admission_check_priority_class(
	struct bt_admission *admission, const struct bt_json_value *class_);

/** --- ServiceAccount, DefaultTolerationSeconds, RuntimeClass: 4.3, 4.6, 4.9 --- */

void bt_admission_set_service_account(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_set_tolerations(struct bt_admission *admission, struct bt_json_value *pod);
void bt_admission_set_runtime(struct bt_admission *admission, struct bt_json_value *pod);

/** --- DefaultStorageClass, PersistentVolumeClaimResize: 4.7 --- */

void bt_admission_set_storage_class(struct bt_admission *admission, struct bt_json_value *claim);
void bt_admission_check_resize(struct bt_admission *admission, const struct bt_json_value *claim);

/** --- ResourceQuota: 4.11 --- */

void bt_admission_check_quota(struct bt_admission *admission, const struct bt_json_value *object);
#endif
