/* SPDX-License-Identifier: Apache-2.0 */
/** A simulated CSI provisioner for every driver there is. Spec: 14b section 6.4. */
#include <inttypes.h>

#include "cluster/persistent_volume.h"

struct provisioner {
	const struct bt_api_resource *volumes;
	const struct bt_api_resource *claims;
	const struct bt_api_resource *classes;
	const struct bt_api_resource *csi_nodes;
	const struct bt_api_resource *nodes;
	struct bt_groups due; /* claims; the group is when their volume is made, as text */
};

/** One look at one claim. */
struct pass {
	struct provisioner *self;
	struct bt_hub *hub;
	struct bt_str key;
	const struct bt_json_value *claim;
	const struct bt_json_value *class_;
	struct bt_str driver;
	struct bt_str node; /* selected; "" for immediate binding */
	struct bt_arena *arena;
	int64_t now_ns;
};

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct provisioner *self = BT_NEW(struct provisioner);

	self->volumes = bt_resources_builtin(resources, "", "persistentvolumes");
	self->claims = bt_resources_builtin(resources, "", "persistentvolumeclaims");
	self->classes = bt_resources_builtin(resources, "storage.k8s.io", "storageclasses");
	self->csi_nodes = bt_resources_builtin(resources, "storage.k8s.io", "csinodes");
	self->nodes = bt_resources_builtin(resources, "", "nodes");
	bt_groups_init(&self->due);
	return self;
}

static void destroy(void *data)
{
	struct provisioner *self = data;

	bt_groups_finish(&self->due);
	bt_free(self);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct provisioner *self = data;

	if (observed->type == BT_CHANGE_DELETED) {
		bt_groups_remove(&self->due, observed->key);
	} else if (bt_tree_annotation(observed->after, BT_PV_PROVISIONER).length != 0 &&
		bt_json_text_at(observed->after, "spec.volumeName").length == 0) {
		bt_hub_enqueue(hub, observed->key);
	}
}

/* --- topology --- */

static bool term_allows(const struct bt_json_value *term, const struct bt_json_value *labels)
{
	const struct bt_json_value *list = bt_json_array_at(term, "matchLabelExpressions");

	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *label =
			bt_json_get(labels, bt_json_text_at(list->elements[i], "key"));
		const struct bt_json_value *values = bt_json_array_at(list->elements[i], "values");

		if (label == NULL || !bt_json_has_text(values, label->text)) {
			return false;
		}
	}
	return true;
}

static bool is_allowed(struct pass *pass, const struct bt_json_value *labels)
{
	const struct bt_json_value *terms = bt_json_array_at(pass->class_, "allowedTopologies");

	for (uint32_t i = 0; i < terms->count; i++) {
		if (term_allows(terms->elements[i], labels)) {
			return true;
		}
	}
	return terms->count == 0;
}

static void add_requirement(struct pass *pass, struct bt_json_value *expressions, struct bt_str key,
	struct bt_json_value *values)
{
	struct bt_json_value *entry = bt_json_new(pass->arena, BT_JSON_OBJECT);

	bt_json_set_str(pass->arena, entry, "key", key);
	bt_json_set_c(pass->arena, entry, "operator", "In");
	bt_json_set_value(pass->arena, entry, "values", values);
	bt_json_append(pass->arena, expressions, entry);
}

/** The selected node's values of the driver's topology keys. */
static void require_node(
	struct pass *pass, const struct bt_json_value *labels, struct bt_json_value *expressions)
{
	const struct bt_json_value *csi_node =
		bt_api_read(bt_hub_api(pass->hub), pass->self->csi_nodes, pass->node, pass->arena);
	const struct bt_json_value *drivers = bt_json_array_at(csi_node, "spec.drivers");

