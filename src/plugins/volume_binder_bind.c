/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what was assumed, and waiting for the volume controllers. Spec: 07 section 9. */
#include "plugins/volume_binder_private.h"

/* --- writes, spec 07 section 9.1 --- */

static int write_volume(struct bt_real_binder *binder, struct bt_static_binding *binding,
	struct bt_arena *arena, struct bt_str *out_version, struct berth_error *err)
{
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	struct bt_str version = binding->resource_version;
	int code = writer->bind_volume(
		writer->context, binding->volume, binding->claim, &version, err);

	if (code == 0) {
		*out_version = bt_arena_str(arena, version);
		binding->resource_version = *out_version;
	}
	return code;
}

/** As Reserve has left the claim; without Reserve it has no selected node. */
static int write_claim(struct bt_real_binder *binder, const struct bt_dynamic_provision *provision,
	struct bt_arena *arena, struct bt_str *out_version, struct berth_error *err)
{
	const struct bt_str *selected = bt_claim_selected_node(provision->claim);
	struct bt_str node_name = selected != NULL ? *selected : BT_STR("");
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	struct bt_str version = provision->claim->metadata.resource_version;
	int code = writer->select_node(writer->context, provision->claim, node_name, &version, err);

	if (code == 0) {
		/* Upstream quirk, spec 07 section 8: the assumed claim keeps its old version. */
		*out_version = bt_arena_str(arena, version);
	}
	return code;
}

int bt_volume_binder_write(struct bt_volume_binder *base, struct bt_pod_volumes *volumes,
	struct bt_arena *arena, struct bt_volume_writes *writes, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	uint32_t count = volumes->static_count + volumes->dynamic_count;

	if (writes->volume_versions == NULL) {
		writes->volume_versions =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, volumes->static_count);
		writes->claim_versions =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, volumes->dynamic_count);
	}
	while (writes->done < count) {
		uint32_t i = writes->done;
		uint32_t claim = i - volumes->static_count;
		bool is_volume = i < volumes->static_count;
		int code = is_volume ? write_volume(binder, &volumes->static_bindings[i], arena,
					       &writes->volume_versions[i], err)
				     : write_claim(binder, &volumes->dynamic_provisions[claim],
					       arena, &writes->claim_versions[claim], err);

		if (code < 0) {
			/* Take back the assumptions from these positions on. */
			uint32_t static_from = is_volume ? i : volumes->static_count;
			uint32_t dynamic_from = is_volume ? 0 : claim;
			struct bt_pod_volumes rest = *volumes;

			rest.static_bindings += static_from;
			rest.static_count -= static_from;
			rest.dynamic_provisions += dynamic_from;
			rest.dynamic_count -= dynamic_from;
			bt_binder_revert_assumed_pod_volumes(&binder->base, &rest);
		}
		if (code != 0) {
			return code;
		}
		writes->done++;
	}
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

/* --- polling, spec 07 section 9.2 --- */

#define SECOND_NS INT64_C(1000000000)

static int check_once(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, const struct bt_pod_volumes *volumes, bool *out_bound,
	struct berth_error *err)
{
	struct bt_arena arena = {0};
	int code = bt_volume_binder_check(&binder->base, pod, node_name, volumes,
		&volumes->progress.writes, &arena, out_bound, err);

	bt_arena_finish(&arena);
	return code != 0 ? bt_error_wrap(err, code, "binding volumes") : 0;
}

static int deadline_exceeded(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_STATE, "binding volumes: context deadline exceeded");
}

/** With a writer that can wait. */
static int poll_blocking(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, const struct bt_pod_volumes *volumes, struct berth_error *err)
{
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	bool bound = false;
	int code = 0;

	/* The check of second n comes too late when the deadline is at second n. */
	for (int64_t second = 1; code == 0 && !bound && second < binder->bind_timeout_seconds;
		second++) {
		code = writer->wait(writer->context, pod, err);
		if (code == 0) {
			code = check_once(binder, pod, node_name, volumes, &bound, err);
		}
	}
	return code == 0 && !bound ? deadline_exceeded(err) : code;
}

/** By the owner's clock: BT_WRITE_PENDING until there is a result. */
static int poll(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct berth_error *err)
{
	struct bt_volume_progress *progress = &volumes->progress;
	int64_t now_ns = binder->handle->now_ns;
	bool bound = false;

	if (progress->next_check_ns == 0) {
		progress->next_check_ns = now_ns + SECOND_NS;
		progress->deadline_ns = now_ns + binder->bind_timeout_seconds * SECOND_NS;
	}
	if (now_ns >= progress->deadline_ns) {
		return deadline_exceeded(err);
	}
	if (now_ns < progress->next_check_ns) {
		return BT_WRITE_PENDING;
	}
	int code = check_once(binder, pod, node_name, volumes, &bound, err);
	if (code != 0 || bound) {
		return code;
	}
	progress->next_check_ns += ((now_ns - progress->next_check_ns) / SECOND_NS + 1) * SECOND_NS;
	return BT_WRITE_PENDING;
}

int bt_binder_bind_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	int code;

	if (writer == NULL) {
		return 0;
	}
	code = bt_volume_binder_write(base, volumes, arena, &volumes->progress.writes, err);
	if (code == 0) {
		code = writer->wait != NULL ? poll_blocking(binder, pod, node_name, volumes, err)
					    : poll(binder, pod, node_name, volumes, err);
	}
	if (code < 0) {
		binder->stage_errors[BT_VOLUME_STAGE_BIND]++;
	}
	return code;
}
