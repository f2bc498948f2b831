/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#define BT_KIND(group_, version_, resource_, name_) \
	{group_, version_, resource_, &bt_strategy_##name_},
static const struct {
	const char *group;
	const char *version;
	const char *resource;
	const struct bt_strategy *strategy;
} rows[] = {
#include "server/kinds/strategies.def"
};
#undef BT_KIND

const struct bt_strategy bt_strategy_custom = {0};
/** For kinds whose only rules are in rules.def. */
const struct bt_strategy bt_strategy_resets_status = {.resets_status = true};

const struct bt_strategy *bt_strategy_find(const char *group, const char *version, const char *name)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (strcmp(rows[i].group, group) == 0 && strcmp(rows[i].version, version) == 0 &&
			strcmp(rows[i].resource, name) == 0) {
			return rows[i].strategy;
		}
	}
	return &bt_strategy_custom;
}