	for (uint32_t i = 0; i < drivers->count; i++) {
		const struct bt_json_value *keys =
			bt_json_array_at(drivers->elements[i], "topologyKeys");
		if (!bt_str_equal(bt_json_text_at(drivers->elements[i], "name"), pass->driver)) {
			continue;
		}
		for (uint32_t j = 0; j < keys->count; j++) {
			struct bt_str key = keys->elements[j]->text;
			const struct bt_json_value *label = bt_json_get(labels, key);
			struct bt_json_value *values = bt_json_new(pass->arena, BT_JSON_ARRAY);

			if (label != NULL) {
				bt_json_append(pass->arena, values,
					bt_json_new_str(pass->arena, label->text));
				add_requirement(pass, expressions, key, values);
			}
		}
	}
}

/* --- the volume --- */

static void set_affinity(
	struct pass *pass, struct bt_json_value *spec, struct bt_json_value *expressions)
{
	struct bt_json_value *affinity;
	struct bt_json_value *required;
	struct bt_json_value *term;

	if (expressions->count == 0) {
		return;
	}
	affinity = bt_json_ensure_object(pass->arena, spec, "nodeAffinity");
	required = bt_json_ensure_object(pass->arena, affinity, "required");
	term = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bt_json_set_value(pass->arena, term, "matchExpressions", expressions);
	bt_json_append(pass->arena,
		bt_json_ensure_array(pass->arena, required, "nodeSelectorTerms"), term);
}

static struct bt_json_value *make_volume(
	struct pass *pass, struct bt_str name, struct bt_json_value *expressions)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *volume = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, volume, "metadata");
	struct bt_json_value *spec = bt_json_ensure_object(arena, volume, "spec");
	struct bt_json_value *csi = bt_json_ensure_object(arena, spec, "csi");
	struct bt_str policy = bt_json_text_at(pass->class_, "reclaimPolicy");

	bt_json_set_str(arena, metadata, "name", name);
	bt_json_set_str(arena, bt_json_ensure_object(arena, metadata, "annotations"),
		BT_PV_PROVISIONED_BY, pass->driver);
	bt_json_set_value(arena, spec, "accessModes",
		bt_json_clone(arena, bt_json_array_at(pass->claim, "spec.accessModes"), false));
	bt_json_set_value(arena, spec, "capacity",
		bt_json_clone(
			arena, bt_json_object_at(pass->claim, "spec.resources.requests"), false));
	struct bt_json_value *reference = bt_json_ensure_object(pass->arena, spec, "claimRef");

	bt_json_set_c(pass->arena, reference, "apiVersion", "v1");
	bt_json_set_c(pass->arena, reference, "kind", "PersistentVolumeClaim");
	bt_json_set_str(pass->arena, reference, "name", bt_key_name(pass->key));
	bt_json_set_str(pass->arena, reference, "namespace", bt_key_namespace(pass->key));
	bt_json_set_str(pass->arena, reference, "resourceVersion",
		bt_json_text_at(pass->claim, "metadata.resourceVersion"));
	bt_json_set_str(
		pass->arena, reference, "uid", bt_json_text_at(pass->claim, "metadata.uid"));
	bt_json_set_str(arena, csi, "driver", pass->driver);
	bt_json_set_str(arena, csi, "volumeHandle", name);
	set_affinity(pass, spec, expressions);
	bt_json_set_str(arena, spec, "persistentVolumeReclaimPolicy",
		policy.length != 0 ? policy : BT_STR("Delete"));
	bt_json_set_str(arena, spec, "storageClassName", bt_pv_class_of(pass->claim));
	bt_json_set_str(arena, spec, "volumeMode", bt_json_text_at(pass->claim, "spec.volumeMode"));
	return volume;
}

