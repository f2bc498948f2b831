/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/surroundings.h"

#include "api/defaulting.h"
#include "cli/workload_private.h"
#include "config/text_set.h"

#define NAMESPACE_LABEL "kubernetes.io/metadata.name"
#define DEFAULT_CLASS_ANNOTATION "storageclass.kubernetes.io/is-default-class"
#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

struct loading {
	struct bt_manifests *cluster;
	struct bt_state *state;
	struct bt_str default_class; /* "": none */
	struct bt_arena arena;       /* of one object */
	size_t made_bytes;           /* of objects that are not in the input */
};

static void put(struct loading *loading, enum bt_kind kind, const void *value)
{
	struct bt_object *object = bt_object_create(kind, value);
	loading->made_bytes += object->arena.total_bytes;
	bt_object_store_put(&loading->state->objects, object);
	bt_arena_reset(&loading->arena);
}

/** Of several default classes the one created last counts. */
static struct bt_str find_default_class(const struct bt_manifests *cluster)
{
	const struct bt_object_meta *best = NULL;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_STORAGE_CLASS) {
			continue;
		}
		const struct bt_object_meta *meta = object->object->meta;
		const struct bt_str *text =
			bt_str_map_find(&meta->annotations, BT_STR(DEFAULT_CLASS_ANNOTATION));
		if (text != NULL && bt_str_equal_c(*text, "true") &&
			(best == NULL ||
				bt_time_compare(&meta->creation_timestamp,
					&best->creation_timestamp) > 0)) {
			best = meta;
		}
	}
	return best != NULL ? best->name : BT_STR("");
}

static void default_claim(const struct loading *loading, struct bt_persistent_volume_claim *claim)
{
	if (loading->default_class.length != 0 && claim->spec.storage_class_name.data == NULL &&
		claim->spec.volume_name.length == 0 &&
		bt_str_map_find(&claim->metadata.annotations, BT_STR(CLASS_ANNOTATION)) == NULL) {
		claim->spec.storage_class_name = loading->default_class;
	}
}

static void default_namespace(struct loading *loading, struct bt_namespace *namespace_)
{
	struct bt_str_pair pair = {BT_STR(NAMESPACE_LABEL), namespace_->metadata.name};
	namespace_->metadata.labels =
		bt_labels_with(&namespace_->metadata.labels, &pair, 1, &loading->arena);
}

static void load_object(struct loading *loading, const struct bt_manifests_object *object)
{
	const struct bt_kind_info *info = bt_kind_info(object->kind);
	void *copy = bt_arena_alloc(&loading->arena, info->size);
	memcpy(copy, object->object->value, info->size);
	struct bt_object_meta *meta = copy; /* every kind starts with its metadata */
	meta->name = object->name;
	meta->namespace_ = object->namespace_;
	meta->uid = object->uid;
	if (object->kind == BT_KIND_NAMESPACE) {
		default_namespace(loading, copy);
	} else if (object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
		default_claim(loading, copy);
	} else if (object->kind == BT_KIND_RESOURCE_CLAIM) {
		struct bt_resource_claim *claim = copy;
		bt_device_claim_default(&claim->spec.devices, &loading->arena);
	} else if (object->kind == BT_KIND_STORAGE_CLASS) {
		struct bt_storage_class *class = copy;
		if (class->volume_binding_mode.data == NULL) {
			class->volume_binding_mode = BT_STR("Immediate");
		}
	}
	put(loading, object->kind, copy);
}

static void load_claims(struct loading *loading, const struct bt_workload_pod *entry)
{
	const struct bt_manifests_object *owner = &loading->cluster->objects.items[entry->owner];
	if (owner->kind != BT_KIND_STATEFUL_SET) {
		return;
	}
	const struct bt_stateful_set *set = bt_object_value(owner->object, BT_KIND_STATEFUL_SET);
	for (uint32_t i = 0; i < set->spec.volume_claim_templates.count; i++) {
		struct bt_persistent_volume_claim claim = set->spec.volume_claim_templates.items[i];
		claim.metadata.name = bt_arena_printf(&loading->arena, "%.*s-%.*s",
			BT_STR_ARG(claim.metadata.name), BT_STR_ARG(entry->pod->metadata.name));
		claim.metadata.namespace_ = owner->namespace_;
		if (bt_manifests_find(loading->cluster, BT_KIND_PERSISTENT_VOLUME_CLAIM,
			    owner->namespace_, claim.metadata.name) != BT_MANIFESTS_NONE) {
			continue;
		}
		claim.metadata.uid = bt_manifests_make_uid(loading->cluster);
		default_claim(loading, &claim);
		put(loading, BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim);
	}
}

static void load_namespace(struct loading *loading, struct bt_text_set *seen, struct bt_str name)
{
	if (!bt_text_set_add(seen, name) ||
		bt_manifests_find(loading->cluster, BT_KIND_NAMESPACE, BT_STR(""), name) !=
			BT_MANIFESTS_NONE) {
		return;
	}
	struct bt_namespace namespace_ = {.metadata.name = name};
	namespace_.metadata.uid = bt_manifests_make_uid(loading->cluster);
	default_namespace(loading, &namespace_);
	put(loading, BT_KIND_NAMESPACE, &namespace_);
}

static int load_all_claims(
	struct loading *loading, const struct bt_expansion *expansion, struct berth_error *err)
{
	loading->made_bytes = 0;
	for (uint32_t i = 0; i < expansion->pods.count; i++) {
		load_claims(loading, &expansion->pods.items[i]);
		if (loading->made_bytes > BT_WORKLOAD_BYTES_MAX) {
			return bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"the claims of StatefulSets take more than %zu bytes",
				BT_WORKLOAD_BYTES_MAX);
		}
	}
	return 0;
}

int bt_surroundings_load(struct bt_manifests *cluster, const struct bt_expansion *expansion,
	struct bt_state *state, struct berth_error *err)
{
	struct loading loading = {
		.cluster = cluster, .state = state, .default_class = find_default_class(cluster)};
	struct bt_text_set namespaces = {0};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_POD && object->kind != BT_KIND_NODE) {
			load_object(&loading, object);
		}
		if (object->namespace_.length != 0) {
			load_namespace(&loading, &namespaces, object->namespace_);
		}
	}
	for (uint32_t i = 0; i < expansion->replica_sets.count; i++) {
		put(&loading, BT_KIND_REPLICA_SET, expansion->replica_sets.items[i]);
	}
	int result = load_all_claims(&loading, expansion, err);
	bt_text_set_finish(&namespaces);
	bt_arena_finish(&loading.arena);
	return result;
}
