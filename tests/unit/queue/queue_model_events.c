/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events requeue which pods in the model, and the model's event log. Spec: 04 (hints)
 * sections 2 and 3, 04 sections 8 and 9.
 */
#include "queue_model_private.h"

/* --- events: spec 04 (hints) sections 2 and 3, 04 section 8.8 --- */

static bool is_wildcard(const struct bt_cluster_event *event)
{
	return bt_str_equal_c(event->resource, "*") && event->action == ALL;
}

static bool matches(const struct bt_cluster_event *r, const struct bt_cluster_event *i)
{
	bool resource = bt_str_equal_c(r->resource, "*") ||
		bt_str_equal(r->resource, i->resource) ||
		(bt_str_equal_c(r->resource, "Pod") &&
			(bt_str_equal_c(i->resource, "AssignedPod") ||
				bt_str_equal_c(i->resource, "UnschedulablePod")));

	return is_wildcard(r) ||
		(resource && (r->action & i->action) != 0 && i->action <= r->action);
}

/**
 * Counts the matching registrations of a plugin: those with a hint, and those that always queue.
 */
static void registrations(const struct model_plugin *plugin, const struct bt_cluster_event *event,
	uint32_t *with_hint, uint32_t *without)
{
	static const struct bt_cluster_event taint = {BT_RESOURCE_NODE, UINT32_C(1) << 4};
	uint32_t node_actions = 0;

	*with_hint = 0;
	*without = 0;
	for (uint32_t i = 0; i < plugin->event_count; i++) {
		const struct bt_event_registration *registered = &plugin->events[i];

		if (bt_str_equal_c(registered->event.resource, "Node")) {
			node_actions |= registered->event.action;
		}
		if (matches(&registered->event, event)) {
			*with_hint += registered->hint != NULL;
			*without += registered->hint == NULL;
		}
	}
	if ((node_actions & 1) != 0 && (node_actions & 16) == 0 && matches(&taint, event)) {
		++*without;
	}
}

bool model_listens(const struct model_plugin *plugin, const struct bt_cluster_event *event)
{
	uint32_t with_hint;
	uint32_t without;

	registrations(plugin, event, &with_hint, &without);
	return with_hint + without > 0;
}

static bool queues(const struct model_plugin *plugin, const struct model_record *record,
	const struct bt_cluster_event *event, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	bool failed = false;
	uint32_t with_hint;
	uint32_t without;

	registrations(plugin, event, &with_hint, &without);
	if (without > 0) {
		return true;
	}
	return with_hint > 0 &&
		(plugin->hint(record->pod, old_object != NULL ? old_object->value : NULL,
			 new_object != NULL ? new_object->value : NULL, &failed) ||
			failed);
}

enum model_strategy model_worth(const struct model *model, const struct model_record *record,
	const struct bt_cluster_event *event, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	enum model_strategy best = MODEL_SKIP;

	if (model_rejectors(record) == 0) {
		return MODEL_AFTER_BACKOFF;
	}
	if (is_wildcard(event)) {
		return new_object != NULL &&
				!bt_str_equal(new_object->meta->uid, record->pod->metadata.uid)
			? MODEL_SKIP
			: MODEL_AFTER_BACKOFF;
	}
	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		if ((model_rejectors(record) >> i & 1) == 0 ||
			!model->plugins[i].in_profile[model_profile_of(record->pod)] ||
			!queues(&model->plugins[i], record, event, old_object, new_object)) {
			continue;
		}
		if ((record->pending_plugins >> i & 1) != 0) {
			return MODEL_IMMEDIATELY;
		}
		best = MODEL_AFTER_BACKOFF;
	}
	return best;
}

/* --- in flight: spec 04 sections 8.2, 8.4 and 9 --- */

uint32_t model_find_marker(const struct model *model, struct bt_str uid)
{
	for (uint32_t i = 0; i < model->log.count; i++) {
		if (model->log.items[i].marker != NULL &&
			bt_str_equal(model->log.items[i].marker->meta->uid, uid)) {
			return i;
		}
	}
	return NOWHERE;
}

bool model_is_in_flight(const struct model *model, struct bt_str uid)
{
	return model_find_marker(model, uid) != NOWHERE;
}

void model_remove_log_item(struct model *model, uint32_t item)
{
	bt_object_release(model->log.items[item].marker);
	bt_object_release(model->log.items[item].old_object);
	bt_object_release(model->log.items[item].new_object);
	model->log.count--;
	memmove(&model->log.items[item], &model->log.items[item + 1],
		(model->log.count - item) * sizeof(*model->log.items));
}

void model_done(struct model *model, struct bt_str uid)
{
	uint32_t marker = model_find_marker(model, uid);

	if (marker == NOWHERE) {
		return;
	}
	model_remove_log_item(model, marker);
	while (model->log.count > 0 && model->log.items[0].marker == NULL) {
		model_remove_log_item(model, 0);
	}
}

void model_append_event(struct model *model, const struct bt_cluster_event *event,
	const char *label, struct bt_object *old_object, struct bt_object *new_object)
{
	struct model_log_item item = {
		.event = *event,
		.old_object = old_object != NULL ? bt_object_share(old_object) : NULL,
		.new_object = new_object != NULL ? bt_object_share(new_object) : NULL,
	};

	(void)snprintf(item.label, sizeof(item.label), "%s", label);
	bt_vec_push(&model->log, item);
}

bool model_take_off(struct model *model, uint32_t record)
{
	struct model_log_item item = {.marker = model_at(model, record)->object};

	model_at(model, record)->place = BT_QUEUE_OUT;
	model_at(model, record)->attempts++;
	if (model_is_in_flight(model, item.marker->meta->uid)) {
		model_drop(model, record);
		return false;
	}
	item.marker = bt_object_share(item.marker);
	bt_vec_push(&model->log, item);
	model->scheduling_cycle++;
	model_add_to_gauge(
		model, model_at(model, record), model_rejectors(model_at(model, record)), -1);
	return true;
}

bool model_has_in_flight(const struct model *model)
{
	for (uint32_t i = 0; i < model->log.count; i++) {
		if (model->log.items[i].marker != NULL) {
			return true;
		}
	}
	return false;
}

bool model_is_of_interest(const struct model *model, const struct bt_cluster_event *event)
{
	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		if (model->plugins[i].name != NULL && model_listens(&model->plugins[i], event)) {
			return true;
		}
	}
	return false;
}
