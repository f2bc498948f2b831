/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/volume_binder.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "plugins/common_plugin.h"
#include "plugins/volume_binder_private.h"

/* Functions that assume a pod's volumes and claims, or revert this. Spec: 07 section 8. */

/**
 * Copies of the objects to assume: the cache may drop the originals while other objects are
 * assumed.
 */
struct change {
	struct bt_pod_volumes volumes;
	bool *dirty; /* [i]: the copied volume of static_bindings[i] differs from the original */
};

static struct change make_change(
	const struct bt_pod_volumes *volumes, struct bt_str node_name, struct bt_arena *arena)
{
	struct change change = {.volumes = *volumes};

	change.volumes.static_bindings =
		BT_ARENA_NEW_ARRAY(arena, struct bt_static_binding, volumes->static_count);
	change.volumes.dynamic_provisions =
		BT_ARENA_NEW_ARRAY(arena, struct bt_dynamic_provision, volumes->dynamic_count);
	change.dirty = BT_ARENA_NEW_ARRAY(arena, bool, volumes->static_count);
	for (uint32_t i = 0; i < volumes->static_count; i++) {
		const struct bt_static_binding *binding = &volumes->static_bindings[i];
		/* Copy the volume, set its claimRef, and record whether the copy differs. */
		struct bt_persistent_volume *bound =
			BT_ARENA_NEW(arena, struct bt_persistent_volume);
		bool mark = !bt_volume_is_for_claim(binding->volume, binding->claim);

		bt_message_copy(&bt_persistent_volume_message, bound, binding->volume, arena);
		const struct bt_object_reference *old = bound->spec.claim_ref;
		change.dirty[i] = false;
		if (old == NULL || !bt_str_equal(old->name, binding->claim->metadata.name) ||
			!bt_str_equal(old->namespace_, binding->claim->metadata.namespace_) ||
			!bt_str_equal(old->uid, binding->claim->metadata.uid)) {
			struct bt_object_reference *reference =
				BT_ARENA_NEW(arena, struct bt_object_reference);

			*reference = (struct bt_object_reference){
				.kind = BT_STR("PersistentVolumeClaim"),
				.api_version = BT_STR("v1"),
				.namespace_ =
					bt_arena_str(arena, binding->claim->metadata.namespace_),
				.name = bt_arena_str(arena, binding->claim->metadata.name),
				.uid = bt_arena_str(arena, binding->claim->metadata.uid),
				.resource_version = bt_arena_str(
					arena, binding->claim->metadata.resource_version),
			};
			bound->spec.claim_ref = reference;
			change.dirty[i] = true;
		}
		if (mark &&
			bt_str_map_find(&bound->metadata.annotations,
				BT_ANNOTATION_BOUND_BY_CONTROLLER) == NULL) {
			bound->metadata.annotations = bt_str_map_set(&bound->metadata.annotations,
				BT_ANNOTATION_BOUND_BY_CONTROLLER, &BT_STR("yes"), arena);
			change.dirty[i] = true;
		}
		struct bt_persistent_volume_claim *claim =
			BT_ARENA_NEW(arena, struct bt_persistent_volume_claim);
		bt_message_copy(&bt_persistent_volume_claim_message, claim, binding->claim, arena);
		change.volumes.static_bindings[i] =
			(struct bt_static_binding){bound, claim, bound->metadata.resource_version};
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		struct bt_persistent_volume_claim *claim =
			BT_ARENA_NEW(arena, struct bt_persistent_volume_claim);

		bt_message_copy(&bt_persistent_volume_claim_message, claim,
			volumes->dynamic_provisions[i].claim, arena);
		claim->metadata.annotations = bt_str_map_set(&claim->metadata.annotations,
			BT_ANNOTATION_SELECTED_NODE, &node_name, arena);
		change.volumes.dynamic_provisions[i].claim = claim;
	}
	return change;
}

