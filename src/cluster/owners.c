/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/owners.h"

#include "cluster/tree.h"

static void destroy_entry(struct bt_selector_entry *entry)
{
	if (entry != NULL) {
		bt_arena_finish(&entry->arena);
		bt_free(entry);
	}
}

static void free_stray(struct bt_stray *stray)
{
	bt_free(stray->owner_key);
	bt_free(stray->key);
}

void bt_selector_table_finish(struct bt_selector_table *table)
{
	for (uint32_t i = 0; i < table->entries.count; i++) {
		destroy_entry(table->entries.items[i]);
	}
	bt_vec_finish_each(&table->strays, free_stray(each));
	bt_vec_finish(&table->entries);
	bt_groups_finish(&table->namespaces);
}

const struct bt_selector_entry *bt_selector_table_find(
	const struct bt_selector_table *table, struct bt_str key)
{
	uint32_t slot = bt_groups_find(&table->namespaces, key);
	return slot != BT_GROUPS_NONE ? table->entries.items[slot] : NULL;
}

static void remove_selector(struct bt_selector_table *table, struct bt_str key)
{
	uint32_t slot = bt_groups_find(&table->namespaces, key);

	if (slot != BT_GROUPS_NONE) {
		destroy_entry(table->entries.items[slot]);
		table->entries.items[slot] = NULL;
		bt_groups_remove(&table->namespaces, key);
	}
}

void bt_selector_table_enqueue(const struct bt_selector_table *table, struct bt_hub *hub,
	struct bt_str namespace_, const struct bt_json_value *labels, int64_t at_ns)
{
	struct bt_arena arena = {0};

	if (labels == NULL || labels->count == 0 || table->namespaces.by_key.count == 0) {
		return;
	}
	uint64_t bits = bt_label_bits(labels);
	BT_GROUPS_EACH (&table->namespaces, namespace_, at) {
		const struct bt_selector_entry *entry = table->entries.items[at];
		if ((bits & entry->bits) == entry->bits &&
			bt_tree_matches(&arena, &entry->selector, labels)) {
			bt_hub_enqueue_at(hub, entry->key, at_ns);
		}
	}
	bt_arena_finish(&arena);
}

static bool is_selected(const struct bt_selector_table *table, struct bt_str owner_key,
	const struct bt_json_value *object, struct bt_arena *arena)
{
	const struct bt_selector_entry *entry = bt_selector_table_find(table, owner_key);

	return entry != NULL &&
		bt_tree_matches(
			arena, &entry->selector, bt_json_object_at(object, "metadata.labels"));
}

void bt_owners_enqueue(struct bt_hub *hub, const struct bt_observed *observed, const char *kind,
	struct bt_selector_table *selectors)
{
	const struct bt_json_value *owner = observed->owner;
	const struct bt_json_value *labels = bt_json_object_at(observed->after, "metadata.labels");

	if (observed->type == BT_CHANGE_MODIFIED) {
		const struct bt_json_value *before = observed->owner_before;
		if (!bt_str_equal(bt_json_text_at(before, "uid"), bt_json_text_at(owner, "uid"))) {
			bt_hub_enqueue_owner(hub, observed->key, before, kind);
		}
	}
	if (owner != NULL) {
		bt_hub_enqueue_owner(hub, observed->key, owner, kind);
	} else if (selectors != NULL && observed->type != BT_CHANGE_DELETED) {
		bt_selector_table_enqueue(
			selectors, hub, bt_key_namespace(observed->key), labels, hub->now_ns);
	}
	if (selectors != NULL && observed->type == BT_CHANGE_MODIFIED &&
		bt_str_equal_c(bt_json_text_at(owner, "kind"), kind) &&
		!bt_json_equal(labels, bt_json_object_at(observed->before, "metadata.labels"))) {
		struct bt_arena arena = {0};
		struct bt_str key = bt_api_key(
			&arena, bt_key_namespace(observed->key), bt_json_text_at(owner, "name"));

		if (bt_selector_table_find(selectors, key) != NULL &&
			!is_selected(selectors, key, observed->after, &arena)) {
			struct bt_stray stray = {
				.owner_key = bt_strndup(key.data, key.length),
				.key = bt_strndup(observed->key.data, observed->key.length),
			};
			bt_vec_push(&selectors->strays, stray);
		}
		bt_arena_finish(&arena);
	}
}

void bt_owners_release(struct bt_sync *sync, struct bt_selector_table *selectors,
	enum bt_hub_kind kind, const char *finalizer)
{
	for (uint32_t i = selectors->strays.count; i > 0; i--) {
		struct bt_stray stray = selectors->strays.items[i - 1];

		if (!bt_str_equal_c(sync->key, stray.owner_key)) {
			continue;
		}
		const struct bt_json_value *object =
			bt_hub_read(sync->hub, kind, bt_str_from(stray.key), sync->arena);
		if (object != NULL && !is_selected(selectors, sync->key, object, sync->arena) &&
			!bt_tree_release(sync->hub, sync->hub->kinds[kind], object,
				bt_json_text_at(sync->object, "metadata.uid"), finalizer,
				sync->arena)) {
			sync->failed = true; /* the stray is kept for the next sync */
			continue;
		}
		bt_vec_remove_swap(&selectors->strays, i - 1);
		free_stray(&stray);
	}
}

