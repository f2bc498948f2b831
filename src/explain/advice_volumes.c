/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Advice for the volume plugins: which volumes of the pod are rejected, and which other pods block
 * these volumes and can be removed. A volume's part in the rejection is found by running the plugin
 * for the pod with fewer volumes. Spec: 07, 07b, 05b B9.
 */
#include "explain/advice.h"
#include "plugins/common_plugin.h"
#include "plugins/common_volume.h"

/** Limit of volumes that are tried one by one; pods with more volumes get no advice. */
#define VOLUMES_MAX 32
/** Limit of pods per node that are examined as users of a disk. */
#define HOLDERS_TRIED_MAX 256
/** Limit of pods per node whose removal is tried. */
#define LEAVERS_TRIED_MAX 8
/** Limit of stored pods that use an exclusive claim. */
#define HOLDERS_MAX 4

/** Whether the plugin accepts the pod with only these volumes. */
static bool accepts_volumes(
	const struct bt_advice *advice, struct bt_volume *volumes, uint32_t count)
{
	struct bt_pod pod = *advice->pod->object;
	struct bt_pod_info info;
	bool accepted;

	pod.spec.volumes.items = volumes;
	pod.spec.volumes.count = count;
	bt_pod_info_init_pending(advice->engine->state, &pod, &info);
	accepted = bt_advice_accepts(advice, &info, advice->node);
	bt_pod_info_finish_pending(advice->engine->state, &info);
	return accepted;
}

static void hint_volume(struct bt_advice *advice, const struct bt_volume *volume)
{
	struct bt_volume_claim named;

	if (advice->hint.length != 0) {
		return;
	}
	if (!bt_volume_claim_of(advice->pod, volume, advice->arena, &named)) {
		bt_advice_hint(advice, "volume %s is not accessible from this node", volume->name);
		return;
	}
	const struct bt_persistent_volume_claim *claim =
		bt_find_claim(advice->engine->state, advice->pod->namespace_, named.name);
	struct bt_str class_name =
		claim != NULL ? bt_persistent_volume_claim_class(claim) : BT_STR("");
	const struct bt_storage_class *storage_class = class_name.length != 0
		? bt_find_storage_class(advice->engine->state, class_name)
		: NULL;
	const struct bt_str *selected = claim != NULL ? bt_claim_selected_node(claim) : NULL;

	if (claim == NULL) {
		bt_advice_hint(advice, "PersistentVolumeClaim %s/%s does not exist%c",
			advice->pod->namespace_, named.name, named.ephemeral ? " yet" : "");
	} else if (claim->metadata.deletion_timestamp != NULL) {
		bt_advice_hint(advice, "claim %s is being deleted", named.name);
	} else if (bt_str_equal_c(claim->status.phase, "Lost")) {
		bt_advice_hint(advice, "claim %s has lost its volume %s", named.name,
			claim->spec.volume_name);
	} else if (claim->spec.volume_name.length != 0) {
		struct bt_str name = claim->spec.volume_name;
		const struct bt_persistent_volume *bound =
			bt_find_volume(advice->engine->state, name);
		/* The single value that its node affinity requires, else its zone label. */
		const struct bt_node_selector *required =
			bound != NULL && bound->spec.node_affinity != NULL
			? bound->spec.node_affinity->required
			: NULL;
		const struct bt_str *label = bound != NULL
			? bt_str_map_find(&bound->metadata.labels, (struct bt_str)BT_LABEL_ZONE)
			: NULL;
		struct bt_str zone = label != NULL ? *label : BT_STR("");
		if (required != NULL && required->terms.count == 1 &&
			required->terms.items[0].match_expressions.count == 1 &&
			required->terms.items[0].match_fields.count == 0) {
			const struct bt_node_selector_requirement *requirement =
				&required->terms.items[0].match_expressions.items[0];

			if (bt_str_equal_c(requirement->operator_, "In") &&
				requirement->values.count == 1) {
				zone = requirement->values.items[0];
			}
		}

		bt_advice_hint(advice,
			"claim %s is bound to volume %s, which [%?does not exist][%?is only in %s]"
			"[%?this node cannot reach]",
			named.name, name, bound == NULL, zone.length != 0, zone,
			bound != NULL && zone.length == 0);
	} else if (class_name.length == 0) {
		bt_advice_hint(
			advice, "claim %s is not bound and has no storage class", named.name);
	} else if (storage_class == NULL) {
		bt_advice_hint(advice, "claim %s needs StorageClass %s, which does not exist",
			named.name, class_name);
	} else if (!bt_str_equal(storage_class->volume_binding_mode, BT_WAIT_FOR_FIRST_CONSUMER)) {
		bt_advice_hint(advice, "claim %s of StorageClass %s is not bound yet", named.name,
			class_name);
	} else if (selected != NULL && advice->node != NULL &&
		!bt_str_equal(*selected, bt_node_info_name(advice->node))) {
		bt_advice_hint(advice, "the volume of claim %s is being provisioned for node %s",
			named.name, *selected);
	} else {
		bt_advice_hint(advice,
			"no volume of StorageClass %s can be provided on this node for claim %s",
			class_name, named.name);
	}
}

