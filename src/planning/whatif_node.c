/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of nodes: add, remove, cordon, taint, label. */
#include "api/identity.h"
#include "api/storage.h"
#include "api/types.h"
#include "planning/reference.h"
#include "planning/whatif_private.h"

static const struct bt_resource_slice *slice_at(const struct bt_whatif *whatif, uint32_t index)
{
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	return object->kind == BT_KIND_RESOURCE_SLICE
		? bt_object_value(object->object, BT_KIND_RESOURCE_SLICE)
		: NULL;
}

/** Objects of an existing node that are copied for each new node like it, as indexes. */
struct copied {
	BT_VEC(uint32_t) slices;
	/**
	 * Pods whose DaemonSets are not in the input. DaemonSets of the input create their own pods
	 * on the new node.
	 */
	BT_VEC(uint32_t) daemon_pods;
};

/** Adds copies of the slices for a new node, in pools of the new node. */
static int add_slices(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	const struct copied *copied, struct bt_str node_name, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < copied->slices.count && result == 0; i++) {
		const struct bt_resource_slice *model = slice_at(whatif, copied->slices.items[i]);
		struct bt_resource_slice slice = *model;
		struct bt_str name = bt_arena_printf(&whatif->arena, "%.*s-%.*s",
			BT_STR_ARG(model->metadata.name), BT_STR_ARG(node_name));
		while (bt_manifests_find(&whatif->work, BT_KIND_RESOURCE_SLICE, BT_STR(""), name) !=
			BT_MANIFESTS_NONE) {
			name = bt_arena_printf(&whatif->arena, "%.*s-", BT_STR_ARG(name));
		}
		slice.metadata =
			(struct bt_object_meta){.name = name, .labels = model->metadata.labels};
		slice.spec.node_name = node_name;
		/*
		 * Drivers name a node's pool after the node; any other name is made unique with the
		 * node's name.
		 */
		slice.spec.pool.name = bt_str_equal(model->spec.pool.name, model->spec.node_name)
			? node_name
			: bt_arena_printf(&whatif->arena, "%.*s-%.*s",
				  BT_STR_ARG(model->spec.pool.name), BT_STR_ARG(node_name));
		result = bt_whatif_put(whatif, change, BT_KIND_RESOURCE_SLICE, &slice, err);
	}
	return result;
}

#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"
#define LABEL_HOSTNAME "kubernetes.io/hostname"

/** --- selecting nodes --- */

static int select_nodes(const struct bt_whatif *whatif, const struct bt_whatif_change *change,
	bool *selected, struct berth_error *err)
{
	if (bt_node_reference_of(change->target) == BT_NODE_NAME) {
		uint32_t index =
			bt_manifests_find(&whatif->work, BT_KIND_NODE, BT_STR(""), change->target);
		if (index == BT_MANIFESTS_NONE) {
			return bt_whatif_unknown(
				whatif, BT_KIND_NODE, BT_STR(""), change->target, err);
		}
		if (whatif->marks.items[index].is_deleted) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"an earlier --remove takes the node away: changes apply in the "
				"order they "
				"are given");
		}
		if (change->kind == BT_WHATIF_DRAIN && whatif->marks.items[index].drained) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"an earlier --drain empties the node already");
		}
		selected[index] = true;
		return 0;
	}
	int64_t count = bt_node_reference_match(
		&whatif->work, change->target, bt_whatif_is_there, whatif, selected, err);
	if (count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no node matches");
	}
	return count < 0 ? (int)count : 0;
}

/** --- one node --- */

static bool is_taint(const struct bt_taint *taint, struct bt_str key, struct bt_str effect)
{
	return bt_str_equal(taint->key, key) &&
		(effect.length == 0 || bt_str_equal(taint->effect, effect));
}

/** Removes the taints with this key and effect; effect "": all taints with this key. */
static void remove_taints(
	struct bt_node *node, struct bt_str key, struct bt_str effect, struct bt_arena *arena)
{
	uint32_t count = 0;
	struct bt_taint *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_taint, (size_t)node->spec.taints.count + 1);
	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		if (!is_taint(&node->spec.taints.items[i], key, effect)) {
			items[count++] = node->spec.taints.items[i];
		}
	}
	node->spec.taints.items = items;
	node->spec.taints.count = count;
	node->spec.taints.present = count != 0;
}

/**
 * Sets the taint like kubectl taint --overwrite: a taint with the same key and effect gets the new
 * value.
 */
static void set_taint(
	struct bt_node *node, const struct bt_whatif_change *change, struct bt_arena *arena)
{
	struct bt_taint taint = {
		.key = change->key, .value = change->value, .effect = change->effect};
	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		const struct bt_taint *old = &node->spec.taints.items[i];
		if (is_taint(old, change->key, change->effect) &&
			bt_str_equal(old->value, change->value)) {
			return;
		}
	}
	remove_taints(node, change->key, change->effect, arena);
	node->spec.taints.items[node->spec.taints.count++] = taint;
	node->spec.taints.present = true;
}

