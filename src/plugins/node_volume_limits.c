/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeVolumeLimits (PreFilter, Filter): the number of distinct CSI volumes of a driver on a node
 * must stay within the limit that the driver reports in the node's CSINode. Spec: 07b section 1.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/common_volume.h"
#include "plugins/csi_translation.h"
#include "plugins/in_tree.h"

struct limits_plugin {
	struct bt_plain_plugin base;
	struct bt_arena arena; /* texts of one Filter call */
	struct bt_volume_set wanted;
	struct bt_volume_set used;
	/* VolumeAttachments, with an index by node name. */
	bool attachments_known;
	uint64_t attachments_version; /* version of the indexed objects in the store */
	BT_VEC(struct attachment {
		const struct bt_volume_attachment *object;
		uint64_t hash; /* hash of the node name */
	})
	attachments;
	struct bt_map attachment_map;
};

/** Returns the number of the driver's volumes that are not marked as removed. */
static int64_t set_count(const struct bt_volume_set *set, struct bt_str driver)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < set->items.count; i++) {
		count += !set->items.items[i].removed &&
			bt_str_equal(set->items.items[i].driver, driver);
	}
	return count;
}

/**
 * Whether volumes of the driver count as CSI volumes on the node. Unlike VolumeBinding, this
 * accepts any CSINode and does not read the list of migrated plugins. Spec: 07b section 1.3.
 */
static bool is_migrated_here(enum bt_in_tree_driver driver, const struct bt_csi_node *csi_node)
{
	return driver != BT_IN_TREE__COUNT && csi_node != NULL && bt_in_tree_is_migrated(driver);
}

/** Add the volume of a claim, unless driver or handle is empty. */
static void add_resolved(struct bt_volume_set *set, struct bt_unique_volume volume)
{
	if (volume.driver.length != 0 && volume.handle.length != 0) {
		bt_volume_set_add(set, volume);
	}
}

static void add_by_class(const struct bt_state *state,
	const struct bt_persistent_volume_claim *claim, const struct bt_csi_node *csi_node,
	struct bt_volume_set *set)
{
	struct bt_str class_name = bt_persistent_volume_claim_class(claim);
	const struct bt_storage_class *storage_class =
		class_name.length != 0 ? bt_find_storage_class(state, class_name) : NULL;
	struct bt_unique_volume volume = {.handle = claim->metadata.name};

	if (storage_class == NULL) {
		return;
	}
	volume.claim_namespace =
		claim->metadata.namespace_.data != NULL ? claim->metadata.namespace_ : BT_STR("");
	volume.driver = storage_class->provisioner;
	enum bt_in_tree_driver in_tree = bt_in_tree_find(storage_class->provisioner);
	if (in_tree != BT_IN_TREE__COUNT) {
		if (!is_migrated_here(in_tree, csi_node)) {
			return;
		}
		volume.driver = bt_in_tree_csi_name(in_tree);
	}
	add_resolved(set, volume);
}

static int add_inline(struct limits_plugin *instance, const struct bt_pod_info *pod,
	const struct bt_volume *volume, const struct bt_csi_node *csi_node,
	struct bt_volume_set *set, struct berth_error *err)
{
	enum bt_in_tree_driver in_tree = bt_in_tree_of_inline(volume);
	struct bt_unique_volume unique = {0};

	if (!is_migrated_here(in_tree, csi_node)) {
		return 0;
	}
	int code = bt_in_tree_inline_handle(
		volume, pod->namespace_, &instance->arena, &unique.handle, err);
	if (code != 0) {
		return bt_error_wrap(err, code, "converting volume(%.*s) from inline to csi",
			BT_STR_ARG(volume->name));
	}
	unique.driver = bt_in_tree_csi_name(in_tree);
	bt_volume_set_add(set, unique);
	return 0;
}

/**
 * Add the volumes of a pod to the set. is_new: the pod is the pod to schedule, so its claims must
 * exist; if a claim does not exist, fails with BERTH_ERR_NOT_FOUND. Missing claims of other pods
 * are ignored.
 */
