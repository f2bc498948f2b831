/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SPREAD_PLUGIN_H
#define BT_PLUGINS_COMMON_SPREAD_PLUGIN_H
/** Between the files of the PodTopologySpread plugin: its instance, and the slots that are not in
 * its main file. */
#include "plugins/common_plugin.h"
#include "plugins/common_spread.h"

struct bt_spread_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle;
	struct bt_spread_source source;
	bool system_defaulted;
	BT_VEC(uint8_t) verdicts; /* scratch of one column pass: by domain */
};

/* common_spread_score.c: spec 06 sections 2.10 to 2.13 */

struct bt_status bt_spread_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);
bool bt_spread_pre_score_skips(struct bt_plugin *plugin, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod);
struct bt_status bt_spread_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
struct bt_status bt_spread_normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count);
void bt_spread_score_slots(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
	uint32_t count, int64_t *scores);
void bt_spread_normalize_column(struct bt_plugin *plugin, const void *data,
	const struct bt_state *state, const uint32_t *feasible_slots, uint32_t count,
	int64_t *scores);
/** Natural logarithm of an integer of at least 2, in the last bit as upstream computes it. */
double bt_spread_log(uint64_t value);

/* common_spread_hints.c: spec 06 section 2.15 */

enum bt_hint_scope bt_spread_hint_scope(struct bt_plugin *plugin, const struct bt_shape *shape,
	const struct bt_cluster_event *event, const void *old_object, const void *new_object);
int bt_spread_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err);
#endif