/**
 * Tries the volumes in order, each together with the volumes accepted so far. Adds a remedy for
 * each volume that the plugin does not accept.
 */
static void drop_volumes(struct bt_advice *advice)
{
	uint32_t count = advice->pod->object->spec.volumes.count;
	struct bt_volume kept[VOLUMES_MAX];
	uint32_t kept_count = 0;

	if (count > VOLUMES_MAX || !accepts_volumes(advice, kept, 0)) {
		advice->is_final = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_volume *volume = &advice->pod->object->spec.volumes.items[i];

		kept[kept_count] = *volume;
		if (accepts_volumes(advice, kept, kept_count + 1)) {
			kept_count++;
			continue;
		}
		struct bt_remedy remedy = {.kind = BT_REMEDY_DROP_VOLUME,
			.key = bt_arena_str(advice->arena, volume->name)};
		struct bt_volume_claim named;
		const struct bt_persistent_volume_claim *claim =
			bt_volume_claim_of(advice->pod, volume, advice->arena, &named)
			? bt_find_claim(advice->engine->state, advice->pod->namespace_, named.name)
			: NULL;
		struct bt_str class_name =
			claim != NULL ? bt_persistent_volume_claim_class(claim) : BT_STR("");

		hint_volume(advice, volume);
		advice->distance += 1;
		/*
		 * If the claim is unbound, a missing StorageClass may be created, or a default
		 * class if the claim names none. storageClassName "" requests a volume without a
		 * class, so a default class does not help.
		 */
		if (claim != NULL && claim->metadata.deletion_timestamp == NULL &&
			claim->spec.volume_name.length == 0 &&
			(class_name.length == 0 ? class_name.data == NULL
						: bt_find_storage_class(advice->engine->state,
							  class_name) == NULL)) {
			remedy.kind = BT_REMEDY_PROVISION_VOLUME;
			remedy.value = bt_arena_str(advice->arena, class_name);
			advice->distance -= 0.5;
		}
		bt_advice_add(advice, &remedy);
	}
}

/** Pods in the cluster that use a ReadWriteOncePod claim of the pending pod. */
struct claim_holders {
	uint32_t count;
	uint32_t pods[HOLDERS_MAX];
};

/** Returns the holders, which are found once per cycle because they are the same for all nodes. */
static const struct claim_holders *claim_holders_of(const struct bt_advice *advice)
{
	struct bt_str key = BT_STR("berth.dev/explain/VolumeRestrictions");
	struct claim_holders *holders;
	void *known;

	if (bt_cycle_state_read(advice->cycle, key, &known, NULL) == 0) {
		return known;
	}
	holders = BT_ARENA_NEW(advice->cycle->arena, struct claim_holders);
	const struct bt_state *state = advice->engine->state;
	struct bt_str names[VOLUMES_MAX];
	/* Collect the names of the pod's ReadWriteOncePod claims. */
	struct bt_str *out_names = names;
	const struct bt_pod_spec *spec = &advice->pod->object->spec;
	uint32_t name_count = 0;

	for (uint32_t i = 0; i < spec->volumes.count && name_count < VOLUMES_MAX; i++) {
		const struct bt_pvc_volume_source *source =
			spec->volumes.items[i].persistent_volume_claim;
		const struct bt_persistent_volume_claim *claim = source != NULL
			? bt_find_claim(advice->engine->state, advice->pod->namespace_,
				  source->claim_name)
			: NULL;

		if (claim != NULL && bt_claim_is_exclusive(claim)) {
			out_names[name_count++] = source->claim_name;
		}
	}

	for (uint32_t n = 0; name_count != 0 && n < state->snapshot.count; n++) {
		uint32_t slot = bt_snapshot_list(&state->snapshot)[n];
		const struct bt_node_row *row = &state->nodes.rows[slot];

		for (uint32_t i = 0; i < row->pods.count && holders->count < HOLDERS_MAX; i++) {
			struct bt_pod_info pod;

			bt_pod_info_from_record(state, row->pods.items[i], &pod);
			bool uses_claim = false;
			for (uint32_t k = 0; k < pod.shape->claim_names.count && !uses_claim; k++) {
				uses_claim = bt_str_is_among(
					pod.shape->claim_names.items[k], names, name_count);
			}
			if (uses_claim && bt_str_equal(pod.namespace_, advice->pod->namespace_)) {
				holders->pods[holders->count++] = row->pods.items[i];
			}
		}
	}
	bt_cycle_state_write(advice->cycle, key, holders, NULL);
	return holders;
}

