/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of kustomizations to objects: names and references, labels, images, hashes. */
#include <stdlib.h>
#include <string.h>

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

/**
 * Updates the reference to an object of this kind at a dotted path below holder; "*" stands for
 * every element of an array. Recursive: as deep as the path.
 */
static void update_reference(const struct search *search, struct bt_json_value *holder,
	struct bt_str path, struct bt_str kind)
{
	struct bt_str step = bt_str_cut(&path, '.');
	struct bt_json_value *value = bt_json_get(holder, step);

	if (bt_str_equal_c(step, "*")) {
		for (uint32_t i = 0;
			holder != NULL && holder->type == BT_JSON_ARRAY && i < holder->count; i++) {
			update_reference(search, holder->elements[i], path, kind);
		}
	} else if (path.data != NULL) {
		update_reference(search, value, path, kind);
	} else if (value != NULL && value->type == BT_JSON_STRING) {
		const struct bt_kustomized *resource =
			find_named(search, kind, value->text, search->from);
		if (resource != NULL) {
			bt_json_set(search->arena, holder, step,
				bt_json_new_str(search->arena,
					bt_json_text_at(resource->object, "metadata.name")));
		}
	}
}

/**
 * Paths of references to objects of kind target. kind: the kind of the referring object; NULL: the
 * path begins at a pod spec.
 */
static const struct {
	const char *kind;
	const char *path;
	const char *target;
} references[] = {
	{NULL, "serviceAccountName", "ServiceAccount"},
	{NULL, "serviceAccount", "ServiceAccount"},
	{NULL, "priorityClassName", "PriorityClass"},
	{NULL, "imagePullSecrets.*.name", "Secret"},
	{NULL, "volumes.*.configMap.name", "ConfigMap"},
	{NULL, "volumes.*.secret.secretName", "Secret"},
	{NULL, "volumes.*.persistentVolumeClaim.claimName", "PersistentVolumeClaim"},
	{NULL, "volumes.*.projected.sources.*.configMap.name", "ConfigMap"},
	{NULL, "volumes.*.projected.sources.*.secret.name", "Secret"},
#define BT_CONTAINERS(list) \
	{NULL, list ".*.env.*.valueFrom.configMapKeyRef.name", "ConfigMap"}, \
		{NULL, list ".*.env.*.valueFrom.secretKeyRef.name", "Secret"}, \
		{NULL, list ".*.envFrom.*.configMapRef.name", "ConfigMap"}, \
	{ \
		NULL, list ".*.envFrom.*.secretRef.name", "Secret" \
	}
	BT_CONTAINERS("containers"),
	BT_CONTAINERS("initContainers"),
	BT_CONTAINERS("ephemeralContainers"),
#undef BT_CONTAINERS
	{"StatefulSet", "spec.serviceName", "Service"},
	{"StatefulSet", "spec.volumeClaimTemplates.*.spec.storageClassName", "StorageClass"},
	{"PersistentVolumeClaim", "spec.storageClassName", "StorageClass"},
	{"PersistentVolumeClaim", "spec.volumeName", "PersistentVolume"},
	{"PersistentVolume", "spec.storageClassName", "StorageClass"},
	{"ServiceAccount", "imagePullSecrets.*.name", "Secret"},
	{"ServiceAccount", "secrets.*.name", "Secret"},
	{"Ingress", "spec.tls.*.secretName", "Secret"},
	{"Ingress", "spec.defaultBackend.service.name", "Service"},
	{"Ingress", "spec.rules.*.http.paths.*.backend.service.name", "Service"},
	{"ValidatingWebhookConfiguration", "webhooks.*.clientConfig.service.name", "Service"},
	{"MutatingWebhookConfiguration", "webhooks.*.clientConfig.service.name", "Service"},
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
			update_reference(&search, holder, bt_str_from(references[n].path),
				bt_str_from(references[n].target));
		}
		if (is_kind(object, "RoleBinding") || is_kind(object, "ClusterRoleBinding")) {
			struct bt_json_value *role = bt_json_find(object, "roleRef");
			update_reference(&search, role, BT_STR("name"),
				is_kind(role, "Role") ? BT_STR("Role") : BT_STR("ClusterRole"));
			update_subjects(&search, object, namespace_);
		} else if (is_kind(object, "HorizontalPodAutoscaler")) {
			struct bt_json_value *target =
				bt_json_find_path(object, "spec.scaleTargetRef");
			update_reference(
				&search, target, BT_STR("name"), bt_json_text_at(target, "kind"));
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_kustomized_record_name(&resources[i]);
	}
}

/* --- labels and annotations --- */