/** --- editing nodes --- */

/**
 * Applies the change to the selected nodes. Returns a number above 0 if the change had an effect on
 * some node, else 0.
 */
static uint32_t edit_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, const bool *selected)
{
	uint32_t changed = 0;
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		if (!selected[i]) {
			continue;
		}
		const struct bt_node *old =
			bt_object_value(whatif->work.objects.items[i].object, BT_KIND_NODE);
		struct bt_node node = *old;
		struct bt_arena *arena = &whatif->arena;
		switch (change->kind) {
		case BT_WHATIF_DRAIN:
		case BT_WHATIF_CORDON:
			node.spec.unschedulable = true;
			break;
		case BT_WHATIF_UNCORDON:
			node.spec.unschedulable = false;
			remove_taints(&node, BT_STR(TAINT_UNSCHEDULABLE), BT_STR(""), arena);
			break;
		case BT_WHATIF_TAINT:
			if (change->removes) {
				remove_taints(&node, change->key, change->effect, arena);
			} else {
				set_taint(&node, change, arena);
			}
			break;
		case BT_WHATIF_LABEL:
			node.metadata.labels = bt_str_map_set(&node.metadata.labels, change->key,
				change->removes ? NULL : &change->value, arena);
			break;
		case BT_WHATIF_REMOVE:
		case BT_WHATIF_ADD:
		case BT_WHATIF_SCALE:
		case BT_WHATIF_WITH:
		case BT_WHATIF__COUNT:
			break;
		}
		if (!bt_message_equal(&bt_node_message, old, &node)) {
			bt_manifests_exchange(
				&whatif->work, i, bt_object_create(BT_KIND_NODE, &node));
			changed++;
		}
		if (change->kind == BT_WHATIF_DRAIN) {
			changed += !whatif->marks.items[i].drained;
			whatif->marks.items[i].drained = true;
		}
		if (change->kind == BT_WHATIF_UNCORDON) {
			whatif->marks.items[i].drained = false;
		}
	}
	return changed;
}

int bt_whatif_change_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	uint32_t count = whatif->work.objects.count;
	bool *selected = BT_NEW_ARRAY(bool, count);
	/* The selected nodes before the change, to find new taints; owned references. */
	struct bt_object **old_nodes = BT_NEW_ARRAY(struct bt_object *, count);
	int result = select_nodes(whatif, change, selected, err);
	for (uint32_t i = 0; i < count; i++) {
		old_nodes[i] =
			selected[i] ? bt_object_share(whatif->work.objects.items[i].object) : NULL;
	}
	if (result < 0) {
		/* Nothing is changed. */
	} else if (change->kind == BT_WHATIF_REMOVE) {
		for (uint32_t i = 0; i < count; i++) {
			if (selected[i]) {
				whatif->marks.items[i].is_deleted = true;
			}
		}
		bt_whatif_remove_pods(whatif, selected);
	} else if (edit_nodes(whatif, change, selected) == 0) {
		bt_manifests_warn(&whatif->work,
			"--%c %p changes nothing: the nodes are in this state already",
			bt_whatif_kind_name(change->kind), bt_str_from(change->text));
	} else if (change->kind == BT_WHATIF_DRAIN) {
		result = bt_whatif_drain_pods(whatif, selected, err);
	} else if (change->kind == BT_WHATIF_TAINT) {
		bt_whatif_evict_intolerant(whatif, (const struct bt_object *const *)old_nodes);
	} else if (change->kind == BT_WHATIF_LABEL) {
		bt_whatif_evict_unselected(whatif, selected);
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_object_release(old_nodes[i]);
	}
	bt_free(old_nodes);
	bt_free(selected);
	return result;
}

/** --- new nodes --- */

/**
 * Returns a copy of the model node as a new node: schedulable, without images, and without taints
 * whose key begins with node.kubernetes.io/, because such taints report problems of the model node.
 */
static struct bt_node fresh_node(
	const struct bt_node *model, struct bt_str name, struct bt_arena *arena)
{
	struct bt_node node = *model;
	node.metadata.name = name;
	node.metadata.uid = BT_STR("");
	node.metadata.generate_name = BT_STR("");
	node.metadata.creation_timestamp = (struct bt_time){0};
	node.spec.unschedulable = false;
	node.status.images.count = 0;
	node.spec.taints.items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_taint, (size_t)model->spec.taints.count + 1);
	node.spec.taints.count = 0;
	for (uint32_t i = 0; i < model->spec.taints.count; i++) {
		if (!bt_str_has_prefix(
			    model->spec.taints.items[i].key, BT_STR("node.kubernetes.io/"))) {
			node.spec.taints.items[node.spec.taints.count++] =
				model->spec.taints.items[i];
		}
	}
	if (bt_str_map_find(&node.metadata.labels, BT_STR(LABEL_HOSTNAME)) != NULL) {
		node.metadata.labels =
			bt_str_map_set(&node.metadata.labels, BT_STR(LABEL_HOSTNAME), &name, arena);
	}
	return node;
}

