/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what was assumed, and waiting for the volume controllers. Spec: 07 section 9. */
#include "plugins/volume_binder_private.h"

/* --- writes, spec 07 section 9.1 --- */

/** Take back the assumptions from these positions on. */
static void restore_from(struct bt_real_binder *binder, const struct bt_pod_volumes *volumes,
	uint32_t static_from, uint32_t dynamic_from)
{
	struct bt_pod_volumes rest = *volumes;

	rest.static_bindings += static_from;
	rest.static_count -= static_from;
	rest.dynamic_provisions += dynamic_from;
	rest.dynamic_count -= dynamic_from;
	bt_binder_revert_assumed_pod_volumes(&binder->base, &rest);
}

int bt_volume_binder_write(struct bt_volume_binder *base, struct bt_str node_name,
	struct bt_pod_volumes *volumes, struct bt_arena *arena, struct bt_volume_writes *out_writes,
	struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	struct bt_volume_writes writes;

	writes.volume_versions = BT_ARENA_NEW_ARRAY(arena, struct bt_str, volumes->static_count);
	writes.claim_versions = BT_ARENA_NEW_ARRAY(arena, struct bt_str, volumes->dynamic_count);
	for (uint32_t i = 0; i < volumes->static_count; i++) {
		struct bt_static_binding *binding = &volumes->static_bindings[i];
		struct bt_str version = binding->resource_version;
		int code = writer->bind_volume(
			writer->context, binding->volume, binding->claim, &version, err);

		if (code != 0) {
			restore_from(binder, volumes, i, 0);
			return code;
		}
		writes.volume_versions[i] = bt_arena_str(arena, version);
		binding->resource_version = writes.volume_versions[i];
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		const struct bt_persistent_volume_claim *claim =
			volumes->dynamic_provisions[i].claim;
		struct bt_str version = claim->metadata.resource_version;
		int code = writer->select_node(writer->context, claim, node_name, &version, err);

		if (code != 0) {
			restore_from(binder, volumes, volumes->static_count, i);
			return code;
		}
		/* Upstream quirk, spec 07 section 8: the assumed claim keeps its old version. */
		writes.claim_versions[i] = bt_arena_str(arena, version);
	}
	*out_writes = writes;
	return 0;
}

/* --- check, spec 07 section 9.3 --- */

/** What one check looks at. */
struct check {
	struct bt_real_binder *binder;
	struct bt_str node_name;
	const struct bt_str_map *node_labels;
	const struct bt_csi_node *csi_node;
	struct bt_arena *arena;
};

static bool parse_version(struct bt_str text, uint64_t *out_version)
{
	uint64_t version = 0;

	for (uint32_t i = 0; i < text.length; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' ||
			BT_MUL_OVERFLOW(version, (uint64_t)10, &version) ||
			BT_ADD_OVERFLOW(version, (uint64_t)(text.data[i] - '0'), &version)) {
			return false;
		}
	}
	*out_version = version;
	return true;
}

/** The store does not have the write yet. Versions that are no numbers count as equal. */
static bool is_behind(struct bt_str stored, struct bt_str written)
{
	uint64_t stored_version;
	uint64_t written_version;

	return parse_version(stored, &stored_version) && parse_version(written, &written_version) &&
		written_version > stored_version;
}

/** wrap_translation: put "failed to translate pv to csi" in front. */
static int check_affinity(const struct check *check, const struct bt_persistent_volume *volume,
	bool wrap_translation, struct berth_error *err)
{
	struct bt_volume_affinity affinity;
	struct bt_str text;
	int code =
		bt_volume_affinity_for_node(volume, check->csi_node, check->arena, &affinity, err);

	if (code != 0) {
		return wrap_translation ? bt_error_wrap(err, code, "failed to translate pv to csi")
					: code;
	}
	if (!bt_volume_affinity_check(&affinity, check->node_labels, check->arena, &text)) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"pv \"%.*s\" node affinity doesn't match node \"%.*s\": %.*s",
			BT_STR_ARG(volume->metadata.name), BT_STR_ARG(check->node_name),
			BT_STR_ARG(text));
	}
	return 0;
}

static int check_binding(const struct check *check, const struct bt_static_binding *binding,
	struct bt_str written, bool *out_bound, struct berth_error *err)
{
	struct bt_real_binder *binder = check->binder;
	const struct bt_object_meta *claim_meta = &binding->claim->metadata;
	struct bt_str volume_name = binding->volume->metadata.name;
	const struct bt_persistent_volume *volume =
		bt_assume_cache_find_api(&binder->volumes, BT_STR(""), volume_name);
	const struct bt_persistent_volume_claim *claim =
		bt_assume_cache_find_api(&binder->claims, claim_meta->namespace_, claim_meta->name);
	int code;

