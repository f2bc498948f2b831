/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/workload.h"

#include "api/identity.h"

/** --- existing pods and ReplicaSets --- */

/**
 * Returns false if the owner reference names an earlier object with the owner's name but another
 * uid.
 */
static bool is_same_owner(
	const struct bt_manifests_object *owner, const struct bt_manifests_object *owned)
{
	const struct bt_owner_reference *reference = bt_object_controller(owned->object->meta);
	if (reference == NULL || !bt_str_equal(reference->name, owner->name)) {
		/* A Deployment's pod whose ReplicaSet is not in the input has no uid to compare. */
		return true;
	}
	return !owner->uid_is_given || reference->uid.length == 0 ||
		bt_str_equal(reference->uid, owner->uid);
}

uint32_t bt_expansion_next_owned(
	const struct bt_expansion *expansion, uint32_t owner_index, uint32_t at, bool first)
{
	const struct bt_manifests *cluster = expansion->cluster;
	const struct bt_manifests_object *owner = &cluster->objects.items[owner_index];
	uint32_t index = first ? bt_manifests_first_owned(cluster, owner->namespace_,
					 bt_str_from(bt_kind_info(owner->kind)->name), owner->name)
			       : cluster->objects.items[at].next_owned;
	while (index != BT_MANIFESTS_NONE &&
		!is_same_owner(owner, &cluster->objects.items[index])) {
		index = cluster->objects.items[index].next_owned;
	}
	return index;
}

const struct bt_pod *bt_expansion_pod_at(const struct bt_expansion *expansion, uint32_t index)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[index];
	return object->kind == BT_KIND_POD ? bt_object_value(object->object, BT_KIND_POD) : NULL;
}

bool bt_pod_is_active(const struct bt_pod *pod)
{
	return !bt_pod_is_terminal(pod) && !bt_pod_is_terminating(pod);
}

/**
 * Returns the revision number that the deployment controller has set, or 0. After a rollback, the
 * old ReplicaSet has the highest number.
 */
static int64_t revision_of(const struct bt_object_meta *meta)
{
	const struct bt_str *text =
		bt_str_map_find(&meta->annotations, BT_STR("deployment.kubernetes.io/revision"));
	int64_t revision;
	return text != NULL && bt_str_parse_int64(*text, &revision) ? revision : 0;
}

static bool is_newer(const struct bt_object_meta *a, const struct bt_object_meta *b)
{
	int64_t revision_a = revision_of(a);
	int64_t revision_b = revision_of(b);
	return revision_a != revision_b
		? revision_a > revision_b
		: bt_time_compare(&a->creation_timestamp, &b->creation_timestamp) >= 0;
}

uint32_t bt_expansion_newest_set(const struct bt_expansion *expansion, uint32_t owner)
{
	const struct bt_manifests_object *objects = expansion->cluster->objects.items;
	uint32_t newest = BT_MANIFESTS_NONE;
	BT_FOR_EACH_OWNED(expansion, owner, index)
	{
		if (objects[index].kind == BT_KIND_REPLICA_SET &&
			(newest == BT_MANIFESTS_NONE ||
				is_newer(objects[index].object->meta,
					objects[newest].object->meta))) {
			newest = index;
		}
	}
	return newest;
}
