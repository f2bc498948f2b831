/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of the model. Spec: 04 section 8. */
#include "queue_model_private.h"

static const struct bt_str unscheduled = BT_RESOURCE_UNSCHEDULABLE_POD;
static const struct bt_cluster_event wildcard = {BT_RESOURCE_ANY, ALL};

/* --- operations --- */

/**
 * Adds a pod to the queue. A second record with the same name replaces the first, unless the second
 * is gated and the first is not.
 */
static void add_record(
	struct model *model, struct bt_object *pod, const char *label, int64_t now_ns)
{
	uint32_t other = model_find(model, pod->meta->namespace_, pod->meta->name);
	uint32_t record = model_create(model, pod, now_ns);

	if (other == NOWHERE) {
		(void)model_to_active(model, model_at(model, record), label, false, now_ns);
		return;
	}
	model_run_pre_enqueue(model, model_at(model, record));
	if (!model_is_gated(model_at(model, record))) {
		model_drop(model, other);
		(void)model_to_active(model, model_at(model, record), label, false, now_ns);
	} else if (model_at(model, other)->place == BT_QUEUE_UNSCHEDULABLE) {
		model_at(model, record)->arrival = model_at(model, other)->arrival;
		model_drop(model, other);
		model_at(model, record)->place = BT_QUEUE_UNSCHEDULABLE;
	} else {
		model_drop(model, record);
	}
}

void model_add(struct model *model, struct bt_object *pod, int64_t now_ns)
{
	add_record(model, pod, "UnschedulablePodAdd", now_ns);
}

static bool labels_equal(const struct bt_str_map *a, const struct bt_str_map *b)
{
	for (uint32_t i = 0; a->count == b->count && i < a->count; i++) {
		if (!bt_str_equal(a->items[i].key, b->items[i].key) ||
			!bt_str_equal(a->items[i].value, b->items[i].value)) {
			return false;
		}
	}
	return a->count == b->count;
}

void model_update(
	struct model *model, struct bt_object *old_pod, struct bt_object *new_pod, int64_t now_ns)
{
	const struct bt_pod *before = old_pod->value;
	const struct bt_pod *after = new_pod->value;
	struct bt_cluster_event events[2];
	uint32_t event_count = 0;
	char label[64];
	uint32_t found = model_find(model, after->metadata.namespace_, after->metadata.name);

	if (!labels_equal(&before->metadata.labels, &after->metadata.labels)) {
		events[event_count++] = (struct bt_cluster_event){unscheduled, LABEL};
	}
	if (before->spec.tolerations.count != after->spec.tolerations.count) {
		events[event_count++] = (struct bt_cluster_event){unscheduled, TOLERATION};
	}
	if (event_count == 0) {
		events[event_count++] = (struct bt_cluster_event){unscheduled, UPDATE};
	}
	if (model_is_in_flight(model, after->metadata.uid)) {
		for (uint32_t i = 0; i < event_count; i++) {
			model_label_of(&events[i], label);
			model_append_event(model, &events[i], label, old_pod, new_pod);
		}
		return;
	}
	if (found == NOWHERE) {
		add_record(model, new_pod, "UnschedulablePodUpdate", now_ns);
		return;
	}
	model_set_pod(model_at(model, found), new_pod);
	model_update_nomination(model, old_pod, new_pod);
	if (model_at(model, found)->place != BT_QUEUE_UNSCHEDULABLE) {
		return;
	}
	for (uint32_t i = 0; i < event_count; i++) {
		model_label_of(&events[i], label);
		model_requeue(model, model_at(model, found),
			model_worth(model, model_at(model, found), &events[i], old_pod, new_pod),
			label, now_ns);
		if (model_at(model, found)->place != BT_QUEUE_UNSCHEDULABLE) {
			return;
		}
	}
}

void model_delete(struct model *model, const struct bt_object *pod)
{
	uint32_t found = model_find(model, pod->meta->namespace_, pod->meta->name);
	char node[8];

	(void)model_end_nomination(model, pod->meta->uid, node); /* no nomination: nothing to end */
	if (found == NOWHERE) {
		return;
	}
	if (model_at(model, found)->place == BT_QUEUE_UNSCHEDULABLE) {
		model_add_to_gauge(
			model, model_at(model, found), model_rejectors(model_at(model, found)), -1);
	}
	model_drop(model, found);
}

static bool has(const struct model *model, enum bt_queue_place place)
{
	for (uint32_t i = 0; i < model->records.count; i++) {
		if (model_at(model, i)->used && model_at(model, i)->place == place) {
			return true;
		}
	}
	return false;
}

