/* SPDX-License-Identifier: Apache-2.0 */
/* The places of the model, and how records enter them. Spec: 04 sections 3 to 7 and 10. */
#include "queue_model_private.h"

static int64_t floor_second(int64_t time_ns)
{
	return time_ns / SECOND * SECOND; /* the times of the tests are after 1970 */
}

uint32_t model_profile_of(const struct bt_pod *pod)
{
	struct bt_str name = pod->spec.scheduler_name;

	return (uint32_t)(name.data[name.length - 1] - '0');
}

/* --- records --- */

uint32_t model_create(struct model *model, struct bt_object *pod, int64_t now_ns)
{
	struct model_record record = {
		.used = true,
		.object = bt_object_share(pod),
		.pod = pod->value,
		.place = BT_QUEUE_OUT,
		.timestamp_ns = now_ns,
		.initial_attempt_ns = BT_QUEUE_TIME_UNSET,
		.expiration_ns = BT_QUEUE_TIME_UNSET,
		.gating_plugin = -1,
	};

	for (uint32_t i = 0; i < model->records.count; i++) {
		if (!model_at(model, i)->used) {
			*model_at(model, i) = record;
			return i;
		}
	}
	bt_vec_push(&model->records, record);
	return model->records.count - 1;
}

void model_drop(struct model *model, uint32_t record)
{
	bt_object_release(model_at(model, record)->object);
	*model_at(model, record) = (struct model_record){.place = BT_QUEUE_OUT};
}

void model_set_pod(struct model_record *record, struct bt_object *pod)
{
	struct bt_object *before = record->object;

	record->object = bt_object_share(pod);
	record->pod = pod->value;
	bt_object_release(before);
}

uint32_t model_find(const struct model *model, struct bt_str namespace_, struct bt_str name)
{
	for (uint32_t i = 0; i < model->records.count; i++) {
		const struct model_record *record = model_at(model, i);

		if (record->used && record->place != BT_QUEUE_OUT &&
			bt_str_equal(record->pod->metadata.namespace_, namespace_) &&
			bt_str_equal(record->pod->metadata.name, name)) {
			return i;
		}
	}
	return NOWHERE;
}

/* --- labels of events --- */

static const char *action_name(uint32_t action)
{
	static const char *const names[] = {"Add", "Delete", "UpdateNodeAllocatable",
		"UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation",
		"UpdateNodeDeclaredFeature", "UpdatePodLabel", "UpdatePodScaleDown",
		"UpdatePodToleration"};

	for (uint32_t bit = 0; bit < BT_ARRAY_LENGTH(names); bit++) {
		if (action == UINT32_C(1) << bit) {
			return names[bit];
		}
	}
	return action == UPDATE ? "Update" : "?";
}

void model_label_of(const struct bt_cluster_event *event, char out[64])
{
	(void)snprintf(out, 64, "%.*s%s", BT_STR_ARG(event->resource), action_name(event->action));
}

void model_count(struct model *model, const char *name, enum bt_queue_place place)
{
	struct model_label *label = NULL;

	for (uint32_t i = 0; i < model->label_count; i++) {
		if (strcmp(model->labels[i].name, name) == 0) {
			label = &model->labels[i];
		}
	}
	if (label == NULL) {
		label = &model->labels[model->label_count++];
		(void)snprintf(label->name, sizeof(label->name), "%s", name);
	}
	label->active += place == BT_QUEUE_ACTIVE;
	label->backoff += place == BT_QUEUE_BACKOFF;
	label->unschedulable += place == BT_QUEUE_UNSCHEDULABLE;
}

void model_add_to_gauge(
	struct model *model, const struct model_record *record, uint32_t plugins, int64_t by)
{
	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		if ((plugins >> i & 1) != 0) {
			model->gauge[model_profile_of(record->pod)][i] += by;
		}
	}
}

/* --- backoff: spec 04 section 5 --- */

bool model_backoff_until(
	const struct model *model, const struct model_record *record, int64_t *out_ns)
{
	int64_t attempts = record->consecutive_errors > 0 ? record->consecutive_errors
							  : record->unschedulable_count;
	int64_t duration = model->initial_ns;

	if (model->max_ns == 0 || attempts == 0) {
		return false;
	}
	for (int64_t i = 1; i < attempts && duration < model->max_ns; i++) {
		duration *= 2;
	}
	if (duration > model->max_ns) {
		duration = model->max_ns;
	}
	*out_ns = record->timestamp_ns + duration;
	if (model->pops_backoff) {
		*out_ns = floor_second(*out_ns);
	}
	return true;
}

bool model_backing_off(const struct model *model, const struct model_record *record, int64_t now_ns)
{
	int64_t until_ns;

	return model_backoff_until(model, record, &until_ns) &&
		until_ns >= (model->pops_backoff ? floor_second(now_ns) : now_ns);
}

/* --- the nominator: spec 04 section 10 --- */

