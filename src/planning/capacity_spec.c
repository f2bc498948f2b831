/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/capacity.h"

#include "api/pod.h"
#include "api/suggest.h"
#include "api/text_template.h"
#include "api/types.h"
#include "base/printable.h"
#include "planning/reference.h"
#include "cluster/workload.h"
#include "state/pod_groups.h"

#define KINDS_SENTENCE \
	"Pod, Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob and " \
	"ReplicationController are taken"

void bt_capacity_specs_finish(struct bt_capacity_specs *specs)
{
	for (uint32_t i = 0; i < specs->list.count; i++) {
		struct bt_capacity_spec *spec = &specs->list.items[i];
		bt_object_release(spec->group);
		bt_vec_finish_each(&spec->members, bt_object_release(*each));
		bt_object_release(spec->object);
	}
	bt_vec_finish(&specs->list);
	bt_strbuf_finish(&specs->skipped);
	bt_arena_finish(&specs->arena);
}

bool bt_capacity_spec_creates_claims(const struct bt_capacity_spec *spec)
{
	if (spec->object->kind != BT_KIND_STATEFUL_SET) {
		return false;
	}
	const struct bt_stateful_set *set = bt_object_value(spec->object, BT_KIND_STATEFUL_SET);
	return set->spec.volume_claim_templates.count != 0;
}

/** --- from an object to a spec --- */

/** Returns a pod with the spec's name, and without uid, timestamps, node and status. */
static struct bt_object *make_pod(const struct bt_capacity_spec *spec,
	const struct bt_object_meta *metadata, const struct bt_pod_spec *pod_spec)
{
	struct bt_pod pod = {.metadata = *metadata, .spec = *pod_spec};
	pod.metadata.name = spec->name;
	pod.metadata.generate_name = BT_STR("");
	pod.metadata.namespace_ = spec->namespace_;
	pod.metadata.uid = BT_STR("");
	pod.metadata.creation_timestamp = (struct bt_time){0};
	pod.metadata.deletion_timestamp = NULL;
	pod.spec.node_name = BT_STR("");
	return bt_object_create(BT_KIND_POD, &pod);
}

/**
 * Returns a reference to the workload. The controller creates no pods for a workload that is
 * terminating or has no name. For such a workload, returns a copy that has the spec's name and no
 * deletion timestamp.
 */
static struct bt_object *make_workload(
	const struct bt_capacity_spec *spec, const struct bt_object *object)
{
	if (object->meta->deletion_timestamp == NULL && object->meta->name.length != 0) {
		return bt_object_share((struct bt_object *)(uintptr_t)object);
	}
	struct bt_arena arena = {0};
	struct bt_object_meta *meta = bt_object_copy_value(object, &arena);
	meta->deletion_timestamp = NULL;
	meta->name = spec->name;
	struct bt_object *made = bt_object_create(object->kind, meta);
	bt_arena_finish(&arena);
	return made;
}

/** Adds a spec for the object. is_file: the object is from a manifest, not from the cluster. */
static int add(struct bt_capacity_specs *specs, const struct bt_object *object,
	struct bt_str namespace_, struct bt_str name, struct bt_origin origin, bool is_file,
	struct berth_error *err)
{
	if (specs->list.count >= BT_CAPACITY_SPECS_MAX) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "more than %d pod specs", BT_CAPACITY_SPECS_MAX);
	}
	struct bt_capacity_spec spec = {
		.namespace_ = bt_arena_str(&specs->arena, namespace_),
		.name = bt_arena_str(&specs->arena, name),
		.kind = object->kind,
		.origin = origin,
		.weight = 1,
	};
	const struct bt_pod_template *template_ = bt_workload_template(object);
	if (object->kind == BT_KIND_POD) {
		const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
		if (is_file && pod->spec.node_name.length != 0) {
			bt_manifests_warn(specs->cluster,
				"Pod %m: its spec.nodeName is ignored: the scheduler places the "
				"copies",
				spec.namespace_, spec.name);
		}
		spec.object = make_pod(&spec, &pod->metadata, &pod->spec);
	} else if (!bt_kind_has_replicas(object->kind)) {
		spec.object = make_pod(&spec, &template_->metadata, &template_->spec);
	} else {
		spec.object = make_workload(&spec, object);
	}
	bt_vec_push(&specs->list, spec);
	return 0;
}

