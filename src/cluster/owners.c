/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/owners.h"

#include "cluster/pod_index.h"
#include "cluster/tree.h"

static void enqueue(void *context, struct bt_str key)
{
	bt_hub_enqueue(context, key);
}

static void enqueue_owner(
	struct bt_hub *hub, struct bt_str key, const struct bt_json_value *owner, const char *kind)
{
	struct bt_str namespace_ = bt_key_namespace(key);
	struct bt_str name = bt_json_text_at(owner, "name");
	struct bt_strbuf owner_key = {0};

	if (name.length == 0 || name.length > BT_STORE_KEY_BYTES_MAX ||
		!bt_str_equal_c(bt_json_text_at(owner, "kind"), kind)) {
		return;
	}
	bt_strbuf_append_str(&owner_key, namespace_);
	bt_strbuf_append_char(&owner_key, '/');
	bt_strbuf_append_str(&owner_key, name);
	bt_hub_enqueue(hub, bt_strbuf_str(&owner_key));
	bt_strbuf_finish(&owner_key);
}

void bt_owners_enqueue(struct bt_hub *hub, const struct bt_observed *observed, const char *kind,
	const struct bt_selector_table *selectors)
{
	const struct bt_json_value *owner = bt_controller_owner_of(observed->after);

	if (observed->type == BT_CHANGE_MODIFIED) {
		const struct bt_json_value *before = bt_controller_owner_of(observed->before);
		if (!bt_str_equal(bt_json_text_at(before, "uid"), bt_json_text_at(owner, "uid"))) {
			enqueue_owner(hub, observed->key, before, kind);
		}
	}
	if (owner != NULL) {
		enqueue_owner(hub, observed->key, owner, kind);
	} else if (selectors != NULL && observed->type != BT_CHANGE_DELETED) {
		bt_selector_table_match(selectors, bt_key_namespace(observed->key),
			bt_json_object_at(observed->after, "metadata.labels"), enqueue, hub);
	}
}

void bt_owners_observe(struct bt_hub *hub, const struct bt_observed *observed,
	struct bt_selector_table *selectors, bool selector_is_map)
{
	const struct bt_json_value *selector = bt_json_object_at(observed->after, "spec.selector");

	if (observed->type == BT_CHANGE_DELETED) {
		bt_selector_table_remove(selectors, observed->key);
	} else if (observed->type == BT_CHANGE_ADDED ||
		!bt_json_equal(bt_json_object_at(observed->before, "spec.selector"), selector)) {
		bt_selector_table_put(selectors, observed->key, selector, selector_is_map);
	}
	bt_hub_enqueue(hub, observed->key);
}

bool bt_owners_adopt_pods(struct bt_hub *hub, const struct bt_selector_table *selectors,
	struct bt_str key, struct bt_json_value *owner_reference,
	bool (*accepts)(struct bt_str set_name, struct bt_str pod_name), struct bt_arena *arena)
{
	const struct bt_api *api = bt_hub_api(hub);
	const struct bt_api_resource *pods =
		bt_resources_builtin(bt_api_resources(api), "", "pods");
	const struct bt_selector_entry *entry = bt_selector_table_find(selectors, key);
	const struct bt_indexed_pod *record = bt_pod_index_orphans(hub, bt_key_namespace(key));
	bool adopted = false;

	for (; entry != NULL && record != NULL; record = record->next_of_owner) {
		const struct bt_json_value *pod;
		if (!bt_pod_is_active(record) ||
			(record->label_bits & entry->bits) != entry->bits ||
			(accepts != NULL && !accepts(bt_key_name(key), bt_key_name(record->key)))) {
			continue;
		}
		pod = bt_api_read(api, pods, record->key, arena);
		if (pod != NULL && bt_controller_owner_of(pod) == NULL &&
			bt_tree_matches(arena, &entry->selector,
				bt_json_object_at(pod, "metadata.labels"))) {
			adopted = bt_tree_adopt(hub, pods, pod, owner_reference, arena) || adopted;
		}
	}
	return adopted;
}