static bool provision(struct pass *pass)
{
	struct bt_str name = bt_arena_printf(
		pass->arena, "pvc-%.*s", BT_STR_ARG(bt_json_text_at(pass->claim, "metadata.uid")));
	struct bt_json_value *expressions = bt_json_new(pass->arena, BT_JSON_ARRAY);
	uint16_t code;

	if (pass->node.length != 0) {
		const struct bt_json_value *node = bt_api_read(
			bt_hub_api(pass->hub), pass->self->nodes, pass->node, pass->arena);
		const struct bt_json_value *labels = bt_json_object_at(node, "metadata.labels");

		if (node == NULL || !is_allowed(pass, labels)) {
			/* The scheduler is asked to choose another node. */
			struct bt_arena *arena = pass->arena;
			struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
			struct bt_json_value *metadata =
				bt_json_ensure_object(arena, patch, "metadata");

			bt_json_set_value(arena,
				bt_json_ensure_object(arena, metadata, "annotations"),
				BT_PV_SELECTED_NODE, bt_json_new(arena, BT_JSON_NULL));
			bt_hub_event(pass->hub, "berth-provisioner", pass->self->claims,
				pass->claim, "Warning", "ProvisioningFailed",
				bt_arena_printf(arena,
					"failed to provision volume with StorageClass \"%.*s\": "
					"node \"%.*s\" is "
					"not in allowed topologies",
					BT_STR_ARG(bt_pv_class_of(pass->claim)),
					BT_STR_ARG(pass->node)));
			bt_groups_remove(&pass->self->due, pass->key);
			return bt_hub_patch(pass->hub, pass->self->claims, BT_SUBRESOURCE_NONE,
				       pass->key, patch, arena, NULL) == 200;
		}
		require_node(pass, labels, expressions);
	} else {
		/* Without a node: wherever the class allows first. */
		const struct bt_json_value *terms =
			bt_json_array_at(pass->class_, "allowedTopologies");
		const struct bt_json_value *list = bt_json_array_at(
			terms->count != 0 ? terms->elements[0] : NULL, "matchLabelExpressions");

		for (uint32_t i = 0; i < list->count; i++) {
			add_requirement(pass, expressions,
				bt_json_text_at(list->elements[i], "key"),
				bt_json_clone(pass->arena,
					bt_json_array_at(list->elements[i], "values"), false));
		}
	}
	code = bt_hub_create(pass->hub, pass->self->volumes, BT_STR(""),
		make_volume(pass, name, expressions), pass->arena, NULL);
	if (code == 201) {
		bt_hub_event(pass->hub, "berth-provisioner", pass->self->claims, pass->claim,
			"Normal", "ProvisioningSucceeded",
			bt_arena_printf(pass->arena, "Successfully provisioned volume %.*s",
				BT_STR_ARG(name)));
	}
	bt_groups_remove(&pass->self->due, pass->key);
	return code == 201 || code == 409;
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {.self = data, .hub = hub, .key = key, .arena = arena, .now_ns = now_ns};
	struct bt_str due_text;
	int64_t due = 0;

	pass.claim = bt_api_read(bt_hub_api(hub), pass.self->claims, key, arena);
	pass.driver = bt_tree_annotation(pass.claim, BT_PV_PROVISIONER);
	if (pass.claim == NULL || pass.driver.length == 0 || bt_tree_is_deleting(pass.claim) ||
		bt_json_text_at(pass.claim, "spec.volumeName").length != 0) {
		return true;
	}
	pass.class_ = bt_pv_read_class(hub, pass.self->classes, bt_pv_class_of(pass.claim), arena);
	pass.node = bt_tree_annotation(pass.claim, BT_PV_SELECTED_NODE);
	if (pass.class_ == NULL ||
		(pass.node.length == 0 && bt_pv_waits_for_consumer(pass.class_))) {
		bt_groups_remove(&pass.self->due, key);
		return true;
	}
	due_text = bt_groups_of(&pass.self->due, key);
	if (due_text.length == 0) {
		due = now_ns + bt_hub_options(hub)->provision_delay_ns;
		bt_groups_put(&pass.self->due, key, bt_arena_printf(arena, "%" PRId64, due));
	} else {
		(void)bt_str_parse_int64(due_text, &due);
	}
	if (due > now_ns) {
		bt_hub_enqueue_at(hub, key, due);
		return true;
	}
	return provision(&pass);
}

static const char *const watched[] = {"persistentvolumeclaims", NULL};

const struct bt_controller_ops bt_volume_provisioner_ops = {
	.name = "volume-provisioner",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