/** Adds labels to the selector if it has matchLabels. */
static void add_to_selector(
	struct bt_arena *arena, struct bt_json_value *selector, const struct bt_json_value *labels)
{
	if (bt_json_find(selector, "matchLabels") != NULL) {
		bt_kustomize_add_texts(arena, selector, "matchLabels", labels);
	}
}

static void add_to_all(struct bt_arena *arena, const struct bt_json_value *list, const char *path,
	const struct bt_json_value *labels)
{
	for (uint32_t i = 0; i < list->count; i++) {
		add_to_selector(arena, bt_json_find_path(list->elements[i], path), labels);
	}
}

/**
 * Adds labels or annotations (member) to the metadata of the template, if holder has the template.
 */
static void label_template(struct bt_arena *arena, struct bt_json_value *holder,
	const char *template_, const char *member, const struct bt_json_value *texts)
{
	struct bt_json_value *found = bt_json_find(holder, template_);
	if (found != NULL && found->type == BT_JSON_OBJECT && texts->count != 0) {
		bt_kustomize_add_texts(
			arena, bt_json_ensure_object(arena, found, "metadata"), member, texts);
	}
}

static void label_templates(struct bt_arena *arena, struct bt_json_value *object,
	const char *member, const struct bt_json_value *texts)
{
	struct bt_json_value *spec = bt_json_find(object, "spec");
	if (is_one_of(object, workloads)) {
		label_template(arena, spec, "template", member, texts);
	} else if (is_kind(object, "CronJob")) {
		label_template(arena, spec, "jobTemplate", member, texts);
		label_template(arena, bt_json_find_path(object, "spec.jobTemplate.spec"),
			"template", member, texts);
	}
}

void bt_kustomize_annotate(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *annotations)
{
	bt_kustomize_add_texts(arena, bt_json_ensure_object(arena, object, "metadata"),
		"annotations", annotations);
	label_templates(arena, object, "annotations", annotations);
}

static void label_selectors(
	struct bt_arena *arena, struct bt_json_value *object, const struct bt_json_value *labels)
{
	static const char *const created[] = {
		"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", NULL};
	static const char *const others[] = {"Job", "PodDisruptionBudget", NULL};
	struct bt_json_value *spec = bt_json_find(object, "spec");
	const struct bt_json_value *pod = pod_spec_of(object);
	if (spec == NULL || spec->type != BT_JSON_OBJECT) {
		return;
	}
	if (is_kind(object, "Service") || is_kind(object, "ReplicationController")) {
		bt_kustomize_add_texts(arena, spec, "selector", labels);
	} else if (is_one_of(object, created)) {
		bt_kustomize_add_texts(arena, bt_json_ensure_object(arena, spec, "selector"),
			"matchLabels", labels);
	} else if (is_one_of(object, others)) {
		add_to_selector(arena, bt_json_find(spec, "selector"), labels);
	} else if (is_kind(object, "NetworkPolicy")) {
		static const char *const rules[][2] = {
			{"spec.ingress", "from"}, {"spec.egress", "to"}};
		add_to_selector(arena, bt_json_find(spec, "podSelector"), labels);
		for (size_t n = 0; n < BT_ARRAY_LENGTH(rules); n++) {
			const struct bt_json_value *list = bt_json_array_at(object, rules[n][0]);
			for (uint32_t i = 0; i < list->count; i++) {
				add_to_all(arena, bt_json_array_at(list->elements[i], rules[n][1]),
					"podSelector", labels);
			}
		}
	}
	if (pod != NULL && !is_kind(object, "Pod")) {
		/* Label the selectors of the pods' affinity and topology spread constraints. */
		static const char *const terms[] = {
			"affinity.podAffinity", "affinity.podAntiAffinity"};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(terms); i++) {
			const struct bt_json_value *affinity = bt_json_find_path(pod, terms[i]);
			add_to_all(arena,
				bt_json_array_at(affinity,
					"preferredDuringSchedulingIgnoredDuringExecution"),
				"podAffinityTerm.labelSelector", labels);
			add_to_all(arena,
				bt_json_array_at(
					affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
				"labelSelector", labels);
		}
		add_to_all(arena, bt_json_array_at(pod, "topologySpreadConstraints"),
			"labelSelector", labels);
	}
}