static int collect(struct limits_plugin *instance, const struct bt_pod_info *pod,
	const struct bt_csi_node *csi_node, bool is_new, struct bt_volume_set *set,
	struct berth_error *err)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		struct bt_volume_claim named;
		int code = 0;

		if (!bt_volume_claim_of(pod, &spec->volumes.items[i], &instance->arena, &named)) {
			code = add_inline(
				instance, pod, &spec->volumes.items[i], csi_node, set, err);
			if (code != 0) {
				return code;
			}
			continue;
		}
		if (named.name.length == 0) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "PersistentVolumeClaim had no name");
		}
		const struct bt_persistent_volume_claim *claim =
			bt_find_claim(instance->base.handle->state, pod->namespace_, named.name);
		if (claim == NULL) {
			if (is_new) {
				struct bt_str name = named.name;
				struct bt_str text = bt_not_found_text(
					&instance->arena, "persistentvolumeclaim", name);

				return bt_error_set(err, BERTH_ERR_NOT_FOUND,
					"looking up PVC %.*s/%.*s: %.*s",
					BT_STR_ARG(pod->namespace_), BT_STR_ARG(name),
					BT_STR_ARG(text));
			}
			continue;
		}
		if (named.ephemeral && !bt_pod_owns_claim(pod, claim)) {
			return bt_error_set(err, BERTH_ERR_INVALID, "%.*s",
				BT_STR_ARG(bt_claim_not_owned_text(pod, claim, &instance->arena)));
		}
		/*
		 * Resolve the claim to its volume. If the claim has no volume, resolve the claim to
		 * the driver of the claim's class.
		 */
		const struct bt_state *state = instance->base.handle->state;
		const struct bt_persistent_volume *volume = claim->spec.volume_name.length != 0
			? bt_find_volume(state, claim->spec.volume_name)
			: NULL;
		struct bt_unique_volume unique = {0};

		if (volume == NULL) {
			add_by_class(state, claim, csi_node, set);
			continue;
		}
		if (volume->spec.source.csi != NULL) {
			unique.driver = volume->spec.source.csi->driver;
			unique.handle = volume->spec.source.csi->volume_handle;
			add_resolved(set, unique);
			continue;
		}
		enum bt_in_tree_driver in_tree = bt_in_tree_of_volume(volume);
		if (is_migrated_here(in_tree, csi_node) &&
			bt_in_tree_volume_handle(volume, &instance->arena, &unique.handle, NULL) ==
				0) {
			unique.driver = bt_in_tree_csi_name(in_tree);
			add_resolved(set, unique);
		}
	}
	return 0;
}

/**
 * Get the limit of volumes of a driver on the node. Returns false if there is no limit; *out_limit
 * is then 0. If the driver has several entries, the last entry with a count is used.
 */
static bool limit_of(const struct bt_csi_node *csi_node, struct bt_str driver, int64_t *out_limit)
{
	bool found = false;

	*out_limit = 0;
	for (uint32_t i = 0; csi_node != NULL && i < csi_node->spec.drivers.count; i++) {
		const struct bt_csi_node_driver *entry = &csi_node->spec.drivers.items[i];

		if (bt_str_equal(entry->name, driver) && entry->allocatable != NULL &&
			entry->allocatable->count.present) {
			*out_limit = entry->allocatable->count.value;
			found = true;
		}
	}
	return found;
}

static bool has_counted_volumes(const struct bt_pod_spec *spec)
{
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_volume *volume = &spec->volumes.items[i];

		if (volume->persistent_volume_claim != NULL || volume->ephemeral != NULL ||
			bt_in_tree_of_inline(volume) != BT_IN_TREE__COUNT) {
			return true;
		}
	}
	return false;
}

static struct bt_status pre_filter(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_pre_filter_result *out_result)
{
	return has_counted_volumes(bt_plugin_pod_spec(pod)) ? BT_STATUS_OK
							    : bt_status_code_only(BT_STATUS_SKIP);
}

/**
 * Returns false if the driver is missing on the node and its CSIDriver prevents scheduling in this
 * case. Spec: 07b section 1.5.
 */
static bool is_installed(
	const struct bt_state *state, const struct bt_csi_node *csi_node, struct bt_str driver_name)
{
	const struct bt_csi_driver *driver = bt_find_csi_driver(state, driver_name);

	if (driver == NULL || !driver->spec.prevent_pod_scheduling_if_missing.present ||
		!driver->spec.prevent_pod_scheduling_if_missing.value) {
		return true;
	}
	return csi_node != NULL && BT_STR_FIND(&csi_node->spec.drivers, name, driver_name) != NULL;
}

