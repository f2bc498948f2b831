/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admission.h"

#include "api/defaulting.h"
#include "api/resources.h"
#include "api/types.h"
#include "cli/simulation.h"
#include "cli/workload.h"
#include "cluster/printable.h"
#include "config/text_set.h"

#define SYSTEM_CLUSTER_CRITICAL 2000000000
#define SYSTEM_NODE_CRITICAL 2000001000

void bt_admission_init(
	struct bt_admission *admission, const struct bt_manifests *cluster, bool pod_level)
{
	*admission = (struct bt_admission){.cluster = cluster, .pod_level = pod_level};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_PRIORITY_CLASS) {
			continue;
		}
		const struct bt_priority_class *class =
			bt_object_value(object->object, BT_KIND_PRIORITY_CLASS);
		if (class->global_default &&
			(admission->default_class == NULL ||
				class->value < admission->default_class->value)) {
			admission->default_class = class;
		}
	}
}

/** A class that every cluster has, also when the input does not list it. */
static bool find_system_class(struct bt_str name, int32_t *out_value)
{
	if (bt_str_equal_c(name, "system-cluster-critical")) {
		*out_value = SYSTEM_CLUSTER_CRITICAL;
		return true;
	}
	if (bt_str_equal_c(name, "system-node-critical")) {
		*out_value = SYSTEM_NODE_CRITICAL;
		return true;
	}
	return false;
}

static void apply_class(struct bt_pod_spec *spec, const struct bt_priority_class *class)
{
	spec->priority = (struct bt_opt_i32){true, class->value};
	if (spec->preemption_policy.data == NULL) {
		spec->preemption_policy = class->preemption_policy;
	}
}

