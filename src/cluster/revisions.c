/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/revisions.h"

#include <stdlib.h>

#include "cluster/owners.h"

void bt_revisions_observe(struct bt_groups *owned, struct bt_hub *hub,
	const struct bt_observed *observed, const char *kind)
{
	bt_owners_group(owned, observed);
	if (observed->owner != NULL) {
		bt_hub_enqueue_owner(hub, observed->key, observed->owner, kind);
	}
}

static struct bt_revision revision_of(const struct bt_json_value *object, const char *hash_label)
{
	return (struct bt_revision){
		.order = {bt_json_int64_at(object, "revision", 0),
			bt_json_text_at(object, "metadata.name")},
		.object = object,
		.hash = bt_tree_label(object, hash_label),
	};
}

/**
 * Creates a revision of the template, or adopts an equal revision without owner. Returns NULL if
 * the sync must be tried again.
 */
static const struct bt_json_value *make_revision(struct bt_sync *sync, const char *hash_label,
	struct bt_json_value *data, int64_t number, int64_t *collision_count)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	struct bt_str hash = bt_tree_template_hash(
		arena, bt_json_object_at(sync->object, "spec.template"), NULL, *collision_count);
	struct bt_str name = bt_arena_printf(arena, "%.*s-%.*s",
		BT_STR_ARG(bt_str_sub(bt_key_name(sync->key), 0, 52)), BT_STR_ARG(hash));
	struct bt_str key = bt_api_key(arena, namespace_, name);
	struct bt_json_value *labels = bt_json_clone(
		arena, bt_json_object_at(sync->object, "spec.template.metadata.labels"), false);
	struct bt_json_value *annotations = bt_json_clone(
		arena, bt_json_object_at(sync->object, "metadata.annotations"), false);

	bt_json_set_str(arena, labels, hash_label, hash);
	(void)bt_json_remove_c(annotations, "kubectl.kubernetes.io/last-applied-configuration");
	uint16_t code = bt_hub_create(sync->hub, BT_HUB_REVISIONS, namespace_,
		bt_json_put(arena, NULL,
			"{metadata: {name: %s, labels: %v, annotations: %v, ownerReferences: "
			"[%v]}, "
			"data: %t, revision: %d}",
			name, labels, annotations, bt_sync_owner_reference(sync, arena), data,
			number),
		arena, NULL);
	const struct bt_json_value *found = bt_hub_read(sync->hub, BT_HUB_REVISIONS, key, arena);
	if (code == 201 || found == NULL) {
		return found;
	}
	if (bt_controller_owner_of(found) == NULL &&
		bt_json_equal(bt_json_object_at(found, "data"), data)) {
		(void)bt_tree_adopt(sync, BT_HUB_REVISIONS, found, NULL);
		return found;
	}
	/* The name is taken: use another hash in the next sync. */
	(*collision_count)++;
	return NULL;
}

bool bt_revisions_read(struct bt_sync *sync, const struct bt_groups *owned, const char *hash_label,
	struct bt_revisions *out_revisions)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str uid = bt_json_text_at(sync->object, "metadata.uid");
	/* Revisions store a strategic merge patch that restores the template. */
	struct bt_json_value *data = bt_json_put(arena, NULL, "{spec: {template: %v}}",
		bt_json_put(arena,
			bt_json_clone(
				arena, bt_json_object_at(sync->object, "spec.template"), false),
			"{$patch: 'replace'}"));
	struct bt_revisions revisions = {
		.update = UINT32_MAX,
		.collision_count = bt_json_int64_at(sync->object, "status.collisionCount", 0),
	};
	uint32_t count;
	struct bt_json_value **objects =
		bt_sync_read_group(sync, BT_HUB_REVISIONS, owned, uid, &count);
	int64_t number = 1;

	revisions.items = BT_ARENA_NEW_ARRAY(arena, struct bt_revision, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		if (!bt_tree_is_deleting(objects[i])) {
			revisions.items[revisions.count++] = revision_of(objects[i], hash_label);
		}
	}
	qsort(revisions.items, revisions.count, sizeof(*revisions.items), bt_tree_compare_ordered);
	for (uint32_t i = 0; i < revisions.count; i++) {
		struct bt_revision *revision = &revisions.items[i];

		number =
			revision->order.number < INT64_MAX ? revision->order.number + 1 : INT64_MAX;
		if (bt_json_equal(bt_json_object_at(revision->object, "data"), data)) {
			revisions.update = i;
		}
	}
	if (revisions.update == UINT32_MAX) {
		const struct bt_json_value *made =
			make_revision(sync, hash_label, data, number, &revisions.collision_count);

		if (made == NULL) {
			bt_sync_write_status(sync,
				bt_json_put(arena, NULL, "{collisionCount: %d}",
					revisions.collision_count));
			return false;
		}
		revisions.update = revisions.count;
		revisions.items[revisions.count++] = revision_of(made, hash_label);
	} else if (revisions.update != revisions.count - 1) {
		/* The template equals an older revision: give that revision the highest number. */
		struct bt_str key = bt_api_key(arena, bt_key_namespace(sync->key),
			revisions.items[revisions.update].order.name);

		if (bt_sync_patch(sync, BT_HUB_REVISIONS, key,
			    bt_json_put(arena, NULL, "{revision: %d}", number)) != 200) {
			return false;
		}
		revisions.items[revisions.update].order.number = number;
	}
	*out_revisions = revisions;
	return true;
}

struct bt_json_value *bt_revision_template(
	struct bt_arena *arena, const struct bt_revision *revision)
{
	struct bt_json_value *template_ = bt_json_clone(
		arena, bt_json_object_at(revision->object, "data.spec.template"), false);

	(void)bt_json_remove_c(template_, "$patch");
	return template_;
}

void bt_revisions_clean_up(struct bt_sync *sync, const struct bt_revisions *revisions)
{
	int64_t limit = bt_json_int64_at(sync->object, "spec.revisionHistoryLimit", 10);
	int64_t unused = 0;

	for (uint32_t i = 0; i < revisions->count; i++) {
		unused += !revisions->items[i].is_used && i != revisions->update;
	}
	for (uint32_t i = 0; i < revisions->count && unused > limit; i++) {
		if (revisions->items[i].is_used || i == revisions->update) {
			continue;
		}
		unused--;
		struct bt_str key = bt_api_key(
			sync->arena, bt_key_namespace(sync->key), revisions->items[i].order.name);

		(void)bt_sync_delete(sync, BT_HUB_REVISIONS, key,
			bt_json_text_at(revisions->items[i].object, "metadata.uid"));
	}
}
