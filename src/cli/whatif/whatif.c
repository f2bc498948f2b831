/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "cli/pod_claims.h"
#include "cluster/printable.h"
#include "cli/whatif/whatif_private.h"

const char *bt_departure_name(enum bt_departure departure)
{
	switch (departure) {
	case BT_DEPARTURE_NONE:
		break;
	case BT_DEPARTURE_DRAINED:
		return "its node is drained";
	case BT_DEPARTURE_NODE_REMOVED:
		return "its node is removed";
	case BT_DEPARTURE_TAINTED:
		return "it does not tolerate a taint of its node";
	case BT_DEPARTURE_UNSELECTED:
		return "its DaemonSet does not select its node any more";
	case BT_DEPARTURE_SCALED_DOWN:
		return "its workload is scaled down";
	case BT_DEPARTURE_REPLACED:
		return "its workload has another template";
	case BT_DEPARTURE_TERMINATING:
		return "it was being deleted";
	}
	return "";
}

void bt_whatif_init(struct bt_whatif *whatif, const struct bt_manifests *base)
{
	*whatif = (struct bt_whatif){.base = base};
	bt_arena_init(&whatif->arena, 0);
	bt_manifests_init(&whatif->work);
	bt_manifests_copy(base, NULL, &whatif->work);
	bt_whatif_sync_marks(whatif);
	bt_whatif_budgets_init(whatif);
}

void bt_whatif_finish(struct bt_whatif *whatif)
{
	bt_manifests_finish(&whatif->work);
	bt_vec_finish(&whatif->marks);
	bt_whatif_budgets_finish(whatif);
	bt_arena_finish(&whatif->arena);
}

void bt_whatif_sync_marks(struct bt_whatif *whatif)
{
	while (whatif->marks.count < whatif->work.objects.count) {
		bt_vec_push(&whatif->marks, (struct bt_whatif_mark){0});
	}
}

void bt_whatif_result(const struct bt_whatif *whatif, struct bt_manifests *out_cluster)
{
	bool *gone = BT_NEW_ARRAY(bool, whatif->marks.count);
	for (uint32_t i = 0; i < whatif->marks.count; i++) {
		gone[i] = whatif->marks.items[i].gone;
	}
	bt_whatif_drop_slices(whatif, gone);
	bt_manifests_copy(&whatif->work, gone, out_cluster);
	bt_whatif_release_claims(whatif, out_cluster);
	bt_free(gone);
}

/** --- pods --- */

enum bt_pod_keeper bt_pod_keeper_of(const struct bt_pod *pod)
{
	const struct bt_owner_reference *controller = bt_object_controller(&pod->metadata);
	if (bt_str_map_find(&pod->metadata.annotations, BT_STR("kubernetes.io/config.mirror")) !=
		NULL) {
		return BT_KEEPER_NODE;
	}
	if (controller == NULL) {
		return BT_KEEPER_NOBODY;
	}
	if (bt_str_equal_c(controller->kind, "Node")) {
		return BT_KEEPER_NODE;
	}
	return bt_str_equal_c(controller->kind, "DaemonSet") ? BT_KEEPER_DAEMON_SET
							     : BT_KEEPER_CONTROLLER;
}

struct bt_pod bt_pod_recreated(const struct bt_pod *pod)
{
	struct bt_pod copy = *pod;
	copy.metadata.creation_timestamp = (struct bt_time){0};
	copy.spec.node_name = BT_STR("");
	copy.status = (struct bt_pod_status){0};
	return copy;
}

const struct bt_pod *bt_whatif_running_pod(const struct bt_whatif *whatif, uint32_t index)
{
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	if (object->kind != BT_KIND_POD || whatif->marks.items[index].gone) {
		return NULL;
	}
	const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
	return bt_pod_is_assigned(pod) && !bt_pod_is_terminal(pod) ? pod : NULL;
}

