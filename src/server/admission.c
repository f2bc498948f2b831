/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdlib.h>

#include "api/storage.h"
#include "codec/base64.h"
#include "net/certificate.h"
#include "server/admission_private.h"
/* LimitRanger: the limits of a namespace. Spec: 14b section 4.2. */

static const struct {
	const char *name;
	const char *title;
} container_lists[] = {
	{"containers", "container"},
	{"initContainers", "init container"},
};

/** Returns the entries of spec.limits of all LimitRanges in the namespace. */
static const struct bt_json_value *list_limits(const struct bt_admission *admission)
{
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *all = bt_json_new(arena, BT_JSON_ARRAY);
	if (admission->old != NULL || admission->write->restoring) {
		return all;
	}
	const struct bt_json_value *ranges =
		bt_admission_list(admission, "", "limitranges", BT_STR("\"limits\""));
	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct bt_json_value *limits =
			bt_json_array_at(ranges->elements[i], "spec.limits");
		for (uint32_t n = 0; n < limits->count; n++) {
			bt_json_append(arena, all, limits->elements[n]);
		}
	}
	return all;
}

static bool has_type(const struct bt_json_value *limit, const char *type)
{
	return bt_str_equal_c(bt_kinds_text(limit, "type"), type);
}

/**
 * Sets missing members of a container's requests or limits to the defaults. Appends a text such as
 * "cpu, memory limit for container c" to `notes`. `which`: "requests" or "limits".
 */
static void set_defaults_of(struct bt_arena *arena, struct bt_json_value *container,
	const char *which, const char *title, const struct bt_json_value *defaults,
	struct bt_strbuf *notes)
{
	struct bt_strbuf names = {0};
	if (defaults == NULL || defaults->count == 0 || defaults->count > BT_KINDS_RESOURCES_MAX) {
		return;
	}
	struct bt_json_value *sorted = bt_json_clone(arena, defaults, true);
	qsort(sorted->members, sorted->count, sizeof(*sorted->members), bt_str_compare_qsort);
	struct bt_json_value *list = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, container, "resources"), which);
	for (uint32_t i = 0; i < sorted->count; i++) {
		const struct bt_json_member *member = &sorted->members[i];
		if (bt_json_get(list, member->name) == NULL) {
			bt_json_set(arena, list, member->name, member->value);
			bt_strbuf_printf(&names, "%s%.*s", names.length != 0 ? ", " : "",
				BT_STR_ARG(member->name));
		}
	}
	if (names.length != 0) {
		bool is_limit = strcmp(which, "limits") == 0;
		bt_strbuf_printf(notes, "%s%s %s for %s %.*s", notes->length != 0 ? "; " : "",
			bt_strbuf_c(&names), is_limit ? "limit" : "request", title,
			BT_STR_ARG(bt_kinds_text(container, "name")));
	}
	bt_strbuf_finish(&names);
}

static void set_limits(const struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_arena *arena = admission->write->arena;
	const struct bt_json_value *spec = bt_json_find(pod, "spec");
	const struct bt_json_value *limits = list_limits(admission);
	struct bt_strbuf notes = {0};
	for (uint32_t i = 0; i < limits->count; i++) {
		const struct bt_json_value *limit = limits->elements[i];
		for (size_t n = 0;
			has_type(limit, "Container") && n < BT_ARRAY_LENGTH(container_lists); n++) {
			const struct bt_json_value *list =
				bt_json_array_at(spec, container_lists[n].name);
			const char *title = container_lists[n].title;
			for (uint32_t c = 0; c < list->count; c++) {
				set_defaults_of(arena, list->elements[c], "requests", title,
					bt_kinds_object(limit, "defaultRequest"), &notes);
				set_defaults_of(arena, list->elements[c], "limits", title,
					bt_kinds_object(limit, "default"), &notes);
			}
		}
	}
	if (notes.length != 0) {
		bt_json_put(arena, pod,
			"{metadata: {annotations: {'kubernetes.io/limit-ranger': %s}}}",
			bt_arena_printf(arena, "LimitRanger plugin set: %s", bt_strbuf_c(&notes)));
	}
	bt_strbuf_finish(&notes);
}

