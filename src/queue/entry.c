/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of queued pods: memory, index by name, and the pod of each record. Spec: 04 section 3.1.
 */
#include <stdarg.h>

#include "framework/batch.h"
#include "queue/queue_private.h"

/** Index of the profile with this name, or BT_QUEUE_NONE. */
static uint32_t queue_find_profile(const struct bt_queue *queue, struct bt_str scheduler_name)
{
	for (uint32_t i = 0; i < queue->profiles->frameworks.count; i++) {
		if (bt_str_equal(
			    queue->profiles->frameworks.items[i]->scheduler_name, scheduler_name)) {
			return i;
		}
	}
	return BT_QUEUE_NONE;
}

void bt_queue_entry_sign(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	struct bt_symbol_table *symbols = &queue->state->symbols;
	struct bt_status refusal;

	bt_symbol_unref(symbols, entry->signature);
	entry->signature = BT_SYM_NONE;
	if (!queue->has_signatures) {
		return;
	}
	if (entry->profile == BT_QUEUE_NONE) {
		bt_queue_warn(queue, "No signer registered for scheduler profile");
		return;
	}
	bt_strbuf_reset(&queue->text);
	if (bt_sign_pod(queue->profiles->frameworks.items[entry->profile], &entry->pod,
		    &queue->arena, &queue->text, &refusal)) {
		entry->signature = bt_symbol_ref_str(symbols, bt_strbuf_str(&queue->text));
	} else if (refusal.code == BT_STATUS_ERROR) {
		struct bt_str text = bt_status_message_str(&refusal, &queue->arena);

		bt_queue_warn(queue, "pod %s: signing failed: %.*s",
			bt_queue_pod_text(queue, &entry->pod), BT_STR_ARG(text));
	}
	bt_arena_reset(&queue->arena);
}

struct bt_queue_entry *bt_queue_entry_create(
	struct bt_queue *queue, struct bt_object *pod, int64_t now_ns)
{
	const struct bt_pod *value = bt_object_value(pod, BT_KIND_POD);
	struct bt_queue_entry *entry = BT_NEW(struct bt_queue_entry);

	bt_vec_store(&queue->entries, &queue->free_entries, entry, entry->id);
	*entry = (struct bt_queue_entry){
		.object = bt_object_share(pod),
		.timestamp_ns = now_ns,
		.initial_attempt_ns = BT_QUEUE_TIME_UNSET,
		.backoff_expiration_ns = BT_QUEUE_TIME_UNSET,
		.profile = queue_find_profile(queue, value->spec.scheduler_name),
		.signature = BT_SYM_NONE,
		.gating_plugin = BT_QUEUE_NONE,
		.place = BT_QUEUE_OUT,
		.id = entry->id,
		.name_hash = bt_hash_name(value->metadata.namespace_, value->metadata.name),
		.group = BT_QUEUE_NONE,
	};
	bt_pod_info_init_pending(queue->state, value, &entry->pod);
	bt_queue_entry_sign(queue, entry);
	return entry;
}

void bt_queue_entry_destroy(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	bt_symbol_unref(&queue->state->symbols, entry->signature);
	bt_pod_info_finish_pending(queue->state, &entry->pod);
	bt_object_release(entry->object);
	queue->entries.items[entry->id] = NULL;
	bt_vec_push(&queue->free_entries, entry->id);
	bt_free(entry);
}

/**
 * Maps rejectors from one profile to another by plugin name; plugins that the other profile lacks
 * are dropped.
 */
static struct bt_rejectors translate(const struct bt_queue *queue, const struct bt_rejectors *set,
	uint32_t from_profile, uint32_t to_profile)
{
	struct bt_rejectors translated = {{0}};

	if (from_profile == BT_QUEUE_NONE || to_profile == BT_QUEUE_NONE) {
		return translated;
	}
	for (uint32_t r = bt_rejectors_next(set, 0); r < BT_REJECTOR__COUNT;
		r = bt_rejectors_next(set, r + 1)) {
		uint32_t other = bt_queue_find_rejector(
			queue, to_profile, bt_queue_rejector_name(queue, from_profile, r));

		if (other < BT_REJECTOR__COUNT) {
			bt_rejectors_add(&translated, other);
		}
	}
	return translated;
}