static void hint_holder(struct bt_advice *advice, uint32_t pod_id, const char *what)
{
	if (advice->hint.length == 0) {
		bt_advice_hint(advice, "pod %s %c", bt_advice_pod_text(advice, pod_id), what);
	}
}

static void advise_restrictions(struct bt_advice *advice)
{
	const struct claim_holders *holders;
	uint32_t pods[2];
	uint32_t count = 0;

	if (advice->node == NULL) {
		drop_volumes(advice);
		return;
	}
	holders = claim_holders_of(advice);
	if (holders->count == 1) {
		hint_holder(advice, holders->pods[0],
			"uses a claim that one pod at a time may use (ReadWriteOncePod)");
		bt_advice_remove_pod(advice, holders->pods[0]);
	}
	if (bt_advice_has_reason(advice, BT_REASON_VOLUME_DISK_CONFLICT)) {
		/*
		 * If another pod uses an exclusive claim of the pending pod, the plugin rejects
		 * every node, even a node without pods. Else find up to two pods of the node, each
		 * of which causes the rejection even as the only pod on the node.
		 */
		uint32_t pod_count = bt_node_info_pod_count(advice->node);

		for (uint32_t i = 0;
			holders->count == 0 && i < pod_count && i < HOLDERS_TRIED_MAX && count < 2;
			i++) {
			struct bt_arena arena = {0};
			struct bt_node_info node;
			struct bt_pod_info pod;

			bt_node_info_pod_at(advice->node, i, &pod);
			if (bt_plugin_pod_spec(&pod)->volumes.count == 0) {
				continue;
			}
			bt_node_info_init_without_pods(
				&node, advice->engine->state, advice->node->slot, &arena);
			bt_node_info_add_pod(&node, &arena, &pod);
			if (!bt_advice_accepts(advice, advice->pod, &node)) {
				pods[count++] = pod.pod_id;
			}
			bt_arena_finish(&arena);
		}
		if (count == 1 && pods[0] != BT_POD_NONE) {
			hint_holder(advice, pods[0], "has the same disk attached here");
			bt_advice_remove_pod(advice, pods[0]);
			return;
		}
		advice->remedies.count = 0;
		drop_volumes(advice);
	} else if (holders->count != 1) {
		drop_volumes(advice);
	}
}

static void advise_limits(struct bt_advice *advice)
{
	uint32_t leaver = BT_POD_NONE;

	if (advice->node != NULL &&
		(bt_advice_has_reason(advice, BT_REASON_VOLUME_MAX_COUNT) ||
			bt_advice_has_reason(advice, BT_REASON_LEGACY_VOLUME_COUNT))) {
		bt_advice_hint(advice, "the node's limit of attached volumes is reached");
		/* Find a pod whose removal is enough, among the first pods with volumes. */
		uint32_t pod_count = bt_node_info_pod_count(advice->node);
		uint32_t tried = 0;

		for (uint32_t i = 0;
			i < pod_count && tried < LEAVERS_TRIED_MAX && leaver == BT_POD_NONE; i++) {
			struct bt_arena arena = {0};
			struct bt_node_info node;
			struct bt_pod_info pod;

			bt_node_info_pod_at(advice->node, i, &pod);
			if (pod.pod_id == BT_POD_NONE ||
				bt_plugin_pod_spec(&pod)->volumes.count == 0 ||
				!bt_advice_is_removable(advice->engine->state, pod.pod_id)) {
				continue;
			}
			tried++;
			bt_node_info_copy(&node, advice->node, &arena);
			if (bt_node_info_remove_pod(&node, &arena, &pod, NULL) == 0 &&
				bt_advice_accepts(advice, advice->pod, &node)) {
				leaver = pod.pod_id;
			}
			bt_arena_finish(&arena);
		}
	}
	if (leaver != BT_POD_NONE) {
		bt_advice_remove_pod(advice, leaver);
	} else {
		drop_volumes(advice);
	}
}

const struct bt_adviser bt_advisers_volumes[] = {
	{"VolumeBinding", drop_volumes},
	{"CheckVolumeBinding", drop_volumes},
	{"VolumeZone", drop_volumes},
	{"NoVolumeZoneConflict", drop_volumes},
	{"VolumeRestrictions", advise_restrictions},
	{"NoDiskConflict", advise_restrictions},
	{"NodeVolumeLimits", advise_limits},
	{"MaxCSIVolumeCountPred", advise_limits},
	{"MaxEBSVolumeCount", advise_limits},
	{"MaxGCEPDVolumeCount", advise_limits},
	{"MaxAzureDiskVolumeCount", advise_limits},
	{"MaxCinderVolumeCount", advise_limits},
	{NULL, NULL},
};
