/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of kustomizations to objects: names and references, labels, images, hashes. */
#include <gnutls/crypto.h>
#include <stdlib.h>

#include "api/meta.h"
#include "cluster/kustomize.h"
#include "codec/base64.h"

static bool is_namespace(struct bt_str a, struct bt_str b)
{
	return bt_str_equal(
		a.length != 0 ? a : BT_STR("default"), b.length != 0 ? b : BT_STR("default"));
}

void bt_kustomized_record_name(struct bt_kustomized *resource)
{
	struct bt_kustomize_name name = {bt_json_text_at(resource->object, "metadata.name"),
		bt_json_text_at(resource->object, "metadata.namespace")};
	const struct bt_kustomize_name *last =
		resource->name_count != 0 ? &resource->names[resource->name_count - 1] : NULL;
	if (last != NULL && bt_str_equal(last->name, name.name) &&
		bt_str_equal(last->namespace_, name.namespace_)) {
		return;
	}
	if (resource->name_count == BT_ARRAY_LENGTH(resource->names)) {
		resource->name_count--;
	}
	resource->names[resource->name_count++] = name;
}

bool bt_kustomized_is_named(const struct bt_kustomized *resource, const struct bt_json_value *named)
{
	struct bt_str name = bt_json_text_at(named, "metadata.name");
	struct bt_str namespace_ = bt_json_text_at(named, "metadata.namespace");
	bool found = false;
	for (uint32_t i = 0; i < resource->name_count && !found; i++) {
		found = bt_str_equal(name, resource->names[i].name) &&
			is_namespace(namespace_, resource->names[i].namespace_);
	}
	return found &&
		bt_str_equal(
			bt_json_text_at(named, "kind"), bt_json_text_at(resource->object, "kind"));
}

static bool is_kind(const struct bt_json_value *object, const char *kind)
{
	return bt_str_equal_c(bt_json_text_at(object, "kind"), kind);
}

static bool is_one_of(const struct bt_json_value *object, const char *const *kinds)
{
	bool found = false;
	for (; *kinds != NULL && !found; kinds++) {
		found = is_kind(object, *kinds);
	}
	return found;
}

void bt_kustomize_add_texts(struct bt_arena *arena, struct bt_json_value *object,
	const char *member, const struct bt_json_value *texts)
{
	for (uint32_t i = 0; i < texts->count; i++) {
		bt_json_set(arena, bt_json_ensure_object(arena, object, member),
			texts->members[i].name,
			bt_json_new_str(arena, texts->members[i].value->text));
	}
}

/**
 * Calls visit for each object at a dotted path below value; "*" stands for every element of an
 * array. Recursive: as deep as the path.
 */
static void visit_objects(struct bt_json_value *value, struct bt_str path,
	void (*visit)(const void *context, struct bt_json_value *found), const void *context)
{
	struct bt_str step = bt_str_cut(&path, '.');
	if (step.length == 0) {
		if (value != NULL && value->type == BT_JSON_OBJECT) {
			visit(context, value);
		}
	} else if (!bt_str_equal_c(step, "*")) {
		visit_objects(bt_json_get(value, step), path, visit, context);
	} else if (value != NULL && value->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < value->count; i++) {
			visit_objects(value->elements[i], path, visit, context);
		}
	}
}

/* --- names and references --- */

static bool is_namespaced(const struct bt_json_value *object)
{
	static const struct {
		const char *group;
		const char *kind;
		bool namespaced;
	} builtins[] = {
#define BT_RESOURCE(group_, version_, name_, singular_, kind_, short_names_, categories_, \
	namespaced_, verbs_, subresources_, flags_) \
	{(group_), (kind_), (namespaced_)},
#include "server/resources.def"
#undef BT_RESOURCE
	};
	struct bt_str group;
	struct bt_str version;
	(void)bt_api_version_split(bt_json_text_at(object, "apiVersion"), &group, &version);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(builtins); i++) {
		if (bt_str_equal_c(group, builtins[i].group) && is_kind(object, builtins[i].kind)) {
			return builtins[i].namespaced;
		}
	}
	return true;
}

