/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization checks. Spec: 12b section 9.11. */
#include "cel/function.h"

/** Units of one check: spec 12b section 10. */
#define CHECK_COST 350000

/** Returns a copy of the target's access with the part that the function's name says. */
struct bt_cel_value bt_cel_fn_access_part(const struct bt_cel_call *call)
{
	struct bt_str part = bt_str_from(call->overload->function);
	struct bt_str text = call->arguments[1].text;
	struct bt_cel_access *access = bt_cel_alloc(call->evaluation, 1, sizeof(*access));
	struct bt_cel_value value = {.kind = BT_CEL_RESOURCE_CHECK, .access = access};
	if (access == NULL) {
		return call->evaluation->stop;
	}
	*access = *call->arguments[0].access;
	/*
	 * Ignore the field and label selectors of a check: they only narrow the check, and no
	 * authorization rule refers to selectors.
	 */
	if (bt_str_equal_c(part, "path")) {
		value.kind = BT_CEL_PATH_CHECK;
		access->is_path = true;
		access->path = text;
	} else if (bt_str_equal_c(part, "group")) {
		value.kind = BT_CEL_GROUP_CHECK;
		access->group = text;
	} else if (bt_str_equal_c(part, "serviceAccount")) {
		value.kind = BT_CEL_AUTHORIZER;
		access->account_namespace = text;
		access->account_name = call->arguments[2].text;
	} else if (bt_str_equal_c(part, "resource")) {
		access->resource = text;
	} else if (bt_str_equal_c(part, "subresource")) {
		access->subresource = text;
	} else if (bt_str_equal_c(part, "namespace")) {
		access->namespace_ = text;
	} else if (bt_str_equal_c(part, "name")) {
		access->name = text;
	}
	return value;
}

struct bt_cel_value bt_cel_fn_access_check(const struct bt_cel_call *call)
{
	if (!bt_cel_charge(call->evaluation, CHECK_COST)) {
		return call->evaluation->stop;
	}
	struct bt_cel_access *access = bt_cel_alloc(call->evaluation, 1, sizeof(*access));
	if (access == NULL) {
		return call->evaluation->stop;
	}
	*access = *call->arguments[0].access;
	access->verb = call->arguments[1].text;
	access->reason = BT_STR("");
	access->allowed = access->authorizer->ask(
		access->authorizer->context, access, call->evaluation->arena, &access->reason);
	return (struct bt_cel_value){.kind = BT_CEL_DECISION, .access = access};
}

struct bt_cel_value bt_cel_fn_decision_part(const struct bt_cel_call *call)
{
	struct bt_str part = bt_str_from(call->overload->function);
	const struct bt_cel_access *access = call->arguments[0].access;
	if (bt_str_equal_c(part, "allowed")) {
		return bt_cel_bool(access->allowed);
	}
	if (bt_str_equal_c(part, "errored")) {
		return bt_cel_bool(false);
	}
	return bt_cel_string(bt_str_equal_c(part, "reason") ? access->reason : BT_STR(""));
}