void bt_queue_entry_set_pod(
	struct bt_queue *queue, struct bt_queue_entry *entry, struct bt_object *pod)
{
	const struct bt_pod *value = bt_object_value(pod, BT_KIND_POD);
	struct bt_object *old_object = entry->object;
	struct bt_pod_info old_pod = entry->pod;
	uint32_t profile = queue_find_profile(queue, value->spec.scheduler_name);

	entry->object = bt_object_share(pod);
	bt_pod_info_init_pending(queue->state, value, &entry->pod);
	/* The old pod is released last because the new pod may share its shape and labels. */
	bt_pod_info_finish_pending(queue->state, &old_pod);
	bt_object_release(old_object);
	if (profile != entry->profile) {
		/*
		 * The API does not allow schedulerName to change. If schedulerName changes
		 * nevertheless, rejectors are mapped by plugin name.
		 */
		uint32_t before = entry->profile;

		entry->unschedulable_plugins =
			translate(queue, &entry->unschedulable_plugins, before, profile);
		entry->pending_plugins = translate(queue, &entry->pending_plugins, before, profile);
		if (bt_queue_entry_is_gated(entry)) {
			struct bt_rejectors gate = {{0}};

			bt_rejectors_add(&gate, entry->gating_plugin);
			gate = translate(queue, &gate, before, profile);
			entry->gating_plugin = bt_rejectors_is_empty(&gate)
				? BT_QUEUE_NONE
				: bt_rejectors_next(&gate, 0);
		}
		entry->profile = profile;
	}
}

struct bt_queue_entry *bt_queue_lookup(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = bt_hash_name(namespace_, name);

	BT_MAP_EACH (&queue->by_name, hash, index) {
		struct bt_queue_entry *entry = bt_queue_entry_at(queue, index);

		/* The entry may be parked, so its pod_info may be missing. */
		if (bt_str_equal(bt_object_name(entry->object), name) &&
			bt_str_equal(bt_object_namespace(entry->object), namespace_)) {
			return bt_queue_unpark(queue, entry->id);
		}
	}
	return NULL;
}

void bt_queue_remove_from_index(struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	bool found = bt_map_remove(&queue->by_name, entry->name_hash, entry->id);

	BT_ASSERT(found);
}

void bt_queue_count_rejectors(
	struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t by)
{
	struct bt_rejectors set = bt_queue_entry_rejectors(entry);

	if (entry->profile == BT_QUEUE_NONE) {
		return;
	}
	int64_t *gauge = &queue->unschedulable_gauge[entry->profile * BT_REJECTOR__COUNT];
	for (uint32_t r = bt_rejectors_next(&set, 0); r < BT_REJECTOR__COUNT;
		r = bt_rejectors_next(&set, r + 1)) {
		gauge[r] += by;
	}
}

const char *bt_queue_pod_text(struct bt_queue *queue, const struct bt_pod_info *pod)
{
	const struct bt_object_meta meta = {.namespace_ = pod->namespace_, .name = pod->name};
	bt_strbuf_reset(&queue->text);
	bt_object_ref(&meta, &queue->text);
	return bt_strbuf_c(&queue->text);
}

void bt_queue_warn(struct bt_queue *queue, const char *format, ...)
{
	struct bt_strbuf line = {0};
	va_list arguments;

	if (queue->options.warn == NULL) {
		return;
	}
	va_start(arguments, format);
	bt_strbuf_vprintf(&line, format, arguments);
	va_end(arguments);
	queue->options.warn(queue->options.warn_context, bt_strbuf_str(&line));
	bt_strbuf_finish(&line);
}