static void binder_revert_assumed_pod_volumes(
	struct bt_volume_binder *base, const struct bt_pod_volumes *volumes)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);

	for (uint32_t i = 0; i < volumes->static_count; i++) {
		bt_assume_cache_restore(&binder->volumes, BT_STR(""),
			volumes->static_bindings[i].volume->metadata.name,
			volumes->static_bindings[i].resource_version);
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		const struct bt_object_meta *claim =
			&volumes->dynamic_provisions[i].claim->metadata;

		bt_assume_cache_restore(
			&binder->claims, claim->namespace_, claim->name, claim->resource_version);
	}
}

static int binder_assume_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	bool *out_all_bound, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	/* Step 1: check whether all claims of the pod are bound. */
	*out_all_bound = true;
	for (uint32_t i = 0; i < spec->volumes.count && *out_all_bound; i++) {
		struct bt_volume_claim named;

		if (bt_volume_claim_of(pod, &spec->volumes.items[i], arena, &named)) {
			const struct bt_persistent_volume_claim *claim =
				bt_assume_cache_find(&binder->claims, pod->namespace_, named.name);

			*out_all_bound = claim != NULL &&
				(!named.ephemeral || bt_pod_owns_claim(pod, claim)) &&
				bt_claim_is_fully_bound(claim);
		}
	}
	if (*out_all_bound) {
		return 0;
	}
	struct change change = make_change(volumes, bt_arena_str(arena, node_name), arena);
	/* The volumes and claims that are assumed so far. */
	struct bt_pod_volumes done = change.volumes;
	int code = 0;
	done.static_count = 0;
	done.dynamic_count = 0;
	for (uint32_t i = 0; i < change.volumes.static_count && code == 0; i++) {
		if (change.dirty[i]) {
			code = bt_assume_cache_assume(
				&binder->volumes, done.static_bindings[i].volume, err);
		}
		done.static_count += code == 0;
	}
	for (uint32_t i = 0; i < change.volumes.dynamic_count && code == 0; i++) {
		code = bt_assume_cache_assume(
			&binder->claims, done.dynamic_provisions[i].claim, err);
		done.dynamic_count += code == 0;
	}
	if (code != 0) {
		binder_revert_assumed_pod_volumes(&binder->base, &done);
		binder->stage_errors[BT_VOLUME_STAGE_ASSUME]++;
		return code;
	}
	for (uint32_t i = 0; i < change.volumes.dynamic_count; i++) {
		change.volumes.dynamic_provisions[i].node_capacity = NULL;
	}
	*volumes = change.volumes;
	return 0;
}

/* Writing assumed objects, and waiting for the volume controllers. Spec: 07 section 9. */

/**
 * Write all assumed objects. On failure, revert the assumptions that were not written. writes: zero
 * memory at the first call. Returns BT_WRITE_PENDING if the caller must call again after an answer.
 */
static int volume_binder_write(struct bt_volume_binder *base, struct bt_pod_volumes *volumes,
	struct bt_arena *arena, struct bt_volume_writes *writes, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
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
		struct bt_str version;
		int code;

		if (is_volume) {
			/* Spec: 07 section 9.1. */
			struct bt_static_binding *binding = &volumes->static_bindings[i];

			version = binding->resource_version;
			code = writer->bind_volume(
				writer->context, binding->volume, binding->claim, &version, err);
			if (code == 0) {
				binding->resource_version = bt_arena_str(arena, version);
				writes->volume_versions[i] = binding->resource_version;
			}
		} else {
			/*
			 * Reserve has set the selected node in the claim; if Reserve did not run,
			 * the claim has no selected node. Upstream quirk, spec 07 section 8: the
			 * assumed claim keeps its old version.
			 */
			const struct bt_persistent_volume_claim *provisioned =
				volumes->dynamic_provisions[claim].claim;
			const struct bt_str *selected = bt_claim_selected_node(provisioned);

			version = provisioned->metadata.resource_version;
			code = writer->select_node(writer->context, provisioned,
				selected != NULL ? *selected : BT_STR(""), &version, err);
			if (code == 0) {
				writes->claim_versions[claim] = bt_arena_str(arena, version);
			}
		}

		if (code < 0) {
			/*
			 * Revert the assumptions that this write and the later writes would have
			 * written.
			 */
			uint32_t static_from = is_volume ? i : volumes->static_count;
			uint32_t dynamic_from = is_volume ? 0 : claim;
			struct bt_pod_volumes rest = *volumes;

			rest.static_bindings += static_from;
			rest.static_count -= static_from;
			rest.dynamic_provisions += dynamic_from;
			rest.dynamic_count -= dynamic_from;
			binder_revert_assumed_pod_volumes(&binder->base, &rest);
		}
		if (code != 0) {
			return code;
		}
		writes->done++;
	}
	return 0;
}

