/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

struct row {
	const char *group;
	const char *version;
	const char *resource;
	const struct bt_strategy *strategy;
};

#define BT_KIND(group_, version_, resource_, name_) \
	{group_, version_, resource_, &bt_strategy_##name_},
static const struct row rows[] = {
#include "server/kinds/kinds.def"
};
#undef BT_KIND

static void validate_plain(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
}

static void validate_rbac(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_PATH, errors);
}

const struct bt_strategy bt_strategy_plain = {.validate = validate_plain};
const struct bt_strategy bt_strategy_custom = {.validate = validate_plain};
const struct bt_strategy bt_strategy_rbac = {.validate = validate_rbac};

const struct bt_strategy *bt_strategy_find(const char *group, const char *version, const char *name)
{
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].group, group) == 0 && strcmp(rows[i].version, version) == 0 &&
			strcmp(rows[i].resource, name) == 0) {
			return rows[i].strategy;
		}
	}
	return &bt_strategy_plain;
}