/** --- checks --- */

/** Errors after this many are not reported. */
#define ERRORS_MAX 50

/** The errors in the amounts of a pod or claim. */
struct limit_errors {
	struct bt_arena *arena;
	struct bt_strbuf text;
	uint32_t count;
};

BT_PRINTF(2, 3)
static void add_error(struct limit_errors *errors, const char *format, ...)
{
	va_list arguments;
	if (errors->count == ERRORS_MAX) {
		return;
	}
	bt_strbuf_append_c(&errors->text, errors->count++ != 0 ? ", " : "");
	va_start(arguments, format);
	bt_strbuf_vprintf(&errors->text, format, arguments);
	va_end(arguments);
}

static void check_bound(struct limit_errors *errors, const char *type,
	const struct bt_json_member *bound, const struct bt_json_value *requests,
	const struct bt_json_value *limits, bool is_max)
{
	/*
	 * The limit is checked against a maximum, the request against a minimum. The other value
	 * needs no check, because a request is at most its limit.
	 */
	const struct bt_json_value *own = bt_json_get(is_max ? limits : requests, bound->name);
	const char *word = is_max ? "maximum" : "minimum";
	const char *checked = is_max && limits != requests ? "limit" : "request";
	struct bt_quantity edge;
	struct bt_quantity value;
	if (!bt_kinds_quantity(bound->value, errors->arena, &edge)) {
		return;
	}
	if (own == NULL) {
		add_error(errors, "%s %.*s usage per %s is %.*s.%s No %s is specified", word,
			BT_STR_ARG(bound->name), type, BT_STR_ARG(bound->value->text),
			is_max ? "" : " ", checked);
	} else if (bt_kinds_quantity(own, errors->arena, &value)) {
		int order = bt_quantity_compare(&value, &edge);
		if (is_max ? order > 0 : order < 0) {
			add_error(errors, "%s %.*s usage per %s is %.*s, but %s is %.*s", word,
				BT_STR_ARG(bound->name), type, BT_STR_ARG(bound->value->text),
				checked, BT_STR_ARG(own->text));
		}
	}
}

static void check_amounts(struct limit_errors *errors, const char *type,
	const struct bt_json_value *limit, const struct bt_json_value *requests,
	const struct bt_json_value *limits)
{
	const struct bt_json_value *least = bt_json_object_at(limit, "min");
	const struct bt_json_value *most = bt_json_object_at(limit, "max");
	const struct bt_json_value *ratios = bt_json_object_at(limit, "maxLimitRequestRatio");
	for (uint32_t i = 0; i < least->count; i++) {
		check_bound(errors, type, &least->members[i], requests, limits, false);
	}
	for (uint32_t i = 0; i < most->count; i++) {
		check_bound(errors, type, &most->members[i], requests, limits, true);
	}
	for (uint32_t i = 0; i < ratios->count; i++) {
		const struct bt_json_member *ratio = &ratios->members[i];
		struct bt_quantity max;
		struct bt_quantity request;
		struct bt_quantity allowed;
		if (!bt_kinds_quantity(ratio->value, errors->arena, &max)) {
			continue;
		}
		if (!bt_kinds_quantity(
			    bt_json_get(requests, ratio->name), errors->arena, &request) ||
			!bt_kinds_quantity(
				bt_json_get(limits, ratio->name), errors->arena, &allowed) ||
			bt_quantity_is_zero(&request)) {
			add_error(errors,
				"%.*s max limit to request ratio per %s is %.*s, but no request is "
				"specified or request is 0",
				BT_STR_ARG(ratio->name), type, BT_STR_ARG(ratio->value->text));
			continue;
		}
		double observed =
			(double)bt_quantity_milli(&allowed) / (double)bt_quantity_milli(&request);
		if (observed > (double)bt_quantity_milli(&max) / 1000) {
			add_error(errors,
				"%.*s max limit to request ratio per %s is %.*s, but provided "
				"ratio is %f",
				BT_STR_ARG(ratio->name), type, BT_STR_ARG(ratio->value->text),
				observed);
		}
	}
}

