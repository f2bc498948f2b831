/* SPDX-License-Identifier: Apache-2.0 */
#include "api/label.h"
#include "api/resources.h"

/* Classes of resource names, spec 01b section 2. */

bool bt_resource_is_prefixed_native(struct bt_str name)
{
	return bt_str_find(name, BT_STR("kubernetes.io/")) >= 0;
}

bool bt_resource_is_native(struct bt_str name)
{
	return bt_str_find_char(name, '/') < 0 || bt_resource_is_prefixed_native(name);
}

bool bt_resource_is_extended(struct bt_str name)
{
	static const uint32_t quota_prefix_length = sizeof("requests.") - 1;
	int64_t slash = bt_str_find_char(name, '/');
	struct bt_str prefix;
	struct bt_str last;

	if (slash < 0 || bt_resource_is_prefixed_native(name) ||
		bt_str_has_prefix(name, BT_STR("requests."))) {
		return false;
	}
	/* "requests." plus a subdomain is a valid subdomain, so only the length needs a check */
	prefix = bt_str_sub(name, 0, (uint32_t)slash);
	last = bt_str_sub(name, (uint32_t)slash + 1, name.length);
	return prefix.length + quota_prefix_length <= BT_LABEL_PREFIX_MAX &&
		bt_label_prefix_matches(prefix) && last.length <= BT_LABEL_NAME_MAX &&
		bt_label_name_matches(last);
}

bool bt_resource_is_hugepage(struct bt_str name)
{
	return bt_str_has_prefix(name, BT_STR("hugepages-"));
}

bool bt_resource_is_attachable_volume(struct bt_str name)
{
	return bt_str_has_prefix(name, BT_STR("attachable-volumes-"));
}

bool bt_resource_is_scalar(struct bt_str name)
{
	return bt_resource_is_hugepage(name) || bt_resource_is_attachable_volume(name) ||
		bt_resource_is_prefixed_native(name) || bt_resource_is_extended(name);
}

bool bt_resource_is_dra_extended(struct bt_str name)
{
	return bt_resource_is_extended(name) ||
		bt_str_has_prefix(name, BT_STR("deviceclass.resource.kubernetes.io/"));
}

bool bt_resource_is_pod_level_supported(struct bt_str name)
{
	return bt_str_equal(name, BT_STR("cpu")) || bt_str_equal(name, BT_STR("memory")) ||
		bt_resource_is_hugepage(name);
}

bool bt_resource_is_overcommit_allowed(struct bt_str name)
{
	return bt_resource_is_native(name) && !bt_resource_is_hugepage(name);
}

static bool is_whole(const struct bt_quantity *quantity)
{
	struct bt_quantity whole =
		bt_quantity_make(bt_quantity_value(quantity), 0, BT_QUANTITY_DECIMAL_SI);
	/* values beyond int64 are treated as whole */
	return bt_quantity_value(quantity) == INT64_MAX ||
		bt_quantity_compare(&whole, quantity) == 0;
}

uint32_t bt_resource_amount_problems(struct bt_str name, const struct bt_quantity *amount,
	const char *out_problems[BT_AMOUNT_PROBLEMS_MAX])
{
	static const struct bt_quantity zero = {0};
	uint32_t count = 0;
	if (bt_quantity_compare(amount, &zero) < 0) {
		out_problems[count++] = "must be greater than or equal to 0";
	}
	if (!bt_resource_is_overcommit_allowed(name) && !is_whole(amount)) {
		out_problems[count++] = "must be an integer";
	}
	return count;
}
