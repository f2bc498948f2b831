/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_KIND_HINT_H
#define BT_CLI_KIND_HINT_H
/** What somebody meant who wrote a kind that is not in the table: most others are none of ours. */
#include <stdbool.h>

#include "base/strbuf.h"

/**
 * Append "Deployment is of apps/v1" or "did you mean Node?". False, and nothing, for kinds of other
 * groups, and for those that resemble none of the table.
 */
bool bt_kind_hint(struct bt_str api_version, struct bt_str kind, struct bt_strbuf *out);
#endif