/** --- files --- */

static int take_spec(struct bt_capacity_specs *specs, struct bt_origin origin,
	const struct bt_object *object, struct berth_error *err)
{
	const struct bt_object_meta *meta = object->meta;
	struct bt_str namespace_ =
		meta->namespace_.length != 0 ? meta->namespace_ : BT_STR("default");
	/* The spec's name is metadata.name, else generateName, else "pod". */
	struct bt_str name = meta->name;
	if (name.length == 0) {
		name = meta->generate_name;
		name.length -= bt_str_has_suffix(name, BT_STR("-"));
		name = name.length != 0 ? name : BT_STR("pod");
	}
	if (name.length > BT_MANIFESTS_NAME_BYTES_MAX ||
		namespace_.length > BT_MANIFESTS_NAME_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"metadata: name and namespace may have at most %d bytes",
			BT_MANIFESTS_NAME_BYTES_MAX);
	}
	int result = bt_manifests_check(object, err);
	if (result < 0) {
		struct bt_strbuf shown = {0};
		bt_printable_append_name(&shown, namespace_, name);
		result = bt_error_wrap(err, result, "%s %s", bt_kind_info(object->kind)->name,
			bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
		return result;
	}
	return add(specs, object, namespace_, name, origin, true, err);
}

/**
 * Puts an object without a namespace into that of --namespace, and refuses another namespace, as
 * kubectl does. *object is exchanged for a copy.
 */
static int set_namespace(
	const struct bt_capacity_specs *specs, struct bt_object **object, struct berth_error *err)
{
	const struct bt_object_meta *given = (*object)->meta;
	const struct bt_kind_info *kind = bt_kind_info((*object)->kind);
	struct bt_str wanted = bt_str_from(specs->namespace_ != NULL ? specs->namespace_ : "");
	if (wanted.length == 0 || !kind->namespaced || bt_str_equal(given->namespace_, wanted)) {
		return 0;
	}
	if (given->namespace_.length != 0) {
		return bt_text_error(err, BERTH_ERR_INVALID,
			"%c %m: is in another namespace than --namespace says", kind->name,
			bt_str_sub(given->namespace_, 0, BT_MANIFESTS_NAME_BYTES_MAX),
			bt_str_sub(given->name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
	}
	struct bt_arena arena = {0};
	struct bt_object_meta *meta = bt_object_copy_value(*object, &arena);
	meta->namespace_ = wanted;
	struct bt_object *copy = bt_object_create((*object)->kind, meta);
	bt_object_release(*object);
	*object = copy;
	bt_arena_finish(&arena);
	return 0;
}

static int add_object(
	void *context, struct bt_origin origin, struct bt_object *object, struct berth_error *err)
{
	struct bt_capacity_specs *specs = context;
	int result = set_namespace(specs, &object, err);
	if (result < 0) {
		bt_object_release(object);
		return result;
	}
	if (object->kind != BT_KIND_POD && !bt_kind_creates_pods(object->kind)) {
		return bt_manifests_take(specs->cluster, origin, object, err);
	}
	result = take_spec(specs, origin, object, err);
	bt_object_release(object);
	return result;
}

/**
 * Records the first object of an unknown kind, which is reported only if the file has no pod spec.
 */
static void take_skipped(void *context, struct bt_origin origin, struct bt_str api_version,
	struct bt_str kind, struct bt_str json)
{
	struct bt_capacity_specs *specs = context;
	struct bt_strbuf hint = {0};
	if (bt_manifests_take_policy(specs->cluster, origin, api_version, kind, json) ||
		specs->skipped.length != 0 || kind.length == 0) {
		return;
	}
	if (bt_str_equal_c(kind, "PodTemplate")) {
		bt_strbuf_append_c(&hint, "write its template as a Pod");
	} else {
		(void)bt_kind_hint(api_version, kind, &hint); /* appends nothing without a hint */
	}
	bt_text_append(&specs->skipped, "%p %p[ (%s)]",
		bt_str_sub(api_version, 0, BT_MANIFESTS_NAME_BYTES_MAX),
		bt_str_sub(kind, 0, BT_MANIFESTS_NAME_BYTES_MAX), bt_strbuf_str(&hint));
	bt_strbuf_finish(&hint);
}

static void taken(void *context, struct bt_origin origin, struct bt_str json)
{
	const struct bt_capacity_specs *specs = context;
	bt_manifests_check_fields(specs->cluster, origin, json);
}

int bt_capacity_specs_read(
	struct bt_capacity_specs *specs, const char *path, struct berth_error *err)
{
	struct bt_input *input = &specs->cluster->input;
	uint32_t count = specs->list.count;
	bt_strbuf_reset(&specs->skipped);
	input->sink = (struct bt_input_sink){
		.context = specs, .take = add_object, .skipped = take_skipped, .taken = taken};
	int result = bt_input_read(input, path, err);
	if (result == 0 && specs->list.count == count) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: no pod spec in it%s%s: " KINDS_SENTENCE,
			strcmp(path, "-") == 0 ? "standard input" : path,
			specs->skipped.length != 0 ? ", but " : "", bt_strbuf_c(&specs->skipped));
	}
	return result;
}