/**
 * Copies the model's CSINode, which has the volume limits of each driver, for the new node. Does
 * nothing if the model has no CSINode or the new node has one.
 */
static int add_csi_node(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	struct bt_str name, struct berth_error *err)
{
	uint32_t index =
		bt_manifests_find(&whatif->work, BT_KIND_CSI_NODE, BT_STR(""), change->target);
	if (index == BT_MANIFESTS_NONE ||
		bt_manifests_find(&whatif->work, BT_KIND_CSI_NODE, BT_STR(""), name) !=
			BT_MANIFESTS_NONE) {
		return 0;
	}
	struct bt_csi_node copy = *(const struct bt_csi_node *)bt_object_value(
		whatif->work.objects.items[index].object, BT_KIND_CSI_NODE);
	copy.metadata.name = name;
	copy.metadata.uid = BT_STR("");
	return bt_whatif_put(whatif, change, BT_KIND_CSI_NODE, &copy, err);
}

static int add_daemon_pods(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	const struct copied *copied, struct bt_str node_name, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < copied->daemon_pods.count && result == 0; i++) {
		const struct bt_manifests_object *object =
			&whatif->work.objects.items[copied->daemon_pods.items[i]];
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		struct bt_pod copy = bt_pod_recreated(pod);
		struct bt_str namespace_ = object->namespace_;
		copy.metadata.name = bt_arena_printf(&whatif->arena, "%.*s-%.*s",
			BT_STR_ARG(bt_object_controller(&pod->metadata)->name),
			BT_STR_ARG(node_name));
		copy.metadata.namespace_ = namespace_;
		copy.metadata.uid = BT_STR("");
		copy.spec.node_name = node_name;
		if (bt_manifests_find(&whatif->work, BT_KIND_POD, namespace_, copy.metadata.name) ==
			BT_MANIFESTS_NONE) {
			result = bt_whatif_put(whatif, change, BT_KIND_POD, &copy, err);
		}
	}
	return result;
}

int bt_whatif_add_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	uint32_t index = bt_manifests_find(&whatif->work, BT_KIND_NODE, BT_STR(""), change->target);
	if (index == BT_MANIFESTS_NONE) {
		return bt_whatif_unknown(whatif, BT_KIND_NODE, BT_STR(""), change->target, err);
	}
	/* Adding objects may move the array, but not the objects. */
	const struct bt_node *model =
		bt_object_value(whatif->work.objects.items[index].object, BT_KIND_NODE);
	struct copied copied = {0};
	int64_t number = 1;
	int result = 0;
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_manifests_object *object = &whatif->work.objects.items[i];
		const struct bt_resource_slice *slice = slice_at(whatif, i);
		if (slice != NULL && bt_str_equal(slice->spec.node_name, change->target)) {
			bt_vec_push(&copied.slices, i);
		}
		if (object->kind != BT_KIND_POD ||
			whatif->marks.items[i].departure == BT_DEPARTURE_TAINTED) {
			continue;
		}
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		if (bt_pod_is_terminal(pod) || bt_pod_is_terminating(pod) ||
			!bt_str_equal(pod->spec.node_name, change->target) ||
			bt_pod_keeper_of(pod) != BT_KEEPER_DAEMON_SET ||
			bt_whatif_find(whatif, BT_KIND_DAEMON_SET, object->namespace_,
				bt_object_controller(&pod->metadata)->name) != BT_MANIFESTS_NONE) {
			continue;
		}
		bt_vec_push(&copied.daemon_pods, i);
	}
	for (int64_t i = 0; i < change->count && result == 0; i++) {
		struct bt_str name;
		do {
			name = bt_arena_printf(&whatif->arena, "%.*s-%lld",
				BT_STR_ARG(change->target), (long long)number++);
		} while (bt_manifests_find(&whatif->work, BT_KIND_NODE, BT_STR(""), name) !=
			BT_MANIFESTS_NONE);
		struct bt_node node = fresh_node(model, name, &whatif->arena);
		result = bt_whatif_put(whatif, change, BT_KIND_NODE, &node, err);
		if (result == 0) {
			result = add_csi_node(whatif, change, name, err);
		}
		if (result == 0) {
			result = add_daemon_pods(whatif, change, &copied, name, err);
		}
		if (result == 0) {
			result = add_slices(whatif, change, &copied, name, err);
		}
	}
	bt_vec_finish(&copied.slices);
	bt_vec_finish(&copied.daemon_pods);
	return result;
}