/** Checks the containers and the sums of a pod, or the request of a claim. */
static void check_limits(struct bt_admission *admission, const struct bt_json_value *object)
{
	struct bt_arena *arena = admission->write->arena;
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_json_value *limits = list_limits(admission);
	bool is_pod = bt_admission_is(admission, "", "pods");
	struct limit_errors errors = {.arena = arena};
	for (uint32_t i = 0; i < limits->count && errors.count < ERRORS_MAX; i++) {
		const struct bt_json_value *limit = limits->elements[i];
		if (is_pod && has_type(limit, "Pod")) {
			check_amounts(&errors, "Pod", limit,
				bt_kinds_pod_sum(arena, spec, "requests"),
				bt_kinds_pod_sum(arena, spec, "limits"));
		} else if (!is_pod && has_type(limit, "PersistentVolumeClaim")) {
			const struct bt_json_value *requests =
				bt_json_object_at(spec, "resources.requests");
			check_amounts(&errors, "PersistentVolumeClaim", limit, requests, requests);
		}
		for (size_t n = 0;
			has_type(limit, "Container") && n < BT_ARRAY_LENGTH(container_lists); n++) {
			const struct bt_json_value *list =
				bt_json_array_at(spec, container_lists[n].name);
			for (uint32_t c = 0; c < list->count; c++) {
				const struct bt_json_value *resources =
					bt_kinds_object(list->elements[c], "resources");
				check_amounts(&errors, "Container", limit,
					bt_kinds_object(resources, "requests"),
					bt_kinds_object(resources, "limits"));
			}
		}
	}
	if (errors.count != 0) {
		bt_admission_refuse(
			admission, errors.count > 1 ? "[%s]" : "%s", bt_strbuf_c(&errors.text));
	}
	bt_strbuf_finish(&errors.text);
}

/* DefaultStorageClass, PersistentVolumeClaimResize. Spec: 14b sections 2.3 and 4.7. */

#define OLD_CLASS_KEY "volume.beta.kubernetes.io/storage-class"

struct bt_str bt_api_default_class(const struct bt_api *api, struct bt_arena *arena)
{
	const struct bt_api_resource *classes =
		bt_resources_builtin(bt_api_resources(api), "storage.k8s.io", "storageclasses");
	struct bt_default_class best = {0};
	BT_STORE_EACH (stored, bt_api_store(api), classes->collection, BT_STR("")) {
		if (bt_str_find(bt_stored_text(stored),
			    BT_STR("\"" BT_DEFAULT_CLASS "\":\"true\"")) < 0) {
			continue; /* do not parse the other classes */
		}
		const struct bt_json_value *class_ = bt_api_parse_stored(stored, arena);
		struct bt_time created =
			bt_time_or_zero(bt_json_text_at(class_, "metadata.creationTimestamp"));
		bt_default_class_offer(&best, bt_json_text_at(class_, "metadata.name"),
			bt_kinds_text(bt_json_object_at(class_, "metadata.annotations"),
				BT_DEFAULT_CLASS),
			&created);
	}
	return bt_arena_str(arena, best.name);
}

static void set_storage_class(struct bt_admission *admission, struct bt_json_value *claim)
{
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, claim, "spec");
	const struct bt_json_value *annotations = bt_json_object_at(claim, "metadata.annotations");
	if (bt_json_find(spec, "storageClassName") != NULL ||
		bt_json_find(annotations, OLD_CLASS_KEY) != NULL) {
		return;
	}
	/* A restored claim that is bound stays as it is, even without a class. */
	if (admission->write->restoring && bt_kinds_text(spec, "volumeName").length != 0) {
		return;
	}
	struct bt_str class_name = bt_api_default_class(admission->write->api, arena);
	if (class_name.length != 0) {
		bt_json_set_str(arena, spec, "storageClassName", class_name);
	}
}

