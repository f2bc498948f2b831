/* SPDX-License-Identifier: Apache-2.0 */
/** The text a pending pod's owner reads: how many nodes, why not. Spec 03 section 8. */
#include "framework/fit_error.h"

#include "sched/engine.h"

void bt_diagnosis_message(const struct bt_diagnosis *diagnosis, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "0/%u nodes are available:", diagnosis->node_count);
	if (diagnosis->pre_filter_message.length != 0) {
		bt_strbuf_append_char(out, ' ');
		bt_strbuf_append_str(out, diagnosis->pre_filter_message);
		bt_strbuf_append_char(out, '.');
	} else {
		bt_fit_error_append_reasons(&diagnosis->statuses, diagnosis->node_count, out);
	}
	if (diagnosis->post_filter_message.length != 0) {
		bt_strbuf_append_char(out, ' ');
		bt_strbuf_append_str(out, diagnosis->post_filter_message);
	}
}