/** --- objects of the cluster --- */

/**
 * Finds the object in the wanted namespace. Without a wanted namespace, finds the object in the
 * default namespace, else the only object of this kind and name in any namespace. Last, tries the
 * reference's second meaning (other_namespace). *out_elsewhere: number of objects with this kind
 * and name in all namespaces; 0 if only the wanted or default namespace was searched.
 */
static uint32_t find_like(const struct bt_manifests *cluster, const struct bt_pod_reference *wanted,
	uint32_t *out_elsewhere)
{
	bool is_anywhere = wanted->namespace_.length == 0;
	uint32_t index = bt_manifests_find(cluster, wanted->kind,
		is_anywhere ? BT_STR("default") : wanted->namespace_, wanted->name);
	*out_elsewhere = 0;
	if (index == BT_MANIFESTS_NONE && is_anywhere) {
		uint32_t found = BT_MANIFESTS_NONE;
		for (uint32_t i = 0; i < cluster->objects.count; i++) {
			const struct bt_manifests_object *object = &cluster->objects.items[i];
			if (object->kind == wanted->kind &&
				bt_str_equal(object->name, wanted->name)) {
				found = i;
				(*out_elsewhere)++;
			}
		}
		index = *out_elsewhere == 1 ? found : BT_MANIFESTS_NONE;
	}
	if (index == BT_MANIFESTS_NONE && wanted->other_namespace.length != 0) {
		index = bt_manifests_find(
			cluster, BT_KIND_POD, wanted->other_namespace, wanted->name);
	}
	return index;
}

/** Adds a spec that copies the PodGroup with all of its active pods, running or pending. */
static int add_group(struct bt_capacity_specs *specs, const struct bt_manifests_object *entry,
	struct berth_error *err)
{
	const struct bt_manifests *cluster = specs->cluster;
	struct bt_capacity_spec spec = {
		.namespace_ = bt_arena_str(&specs->arena, entry->namespace_),
		.name = bt_arena_str(&specs->arena, entry->name),
		.kind = BT_KIND_POD_GROUP,
		.origin = entry->origin,
		.weight = 1,
	};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		const struct bt_pod *pod = object->kind == BT_KIND_POD
			? (const struct bt_pod *)bt_object_value(object->object, BT_KIND_POD)
			: NULL;
		const struct bt_str *group = pod != NULL ? bt_pod_group_name_of(pod) : NULL;
		if (group != NULL && bt_str_equal(*group, entry->name) &&
			bt_str_equal(object->namespace_, entry->namespace_) &&
			bt_pod_is_active(pod)) {
			struct bt_capacity_spec named = spec;
			named.name = bt_arena_printf(&specs->arena, "%.*s-%u",
				BT_STR_ARG(
					bt_str_sub(spec.name, 0, BT_MANIFESTS_NAME_BYTES_MAX - 11)),
				spec.members.count);
			bt_vec_push(&spec.members, make_pod(&named, &pod->metadata, &pod->spec));
		}
	}
	if (spec.members.count == 0) {
		return bt_text_error(err, BERTH_ERR_NOT_FOUND,
			"PodGroup %m has no pods in the input to copy", spec.namespace_, spec.name);
	}
	spec.group = bt_object_share(entry->object);
	spec.object = bt_object_share(spec.members.items[0]);
	bt_vec_push(&specs->list, spec);
	return 0;
}