static void check_resize(struct bt_admission *admission, const struct bt_json_value *claim)
{
	static const char path[] = "spec.resources.requests.storage";
	struct bt_arena *arena = admission->write->arena;
	struct bt_str name = bt_json_text_at(claim, "spec.storageClassName");
	const struct bt_json_value *class_ = NULL;
	struct bt_quantity before;
	struct bt_quantity after;
	if (admission->old == NULL ||
		!bt_kinds_quantity(bt_json_find_path(admission->old, path), arena, &before) ||
		!bt_kinds_quantity(bt_json_find_path(claim, path), arena, &after) ||
		bt_quantity_compare(&after, &before) <= 0) {
		return;
	}
	if (name.length != 0) {
		class_ = bt_admission_read(admission, "storage.k8s.io", "storageclasses", name);
	}
	if (!bt_json_bool_at(class_, "allowVolumeExpansion", false)) {
		bt_admission_refuse(admission,
			"only dynamically provisioned pvc can be resized and the storageclass "
			"that provisions the pvc must support resize");
	}
}

/* The built-in plugins and their resources, in upstream's order. Spec: 14b section 4. */

bool bt_admission_is(const struct bt_admission *admission, const char *group, const char *name)
{
	const struct bt_api_resource *resource = admission->write->resource;
	return strcmp(resource->name, name) == 0 && strcmp(resource->group, group) == 0;
}

void bt_admission_refuse(struct bt_admission *admission, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct bt_str text = bt_failure_vprintf(admission->write->arena, format, arguments);
	va_end(arguments);
	(void)bt_fail_forbidden(admission->failure, admission->write->arena,
		admission->write->resource, admission->write->name, text);
}

const struct bt_api_resource *bt_admission_resource(
	const struct bt_admission *admission, const char *group, const char *name)
{
	return bt_resources_builtin(bt_api_resources(admission->write->api), group, name);
}

struct bt_json_value *bt_admission_read(const struct bt_admission *admission, const char *group,
	const char *name, struct bt_str key)
{
	return bt_api_read(admission->write->api, bt_admission_resource(admission, group, name),
		key, admission->write->arena);
}

struct bt_json_value *bt_admission_list(const struct bt_admission *admission, const char *group,
	const char *name, struct bt_str needle)
{
	struct bt_arena *arena = admission->write->arena;
	struct bt_store *store = bt_api_store(admission->write->api);
	const struct bt_api_resource *resource = bt_admission_resource(admission, group, name);
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_str namespace_ = resource->namespaced ? admission->write->namespace_ : BT_STR("");
	struct bt_str prefix = bt_api_key(arena, namespace_, BT_STR(""));
	if (bt_store_count(store, resource->collection) == 0) {
		return list;
	}
	BT_STORE_EACH (stored, store, resource->collection, prefix) {
		struct bt_json_value *object;
		if (bt_str_find(bt_stored_text(stored), needle) >= 0 &&
			bt_json_parse(arena, bt_stored_text(stored), true, &object, NULL) == 0) {
			bt_json_append(arena, list, object);
		}
	}
	return list;
}

/** --- NamespaceLifecycle: 4.1 --- */

/**
 * Refuses creates in a namespace that does not exist or is being terminated. Restored objects are
 * not checked: they come in any order, so their namespace may not exist yet.
 */
static void check_namespace(struct bt_admission *admission)
{
	const struct bt_write *write = admission->write;
	const struct bt_api_resource *namespaces;
	if (!write->resource->namespaced || write->restoring || admission->old != NULL) {
		return;
	}
	namespaces = bt_admission_resource(admission, "", "namespaces");
	const struct bt_stored *stored =
		bt_store_find(bt_api_store(write->api), namespaces->collection, write->namespace_);
	if (stored == NULL) {
		(void)bt_fail_not_found(
			admission->failure, write->arena, namespaces, write->namespace_);
	} else if (bt_str_find(bt_stored_text(stored), BT_STR("\"deletionTimestamp\":")) >= 0) {
		const struct bt_json_value *object = bt_api_parse_stored(stored, write->arena);
		if (bt_json_text_at(object, "metadata.deletionTimestamp").length != 0) {
			struct bt_arena *arena = admission->write->arena;
			struct bt_failure_cause *cause =
				BT_ARENA_NEW(arena, struct bt_failure_cause);
			bt_admission_refuse(admission,
				"unable to create new content in namespace %.*s because it is "
				"being terminated",
				BT_STR_ARG(write->namespace_));
			cause->reason = "NamespaceTerminating";
			cause->message =
				bt_arena_printf(arena, "namespace %.*s is being terminated",
					BT_STR_ARG(write->namespace_));
			cause->field = BT_STR("metadata.namespace");
			admission->failure->causes = cause;
		}
	}
}