/** Add the volumes that are attached to the node to the used volumes. */
static void add_attached(struct limits_plugin *instance, struct bt_str node_name)
{
	struct bt_object_store *store = &instance->base.handle->state->objects;
	uint64_t version = bt_object_store_version(store, BT_KIND_VOLUME_ATTACHMENT);
	uint64_t hash = bt_str_hash(node_name);

	if (!instance->attachments_known || instance->attachments_version != version) {
		const struct bt_volume_attachment *object;
		uint32_t cursor = 0;

		instance->attachments.count = 0;
		bt_map_reset(&instance->attachment_map);
		while ((object = bt_object_store_next(store, BT_KIND_VOLUME_ATTACHMENT,
				(struct bt_str){0}, &cursor)) != NULL) {
			struct attachment attachment = {
				object, bt_str_hash(object->spec.node_name)};

			bt_vec_push(&instance->attachments, attachment);
			bt_map_insert(&instance->attachment_map, attachment.hash,
				instance->attachments.count - 1);
		}
		instance->attachments_version = version;
		instance->attachments_known = true;
	}
	BT_MAP_EACH (&instance->attachment_map, hash, index) {
		const struct bt_volume_attachment *attachment =
			instance->attachments.items[index].object;
		struct bt_str volume_name = attachment->spec.source.persistent_volume_name;

		if (!bt_str_equal(attachment->spec.node_name, node_name) ||
			attachment->spec.attacher.length == 0 || volume_name.data == NULL) {
			continue;
		}
		const struct bt_persistent_volume *volume =
			bt_find_volume(instance->base.handle->state, volume_name);
		if (volume != NULL && volume->spec.source.csi != NULL) {
			bt_volume_set_add(&instance->used,
				(struct bt_unique_volume){.driver = attachment->spec.attacher,
					.handle = volume->spec.source.csi->volume_handle});
		}
	}
}

static bool has_limits(const struct bt_csi_node *csi_node)
{
	for (uint32_t i = 0; csi_node != NULL && i < csi_node->spec.drivers.count; i++) {
		const struct bt_csi_node_driver *entry = &csi_node->spec.drivers.items[i];

		if (entry->allocatable != NULL && entry->allocatable->count.present) {
			return true;
		}
	}
	return false;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct limits_plugin *instance = bt_plugin_instance(plugin);

	if (bt_plugin_pod_spec(pod)->volumes.count == 0) {
		return BT_STATUS_OK;
	}
	bt_volume_set_reset(&instance->wanted);
	bt_volume_set_reset(&instance->used);
	bt_arena_reset(&instance->arena);
	const struct bt_csi_node *csi_node =
		bt_find_csi_node(instance->base.handle->state, bt_node_info_name(node));
	struct berth_error err = BERTH_ERROR_INIT;
	int code = collect(instance, pod, csi_node, true, &instance->wanted, &err);

	if (code == BERTH_ERR_NOT_FOUND) {
		struct bt_status status = bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			cycle->arena, bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
		return status;
	}
	if (code != 0) {
		return bt_status_from_error(cycle->arena, &err);
	}
	if (instance->wanted.items.count == 0) {
		return BT_STATUS_OK;
	}
	if (bt_plugin_gate(&instance->base.base, BT_GATE_VOLUME_LIMIT_SCALING)) {
		/*
		 * If drivers of the wanted volumes are missing on the node, report the driver whose
		 * name sorts first.
		 */
		struct bt_str missing = {0};

		for (uint32_t i = 0; i < instance->wanted.items.count; i++) {
			struct bt_str driver = instance->wanted.items.items[i].driver;

			if ((missing.data == NULL || bt_str_compare(driver, missing) < 0) &&
				!is_installed(instance->base.handle->state, csi_node, driver)) {
				missing = driver;
			}
		}
		if (missing.data != NULL) {
			return bt_status_printf(BT_STATUS_UNSCHEDULABLE, cycle->arena,
				"%.*s CSI driver is not installed on the node",
				BT_STR_ARG(missing));
		}
	}
	if (!has_limits(csi_node)) {
		return BT_STATUS_OK;
	}
	uint32_t pod_count = bt_node_info_pod_count(node);
	for (uint32_t i = 0; i < pod_count; i++) {
		struct bt_pod_info other;

		bt_node_info_pod_at(node, i, &other);
		if (collect(instance, &other, csi_node, false, &instance->used, &err) != 0) {
			return bt_status_from_error(cycle->arena, &err);
		}
	}
	/*
	 * Steps 8 to 10 of spec 07b section 1.5. Attached volumes are added to the used
	 * count. A wanted volume counts as new unless a pod on the node uses it, even if it is
	 * attached.
	 */
	struct bt_volume_set *wanted = &instance->wanted;

	for (uint32_t i = 0; i < wanted->items.count; i++) {
		wanted->items.items[i].removed =
			bt_volume_set_has(&instance->used, &wanted->items.items[i]);
	}
	add_attached(instance, bt_node_info_name(node));
	/*
	 * Iterate over the drivers of the node, because a node has few drivers while a pod may have
	 * any number of volumes.
	 */
	for (uint32_t i = 0; i < csi_node->spec.drivers.count; i++) {
		struct bt_str driver = csi_node->spec.drivers.items[i].name;
		int64_t new_count = set_count(wanted, driver);
		int64_t limit;

		if (new_count != 0 && limit_of(csi_node, driver, &limit) &&
			set_count(&instance->used, driver) + new_count > limit) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_VOLUME_MAX_COUNT);
		}
	}
	return BT_STATUS_OK;
}