void bt_whatif_unplace(struct bt_manifests *cluster)
{
	struct bt_text_set uids = {0};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_POD) {
			continue;
		}
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
		if (!bt_pod_is_assigned(pod) || bt_pod_is_terminal(pod) ||
			bt_pod_is_terminating(pod) || keeper == BT_KEEPER_DAEMON_SET ||
			keeper == BT_KEEPER_NODE) {
			continue;
		}
		struct bt_pod copy = bt_pod_recreated(pod);
		copy.metadata.creation_timestamp = pod->metadata.creation_timestamp;
		bt_manifests_exchange(cluster, i, bt_object_create(BT_KIND_POD, &copy));
		(void)bt_text_set_add(
			&uids, cluster->objects.items[i].uid); /* all have their own */
	}
	bt_pod_claims_release_all(cluster, &uids);
	bt_text_set_finish(&uids);
}

void bt_whatif_expand_daemon_sets(struct bt_manifests *cluster)
{
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		if (cluster->objects.items[i].kind == BT_KIND_DAEMON_SET) {
			cluster->objects.items[i].pods_exist = false;
		}
	}
}

/** --- objects by name --- */

uint32_t bt_whatif_find(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name)
{
	uint32_t index = bt_manifests_find(&whatif->work, kind, namespace_, name);
	return index != BT_MANIFESTS_NONE && !whatif->marks.items[index].gone ? index
									      : BT_MANIFESTS_NONE;
}

bool bt_whatif_is_there(const void *context, uint32_t index)
{
	const struct bt_whatif *whatif = context;
	return !whatif->marks.items[index].gone;
}

int bt_whatif_unknown(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err)
{
	const char *kind_name = bt_kind_info(kind)->name;
	struct bt_arena arena = {0};
	struct bt_strbuf meant = {0};
	uint32_t count;
	const char *near = bt_manifests_suggest(
		&whatif->work, kind, &namespace_, name, bt_whatif_is_there, whatif, &arena, &count);
	int result;
	if (near != NULL) {
		bt_printable_append(&meant, bt_str_from(near));
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"no such %s is in the input; did you mean %s?", kind_name,
			bt_strbuf_c(&meant));
	} else if (count == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"there is no %s in the input: add the output of \"kubectl get %s -A -o "
			"yaml\" with -f",
			kind_name, bt_kind_info(kind)->resource);
	} else {
		result = bt_error_set(
			err, BERTH_ERR_INVALID, "no such %s is in the input", kind_name);
	}
	bt_strbuf_finish(&meant);
	bt_arena_finish(&arena);
	return result;
}

int bt_whatif_put(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	enum bt_kind kind, const void *value, struct berth_error *err)
{
	uint32_t index;
	struct bt_strbuf source = {0};
	bt_strbuf_printf(&source, "--%s %s", bt_whatif_kind_name(change->kind), change->text);
	int result = bt_manifests_put(
		&whatif->work, bt_strbuf_c(&source), bt_object_create(kind, value), &index, err);
	bt_strbuf_finish(&source);
	bt_whatif_sync_marks(whatif);
	if (result == 0) {
		whatif->marks.items[index].is_added = true;
	}
	return result;
}

/** --- changes --- */

static int apply(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	switch (change->kind) {
	case BT_WHATIF_ADD:
		return bt_whatif_add_nodes(whatif, change, err);
	case BT_WHATIF_SCALE:
		return bt_whatif_scale(whatif, change, err);
	case BT_WHATIF_WITH:
		return bt_whatif_with(whatif, change, err);
	case BT_WHATIF_DRAIN:
	case BT_WHATIF_REMOVE:
	case BT_WHATIF_CORDON:
	case BT_WHATIF_UNCORDON:
	case BT_WHATIF_TAINT:
	case BT_WHATIF_LABEL:
	case BT_WHATIF__COUNT:
		break;
	}
	return bt_whatif_change_nodes(whatif, change, err);
}

int bt_whatif_apply(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	int result = apply(whatif, change, err);
	if (result < 0 && change->kind != BT_WHATIF_WITH) {
		struct bt_strbuf shown = {0};
		bt_printable_append(&shown, bt_str_from(change->text));
		result = bt_error_wrap(err, result, "--%s %s", bt_whatif_kind_name(change->kind),
			bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
	}
	return result;
}