void bt_owners_observe(struct bt_hub *hub, const struct bt_observed *observed,
	struct bt_selector_table *selectors, bool selector_is_map)
{
	const struct bt_json_value *selector = bt_json_object_at(observed->after, "spec.selector");

	if (observed->type == BT_CHANGE_DELETED) {
		remove_selector(selectors, observed->key);
		/*
		 * The owner is gone: the garbage collector handles its dependents, so drop the
		 * owner's strays.
		 */
		for (uint32_t i = selectors->strays.count; i > 0; i--) {
			struct bt_stray stray = selectors->strays.items[i - 1];

			if (bt_str_equal_c(observed->key, stray.owner_key)) {
				bt_vec_remove_swap(&selectors->strays, i - 1);
				free_stray(&stray);
			}
		}
	} else if (observed->type == BT_CHANGE_ADDED ||
		!bt_json_equal(bt_json_object_at(observed->before, "spec.selector"), selector)) {
		struct bt_selector_entry *entry = BT_NEW(struct bt_selector_entry);
		remove_selector(selectors, observed->key);
		bt_arena_init(&entry->arena, 512);
		/* The selector borrows from a copy of the tree in the entry's arena. */
		if (!bt_tree_selector(&entry->arena, bt_json_clone(&entry->arena, selector, true),
			    selector_is_map, &entry->selector)) {
			destroy_entry(entry);
		} else {
			struct bt_str key = observed->key;
			entry->key = bt_arena_str(&entry->arena, key);
			entry->bits = bt_label_bits(selector_is_map
					? selector
					: bt_json_object_at(selector, "matchLabels"));
			uint32_t slot =
				bt_groups_set(&selectors->namespaces, key, bt_key_namespace(key));
			bt_vec_put(&selectors->entries, slot, entry);
		}
	}
	bt_hub_enqueue(hub, observed->key);
}

void bt_owners_group(struct bt_groups *owned, const struct bt_observed *observed)
{
	if (observed->type == BT_CHANGE_DELETED || observed->owner == NULL) {
		bt_groups_remove(owned, observed->key);
	} else {
		bt_groups_set(owned, observed->key, bt_json_text_at(observed->owner, "uid"));
	}
}

bool bt_owners_adopt_pods(struct bt_sync *sync, struct bt_selector_table *selectors,
	bool (*accepts)(struct bt_str set_name, struct bt_str pod_name), const char *finalizer)
{
	const struct bt_selector_entry *entry = bt_selector_table_find(selectors, sync->key);
	const struct bt_indexed_pod *record = bt_pod_index_orphans(sync->hub, sync->key);
	bool adopted = false;

	bt_owners_release(sync, selectors, BT_HUB_PODS, finalizer);
	if (entry == NULL || bt_tree_is_deleting(sync->object)) {
		return false;
	}
	for (; record != NULL; record = record->next[BT_PODS_OF_OWNER]) {
		if (!bt_indexed_pod_is_active(record) ||
			(record->label_bits & entry->bits) != entry->bits ||
			(accepts != NULL &&
				!accepts(bt_key_name(sync->key), bt_key_name(record->key)))) {
			continue;
		}
		const struct bt_json_value *pod =
			bt_hub_read(sync->hub, BT_HUB_PODS, record->key, sync->arena);
		if (pod != NULL && bt_controller_owner_of(pod) == NULL &&
			bt_tree_matches(sync->arena, &entry->selector,
				bt_json_object_at(pod, "metadata.labels"))) {
			adopted = bt_tree_adopt(sync, BT_HUB_PODS, pod, finalizer) || adopted;
		}
	}
	return adopted;
}

void bt_owners_visit_selected(struct bt_sync *sync, const struct bt_selector *selector,
	uint64_t bits,
	void (*visit)(void *context, const struct bt_indexed_pod *record,
		const struct bt_json_value *pod),
	void *context)
{
	struct bt_str prefix =
		bt_arena_printf(sync->arena, "%.*s/", BT_STR_ARG(bt_key_namespace(sync->key)));
	struct bt_arena scratch = {0};
	struct bt_store_walk walk = bt_store_walk_current(
		sync->hub->store, sync->hub->kinds[BT_HUB_PODS]->collection, prefix);
	const struct bt_stored *stored;

	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		const struct bt_indexed_pod *record =
			bt_pod_index_find(sync->hub, bt_stored_key(stored));

		if (record == NULL || (record->label_bits & bits) != bits) {
			continue;
		}
		const struct bt_json_value *pod = bt_api_parse_stored(stored, &scratch);
		if (bt_tree_matches(
			    &scratch, selector, bt_json_object_at(pod, "metadata.labels"))) {
			visit(context, record, pod);
		}
		bt_arena_reset(&scratch);
	}
	bt_store_walk_end(&walk);
	bt_arena_finish(&scratch);
}