void bt_kustomize_label(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_json_value *labels, bool selectors, bool templates)
{
	if (labels->count == 0) {
		return;
	}
	bt_kustomize_add_texts(
		arena, bt_json_ensure_object(arena, object, "metadata"), "labels", labels);
	if (selectors) {
		label_selectors(arena, object, labels);
	}
	if (templates) {
		const struct bt_json_value *claims =
			bt_json_array_at(object, "spec.volumeClaimTemplates");
		label_templates(arena, object, "labels", labels);
		for (uint32_t i = 0; i < claims->count && is_kind(object, "StatefulSet"); i++) {
			if (claims->elements[i]->type != BT_JSON_OBJECT) {
				continue;
			}
			bt_kustomize_add_texts(arena,
				bt_json_ensure_object(arena, claims->elements[i], "metadata"),
				"labels", labels);
		}
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

static uint32_t rotate(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

/**
 * Returns the first 10 hexadecimal digits of the text's SHA-256 (FIPS 180-4) in kustomize's
 * alphabet, which avoids letters that could form words.
 */
static struct bt_str hash_text(struct bt_arena *arena, struct bt_str text)
{
	static const uint32_t rounds[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
		0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
		0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
		0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
		0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
		0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
		0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
		0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
		0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
		0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
	static const char digits[] = "gh2k456789mbcdtf"; /* 0 1 3 a e become g h k m t */
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
		0x1f83d9ab, 0x5be0cd19};
	size_t length = ((size_t)text.length + 9 + 63) / 64 * 64;
	uint8_t *bytes = BT_ARENA_NEW_ARRAY(arena, uint8_t, length);
	char result[10];
	if (text.length != 0) {
		memcpy(bytes, text.data, text.length);
	}
	bytes[text.length] = 0x80;
	for (unsigned i = 0; i < 8; i++) {
		bytes[length - 1 - i] = (uint8_t)((uint64_t)text.length * 8 >> (8 * i));
	}
	for (size_t block = 0; block < length; block += 64) {
		uint32_t words[64];
		uint32_t v[8];
		for (size_t i = 0; i < 16; i++) {
			const uint8_t *word = bytes + block + 4 * i;
			words[i] = (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 |
				(uint32_t)word[2] << 8 | word[3];
		}
		for (size_t i = 16; i < 64; i++) {
			uint32_t a = words[i - 15];
			uint32_t b = words[i - 2];
			words[i] = words[i - 16] + words[i - 7] +
				(rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
				(rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
		}
		memcpy(v, state, sizeof(v));
		for (size_t i = 0; i < 64; i++) {
			uint32_t first = v[7] +
				(rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
				((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[i] + words[i];
			uint32_t second = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
				((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
			memmove(v + 1, v, 7 * sizeof(v[0]));
			v[4] += first;
			v[0] = first + second;
		}
		for (size_t i = 0; i < 8; i++) {
			state[i] += v[i];
		}
	}
	for (size_t i = 0; i < sizeof(result); i++) {
		result[i] = digits[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
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

/**
 * Returns the hash of the object's content. Like kustomize, hashes the JSON text that Go writes for
 * {binaryData, data, kind, name: "", type}.
 */
static struct bt_str content_hash(struct bt_arena *arena, const struct bt_json_value *object)
{
	struct bt_json_value *data = sorted_copy(arena, bt_json_object_at(object, "data"));
	struct bt_strbuf json = {0};
	struct bt_strbuf escaped = {0};
	bt_json_format(bt_json_put(arena, NULL,
			       "{binaryData?: %v, data: %v, kind: %s, name: '', type: %v}",
			       sorted_copy(arena, bt_json_object_at(object, "binaryData")),
			       data->count != 0 ? data : bt_json_new_c(arena, ""),
			       bt_json_text_at(object, "kind"),
			       is_kind(object, "Secret")
				       ? bt_json_new_str(arena, bt_json_text_at(object, "type"))
				       : NULL),
		&json);
	for (size_t i = 0; i < json.length; i++) {
		char byte = bt_strbuf_c(&json)[i];
		if (byte == '<' || byte == '>' || byte == '&') {
			bt_strbuf_printf(&escaped, "\\u%04x", (unsigned)byte);
		} else {
			bt_strbuf_append_char(&escaped, byte);
		}
	}
	struct bt_str hash = hash_text(arena, bt_strbuf_str(&escaped));
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&escaped);
	return hash;
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
	int order = (a_rank > b_rank) - (a_rank < b_rank);
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
			bt_json_set_str(arena, metadata, "name",
				bt_arena_printf(arena, "%.*s-%.*s",
					BT_STR_ARG(bt_json_text_at(metadata, "name")),
					BT_STR_ARG(content_hash(arena, resources[i].object))));
		}
	}
	bt_kustomize_update_references(arena, resources, count, BT_STR(""));
	if (count > 1) {
		qsort(resources, count, sizeof(resources[0]), compare_resources);
	}
}
