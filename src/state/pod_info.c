/* SPDX-License-Identifier: Apache-2.0 */
#include "state/pod_info.h"

void bt_pod_info_from_record(
	const struct bt_state *state, uint32_t pod_id, struct bt_pod_info *out_info)
{
	const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
	const struct bt_symbol_table *symbols = &state->symbols;

	BT_ASSERT(record->in_use);
	*out_info = (struct bt_pod_info){
		.name = bt_pod_record_name(record),
		.namespace_ = bt_symbol_text(symbols, record->namespace_),
		.uid = bt_pod_record_uid(record),
		.labels = &state->label_sets.sets.items[record->label_set].labels,
		.shape = bt_shape_at(&state->shapes, record->shape),
		.label_set = record->label_set,
		.priority = record->priority,
		.start_seconds = record->start_seconds,
		.node_name = bt_node_table_name(&state->nodes, record->node),
		.nominated_node_name = bt_symbol_text(symbols, record->nominated_node),
		.pod_id = pod_id,
	};
}

void bt_pod_info_init_pending(
	struct bt_state *state, const struct bt_pod *object, struct bt_pod_info *out_info)
{
	uint32_t label_set = bt_label_set_ref_map(&state->label_sets, &object->metadata.labels);
	/* Pods of one controller have the same labels and shape, so guess the last shape. */
	uint32_t *last_shape = &state->label_sets.sets.items[label_set].last_shape;
	uint32_t shape = bt_shape_ref_pending(&state->shapes, object, *last_shape);

	*last_shape = shape;
	bt_pod_info_restore_pending(state, object, shape, label_set, out_info);
}

void bt_pod_info_restore_pending(const struct bt_state *state, const struct bt_pod *object,
	uint32_t shape, uint32_t label_set, struct bt_pod_info *out_info)
{
	const struct bt_time *start = object->status.start_time;

	*out_info = (struct bt_pod_info){
		.name = object->metadata.name,
		.namespace_ = object->metadata.namespace_,
		.uid = object->metadata.uid,
		.labels = &object->metadata.labels,
		.shape = bt_shape_at(&state->shapes, shape),
		.label_set = label_set,
		.priority = bt_pod_priority(object),
		.start_seconds = start != NULL && start->set ? start->seconds : INT64_MIN,
		.node_name = object->spec.node_name,
		.nominated_node_name = object->status.nominated_node_name,
		.object = object,
		.pod_id = BT_POD_NONE,
	};
}

void bt_pod_info_finish_pending(struct bt_state *state, struct bt_pod_info *info)
{
	if (info->shape != NULL) {
		bt_shape_unref(&state->shapes, info->shape->id);
	}
	if (info->label_set != BT_LABEL_SET_NONE) {
		bt_label_set_unref(&state->label_sets, info->label_set);
	}
	*info = (struct bt_pod_info){.label_set = BT_LABEL_SET_NONE, .pod_id = BT_POD_NONE};
}
