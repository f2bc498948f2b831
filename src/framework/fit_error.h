/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_FIT_ERROR_H
#define BT_FRAMEWORK_FIT_ERROR_H
/** The histogram of reasons in the text a pending pod's owner reads. Spec: 03 section 8. */
#include "framework/plugin.h"

/**
 * Each reason once, with the number of nodes that give it, in no particular order; otherwise as
 * bt_fit_error_append_reasons. reason is borrowed for the call.
 */
void bt_fit_error_visit_reasons(const struct bt_node_statuses *statuses, uint32_t node_count,
	void (*visit)(void *context, struct bt_str reason, uint64_t count), void *context);

/**
 * Append " 1 Insufficient cpu, 2 Too many pods." for node_count nodes, those without an entry of
 * their own counting with statuses->absent. Nothing when there is no reason at all.
 */
void bt_fit_error_append_reasons(
	const struct bt_node_statuses *statuses, uint32_t node_count, struct bt_strbuf *out);
#endif