static struct bt_str nominated_in_status(const struct bt_object *pod)
{
	return ((const struct bt_pod *)pod->value)->status.nominated_node_name;
}

bool model_end_nomination(struct model *model, struct bt_str uid, char out_node[8])
{
	for (uint32_t i = 0; i < model->nominations.count; i++) {
		struct model_nomination *nomination = &model->nominations.items[i];

		if (!bt_str_equal(nomination->pod->meta->uid, uid)) {
			continue;
		}
		memcpy(out_node, nomination->node, 8);
		bt_object_release(nomination->pod);
		model->nominations.count--;
		memmove(nomination, nomination + 1,
			(model->nominations.count - i) * sizeof(*nomination));
		return true;
	}
	return false;
}

void model_nominate(struct model *model, struct bt_object *pod, const char *node)
{
	struct model_nomination added = {.pod = pod};

	(void)model_end_nomination(model, pod->meta->uid, added.node); /* may find no nomination */
	added.node[0] = '\0';
	if (node != NULL) {
		(void)snprintf(added.node, sizeof(added.node), "%s", node);
	} else if (nominated_in_status(pod).length > 0) {
		(void)snprintf(added.node, sizeof(added.node), "%.*s",
			BT_STR_ARG(nominated_in_status(pod)));
	}
	if (added.node[0] == '\0') {
		return;
	}
	added.pod = bt_object_share(pod);
	bt_vec_push(&model->nominations, added);
}

void model_update_nomination(
	struct model *model, struct bt_object *old_pod, struct bt_object *new_pod)
{
	char node[8];
	bool recorded = model_end_nomination(model, old_pod->meta->uid, node);

	model_nominate(model, new_pod,
		recorded && nominated_in_status(old_pod).length == 0 &&
				nominated_in_status(new_pod).length == 0
			? node
			: NULL);
}

/* --- elementary transitions: spec 04 sections 6 and 7 --- */

static bool gates(struct model *model, struct model_record *record, uint32_t plugin)
{
	const struct model_plugin *asked = &model->plugins[plugin];

	if (asked->gates == NULL || !asked->in_profile[model_profile_of(record->pod)] ||
		!asked->gates(record->pod)) {
		return false;
	}
	if ((model_rejectors(record) >> plugin & 1) == 0) {
		model_add_to_gauge(model, record, UINT32_C(1) << plugin, 1);
	}
	record->unschedulable_plugins |= UINT32_C(1) << plugin;
	record->gating_plugin = (int32_t)plugin;
	return true;
}

void model_run_pre_enqueue(struct model *model, struct model_record *record)
{
	if (model_is_gated(record) && gates(model, record, (uint32_t)record->gating_plugin)) {
		return;
	}
	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		if (gates(model, record, i)) {
			return;
		}
	}
	record->gating_plugin = -1;
}

static void put_unschedulable(struct model *model, struct model_record *record, const char *label)
{
	if (record->place != BT_QUEUE_UNSCHEDULABLE) {
		record->place = BT_QUEUE_UNSCHEDULABLE;
		record->arrival = model->arrivals++;
		model_count(model, label, BT_QUEUE_UNSCHEDULABLE);
	}
}

bool model_to_active(struct model *model, struct model_record *record, const char *label,
	bool from_backoff, int64_t now_ns)
{
	if (!(model->pops_backoff && from_backoff)) {
		model_run_pre_enqueue(model, record);
	}
	if (model_is_gated(record)) {
		put_unschedulable(model, record, label);
		return false;
	}
	if (record->initial_attempt_ns == BT_QUEUE_TIME_UNSET) {
		record->initial_attempt_ns = now_ns;
	}
	record->place = BT_QUEUE_ACTIVE;
	model_count(model, label, BT_QUEUE_ACTIVE);
	if (strcmp(label, "UnschedulablePodAdd") == 0 ||
		strcmp(label, "UnschedulablePodUpdate") == 0) {
		model_nominate(model, record->object, NULL);
	}
	return true;
}

static void to_backoff(struct model *model, struct model_record *record, const char *label)
{
	if (model->pops_backoff) {
		model_run_pre_enqueue(model, record);
		if (model_is_gated(record)) {
			put_unschedulable(model, record, label);
			return;
		}
	}
	record->place = model_rejectors(record) == 0 ? BT_QUEUE_ERROR_BACKOFF : BT_QUEUE_BACKOFF;
	model_count(model, label, BT_QUEUE_BACKOFF);
}

void model_requeue(struct model *model, struct model_record *record, enum model_strategy strategy,
	const char *label, int64_t now_ns)
{
	if (strategy == MODEL_SKIP) {
		put_unschedulable(model, record, label);
	} else if (strategy == MODEL_AFTER_BACKOFF && model_backing_off(model, record, now_ns)) {
		to_backoff(model, record, label);
	} else {
		(void)model_to_active(model, record, label, false, now_ns);
	}
}