void bt_kustomize_rename(struct bt_arena *arena, struct bt_kustomized *resource,
	struct bt_str namespace_, struct bt_str prefix, struct bt_str suffix)
{
	static const char *const unchanged[] = {
		"Namespace", "CustomResourceDefinition", "APIService", NULL};
	struct bt_json_value *metadata = bt_json_ensure_object(arena, resource->object, "metadata");
	if (namespace_.length != 0 && is_kind(resource->object, "Namespace")) {
		bt_json_set_str(arena, metadata, "name", namespace_);
	} else if (namespace_.length != 0 && is_namespaced(resource->object)) {
		bt_json_set_str(arena, metadata, "namespace", namespace_);
	}
	if ((prefix.length != 0 || suffix.length != 0) && !is_one_of(resource->object, unchanged)) {
		bt_json_set_str(arena, metadata, "name",
			bt_arena_printf(arena, "%.*s%.*s%.*s", BT_STR_ARG(prefix),
				BT_STR_ARG(bt_json_text_at(metadata, "name")), BT_STR_ARG(suffix)));
	}
}

/** A search for the object that a reference names. */
struct search {
	struct bt_arena *arena;
	const struct bt_kustomized *resources;
	uint32_t count;
	struct bt_str from; /* former namespace of the referring object */
	/** The reference that is updated: the member with the name, and the kind of the object. */
	const char *member;
	struct bt_str kind;
};

static bool was_in(const struct bt_kustomized *resource, struct bt_str namespace_)
{
	bool found = false;
	for (uint32_t i = 0; i < resource->name_count && !found; i++) {
		found = is_namespace(resource->names[i].namespace_, namespace_);
	}
	return found;
}

/**
 * Returns the object whose last recorded name is `name`, or else the object that had this name
 * earlier, because patches may use any of an object's names. Returns NULL if there is no such
 * object.
 */
static const struct bt_kustomized *find_named(const struct search *search, struct bt_str kind,
	struct bt_str name, struct bt_str namespace_)
{
	const struct bt_kustomized *earlier = NULL;
	for (uint32_t i = 0; i < search->count; i++) {
		const struct bt_kustomized *resource = &search->resources[i];
		for (uint32_t n = resource->name_count; n-- > 0;) {
			const struct bt_kustomize_name *before = &resource->names[n];
			if (!bt_str_equal(before->name, name) ||
				!bt_str_equal(bt_json_text_at(resource->object, "kind"), kind) ||
				(is_namespaced(resource->object) &&
					!was_in(resource, namespace_))) {
				continue;
			}
			if (n + 1 == resource->name_count) {
				return resource;
			}
			earlier = earlier == NULL ? resource : earlier;
		}
	}
	return earlier;
}

static void update_reference(const void *context, struct bt_json_value *holder)
{
	const struct search *search = context;
	const struct bt_json_value *name = bt_json_find(holder, search->member);
	const struct bt_kustomized *resource = name != NULL && name->type == BT_JSON_STRING
		? find_named(search, search->kind, name->text, search->from)
		: NULL;
	if (resource != NULL) {
		bt_json_set_str(search->arena, holder, search->member,
			bt_json_text_at(resource->object, "metadata.name"));
	}
}

/**
 * References to objects of kind target. kind: the kind of the referring object; NULL: the path
 * begins at a pod spec. path: of the objects whose member has the name.
 */