/** Arguments of check_binding and check_provision. Spec: 07 section 9.3. */
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

/**
 * Whether the stored object is older than the written object. Versions that are not numbers count
 * as equal.
 */
static bool is_behind(struct bt_str stored, struct bt_str written)
{
	uint64_t stored_version;
	uint64_t written_version;

	return parse_version(stored, &stored_version) && parse_version(written, &written_version) &&
		written_version > stored_version;
}

/**
 * Fails if the volume's affinity does not match the node. wrap_translation: prefix translation
 * errors with "failed to translate pv to csi".
 */
static int check_affinity(const struct check *check, const struct bt_persistent_volume *volume,
	bool wrap_translation, struct berth_error *err)
{
	struct bt_volume_affinity affinity;
	struct bt_error_list errors = {0};
	int code =
		bt_volume_affinity_for_node(volume, check->csi_node, check->arena, &affinity, err);

	if (code != 0) {
		return wrap_translation ? bt_error_wrap(err, code, "failed to translate pv to csi")
					: code;
	}
	if (affinity.restricted &&
		!bt_node_selector_matches(&affinity.selector, BT_STR(""), check->node_labels,
			check->arena, &errors)) {
		struct bt_str text = errors.count != 0 ? bt_error_list_text(&errors, check->arena)
						       : BT_STR("no matching NodeSelectorTerms");
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
	const struct bt_str *selected = bt_claim_selected_node(claim);
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

/* Waiting until the claims are bound. Spec: 07 section 9.2. */
#define SECOND_NS INT64_C(1000000000)

/**
 * Check all bindings and provisions once. *out_bound: whether all claims are bound; not set on
 * failure.
 */
static int check_once(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, const struct bt_pod_volumes *volumes, bool *out_bound,
	struct berth_error *err)
{
	struct bt_arena arena = {0};
	const struct bt_state *state = binder->handle->state;
	const struct bt_volume_writer *writer = binder->handle->volume_writer;
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);
	struct check check = {binder, node_name, NULL, bt_find_csi_node(state, node_name), &arena};
	bool bound = true;
	int code = 0;

	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].has_node) {
		code = bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"failed to get node \"%.*s\": node \"%.*s\" not found",
			BT_STR_ARG(node_name), BT_STR_ARG(node_name));
	} else if (writer != NULL && writer->pod_exists != NULL &&
		!writer->pod_exists(writer->context, pod)) {
		code = bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"pod does not exist any more: pod \"%.*s\" not found",
			BT_STR_ARG(pod->name));
	} else {
		check.node_labels = &state->nodes.rows[slot].labels;
	}
	for (uint32_t i = 0; code == 0 && bound && i < volumes->static_count; i++) {
		code = check_binding(&check, &volumes->static_bindings[i],
			volumes->progress.writes.volume_versions[i], &bound, err);
	}
	for (uint32_t i = 0; code == 0 && bound && i < volumes->dynamic_count; i++) {
		code = check_provision(&check, volumes->dynamic_provisions[i].claim,
			volumes->progress.writes.claim_versions[i], &bound, err);
	}
	if (code == 0) {
		*out_bound = bound;
	}
	bt_arena_finish(&arena);
	return code != 0 ? bt_error_wrap(err, code, "binding volumes") : 0;
}

/**
 * Check whether all claims are bound, at most once per second of the handle's clock. Returns 0 if
 * all claims are bound, or BT_WRITE_PENDING if the caller must call again later. If the writer has
 * a wait function, blocks instead. Fails when the bind timeout is over.
 */
