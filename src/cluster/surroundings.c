/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaulting.h"
#include "api/storage.h"
#include "api/types.h"
#include "base/text_set.h"
#include "cluster/simulation.h"

#define NAMESPACE_LABEL "kubernetes.io/metadata.name"
#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

struct loading {
	struct bt_manifests *cluster;
	struct bt_state *state;
	struct bt_str default_class; /* "": none */
	struct bt_arena arena;       /* of one object */
};

static void add_object(struct loading *loading, enum bt_kind kind, const void *value)
{
	struct bt_object *object = bt_object_create(kind, value);
	bt_object_store_put(&loading->state->objects, object);
	bt_arena_reset(&loading->arena);
}

/** Returns the name of the default StorageClass; "": there is none. */
static struct bt_str find_default_class(const struct bt_manifests *cluster)
{
	struct bt_default_class best = {.name = BT_STR_INIT("")};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_STORAGE_CLASS) {
			continue;
		}
		const struct bt_object_meta *meta = object->object->meta;
		const struct bt_str *mark =
			bt_str_map_find(&meta->annotations, BT_STR(BT_DEFAULT_CLASS));
		if (mark != NULL) {
			bt_default_class_offer(&best, meta->name, *mark, &meta->creation_timestamp);
		}
	}
	return best.name;
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
	struct bt_str_map *labels = &namespace_->metadata.labels;
	*labels = bt_str_map_set(
		labels, BT_STR(NAMESPACE_LABEL), &namespace_->metadata.name, &loading->arena);
}

void bt_surroundings_load(
	struct bt_manifests *cluster, const struct bt_expansion *expansion, struct bt_state *state)
{
	struct loading loading = {
		.cluster = cluster, .state = state, .default_class = find_default_class(cluster)};
	struct bt_text_set namespaces = {0};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_POD && object->kind != BT_KIND_NODE) {
			void *copy = bt_object_copy_value(object->object, &loading.arena);
			struct bt_object_meta *meta = copy;
			meta->name = object->name;
			meta->namespace_ = object->namespace_;
			meta->uid = object->uid;
			if (object->kind == BT_KIND_NAMESPACE) {
				default_namespace(&loading, copy);
			} else if (object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
				default_claim(&loading, copy);
			} else if (object->kind == BT_KIND_RESOURCE_CLAIM) {
				struct bt_resource_claim *claim = copy;
				bt_device_claim_default(&claim->spec.devices, &loading.arena);
			} else if (object->kind == BT_KIND_STORAGE_CLASS) {
				struct bt_storage_class *class = copy;
				if (class->volume_binding_mode.data == NULL) {
					class->volume_binding_mode = BT_STR("Immediate");
				}
			}
			add_object(&loading, object->kind, copy);
		}
		if (object->namespace_.length != 0) {
			struct bt_str name = object->namespace_;
			if (bt_text_set_add(&namespaces, name) &&
				bt_manifests_find(loading.cluster, BT_KIND_NAMESPACE, BT_STR(""),
					name) == BT_MANIFESTS_NONE) {
				struct bt_namespace namespace_ = {.metadata.name = name};
				namespace_.metadata.uid = bt_manifests_make_uid(loading.cluster);
				default_namespace(&loading, &namespace_);
				add_object(&loading, BT_KIND_NAMESPACE, &namespace_);
			}
		}
	}
	for (uint32_t i = 0; i < expansion->made.count; i++) {
		const struct bt_object *object = expansion->made.items[i];
		if (object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
			struct bt_persistent_volume_claim claim =
				*(const struct bt_persistent_volume_claim *)object->value;
			default_claim(&loading, &claim);
			add_object(&loading, object->kind, &claim);
		} else {
			add_object(&loading, object->kind, object->value);
		}
	}
	bt_text_set_finish(&namespaces);
	bt_arena_finish(&loading.arena);
}