/** --- small plugins --- */

/** Adds the finalizer to metadata.finalizers unless it is already there. */
static void add_finalizer(
	const struct bt_admission *admission, struct bt_json_value *object, const char *finalizer)
{
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *finalizers = bt_json_ensure_array(
		arena, bt_json_ensure_object(arena, object, "metadata"), "finalizers");
	if (!bt_json_has_text(finalizers, bt_str_from(finalizer))) {
		bt_json_append(arena, finalizers, bt_json_new_c(arena, finalizer));
	}
}

/** TaintNodesByCondition: 4.5. Taints new nodes as not ready; restored nodes keep their taints. */
static void taint_node(struct bt_admission *admission, struct bt_json_value *node)
{
	static const char key[] = "node.kubernetes.io/not-ready";
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *taints;
	if (!bt_api_options(admission->write->api)->admit_taint_nodes ||
		admission->write->restoring || admission->old != NULL) {
		return;
	}
	taints = bt_json_ensure_array(arena, bt_json_ensure_object(arena, node, "spec"), "taints");
	for (uint32_t i = 0; i < taints->count; i++) {
		if (bt_str_equal_c(bt_kinds_text(taints->elements[i], "key"), key) &&
			bt_str_equal_c(
				bt_kinds_text(taints->elements[i], "effect"), "NoSchedule")) {
			return;
		}
	}
	bt_json_append(
		arena, taints, bt_json_put(arena, NULL, "{key: %c, effect: 'NoSchedule'}", key));
}

void bt_admit_topology_labels(
	const struct bt_write *write, struct bt_str node_name, struct bt_json_value *pod)
{
	static const char *const keys[] = {
		"topology.kubernetes.io/zone", "topology.kubernetes.io/region"};
	const struct bt_api_resource *nodes =
		bt_resources_builtin(bt_api_resources(write->api), "", "nodes");
	const struct bt_stored *stored =
		bt_store_find(bt_api_store(write->api), nodes->collection, node_name);
	struct bt_json_reader reader;
	struct bt_json_value *labels;
	struct bt_str text;
	if (stored == NULL) {
		return;
	}
	/* Parses only the labels: parsing the node would take a tenth of the time of a binding. */
	bt_json_reader_init(&reader, bt_stored_text(stored));
	if (!bt_json_seek(&reader, "metadata.labels") || bt_json_skip(&reader, &text, NULL) != 0 ||
		bt_json_parse(write->arena, text, false, &labels, NULL) != 0) {
		return;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(keys); i++) {
		const struct bt_json_value *label = bt_json_find(labels, keys[i]);
		if (label != NULL && label->type == BT_JSON_STRING) {
			bt_json_put(write->arena, pod, "{metadata: {labels: {%c: %s}}}", keys[i],
				bt_arena_str(write->arena, label->text));
		}
	}
}

/**
 * PodGroupWorkloadExists: 4.12. The Workload and the template that a new PodGroup names must exist.
 */
static void check_workload(struct bt_admission *admission, const struct bt_json_value *group)
{
	const struct bt_json_value *reference =
		bt_json_find_path(group, "spec.podGroupTemplateRef.workload");
	struct bt_str name = bt_kinds_text(reference, "workloadName");
	struct bt_str wanted = bt_kinds_text(reference, "podGroupTemplateName");
	if (admission->old != NULL || admission->write->restoring || name.length == 0) {
		return;
	}
	const struct bt_json_value *workload =
		bt_admission_read(admission, "scheduling.k8s.io", "workloads",
			bt_api_key(admission->write->arena, admission->write->namespace_, name));
	if (workload == NULL) {
		bt_admission_refuse(admission, "workload \"%.*s\" not found", BT_STR_ARG(name));
		return;
	}
	if (bt_json_element_with(
		    bt_json_array_at(workload, "spec.podGroupTemplates"), "name", wanted) == NULL) {
		bt_admission_refuse(admission,
			"workload \"%.*s\" has no pod group template \"%.*s\"", BT_STR_ARG(name),
			BT_STR_ARG(wanted));
	}
}