static int resolve_priority(
	const struct bt_admission *admission, struct bt_pod_spec *spec, struct berth_error *err)
{
	if (spec->priority.present) {
		return 0;
	}
	struct bt_str name = spec->priority_class_name;
	if (name.length == 0) {
		if (admission->default_class != NULL) {
			apply_class(spec, admission->default_class);
			spec->priority_class_name = admission->default_class->metadata.name;
		} else {
			spec->priority = (struct bt_opt_i32){true, 0};
		}
		return 0;
	}
	uint32_t index =
		bt_manifests_find(admission->cluster, BT_KIND_PRIORITY_CLASS, BT_STR(""), name);
	if (index != BT_MANIFESTS_NONE) {
		apply_class(spec,
			bt_object_value(admission->cluster->objects.items[index].object,
				BT_KIND_PRIORITY_CLASS));
		return 0;
	}
	if (find_system_class(name, &spec->priority.value)) {
		spec->priority.present = true;
		return 0;
	}
	struct bt_strbuf shown = {0};
	bt_printable_append(&shown, bt_str_sub(name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
	int result = bt_error_set(err, BERTH_ERR_INVALID,
		"spec.priorityClassName: no PriorityClass with name %s is in the input",
		bt_strbuf_c(&shown));
	bt_strbuf_finish(&shown);
	return result;
}

int bt_admission_admit(const struct bt_admission *admission, struct bt_pod *pod,
	struct bt_arena *arena, struct berth_error *err)
{
	int result = resolve_priority(admission, &pod->spec, err);
	if (result < 0) {
		return result;
	}
	bt_pod_spec_default(&pod->spec, admission->pod_level, arena);
	bt_pod_spec_add_default_tolerations(&pod->spec, arena);
	bt_pod_default_affinity(pod, arena);
	return 0;
}

/** --- validation --- */

/** The list stands at "PLACE[INDEX]NAME". */
struct amounts {
	const struct bt_resource_list *list;
	const char *spec_place; /* "spec" */
	const char *containers; /* ".initContainers"; NULL: not of a container */
	uint32_t index;
	const char *name; /* ".resources.limits" */
};

static int check_amounts(const struct amounts *amounts, struct berth_error *err)
{
	for (uint32_t i = 0; i < amounts->list->count; i++) {
		const struct bt_resource_entry *entry = &amounts->list->items[i];
		const char *problems[BT_AMOUNT_PROBLEMS_MAX];
		if (bt_resource_amount_problems(entry->name, &entry->quantity, problems) == 0) {
			continue;
		}
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, amounts->spec_place);
		if (amounts->containers != NULL) {
			bt_strbuf_printf(&text, "%s[%u]", amounts->containers, amounts->index);
		}
		bt_strbuf_printf(&text, "%s[", amounts->name);
		bt_printable_append(&text, bt_str_sub(entry->name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
		bt_strbuf_append_c(&text, "]: Invalid value: \"");
		bt_quantity_format(&entry->quantity, &text);
		bt_strbuf_printf(&text, "\": %s", problems[0]);
		int result = bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
		return result;
	}
	return 0;
}

static int check_resources(struct amounts amounts, const struct bt_resource_requirements *resources,
	struct berth_error *err)
{
	amounts.list = &resources->limits;
	amounts.name = ".resources.limits";
	int result = check_amounts(&amounts, err);
	if (result == 0) {
		amounts.list = &resources->requests;
		amounts.name = ".resources.requests";
		result = check_amounts(&amounts, err);
	}
	return result;
}

static int check_containers(const bt_container_list *list, const char *spec_place,
	const char *containers, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < list->count && result == 0; i++) {
		struct amounts amounts = {
			.spec_place = spec_place, .containers = containers, .index = i};
		result = check_resources(amounts, &list->items[i].resources, err);
	}
	return result;
}

static int check_pod_spec(
	const struct bt_pod_spec *spec, const char *spec_place, struct berth_error *err)
{
	struct amounts whole = {.spec_place = spec_place};
	int result = check_containers(&spec->containers, spec_place, ".containers", err);
	if (result == 0) {
		result = check_containers(
			&spec->init_containers, spec_place, ".initContainers", err);
	}
	if (result == 0 && spec->resources != NULL) {
		result = check_resources(whole, spec->resources, err);
	}
	if (result == 0) {
		whole.list = &spec->overhead;
		whole.name = ".overhead";
		result = check_amounts(&whole, err);
	}
	return result;
}

int bt_admission_validate(const struct bt_object *object, struct berth_error *err)
{
	const struct bt_pod_template *template_ = bt_workload_template(object);
	const char *place = object->kind == BT_KIND_CRON_JOB ? "spec.jobTemplate.spec.template.spec"
							     : "spec.template.spec";
	if (object->kind == BT_KIND_POD) {
		const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
		return check_pod_spec(&pod->spec, "spec", err);
	}
	if (template_ == NULL) {
		return object->kind != BT_KIND_REPLICATION_CONTROLLER
			? 0
			: bt_error_set(err, BERTH_ERR_INVALID, "spec.template: Required value");
	}
	if (template_->spec.containers.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s.containers: Required value", place);
	}
	return check_pod_spec(&template_->spec, place, err);
}

#define NAMESPACE_LABEL "kubernetes.io/metadata.name"
#define DEFAULT_CLASS_ANNOTATION "storageclass.kubernetes.io/is-default-class"
#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

struct loading {
	struct bt_manifests *cluster;
	struct bt_state *state;
	struct bt_str default_class; /* "": none */
	struct bt_arena arena;       /* of one object */
};

static void put(struct loading *loading, enum bt_kind kind, const void *value)
{
	struct bt_object *object = bt_object_create(kind, value);
	bt_object_store_put(&loading->state->objects, object);
	bt_arena_reset(&loading->arena);
}

/** Of several default classes the one created last counts. */
static struct bt_str find_default_class(const struct bt_manifests *cluster)
{
	const struct bt_object_meta *best = NULL;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_STORAGE_CLASS) {
			continue;
		}
		const struct bt_object_meta *meta = object->object->meta;
		const struct bt_str *text =
			bt_str_map_find(&meta->annotations, BT_STR(DEFAULT_CLASS_ANNOTATION));
		if (text != NULL && bt_str_equal_c(*text, "true") &&
			(best == NULL ||
				bt_time_compare(&meta->creation_timestamp,
					&best->creation_timestamp) > 0)) {
			best = meta;
		}
	}
	return best != NULL ? best->name : BT_STR("");
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
	struct bt_str_pair *pairs =
		BT_ARENA_NEW_ARRAY(&loading->arena, struct bt_str_pair, (size_t)labels->count + 1);
	uint32_t count = 0;
	uint32_t i = 0;
	while (i < labels->count &&
		bt_str_compare(labels->items[i].key, BT_STR(NAMESPACE_LABEL)) < 0) {
		pairs[count++] = labels->items[i++];
	}
	pairs[count++] = (struct bt_str_pair){BT_STR(NAMESPACE_LABEL), namespace_->metadata.name};
	i += i < labels->count && bt_str_equal_c(labels->items[i].key, NAMESPACE_LABEL);
	while (i < labels->count) {
		pairs[count++] = labels->items[i++];
	}
	*labels = (struct bt_str_map){pairs, count, true};
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
			const struct bt_kind_info *info = bt_kind_info(object->kind);
			void *copy = bt_arena_alloc(&loading.arena, info->size);
			memcpy(copy, object->object->value, info->size);
			struct bt_object_meta *meta =
				copy; /* every kind starts with its metadata */
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
			put(&loading, object->kind, copy);
		}
		if (object->namespace_.length != 0) {
			struct bt_str name = object->namespace_;
			if (bt_text_set_add(&namespaces, name) &&
				bt_manifests_find(loading.cluster, BT_KIND_NAMESPACE, BT_STR(""),
					name) == BT_MANIFESTS_NONE) {
				struct bt_namespace namespace_ = {.metadata.name = name};
				namespace_.metadata.uid = bt_manifests_make_uid(loading.cluster);
				default_namespace(&loading, &namespace_);
				put(&loading, BT_KIND_NAMESPACE, &namespace_);
			}
		}
	}
	for (uint32_t i = 0; i < expansion->made.count; i++) {
		const struct bt_object *object = expansion->made.items[i];
		if (object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
			struct bt_persistent_volume_claim claim =
				*(const struct bt_persistent_volume_claim *)object->value;
			default_claim(&loading, &claim);
			put(&loading, object->kind, &claim);
		} else {
			put(&loading, object->kind, object->value);
		}
	}
	bt_text_set_finish(&namespaces);
	bt_arena_finish(&loading.arena);
}