static const struct {
	const char *kind;
	const char *path;
	const char *member;
	const char *target;
} references[] = {
	{NULL, "", "serviceAccountName", "ServiceAccount"},
	{NULL, "", "serviceAccount", "ServiceAccount"},
	{NULL, "", "priorityClassName", "PriorityClass"},
	{NULL, "imagePullSecrets.*", "name", "Secret"},
	{NULL, "volumes.*.configMap", "name", "ConfigMap"},
	{NULL, "volumes.*.secret", "secretName", "Secret"},
	{NULL, "volumes.*.persistentVolumeClaim", "claimName", "PersistentVolumeClaim"},
	{NULL, "volumes.*.projected.sources.*.configMap", "name", "ConfigMap"},
	{NULL, "volumes.*.projected.sources.*.secret", "name", "Secret"},
#define BT_CONTAINERS(list) \
	{NULL, list ".*.env.*.valueFrom.configMapKeyRef", "name", "ConfigMap"}, \
		{NULL, list ".*.env.*.valueFrom.secretKeyRef", "name", "Secret"}, \
		{NULL, list ".*.envFrom.*.configMapRef", "name", "ConfigMap"}, \
	{ \
		NULL, list ".*.envFrom.*.secretRef", "name", "Secret" \
	}
	BT_CONTAINERS("containers"),
	BT_CONTAINERS("initContainers"),
	BT_CONTAINERS("ephemeralContainers"),
#undef BT_CONTAINERS
	{"StatefulSet", "spec", "serviceName", "Service"},
	{"StatefulSet", "spec.volumeClaimTemplates.*.spec", "storageClassName", "StorageClass"},
	{"PersistentVolumeClaim", "spec", "storageClassName", "StorageClass"},
	{"PersistentVolumeClaim", "spec", "volumeName", "PersistentVolume"},
	{"PersistentVolume", "spec", "storageClassName", "StorageClass"},
	{"ServiceAccount", "imagePullSecrets.*", "name", "Secret"},
	{"ServiceAccount", "secrets.*", "name", "Secret"},
	{"Ingress", "spec.tls.*", "secretName", "Secret"},
	{"Ingress", "spec.defaultBackend.service", "name", "Service"},
	{"Ingress", "spec.rules.*.http.paths.*.backend.service", "name", "Service"},
	{"ValidatingWebhookConfiguration", "webhooks.*.clientConfig.service", "name", "Service"},
	{"MutatingWebhookConfiguration", "webhooks.*.clientConfig.service", "name", "Service"},
};

/**
 * Updates name and namespace of the ServiceAccounts in a binding's subjects. namespace_: the
 * namespace that a subject gets if its ServiceAccount is named "default" and is not among the
 * objects; "": no change.
 */
static void update_subjects(
	const struct search *search, const struct bt_json_value *binding, struct bt_str namespace_)
{
	const struct bt_json_value *subjects = bt_json_array_at(binding, "subjects");
	for (uint32_t i = 0; i < subjects->count; i++) {
		struct bt_json_value *subject = subjects->elements[i];
		if (!is_kind(subject, "ServiceAccount")) {
			continue;
		}
		const struct bt_kustomized *account = find_named(search, BT_STR("ServiceAccount"),
			bt_json_text_at(subject, "name"), bt_json_text_at(subject, "namespace"));
		if (account != NULL) {
			struct bt_str moved =
				bt_json_text_at(account->object, "metadata.namespace");
			bt_json_set_str(search->arena, subject, "name",
				bt_json_text_at(account->object, "metadata.name"));
			if (moved.length != 0) {
				bt_json_set_str(search->arena, subject, "namespace", moved);
			}
		} else if (namespace_.length != 0 &&
			bt_str_equal_c(bt_json_text_at(subject, "name"), "default")) {
			bt_json_set_str(search->arena, subject, "namespace", namespace_);
		}
	}
}

/** Kinds with spec.template. */
static const char *const workloads[] = {"Deployment", "ReplicaSet", "ReplicationController",
	"StatefulSet", "DaemonSet", "Job", NULL};

/**
 * Returns the spec of a Pod, or of the pod template of a workload; NULL: the object has no pod
 * spec.
 */
static struct bt_json_value *pod_spec_of(const struct bt_json_value *object)
{
	return is_kind(object, "Pod") ? bt_json_find(object, "spec")
		: is_kind(object, "CronJob")
		? bt_json_find_path(object, "spec.jobTemplate.spec.template.spec")
		: is_kind(object, "PodTemplate") ? bt_json_find_path(object, "template.spec")
		: is_one_of(object, workloads)   ? bt_json_find_path(object, "spec.template.spec")
						 : NULL;
}