int bt_capacity_specs_like(
	struct bt_capacity_specs *specs, const char *text, struct berth_error *err)
{
	struct bt_pod_reference wanted;
	int result = bt_pod_reference_parse(text, specs->namespace_, &wanted, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "--like");
	}
	uint32_t elsewhere;
	uint32_t index = find_like(specs->cluster, &wanted, &elsewhere);
	if (index == BT_MANIFESTS_NONE) {
		struct bt_str name = bt_str_sub(wanted.name, 0, BT_MANIFESTS_NAME_BYTES_MAX);
		const char *kind = bt_kind_info(wanted.kind)->name;
		if (elsewhere > 1) {
			return bt_text_error(err, BERTH_ERR_NOT_FOUND,
				"--like: %u namespaces have a %c %p: name one with -n", elsewhere,
				kind, name);
		}
		const char *near = bt_manifests_suggest(
			specs->cluster, wanted.kind, NULL, name, NULL, NULL, &specs->arena);
		bool is_other = near != NULL && !bt_str_equal_c(name, near);
		return bt_text_error(err, BERTH_ERR_NOT_FOUND,
			"--like: no %c %p is in the input[, in namespace %p][; did you mean %p?]",
			kind, name, bt_str_sub(wanted.namespace_, 0, BT_MANIFESTS_NAME_BYTES_MAX),
			bt_str_from(is_other ? near : ""));
	}
	const struct bt_manifests_object *entry = &specs->cluster->objects.items[index];
	if (entry->kind == BT_KIND_POD_GROUP) {
		result = add_group(specs, entry, err);
		return result < 0 ? bt_error_wrap(err, result, "--like") : 0;
	}
	result = add(
		specs, entry->object, entry->namespace_, entry->name, entry->origin, false, err);
	if (result == 0) {
		specs->list.items[specs->list.count - 1].pods_exist = entry->pods_exist;
	}
	return result;
}

/** --- weights --- */

int bt_capacity_specs_weigh(
	struct bt_capacity_specs *specs, const char *text, struct berth_error *err)
{
	struct bt_str rest = bt_str_from(text);
	while (rest.length != 0) {
		struct bt_str amount = bt_str_cut(&rest, ',');
		struct bt_str wanted = bt_str_cut(&amount, '=');
		struct bt_str name = wanted;
		struct bt_str namespace_ = {0}; /* data NULL: any */
		int64_t weight;
		bool found = false;
		if (!bt_str_parse_int64(amount, &weight) || weight < 1 ||
			weight > BT_CAPACITY_WEIGHT_MAX) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"--mix: weights are given as NAME=N with N from 1 to %d",
				BT_CAPACITY_WEIGHT_MAX);
		}
		if (bt_str_find_char(wanted, '/') >= 0) {
			namespace_ = bt_str_cut(&name, '/');
		}
		for (uint32_t i = 0; i < specs->list.count; i++) {
			struct bt_capacity_spec *spec = &specs->list.items[i];
			if ((namespace_.data == NULL ||
				    bt_str_equal(spec->namespace_, namespace_)) &&
				bt_str_equal(spec->name, name)) {
				spec->weight = weight;
				found = true;
			}
		}
		if (!found) {
			struct bt_strbuf known = {0};
			bt_text_append(&known, "--mix: %p names no pod spec (there are: ",
				bt_str_sub(wanted, 0, BT_MANIFESTS_NAME_BYTES_MAX));
			for (uint32_t i = 0; i < specs->list.count && i < 10; i++) {
				bt_text_append(&known, "%c%p", i == 0 ? "" : ", ",
					specs->list.items[i].name);
			}
			bt_strbuf_append_c(&known, specs->list.count > 10 ? ", ...)" : ")");
			return bt_error_take(err, BERTH_ERR_INVALID, &known);
		}
	}
	return 0;
}
