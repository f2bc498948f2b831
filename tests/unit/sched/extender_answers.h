/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXTENDER_ANSWERS_H
#define EXTENDER_ANSWERS_H
/**
 * Writes decoded answers as JSON, for tests of the decoder. Maps are in the order of the answer.
 */
#include "base/strbuf.h"
#include "framework/extender.h"

void bt_extender_encode_filter_result(
	const struct bt_extender_filter_result *result, struct bt_strbuf *out);
void bt_extender_encode_priorities(const bt_host_priority_list *priorities, struct bt_strbuf *out);
void bt_extender_encode_preemption_result(
	const struct bt_node_victims_list *answer, struct bt_strbuf *out);
#endif