void bt_kustomize_update_references(struct bt_arena *arena, struct bt_kustomized *resources,
	uint32_t count, struct bt_str namespace_)
{
	struct search search = {.arena = arena, .resources = resources, .count = count};
	for (uint32_t i = 0; i < count; i++) {
		struct bt_json_value *object = resources[i].object;
		search.from = resources[i].names[resources[i].name_count - 1].namespace_;
		for (size_t n = 0; n < BT_ARRAY_LENGTH(references); n++) {
			struct bt_json_value *holder = references[n].kind == NULL
				? pod_spec_of(object)
				: is_kind(object, references[n].kind) ? object
								      : NULL;
			search.member = references[n].member;
			search.kind = bt_str_from(references[n].target);
			visit_objects(
				holder, bt_str_from(references[n].path), update_reference, &search);
		}
		search.member = "name";
		if (is_kind(object, "RoleBinding") || is_kind(object, "ClusterRoleBinding")) {
			const struct bt_json_value *role = bt_json_find(object, "roleRef");
			search.kind =
				is_kind(role, "Role") ? BT_STR("Role") : BT_STR("ClusterRole");
			visit_objects(object, BT_STR("roleRef"), update_reference, &search);
			update_subjects(&search, object, namespace_);
		} else if (is_kind(object, "HorizontalPodAutoscaler")) {
			search.kind = bt_json_text_at(object, "spec.scaleTargetRef.kind");
			visit_objects(
				object, BT_STR("spec.scaleTargetRef"), update_reference, &search);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_kustomized_record_name(&resources[i]);
	}
}

/* --- labels and annotations --- */

struct texts {
	struct bt_arena *arena;
	const char *member; /* of metadata: "labels" or "annotations" */
	const struct bt_json_value *values;
};

/** Adds labels to the selector if it has matchLabels. */
static void add_to_selector(const void *context, struct bt_json_value *selector)
{
	const struct texts *texts = context;
	if (bt_json_find(selector, "matchLabels") != NULL) {
		bt_kustomize_add_texts(texts->arena, selector, "matchLabels", texts->values);
	}
}

static void add_to_metadata(const void *context, struct bt_json_value *object)
{
	const struct texts *texts = context;
	if (texts->values->count != 0) {
		bt_kustomize_add_texts(texts->arena,
			bt_json_ensure_object(texts->arena, object, "metadata"), texts->member,
			texts->values);
	}
}

static void add_to_templates(const struct texts *texts, struct bt_json_value *object)
{
	if (is_one_of(object, workloads)) {
		visit_objects(object, BT_STR("spec.template"), add_to_metadata, texts);
	} else if (is_kind(object, "CronJob")) {
		visit_objects(object, BT_STR("spec.jobTemplate"), add_to_metadata, texts);
		visit_objects(
			object, BT_STR("spec.jobTemplate.spec.template"), add_to_metadata, texts);
	}
}

void bt_kustomize_annotate(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *annotations)
{
	const struct texts texts = {arena, "annotations", annotations};
	add_to_metadata(&texts, object);
	add_to_templates(&texts, object);
}

static void label_selectors(const struct texts *labels, struct bt_json_value *object)
{
	static const char *const created[] = {
		"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", NULL};
	/** Selectors of objects of a kind; NULL: the path begins at the spec of a pod template. */
	static const struct {
		const char *kind;
		const char *path;
	} selectors[] = {
		{"Job", "spec.selector"},
		{"PodDisruptionBudget", "spec.selector"},
		{"NetworkPolicy", "spec.podSelector"},
		{"NetworkPolicy", "spec.ingress.*.from.*.podSelector"},
		{"NetworkPolicy", "spec.egress.*.to.*.podSelector"},
#define BT_AFFINITY(name) \
	{NULL, \
		"affinity." name ".preferredDuringSchedulingIgnoredDuringExecution.*" \
		".podAffinityTerm.labelSelector"}, \
		{NULL, \
			"affinity." name \
			".requiredDuringSchedulingIgnoredDuringExecution.*.labelSelector"}
		BT_AFFINITY("podAffinity"),
		BT_AFFINITY("podAntiAffinity"),
#undef BT_AFFINITY
		{NULL, "topologySpreadConstraints.*.labelSelector"},
	};
	struct bt_json_value *spec = bt_json_find(object, "spec");
	struct bt_json_value *pod = is_kind(object, "Pod") ? NULL : pod_spec_of(object);
	if (spec == NULL || spec->type != BT_JSON_OBJECT) {
		return;
	}
	if (is_kind(object, "Service") || is_kind(object, "ReplicationController")) {
		bt_kustomize_add_texts(labels->arena, spec, "selector", labels->values);
	} else if (is_one_of(object, created)) {
		bt_kustomize_add_texts(labels->arena,
			bt_json_ensure_object(labels->arena, spec, "selector"), "matchLabels",
			labels->values);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(selectors); i++) {
		struct bt_json_value *holder = selectors[i].kind == NULL ? pod
			: is_kind(object, selectors[i].kind)             ? object
									 : NULL;
		visit_objects(holder, bt_str_from(selectors[i].path), add_to_selector, labels);
	}
}

void bt_kustomize_label(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *labels, bool selectors, bool templates)
{
	const struct texts texts = {arena, "labels", labels};
	if (labels->count == 0) {
		return;
	}
	add_to_metadata(&texts, object);
	if (selectors) {
		label_selectors(&texts, object);
	}
	if (templates) {
		add_to_templates(&texts, object);
	}
	if (templates && is_kind(object, "StatefulSet")) {
		visit_objects(
			object, BT_STR("spec.volumeClaimTemplates.*"), add_to_metadata, &texts);
	}
}

/* --- images --- */

static void set_image(
	struct bt_arena *arena, struct bt_json_value *container, const struct bt_json_value *images)
{
	struct bt_str image = bt_json_text_at(container, "image");
	for (uint32_t i = 0; i < images->count; i++) {
		const struct bt_json_value *entry = images->elements[i];
		struct bt_str new_name = bt_json_text_at(entry, "newName");
		struct bt_str digest = bt_json_text_at(entry, "digest");
		const struct bt_json_value *tag = bt_json_find(entry, "newTag");
		int64_t at = bt_str_find_char(image, '@');
		struct bt_str name = bt_str_sub(image, 0, at < 0 ? image.length : (uint32_t)at);
		int64_t colon = bt_str_find_last_char(name, ':');
		if (colon > bt_str_find_last_char(name, '/')) {
			name.length = (uint32_t)colon;
		}
		if (!bt_str_equal(name, bt_json_text_at(entry, "name"))) {
			continue;
		}
		bool has_tag = tag != NULL && tag->text.length != 0;
		struct bt_str rest = bt_str_sub(image, name.length, BT_STR_MAX);
		if (digest.length != 0 || has_tag) {
			rest = bt_arena_printf(arena, "%s%.*s%s%.*s", has_tag ? ":" : "",
				BT_STR_ARG(has_tag ? tag->text : BT_STR("")),
				digest.length != 0 ? "@" : "", BT_STR_ARG(digest));
		}
		image = bt_arena_printf(arena, "%.*s%.*s",
			BT_STR_ARG(new_name.length != 0 ? new_name : name), BT_STR_ARG(rest));
		bt_json_set_str(arena, container, "image", image);
	}
}

/** Containers are at different places in different kinds, so the whole object is searched. */
void bt_kustomize_set_images(
	struct bt_arena *arena, struct bt_json_value *object, const struct bt_json_value *images)
{
	for (uint32_t i = 0; images->count != 0 && i < object->count; i++) {
		if (object->type == BT_JSON_ARRAY) {
			bt_kustomize_set_images(arena, object->elements[i], images);
		} else if (object->type == BT_JSON_OBJECT) {
			struct bt_str name = object->members[i].name;
			struct bt_json_value *value = object->members[i].value;
			bool containers = value->type == BT_JSON_ARRAY &&
				(bt_str_equal_c(name, "containers") ||
					bt_str_equal_c(name, "initContainers"));
			for (uint32_t k = 0; containers && k < value->count; k++) {
				if (bt_json_text_at(value->elements[k], "image").length != 0) {
					set_image(arena, value->elements[k], images);
				}
			}
			bt_kustomize_set_images(arena, value, images);
		}
	}
}

/* --- generated objects --- */

void bt_kustomize_encode(struct bt_arena *arena, struct bt_json_value *data)
{
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_strbuf encoded = {0};
		bt_base64_encode(data->members[i].value->text, &encoded);
		data->members[i].value =
			bt_json_new_str(arena, bt_arena_take_strbuf(arena, &encoded));
	}
}