/* Queueing hints. Spec: 07b section 1.8. */
static bool after_csi_node_updated(const struct bt_hint_call *call)
{
	const struct bt_csi_node *new_node = call->new_object;

	for (uint32_t i = 0; i < new_node->spec.drivers.count; i++) {
		struct bt_str driver = new_node->spec.drivers.items[i].name;
		int64_t before;
		int64_t after;

		(void)limit_of(call->old_object, driver, &before); /* 0 without a limit */
		(void)limit_of(new_node, driver, &after);          /* 0 without a limit */
		if (after > before) {
			return true;
		}
	}
	return false;
}

static bool after_pod_deleted(const struct bt_hint_call *call)
{
	const struct bt_pod *deleted = call->old_object;

	return bt_plugin_pod_is_placed(deleted) && has_counted_volumes(&deleted->spec);
}

static bool after_attachment_deleted(const struct bt_hint_call *call)
{
	const struct bt_volume_attachment *attachment = call->old_object;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(call->pod);
	struct bt_arena arena = {0};
	bool hint = false;

	for (uint32_t i = 0; !hint && i < spec->volumes.count; i++) {
		const struct bt_volume *volume = &spec->volumes.items[i];
		enum bt_in_tree_driver in_tree = bt_in_tree_of_inline(volume);
		struct bt_str handle;

		if (volume->persistent_volume_claim != NULL) {
			hint = true;
		} else if (in_tree != BT_IN_TREE__COUNT &&
			(bt_in_tree_inline_handle(
				 volume, call->pod->namespace_, &arena, &handle, call->err) != 0 ||
				bt_str_equal(
					bt_in_tree_csi_name(in_tree), attachment->spec.attacher))) {
			hint = true;
		}
	}
	bt_arena_finish(&arena);
	return hint;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_CSI_NODE, BT_ACTION_ADD}, NULL},
	{{BT_RESOURCE_CSI_NODE, BT_ACTION_UPDATE}, after_csi_node_updated},
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, after_pod_deleted},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD}, bt_hint_if_uses_claim},
	{{BT_RESOURCE_VOLUME_ATTACHMENT, BT_ACTION_DELETE}, after_attachment_deleted},
};

static enum bt_hint_scope hint_scope_of(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_shape *shape, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, BT_UNUSED const void *new_object)
{
	if (bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_PERSISTENT_VOLUME_CLAIM)) {
		return bt_claim_hint_scope(shape);
	}
	return bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_VOLUME_ATTACHMENT)
		? BT_HINT_SCOPE_NAMESPACE
		: BT_HINT_SCOPE_SHAPE;
}

static void destroy(struct bt_plugin *plugin)
{
	struct limits_plugin *instance = bt_plugin_instance(plugin);

	bt_arena_finish(&instance->arena);
	bt_volume_set_finish(&instance->wanted);
	bt_volume_set_finish(&instance->used);
	bt_vec_finish(&instance->attachments);
	bt_map_finish(&instance->attachment_map);
	bt_free(instance);
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.hint_scope_of = hint_scope_of,
};

const struct bt_plugin_ops bt_node_volume_limits_plugin = {
	.name = "NodeVolumeLimits",
	.size = sizeof(struct limits_plugin),
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = bt_sign_volume_plugin,
	.pre_filter = pre_filter,
	.filter = filter,
};