bool model_can_pop(const struct model *model)
{
	return has(model, BT_QUEUE_ACTIVE) || (model->pops_backoff && has(model, BT_QUEUE_BACKOFF));
}

static bool sorts_before(const struct model_record *a, const struct model_record *b)
{
	int32_t left = a->pod->spec.priority.present ? a->pod->spec.priority.value : 0;
	int32_t right = b->pod->spec.priority.present ? b->pod->spec.priority.value : 0;

	return left > right || (left == right && a->timestamp_ns < b->timestamp_ns);
}

static bool comes_before(
	const struct model *model, const struct model_record *a, const struct model_record *b)
{
	int64_t left = INT64_MIN;
	int64_t right = INT64_MIN;

	if (a->place == BT_QUEUE_BACKOFF) {
		(void)model_backoff_until(model, a, &left); /* never backs off: comes first */
		(void)model_backoff_until(model, b, &right);
	}
	return left < right || (left == right && sorts_before(a, b));
}

bool model_may_pop(const struct model *model, uint32_t record)
{
	enum bt_queue_place from = has(model, BT_QUEUE_ACTIVE) ? BT_QUEUE_ACTIVE : BT_QUEUE_BACKOFF;

	if (!model_can_pop(model) || !model_at(model, record)->used ||
		model_at(model, record)->place != from) {
		return false;
	}
	for (uint32_t i = 0; i < model->records.count; i++) {
		if (model_at(model, i)->used && model_at(model, i)->place == from &&
			comes_before(model, model_at(model, i), model_at(model, record))) {
			return false;
		}
	}
	return true;
}

bool model_pop(struct model *model, uint32_t record)
{
	if (model_at(model, record)->place == BT_QUEUE_BACKOFF) {
		model_count(model, "PopFromBackoffQ", BT_QUEUE_ACTIVE);
	}
	return model_take_off(model, record);
}

static bool activate_record(struct model *model, struct model_record *record, int64_t now_ns)
{
	bool from_backoff =
		record->place == BT_QUEUE_BACKOFF || record->place == BT_QUEUE_ERROR_BACKOFF;

	if (record->place == BT_QUEUE_ACTIVE) {
		return false;
	}
	if (from_backoff) {
		record->place = BT_QUEUE_OUT;
	}
	return model_to_active(model, record, "ForceActivate", from_backoff, now_ns);
}

uint32_t model_pop_pod(
	struct model *model, struct bt_str namespace_, struct bt_str name, int64_t now_ns)
{
	uint32_t found = model_find(model, namespace_, name);

	if (found == NOWHERE) {
		return NOWHERE;
	}
	(void)activate_record(model, model_at(model, found), now_ns);
	if (model_at(model, found)->place != BT_QUEUE_ACTIVE) {
		return NOWHERE;
	}
	return model_take_off(model, found) ? found : NOWHERE;
}

bool model_activate(struct model *model, struct bt_object *pod, int64_t now_ns)
{
	uint32_t found = model_find(model, pod->meta->namespace_, pod->meta->name);

	if (found != NOWHERE && activate_record(model, model_at(model, found), now_ns)) {
		return true;
	}
	if (model_is_in_flight(model, pod->meta->uid)) {
		model_append_event(model, &wildcard, "ForceActivate", NULL, pod);
	}
	return false;
}

static enum model_strategy hint_for_in_flight(
	const struct model *model, const struct model_record *record)
{
	enum model_strategy best = MODEL_SKIP;
	uint32_t marker = model_find_marker(model, record->pod->metadata.uid);

	if (model_rejectors(record) == 0 || marker == NOWHERE) {
		return MODEL_AFTER_BACKOFF;
	}
	for (uint32_t i = marker + 1; i < model->log.count; i++) {
		const struct model_log_item *item = &model->log.items[i];
		enum model_strategy strategy;

		if (item->marker != NULL) {
			continue;
		}
		strategy = model_worth(
			model, record, &item->event, item->old_object, item->new_object);
		best = strategy > best ? strategy : best;
	}
	return best;
}

bool model_add_unschedulable(struct model *model, uint32_t index, uint32_t unschedulable,
	uint32_t pending, int64_t now_ns)
{
	struct model_record *record = model_at(model, index);
	bool present = model_find(model, record->pod->metadata.namespace_,
			       record->pod->metadata.name) != NOWHERE;
	enum model_strategy strategy;

	if (!present) {
		record->unschedulable_plugins = unschedulable;
		record->pending_plugins = pending;
		record->gating_plugin = -1;
		if (model_rejectors(record) == 0) {
			record->consecutive_errors++;
		} else {
			record->unschedulable_count++;
			record->consecutive_errors = 0;
		}
		record->timestamp_ns = now_ns;
		record->flushed = false;
		model_add_to_gauge(model, record, model_rejectors(record), 1);
		strategy = hint_for_in_flight(model, record);
		model_requeue(model, record, strategy, "ScheduleAttemptFailure", now_ns);
	}
	model_done(model, record->pod->metadata.uid);
	return !present;
}