/**
 * Returns the first 10 hexadecimal digits of the text's SHA-256 in kustomize's alphabet, which
 * avoids letters that could form words.
 */
static struct bt_str hash_text(struct bt_arena *arena, struct bt_str text)
{
	static const char digits[] = "gh2k456789mbcdtf"; /* 0 1 3 a e become g h k m t */
	uint8_t hash[32];
	char result[10];
	int code = gnutls_hash_fast(GNUTLS_DIG_SHA256, text.data, text.length, hash);
	BT_ASSERT(code == 0); /* the text is in memory */
	for (size_t i = 0; i < sizeof(result); i++) {
		result[i] = digits[hash[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
	}
	return bt_arena_str(arena, (struct bt_str){result, sizeof(result)});
}

static struct bt_json_value *sorted_copy(struct bt_arena *arena, const struct bt_json_value *object)
{
	struct bt_json_value *sorted = bt_json_clone(arena, object, false);
	if (sorted->count > 1) {
		qsort(sorted->members, sorted->count, sizeof(sorted->members[0]),
			bt_str_compare_qsort);
	}
	return sorted;
}

/* --- the order of the output --- */

static const char *const first_kinds[] = {"Namespace", "ResourceQuota", "StorageClass",
	"CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy", "Role", "ClusterRole",
	"RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
	"LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment",
	"StatefulSet", "CronJob", "PodDisruptionBudget"};
static const char *const last_kinds[] = {
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"};

static uint32_t rank_of(const struct bt_json_value *object)
{
	uint32_t rank = 0;
	while (rank < BT_ARRAY_LENGTH(first_kinds) && !is_kind(object, first_kinds[rank])) {
		rank++;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(last_kinds); i++) {
		rank = is_kind(object, last_kinds[i]) ? rank + 1 + i : rank;
	}
	return rank;
}

static int compare_resources(const void *left, const void *right)
{
	const struct bt_json_value *a = ((const struct bt_kustomized *)left)->object;
	const struct bt_json_value *b = ((const struct bt_kustomized *)right)->object;
	static const char *const paths[] = {
		"apiVersion", "kind", "metadata.namespace", "metadata.name"};
	uint32_t a_rank = rank_of(a);
	uint32_t b_rank = rank_of(b);
	int order = BT_ORDER(a_rank, b_rank);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(paths) && order == 0; i++) {
		order = bt_str_compare(bt_json_text_at(a, paths[i]), bt_json_text_at(b, paths[i]));
	}
	return order;
}

void bt_kustomize_finish_names(
	struct bt_arena *arena, struct bt_kustomized *resources, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct bt_json_value *metadata =
			bt_json_ensure_object(arena, resources[i].object, "metadata");
		if (resources[i].hashed) {
			/*
			 * Like kustomize, hash the JSON text that Go writes for {binaryData, data,
			 * kind, name: "", type}.
			 */
			const struct bt_json_value *object = resources[i].object;
			struct bt_json_value *data =
				sorted_copy(arena, bt_json_object_at(object, "data"));
			struct bt_strbuf json = {0};
			struct bt_strbuf escaped = {0};
			bt_json_format(
				bt_json_put(arena, NULL,
					"{binaryData?: %v, data: %v, kind: %s, name: '', type: %v}",
					sorted_copy(arena, bt_json_object_at(object, "binaryData")),
					data->count != 0 ? data : bt_json_new_c(arena, ""),
					bt_json_text_at(object, "kind"),
					is_kind(object, "Secret")
						? bt_json_new_str(
							  arena, bt_json_text_at(object, "type"))
						: NULL),
				&json);
			for (size_t k = 0; k < json.length; k++) {
				char byte = bt_strbuf_c(&json)[k];
				if (byte == '<' || byte == '>' || byte == '&') {
					bt_strbuf_printf(&escaped, "\\u%04x", (unsigned)byte);
				} else {
					bt_strbuf_append_char(&escaped, byte);
				}
			}
			struct bt_str hash = hash_text(arena, bt_strbuf_str(&escaped));
			bt_strbuf_finish(&json);
			bt_strbuf_finish(&escaped);
			bt_json_set_str(arena, metadata, "name",
				bt_arena_printf(arena, "%.*s-%.*s",
					BT_STR_ARG(bt_json_text_at(metadata, "name")),
					BT_STR_ARG(hash)));
		}
	}
	bt_kustomize_update_references(arena, resources, count, BT_STR(""));
	if (count > 1) {
		qsort(resources, count, sizeof(resources[0]), compare_resources);
	}
}