	*out_bound = false;
	if (volume == NULL || claim == NULL) {
		code = volume == NULL
			? bt_assume_cache_not_found(&binder->volumes, BT_STR(""), volume_name, err)
			: bt_assume_cache_not_found(
				  &binder->claims, claim_meta->namespace_, claim_meta->name, err);
		return bt_error_wrap(err, code, "failed to check binding");
	}
	if (is_behind(volume->metadata.resource_version, written)) {
		return 0;
	}
	code = check_affinity(check, volume, true, err);
	if (code != 0) {
		return code;
	}
	if (volume->spec.claim_ref == NULL || volume->spec.claim_ref->uid.length == 0) {
		return bt_error_set(err, BERTH_ERR_STATE, "ClaimRef got reset for pv \"%.*s\"",
			BT_STR_ARG(volume_name));
	}
	*out_bound = bt_claim_is_fully_bound(claim);
	return 0;
}

static int check_provision(const struct check *check,
	const struct bt_persistent_volume_claim *provisioned, struct bt_str written,
	bool *out_bound, struct berth_error *err)
{
	struct bt_real_binder *binder = check->binder;
	const struct bt_object_meta *meta = &provisioned->metadata;
	const struct bt_persistent_volume_claim *claim =
		bt_assume_cache_find_api(&binder->claims, meta->namespace_, meta->name);
	const struct bt_persistent_volume *volume;
	const struct bt_str *selected;
	int code;

	*out_bound = false;
	if (claim == NULL) {
		code = bt_assume_cache_not_found(
			&binder->claims, meta->namespace_, meta->name, err);
		return bt_error_wrap(err, code, "failed to check provisioning pvc");
	}
	if (is_behind(claim->metadata.resource_version, written)) {
		return 0;
	}
	if (!claim->metadata.annotations.present) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"selectedNode annotation reset for PVC \"%.*s\"", BT_STR_ARG(meta->name));
	}
	selected = bt_claim_selected_node(claim);
	if (!bt_str_equal(selected != NULL ? *selected : BT_STR(""), check->node_name)) {
		return bt_error_set(err, BERTH_ERR_STATE, "provisioning failed for PVC \"%.*s\"",
			BT_STR_ARG(meta->name));
	}
	if (claim->spec.volume_name.length != 0) {
		volume = bt_assume_cache_find_api(
			&binder->volumes, BT_STR(""), claim->spec.volume_name);
		if (volume == NULL) {
			return 0;
		}
		code = check_affinity(check, volume, false, err);
		if (code != 0) {
			return code;
		}
	}
	*out_bound = bt_claim_is_fully_bound(claim);
	return 0;
}

int bt_volume_binder_check(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, const struct bt_pod_volumes *volumes,
	const struct bt_volume_writes *writes, struct bt_arena *arena, bool *out_bound,
	struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_state *state = binder->handle->state;
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);
	struct check check = {binder, node_name, NULL, bt_find_csi_node(state, node_name), arena};
	bool bound = true;
	int code = 0;

	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].has_node) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"failed to get node \"%.*s\": node \"%.*s\" not found",
			BT_STR_ARG(node_name), BT_STR_ARG(node_name));
	}
	check.node_labels = &state->nodes.rows[slot].labels;
	if (writer != NULL && writer->pod_exists != NULL &&
		!writer->pod_exists(writer->context, pod)) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"pod does not exist any more: pod \"%.*s\" not found",
			BT_STR_ARG(pod->name));
	}
	for (uint32_t i = 0; code == 0 && bound && i < volumes->static_count; i++) {
		code = check_binding(&check, &volumes->static_bindings[i],
			writes->volume_versions[i], &bound, err);
	}
	for (uint32_t i = 0; code == 0 && bound && i < volumes->dynamic_count; i++) {
		code = check_provision(&check, volumes->dynamic_provisions[i].claim,
			writes->claim_versions[i], &bound, err);
	}
	if (code == 0) {
		*out_bound = bound;
	}
	return code;
}

/* --- spec 07 section 9.2 --- */

static int poll(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, const struct bt_pod_volumes *volumes,
	const struct bt_volume_writes *writes, struct berth_error *err)
{
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	struct bt_arena arena = {0};
	bool bound = false;
	int code = 0;

	/* The check of second n comes too late when the deadline is at second n. */
	for (int64_t second = 1; code == 0 && !bound && second < binder->bind_timeout_seconds;
		second++) {
		code = writer->wait(writer->context, pod, err);
		if (code != 0) {
			break;
		}
		code = bt_volume_binder_check(
			&binder->base, pod, node_name, volumes, writes, &arena, &bound, err);
		if (code != 0) {
			code = bt_error_wrap(err, code, "binding volumes");
		}
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
	if (code == 0 && !bound) {
		return bt_error_set(
			err, BERTH_ERR_STATE, "binding volumes: context deadline exceeded");
	}
	return code;
}

int bt_binder_bind_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	struct bt_volume_writes writes;
	int code;

	if (binder->handle->volume_writer == NULL) {
		return 0;
	}
	code = bt_volume_binder_write(base, node_name, volumes, arena, &writes, err);
	if (code == 0) {
		code = poll(binder, pod, node_name, volumes, &writes, err);
	}
	if (code != 0) {
		binder->stage_errors[BT_VOLUME_STAGE_BIND]++;
	}
	return code;
}
