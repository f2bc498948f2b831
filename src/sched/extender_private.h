/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_PRIVATE_H
#define BT_SCHED_EXTENDER_PRIVATE_H
/** Shared by extender.c and extender_filter.c only: what the observer is told. */
#include "sched/extender.h"

void bt_extender_asking(const struct bt_extenders *extenders, const struct bt_extender *extender,
	enum bt_extender_verb verb);
/** error "": the call succeeded. */
void bt_extender_answered(const struct bt_extenders *extenders, const struct bt_extender *extender,
	enum bt_extender_verb verb, struct bt_str error);
void bt_extender_ignored(const struct bt_extenders *extenders, const struct bt_extender *extender,
	const char *message, int verbosity, struct bt_str error);
#endif