/**
 * CertificateSubjectRestriction: a client certificate must not put its user into system:masters.
 */
static void check_signing_request(
	struct bt_admission *admission, const struct bt_json_value *object)
{
	static const char signer[] = "kubernetes.io/kube-apiserver-client";
	struct bt_arena *arena = admission->write->arena;
	struct bt_certificate_request request;
	struct bt_str pem;
	if (admission->old != NULL || admission->write->restoring ||
		!bt_str_equal_c(bt_json_text_at(object, "spec.signerName"), signer) ||
		bt_base64_decode(bt_json_text_at(object, "spec.request"), arena, &pem, NULL) < 0 ||
		bt_certificate_request_read(pem, arena, &request, NULL) < 0) {
		return;
	}
	for (uint32_t i = 0; i < request.subject.organizations.count; i++) {
		if (bt_str_equal_c(request.subject.organizations.items[i], "system:masters")) {
			bt_admission_refuse(admission,
				"use of %s signer with system:masters group is not allowed",
				signer);
			return;
		}
	}
}

/** --- the plugins in order --- */

void bt_admit(const struct bt_write *write, const struct bt_json_value *old,
	struct bt_json_value *object, struct bt_failure *out_failure)
{
	struct bt_admission admission = {write, old, out_failure};
	const struct bt_api_options *options = bt_api_options(write->api);
	if (write->subresource != BT_SUBRESOURCE_NONE) {
		return;
	}
	check_namespace(&admission);
	if (out_failure->code != 0) {
		return;
	}
	if (bt_admission_is(&admission, "", "pods")) {
		set_limits(&admission, object);
		bt_admission_set_service_account(&admission, object);
		bt_admission_set_pod_priority(&admission, object);
		if (out_failure->code != 0) {
			return;
		}
		bt_admission_set_tolerations(&admission, object);
		bt_admission_set_runtime(&admission, object);
		struct bt_str node_name = bt_json_text_at(object, "spec.nodeName");
		if (old == NULL && node_name.length != 0) {
			bt_admit_topology_labels(write, node_name, object);
		}
	} else if (bt_admission_is(&admission, "", "nodes")) {
		taint_node(&admission, object);
	} else if (bt_admission_is(&admission, "scheduling.k8s.io", "podgroups")) {
		if (options->workload_aware_preemption) {
			bt_admission_set_group_priority(&admission, object);
		}
		if (old == NULL && out_failure->code == 0 && options->admit_pod_group_protection) {
			add_finalizer(&admission, object, "scheduling.k8s.io/podgroup-protection");
		}
	} else if (old == NULL && bt_admission_is(&admission, "", "persistentvolumeclaims")) {
		set_storage_class(&admission, object);
		if (options->admit_storage_protection) {
			add_finalizer(&admission, object, "kubernetes.io/pvc-protection");
		}
	} else if (old == NULL && options->admit_storage_protection &&
		bt_admission_is(&admission, "", "persistentvolumes")) {
		add_finalizer(&admission, object, "kubernetes.io/pv-protection");
	}
}

void bt_admit_validate(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_failure *out_failure)
{
	struct bt_admission admission = {write, old, out_failure};
	if (write->subresource != BT_SUBRESOURCE_NONE) {
		return;
	}
	if (bt_admission_is(&admission, "", "pods")) {
		check_limits(&admission, object);
	} else if (bt_admission_is(&admission, "scheduling.k8s.io", "priorityclasses")) {
		bt_admission_check_priority_class(&admission, object);
	} else if (bt_admission_is(&admission, "", "persistentvolumeclaims")) {
		check_limits(&admission, object);
		check_resize(&admission, object);
	} else if (bt_admission_is(&admission, "scheduling.k8s.io", "podgroups")) {
		check_workload(&admission, object);
	} else if (bt_admission_is(
			   &admission, "certificates.k8s.io", "certificatesigningrequests")) {
		check_signing_request(&admission, object);
	}
	if (out_failure->code == 0 && !bt_api_options(write->api)->skip_validation) {
		bt_admission_check_quota(&admission, object);
	}
}