static int poll(struct bt_real_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct berth_error *err)
{
	static const char timed_out[] = "binding volumes: context deadline exceeded";
	struct bt_volume_progress *progress = &volumes->progress;
	int64_t now_ns = binder->handle->now_ns;
	bool bound = false;

	if (binder->handle->volume_writer->wait != NULL) {
		/*
		 * The writer's wait blocks for up to a second. The last check is one second before
		 * the deadline.
		 */
		const struct bt_volume_writer *writer = binder->handle->volume_writer;
		int code = 0;

		for (int64_t second = 1;
			code == 0 && !bound && second < binder->bind_timeout_seconds; second++) {
			code = writer->wait(writer->context, pod, err);
			if (code == 0) {
				code = check_once(binder, pod, node_name, volumes, &bound, err);
			}
		}
		return code == 0 && !bound ? bt_error_set(err, BERTH_ERR_STATE, "%s", timed_out)
					   : code;
	}
	if (progress->next_check_ns == 0) {
		progress->next_check_ns = now_ns + SECOND_NS;
		progress->deadline_ns = now_ns + binder->bind_timeout_seconds * SECOND_NS;
	}
	if (now_ns >= progress->deadline_ns) {
		return bt_error_set(err, BERTH_ERR_STATE, "%s", timed_out);
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

static int binder_bind_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	const struct bt_volume_writer *writer = binder->handle->volume_writer;

	if (writer == NULL) {
		return 0;
	}
	int code = volume_binder_write(base, volumes, arena, &volumes->progress.writes, err);
	if (code == 0) {
		code = poll(binder, pod, node_name, volumes, err);
	}
	if (code < 0) {
		binder->stage_errors[BT_VOLUME_STAGE_BIND]++;
	}
	return code;
}

struct bt_volume_affinity bt_volume_affinity_parse(
	const struct bt_node_selector *required, struct bt_arena *arena)
{
	struct bt_volume_affinity affinity = {0};

	if (required != NULL) {
		affinity.restricted = true;
		affinity.selector = bt_node_selector_parse(required, BT_STR(""), arena);
	}
	return affinity;
}

bool bt_volume_affinity_matches(
	const struct bt_volume_affinity *affinity, const struct bt_str_map *labels)
{
	/* Pass no node name: volume affinities are matched by labels only (spec 07 section 2.7). */
	return !affinity->restricted ||
		bt_node_selector_matches(&affinity->selector, BT_STR(""), labels, NULL, NULL);
}

int bt_volume_affinity_for_node(const struct bt_persistent_volume *volume,
	const struct bt_csi_node *csi_node, struct bt_arena *arena,
	struct bt_volume_affinity *out_affinity, struct berth_error *err)
{
	enum bt_in_tree_driver driver = bt_in_tree_of_volume(volume);
	const struct bt_node_selector *required =
		volume->spec.node_affinity != NULL ? volume->spec.node_affinity->required : NULL;
	struct bt_str handle;
	int code;

	if (driver != BT_IN_TREE__COUNT && bt_in_tree_is_migrated(driver) &&
		bt_csi_node_lists_migrated(csi_node, driver)) {
		code = bt_in_tree_volume_handle(volume, arena, &handle, err);
		if (code != 0) {
			return bt_error_wrap(err, code, "could not translate pv");
		}
		required = bt_in_tree_node_affinity(volume, arena);
	}
	*out_affinity = bt_volume_affinity_parse(required, arena);
	return 0;
}

BT_COMPARE(compare_class_volumes, struct bt_class_volume,
	BT_ORDER_BY(bt_str_compare(a->class_name, b->class_name),
		bt_quantity_compare(a->capacity, b->capacity),
		bt_str_compare(a->stored->metadata.name, b->stored->metadata.name)))

/**
 * Returns the index of the first volume whose class is class_name or sorts after class_name. If
 * `after` is set, returns the index of the first volume whose class sorts after class_name.
 */
static uint32_t class_bound(
	const struct bt_class_index *index, struct bt_str class_name, bool after)
{
	uint32_t at;

	BT_LOWER_BOUND(at, index->volumes.count, middle,
		bt_str_compare(index->volumes.items[middle].class_name, class_name) <
			(after ? 1 : 0));
	return at;
}

struct bt_class_volume *bt_class_index_find(
	struct bt_real_binder *binder, struct bt_str class_name, uint32_t *out_count)
{
	struct bt_class_index *index = &binder->index;

	if (!index->built ||
		index->store_version !=
			bt_object_store_version(
				&binder->handle->state->objects, BT_KIND_PERSISTENT_VOLUME)) {
		struct bt_object_store *store = &binder->handle->state->objects;
		const struct bt_persistent_volume *volume;
		uint32_t cursor = 0;

		index->volumes.count = 0;
		bt_arena_reset(&index->arena);
		while ((volume = bt_object_store_next(store, BT_KIND_PERSISTENT_VOLUME,
				(struct bt_str){0}, &cursor)) != NULL) {
			struct bt_class_volume entry = {
				.stored = volume,
				.class_name = bt_persistent_volume_class(volume),
				.capacity = bt_volume_capacity(volume),
			};
			bt_vec_push(&index->volumes, entry);
		}
		if (index->volumes.count > 1) {
			qsort(index->volumes.items, index->volumes.count,
				sizeof(*index->volumes.items), compare_class_volumes);
		}
		index->store_version = bt_object_store_version(store, BT_KIND_PERSISTENT_VOLUME);
		index->built = true;
	}
	uint32_t first = class_bound(index, class_name, false);
	*out_count = class_bound(index, class_name, true) - first;
	return *out_count != 0 ? &index->volumes.items[first] : NULL;
}

const struct bt_volume_affinity *bt_class_volume_affinity(
	struct bt_class_index *index, struct bt_class_volume *volume)
{
	const struct bt_volume_node_affinity *affinity = volume->stored->spec.node_affinity;

	if (!volume->parsed) {
		volume->affinity = bt_volume_affinity_parse(
			affinity != NULL ? affinity->required : NULL, &index->arena);
		volume->parsed = true;
	}
	return &volume->affinity;
}

bool bt_volume_is_for_claim(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim)
{
	const struct bt_object_reference *reference = volume->spec.claim_ref;

	return reference != NULL && bt_str_equal(reference->name, claim->metadata.name) &&
		bt_str_equal(reference->namespace_, claim->metadata.namespace_) &&
		(reference->uid.length == 0 || bt_str_equal(reference->uid, claim->metadata.uid));
}

static void destroy(struct bt_volume_binder *base)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);

	bt_assume_cache_finish(&binder->volumes);
	bt_assume_cache_finish(&binder->claims);
	bt_vec_finish(&binder->index.volumes);
	bt_arena_finish(&binder->index.arena);
	bt_free(binder);
}

