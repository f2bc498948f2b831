/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization checks. Spec: 12b section 9.11. */
#include "cel/function.h"

/** Units of one check: spec 12b section 10. */
#define CHECK_COST 350000

/**
 * Copies the access of the call's target (argument 0) and returns the copy, which the caller may
 * change. *out_value is a value of the given kind that refers to the copy. NULL: the limit is
 * exceeded, and *out_value is the error.
 */
static struct bt_cel_access *derive_access(
	const struct bt_cel_call *call, enum bt_cel_kind kind, struct bt_cel_value *out_value)
{
	struct bt_cel_access *access =
		bt_cel_alloc(call->evaluation, 1, sizeof(struct bt_cel_access));
	if (access == NULL) {
		*out_value = call->evaluation->stop;
		return NULL;
	}
	*access = *call->arguments[0].access;
	*out_value = (struct bt_cel_value){.kind = kind, .access = access};
	return access;
}

struct bt_cel_value bt_cel_fn_authorizer_path(const struct bt_cel_call *call)
{
	struct bt_cel_value value;
	struct bt_cel_access *access = derive_access(call, BT_CEL_PATH_CHECK, &value);
	if (access != NULL) {
		access->is_path = true;
		access->path = call->arguments[1].text;
	}
	return value;
}

struct bt_cel_value bt_cel_fn_authorizer_group(const struct bt_cel_call *call)
{
	struct bt_cel_value value;
	struct bt_cel_access *access = derive_access(call, BT_CEL_GROUP_CHECK, &value);
	if (access != NULL) {
		access->group = call->arguments[1].text;
	}
	return value;
}

struct bt_cel_value bt_cel_fn_authorizer_account(const struct bt_cel_call *call)
{
	struct bt_cel_value value;
	struct bt_cel_access *access = derive_access(call, BT_CEL_AUTHORIZER, &value);
	if (access != NULL) {
		access->account_namespace = call->arguments[1].text;
		access->account_name = call->arguments[2].text;
	}
	return value;
}

struct bt_cel_value bt_cel_fn_access_part(const struct bt_cel_call *call)
{
	struct bt_str part = bt_str_from(call->overload->function);
	struct bt_str text = call->arguments[1].text;
	struct bt_cel_value value;
	struct bt_cel_access *access = derive_access(call, BT_CEL_RESOURCE_CHECK, &value);
	if (access == NULL) {
		return value;
	}
	/*
	 * Ignore the field and label selectors of a check: they only narrow the check, and no
	 * authorization rule refers to selectors.
	 */
	if (bt_str_equal_c(part, "resource")) {
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
	struct bt_cel_value value;
	if (!bt_cel_charge(call->evaluation, CHECK_COST)) {
		return call->evaluation->stop;
	}
	struct bt_cel_access *access = derive_access(call, BT_CEL_DECISION, &value);
	if (access != NULL) {
		access->verb = call->arguments[1].text;
		access->reason = BT_STR("");
		access->allowed = access->authorizer->ask(access->authorizer->context, access,
			call->evaluation->arena, &access->reason);
	}
	return value;
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
