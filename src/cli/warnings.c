/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/warnings.h"

#include <stdio.h>

void bt_warnings_take(void *context, const char *line)
{
	struct bt_warnings *warnings = context;
	if (++warnings->count <= BT_WARNINGS_SHOWN) {
		(void)fprintf(stderr, "berth %s: warning: %s\n", warnings->command->name, line);
	}
}

void bt_warnings_end(const struct bt_warnings *warnings)
{
	if (warnings->count > BT_WARNINGS_SHOWN) {
		(void)fprintf(stderr, "berth %s: and %u more warnings\n", warnings->command->name,
			warnings->count - BT_WARNINGS_SHOWN);
	}
}