static const struct bt_volume_binder_ops real_binder_ops = {
	.destroy = destroy,
	.get_pod_volume_claims = bt_binder_get_pod_volume_claims,
	.find_pod_volumes = bt_binder_find_pod_volumes,
	.assume_pod_volumes = binder_assume_pod_volumes,
	.revert_assumed_pod_volumes = binder_revert_assumed_pod_volumes,
	.bind_pod_volumes = binder_bind_pod_volumes,
};

struct bt_volume_binder *bt_volume_binder_create(
	const struct bt_handle *handle, int64_t bind_timeout_seconds)
{
	struct bt_real_binder *binder = BT_NEW(struct bt_real_binder);
	const struct bt_object_store *store = &handle->state->objects;

	binder->base.ops = &real_binder_ops;
	binder->handle = handle;
	binder->bind_timeout_seconds = bind_timeout_seconds;
	bt_assume_cache_init(&binder->volumes, store, BT_KIND_PERSISTENT_VOLUME);
	bt_assume_cache_init(&binder->claims, store, BT_KIND_PERSISTENT_VOLUME_CLAIM);
	return &binder->base;
}

uint64_t bt_volume_binder_stage_errors(
	const struct bt_volume_binder *binder, enum bt_volume_stage stage)
{
	BT_ASSERT(binder->ops == &real_binder_ops);
	return ((const struct bt_real_binder *)(const void *)binder)->stage_errors[stage];
}