/**
 * Returns the unschedulable record with the smallest arrival that is not below *arrival, and sets
 * *arrival to the number after it; NULL: none.
 */
static struct model_record *next_arrived(const struct model *model, uint64_t *arrival)
{
	struct model_record *next = NULL;

	for (uint32_t i = 0; i < model->records.count; i++) {
		struct model_record *record = model_at(model, i);

		if (record->used && record->place == BT_QUEUE_UNSCHEDULABLE &&
			record->arrival >= *arrival &&
			(next == NULL || record->arrival < next->arrival)) {
			next = record;
		}
	}
	if (next != NULL) {
		*arrival = next->arrival + 1;
	}
	return next;
}

static void move_record(struct model *model, struct model_record *record,
	const struct bt_cluster_event *event, const char *label, struct bt_object *old_object,
	struct bt_object *new_object, int64_t now_ns)
{
	enum model_strategy strategy;

	if (model_is_gated(record) &&
		!model_listens(&model->plugins[record->gating_plugin], event)) {
		return;
	}
	strategy = model_worth(model, record, event, old_object, new_object);
	if (strategy != MODEL_SKIP) {
		record->place = BT_QUEUE_OUT;
		model_requeue(model, record, strategy, label, now_ns);
	}
}

static bool is_checked(const struct bt_queue_check *check, const struct model_record *record)
{
	return (!check->has_priority_max ||
		       record->pod->spec.priority.value <= check->priority_max) &&
		(check->excluded_uid.length == 0 ||
			!bt_str_equal(check->excluded_uid, record->pod->metadata.uid));
}

void model_move(struct model *model, const struct bt_cluster_event *event,
	struct bt_object *old_object, struct bt_object *new_object,
	const struct bt_queue_check *check, int64_t now_ns)
{
	uint64_t end = model->arrivals;
	uint64_t arrival = 0;
	struct model_record *record;
	char label[64];

	if (!model_is_of_interest(model, event)) {
		return;
	}
	model_label_of(event, label);
	while ((record = next_arrived(model, &arrival)) != NULL && arrival <= end) {
		if (is_checked(check, record)) {
			move_record(model, record, event, label, old_object, new_object, now_ns);
		}
	}
	if (model_has_in_flight(model)) {
		model_append_event(model, event, label, old_object, new_object);
	}
}

void model_flush_backoff(struct model *model, int64_t now_ns)
{
	for (uint32_t i = 0; i < model->records.count; i++) {
		struct model_record *record = model_at(model, i);

		if (record->used &&
			(record->place == BT_QUEUE_BACKOFF ||
				record->place == BT_QUEUE_ERROR_BACKOFF) &&
			!model_backing_off(model, record, now_ns)) {
			record->place = BT_QUEUE_OUT;
			(void)model_to_active(model, record, "BackoffComplete", true, now_ns);
		}
	}
}

void model_flush_unschedulable(struct model *model, int64_t now_ns)
{
	bool any = false;

	for (uint32_t i = 0; i < model->records.count; i++) {
		struct model_record *record = model_at(model, i);

		if (!record->used || record->place != BT_QUEUE_UNSCHEDULABLE ||
			now_ns - record->timestamp_ns <= model->max_in_unschedulable_ns) {
			continue;
		}
		any = true;
		record->flushed = true;
		if (!model_is_gated(record)) {
			move_record(model, record, &wildcard, "UnschedulableTimeout", NULL, NULL,
				now_ns);
		}
	}
	if (any && model_has_in_flight(model)) {
		model_append_event(model, &wildcard, "UnschedulableTimeout", NULL, NULL);
	}
}

void model_finish(struct model *model)
{
	while (model->log.count > 0) {
		model_remove_log_item(model, model->log.count - 1);
	}
	for (uint32_t i = 0; i < model->nominations.count; i++) {
		bt_object_release(model->nominations.items[i].pod);
	}
	for (uint32_t i = 0; i < model->records.count; i++) {
		if (model_at(model, i)->used) {
			model_drop(model, i);
		}
	}
	bt_vec_finish(&model->records);
	bt_vec_finish(&model->log);
	bt_vec_finish(&model->nominations);
}
