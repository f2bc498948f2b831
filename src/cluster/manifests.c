/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/manifests.h"

#include "api/defaulting.h"
#include "api/meta.h"
#include "api/pod.h"
#include "api/resources.h"
#include "api/suggest.h"
#include "api/text_template.h"
#include "base/printable.h"

static uint64_t owner_hash(struct bt_str namespace_, struct bt_str kind, struct bt_str name)
{
	return bt_hash_u64(bt_hash_name(namespace_, name), bt_str_hash(kind));
}

void bt_manifests_init(struct bt_manifests *cluster)
{
	*cluster = (struct bt_manifests){0};
}

void bt_manifests_finish(struct bt_manifests *cluster)
{
	bt_vec_finish_each(&cluster->objects, bt_object_release(each->object));
	bt_vec_finish(&cluster->owners);
	bt_vec_finish(&cluster->policies);
	bt_map_finish(&cluster->names);
	bt_map_finish(&cluster->owner_map);
	bt_arena_finish(&cluster->arena);
	bt_input_finish(&cluster->input);
}

/** --- messages --- */

static void append_object(const struct bt_manifests_object *object, struct bt_strbuf *out)
{
	bool is_named = object->name.length != 0;
	bt_text_append(out, "%c[%? ][%p/]%p", bt_kind_info(object->kind)->name, is_named,
		is_named ? object->namespace_ : BT_STR(""), object->name);
}

void bt_manifests_describe(
	const struct bt_manifests *cluster, uint32_t index, struct bt_strbuf *out)
{
	const struct bt_manifests_object *object = &cluster->objects.items[index];
	bt_input_describe(&cluster->input, object->origin, out);
	bt_strbuf_append_c(out, ": ");
	append_object(object, out);
}

int bt_manifests_wrap(
	const struct bt_manifests *cluster, uint32_t index, int result, struct berth_error *err)
{
	struct bt_strbuf place = {0};
	bt_manifests_describe(cluster, index, &place);
	result = bt_error_wrap(err, result, "%s", bt_strbuf_c(&place));
	bt_strbuf_finish(&place);
	return result;
}

void bt_manifests_warn(const struct bt_manifests *cluster, const char *template_, ...)
{
	if (cluster->warn == NULL) {
		return;
	}
	struct bt_strbuf line = {0};
	va_list arguments;
	va_start(arguments, template_);
	bt_text_append_list(&line, template_, arguments);
	va_end(arguments);
	cluster->warn(cluster->warn_context, bt_strbuf_c(&line));
	bt_strbuf_finish(&line);
}

/** --- checks of values that the scheduler cannot handle --- */

/**
 * spec_place, containers, index and name are the place of the amounts in messages:
 * "spec.initContainers[0].resources.limits". containers NULL: not in a container.
 */
static int check_amounts(const struct bt_resource_list *list, const char *spec_place,
	const char *containers, uint32_t index, const char *name, struct berth_error *err)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_resource_entry *entry = &list->items[i];
		const char *problems[BT_AMOUNT_PROBLEMS_MAX];
		if (bt_resource_amount_problems(entry->name, &entry->quantity, problems) == 0) {
			continue;
		}
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, spec_place);
		if (containers != NULL) {
			bt_strbuf_printf(&text, "%s[%u]", containers, index);
		}
		bt_strbuf_printf(&text, "%s[", name);
		bt_printable_append(&text, bt_str_sub(entry->name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
		bt_strbuf_append_c(&text, "]: Invalid value: \"");
		bt_quantity_format(&entry->quantity, &text);
		bt_strbuf_printf(&text, "\": %s", problems[0]);
		return bt_error_take(err, BERTH_ERR_INVALID, &text);
	}
	return 0;
}

static int check_resources(const struct bt_resource_requirements *resources, const char *spec_place,
	const char *containers, uint32_t index, struct berth_error *err)
{
	int result = check_amounts(
		&resources->limits, spec_place, containers, index, ".resources.limits", err);
	return result < 0 ? result
			  : check_amounts(&resources->requests, spec_place, containers, index,
				    ".resources.requests", err);
}

static int check_pod_spec(
	const struct bt_pod_spec *spec, const char *spec_place, struct berth_error *err)
{
	const bt_container_list *lists[] = {&spec->containers, &spec->init_containers};
	static const char *const names[] = {".containers", ".initContainers"};
	int result = 0;
	for (size_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		for (uint32_t i = 0; i < lists[n]->count && result == 0; i++) {
			result = check_resources(
				&lists[n]->items[i].resources, spec_place, names[n], i, err);
		}
	}
	if (result == 0 && spec->resources != NULL) {
		result = check_resources(spec->resources, spec_place, NULL, 0, err);
	}
	return result < 0 ? result
			  : check_amounts(&spec->overhead, spec_place, NULL, 0, ".overhead", err);
}

int bt_manifests_check(const struct bt_object *object, struct berth_error *err)
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

/** --- generated names --- */

_Static_assert(BT_NAME_LETTER_COUNT == 27, "BT_SUFFIX_COUNT");
/**
 * BT_SUFFIX_COUNT is a power of 3 and STRIDE is not divisible by 3, so multiples of STRIDE reach
 * every suffix, and the suffixes of consecutive indexes look different.
 */
#define STRIDE UINT64_C(5754853)

void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out)
{
	uint64_t start = bt_stable_hash(prefix) % BT_SUFFIX_COUNT;
	uint64_t number = (start + index % BT_SUFFIX_COUNT * STRIDE) % BT_SUFFIX_COUNT;
	bt_name_letters(number, BT_SUFFIX_LENGTH, out);
	out[BT_SUFFIX_LENGTH] = '\0';
}

/** --- adding objects --- */

struct bt_str bt_manifests_make_uid(struct bt_manifests *cluster)
{
	return bt_arena_printf(
		&cluster->arena, "00000000-0000-4000-8000-%012x", ++cluster->uid_count);
}

uint32_t bt_manifests_find(const struct bt_manifests *cluster, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = bt_object_hash(kind, namespace_, name);
	BT_MAP_EACH (&cluster->names, hash, index) {
		const struct bt_manifests_object *object = &cluster->objects.items[index];
		if (object->kind == kind && bt_str_equal(object->namespace_, namespace_) &&
			bt_str_equal(object->name, name)) {
			return index;
		}
	}
	return BT_MANIFESTS_NONE;
}

/** Returns the name, or an unused name made from metadata.generateName. */
static struct bt_str choose_name(struct bt_manifests *cluster, enum bt_kind kind,
	struct bt_str namespace_, const struct bt_object_meta *meta)
{
	if (meta->name.length != 0 || meta->generate_name.length == 0) {
		return meta->name;
	}
	for (uint32_t i = cluster->objects.count;; i++) {
		char suffix[BT_SUFFIX_LENGTH + 1];
		bt_suffix_make(meta->generate_name, i, suffix);
		struct bt_str name = bt_arena_printf(
			&cluster->arena, "%.*s%s", BT_STR_ARG(meta->generate_name), suffix);
		if (bt_manifests_find(cluster, kind, namespace_, name) == BT_MANIFESTS_NONE) {
			return name;
		}
	}
}

static int check_limits(const struct bt_manifests *cluster, const struct bt_object_meta *meta,
	struct berth_error *err)
{
	if (meta->name.length == 0 && meta->generate_name.length == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "metadata.name: name or generateName is required");
	}
	if (meta->name.length > BT_MANIFESTS_NAME_BYTES_MAX ||
		meta->generate_name.length > BT_MANIFESTS_NAME_BYTES_MAX ||
		meta->namespace_.length > BT_MANIFESTS_NAME_BYTES_MAX ||
		meta->uid.length > BT_MANIFESTS_NAME_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"metadata: name, namespace and uid may have at most %d bytes",
			BT_MANIFESTS_NAME_BYTES_MAX);
	}
	if (cluster->objects.count >= BT_OBJECTS_READ_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "the input has more than %d objects",
			BT_OBJECTS_READ_MAX);
	}
	if (cluster->object_bytes > BT_OBJECTS_READ_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"the input takes more than %zu bytes of memory", BT_OBJECTS_READ_BYTES_MAX);
	}
	return 0;
}

static struct bt_str namespace_of(const struct bt_object *object)
{
	if (!bt_kind_info(object->kind)->namespaced) {
		return BT_STR("");
	}
	return object->meta->namespace_.length != 0 ? object->meta->namespace_ : BT_STR("default");
}

static void add(struct bt_manifests *cluster, struct bt_origin origin, struct bt_object *object)
{
	const struct bt_object_meta *meta = object->meta;
	const struct bt_str *pods_exist =
		bt_str_map_find(&meta->annotations, BT_STR(BT_ANNOTATION_PODS_EXIST));
	struct bt_manifests_object entry = {
		.object = object,
		.kind = object->kind,
		.origin = origin,
		.namespace_ = namespace_of(object),
		.uid = meta->uid,
		.uid_is_given = meta->uid.length != 0,
		.pods_exist = origin.document == 0 ||
			(pods_exist != NULL && bt_str_equal_c(*pods_exist, "true")),
		.next_owned = BT_MANIFESTS_NONE,
	};
	entry.name = choose_name(cluster, entry.kind, entry.namespace_, meta);
	/* Copy the texts, because the object may be released before the run ends. */
	entry.namespace_ = bt_arena_str(&cluster->arena, entry.namespace_);
	entry.name = bt_arena_str(&cluster->arena, entry.name);
	entry.uid = entry.uid_is_given ? bt_arena_str(&cluster->arena, entry.uid)
				       : bt_manifests_make_uid(cluster);
	cluster->object_bytes += bt_object_bytes(object);
	uint32_t earlier = bt_manifests_find(cluster, entry.kind, entry.namespace_, entry.name);
	if (earlier != BT_MANIFESTS_NONE) {
		struct bt_manifests_object *old = &cluster->objects.items[earlier];
		if (!cluster->replaces) {
			struct bt_strbuf shown = {0};
			bt_input_describe(&cluster->input, old->origin, &shown);
			struct bt_strbuf place = {0};
			bt_input_describe(&cluster->input, entry.origin, &place);
			bt_strbuf_append_c(&place, ": ");
			append_object(&entry, &place);
			bt_manifests_warn(cluster, "%s replaces the one in %s",
				bt_strbuf_str(&place), bt_strbuf_str(&shown));
			bt_strbuf_finish(&place);
			bt_strbuf_finish(&shown);
		}
		cluster->object_bytes -= bt_object_bytes(old->object);
		bt_object_release(old->object);
		*old = entry;
		return;
	}
	bt_vec_push(&cluster->objects, entry);
	bt_map_insert(&cluster->names, bt_object_hash(entry.kind, entry.namespace_, entry.name),
		cluster->objects.count - 1);
}

int bt_manifests_take(struct bt_manifests *cluster, struct bt_origin origin,
	struct bt_object *object, struct berth_error *err)
{
	if (!(object->kind != BT_KIND_EVENT && object->kind != BT_KIND_CORE_EVENT &&
		    object->kind != BT_KIND_LEASE)) {
		bt_object_release(object);
		return 0;
	}
	int result = check_limits(cluster, object->meta, err);
	if (result == 0 && origin.document != 0) {
		result = bt_manifests_check(object, err);
	}
	if (result < 0) {
		struct bt_strbuf what = {0};
		struct bt_manifests_object shown = {
			.kind = object->kind,
			.namespace_ =
				bt_str_sub(namespace_of(object), 0, BT_MANIFESTS_NAME_BYTES_MAX),
			.name = bt_str_sub(object->meta->name, 0, BT_MANIFESTS_NAME_BYTES_MAX),
		};
		append_object(&shown, &what);
		result = bt_error_wrap(err, result, "%s", bt_strbuf_c(&what));
		bt_strbuf_finish(&what);
		bt_object_release(object);
		return result;
	}
	add(cluster, origin, object);
	return 0;
}

static int take_object(
	void *context, struct bt_origin origin, struct bt_object *object, struct berth_error *err)
{
	return bt_manifests_take(context, origin, object, err);
}

bool bt_manifests_take_policy(struct bt_manifests *cluster, struct bt_origin origin,
	struct bt_str api_version, struct bt_str kind, struct bt_str json)
{
	bool is_quota = bt_str_equal_c(kind, "ResourceQuota");
	bool is_policy = bt_str_equal_c(api_version, "v1")
		? is_quota || bt_str_equal_c(kind, "LimitRange")
		: bt_str_equal_c(api_version, "node.k8s.io/v1") &&
			bt_str_equal_c(kind, "RuntimeClass");
	if (is_policy) {
		struct bt_manifests_policy policy = {
			origin, bt_arena_str(&cluster->arena, json), is_quota};
		cluster->object_bytes += json.length;
		bt_vec_push(&cluster->policies, policy);
	}
	return is_policy;
}

/** Unknown kinds are ignored silently, unless the kind looks like a typing error. */
static void take_skipped(void *context, struct bt_origin origin, struct bt_str api_version,
	struct bt_str kind, struct bt_str json)
{
	struct bt_manifests *cluster = context;
	struct bt_strbuf hint = {0};
	if (bt_manifests_take_policy(cluster, origin, api_version, kind, json)) {
		return;
	}
	if (kind.length == 0) {
		struct bt_strbuf line = {0};
		bt_input_describe(&cluster->input, origin, &line);
		bt_manifests_warn(
			cluster, "%s is not a manifest and is left out", bt_strbuf_str(&line));
		bt_strbuf_finish(&line);
		return;
	}
	if (cluster->warn != NULL && bt_kind_hint(api_version, kind, &hint)) {
		struct bt_strbuf line = {0};
		bt_input_describe(&cluster->input, origin, &line);
		bt_manifests_warn(cluster, "%s: %p %p is skipped: %s", bt_strbuf_str(&line),
			api_version, kind, bt_strbuf_str(&hint));
		bt_strbuf_finish(&line);
	}
	bt_strbuf_finish(&hint);
}

static void taken(void *context, struct bt_origin origin, struct bt_str json)
{
	bt_manifests_check_fields(context, origin, json);
}

static struct bt_input_sink sink_of(struct bt_manifests *cluster)
{
	return (struct bt_input_sink){
		.context = cluster, .take = take_object, .skipped = take_skipped, .taken = taken};
}

int bt_manifests_read(struct bt_manifests *cluster, const char *path, struct berth_error *err)
{
	cluster->input.sink = sink_of(cluster);
	return bt_input_read(&cluster->input, path, err);
}

int bt_manifests_read_text(
	struct bt_manifests *cluster, const char *name, struct bt_str text, struct berth_error *err)
{
	cluster->input.sink = sink_of(cluster);
	return bt_input_read_text(&cluster->input, name, text, err);
}

void bt_manifests_copy(
	const struct bt_manifests *source, const bool *left_out, struct bt_manifests *out_copy)
{
	BT_ASSERT(out_copy->objects.count == 0);
	for (uint32_t i = 0; i < source->input.sources.count; i++) {
		const char *name = source->input.sources.items[i];
		bt_vec_push(&out_copy->input.sources, bt_strndup(name, strlen(name)));
	}
	out_copy->input.recursive = source->input.recursive;
	out_copy->input.stdin_taken = source->input.stdin_taken;
	out_copy->uid_count = source->uid_count;
	out_copy->object_bytes = source->object_bytes;
	out_copy->warn = source->warn;
	out_copy->warn_context = source->warn_context;
	for (uint32_t i = 0; i < source->policies.count; i++) {
		struct bt_manifests_policy policy = source->policies.items[i];
		policy.json = bt_arena_str(&out_copy->arena, policy.json);
		bt_vec_push(&out_copy->policies, policy);
	}
	for (uint32_t i = 0; i < source->objects.count; i++) {
		struct bt_manifests_object entry = source->objects.items[i];
		if (left_out != NULL && left_out[i]) {
			continue;
		}
		entry.object = bt_object_share(entry.object);
		entry.namespace_ = bt_arena_str(&out_copy->arena, entry.namespace_);
		entry.name = bt_arena_str(&out_copy->arena, entry.name);
		entry.uid = bt_arena_str(&out_copy->arena, entry.uid);
		entry.next_owned = BT_MANIFESTS_NONE;
		bt_vec_push(&out_copy->objects, entry);
		bt_map_insert(&out_copy->names,
			bt_object_hash(entry.kind, entry.namespace_, entry.name),
			out_copy->objects.count - 1);
	}
}

void bt_manifests_exchange(struct bt_manifests *cluster, uint32_t index, struct bt_object *object)
{
	struct bt_manifests_object *entry = &cluster->objects.items[index];
	BT_ASSERT(object->kind == entry->kind);
	cluster->object_bytes += bt_object_bytes(object);
	cluster->object_bytes -= bt_object_bytes(entry->object);
	bt_object_release(entry->object);
	entry->object = object;
}

int bt_manifests_put(struct bt_manifests *cluster, const char *source, struct bt_object *object,
	uint32_t *out_index, struct berth_error *err)
{
	struct bt_origin origin = {bt_manifests_add_source(cluster, source), 1};
	uint32_t count = cluster->objects.count;
	int result = bt_manifests_take(cluster, origin, object, err);
	if (result == 0) {
		BT_ASSERT(cluster->objects.count == count + 1);
		*out_index = count;
	}
	return result;
}

uint32_t bt_manifests_add_source(struct bt_manifests *cluster, const char *name)
{
	bt_vec_push(&cluster->input.sources, bt_strndup(name, strlen(name)));
	return cluster->input.sources.count - 1;
}

int bt_manifests_take_live(struct bt_manifests *cluster, uint32_t source, struct bt_object *object,
	struct berth_error *err)
{
	struct bt_origin origin = {source, 0};
	int result = bt_manifests_take(cluster, origin, object, err);
	return result < 0 ? bt_error_wrap(err, result, "%s", cluster->input.sources.items[source])
			  : 0;
}

void bt_manifests_release(struct bt_manifests *cluster, uint32_t index)
{
	bt_object_release(cluster->objects.items[index].object);
	cluster->objects.items[index].object = NULL;
}

/** --- owners --- */

static struct bt_manifests_owner *find_owner(const struct bt_manifests *cluster,
	struct bt_str namespace_, struct bt_str kind, struct bt_str name)
{
	uint64_t hash = owner_hash(namespace_, kind, name);
	BT_MAP_EACH (&cluster->owner_map, hash, index) {
		struct bt_manifests_owner *owner = &cluster->owners.items[index];
		if (bt_str_equal(owner->namespace_, namespace_) &&
			bt_str_equal(owner->kind, kind) && bt_str_equal(owner->name, name)) {
			return owner;
		}
	}
	return NULL;
}

struct bt_str bt_manifests_deployment_of(
	const struct bt_object_meta *pod, struct bt_str replica_set)
{
	const struct bt_str *hash = bt_str_map_find(&pod->labels, BT_STR("pod-template-hash"));
	if (hash == NULL || hash->length == 0 || replica_set.length < hash->length + 2 ||
		!bt_str_has_suffix(replica_set, *hash) ||
		replica_set.data[replica_set.length - hash->length - 1] != '-') {
		return BT_STR("");
	}
	return bt_str_sub(replica_set, 0, replica_set.length - hash->length - 1);
}

struct bt_pod bt_manifests_pod(const struct bt_manifests_object *object)
{
	struct bt_pod pod = *(const struct bt_pod *)bt_object_value(object->object, BT_KIND_POD);
	pod.metadata.name = object->name;
	pod.metadata.namespace_ = object->namespace_;
	pod.metadata.uid = object->uid;
	return pod;
}

struct bt_node bt_manifests_node(const struct bt_manifests_object *object, struct bt_arena *arena)
{
	struct bt_node node =
		*(const struct bt_node *)bt_object_value(object->object, BT_KIND_NODE);
	node.metadata.name = object->name;
	node.metadata.uid = object->uid;
	bt_node_default(&node, arena);
	return node;
}

uint32_t bt_manifests_node_of_slice(const struct bt_manifests *cluster, uint32_t index)
{
	const struct bt_manifests_object *object = &cluster->objects.items[index];
	if (object->kind != BT_KIND_RESOURCE_SLICE) {
		return BT_MANIFESTS_NONE;
	}
	const struct bt_resource_slice *slice = object->object->value;
	return bt_manifests_find(cluster, BT_KIND_NODE, BT_STR(""), slice->spec.node_name);
}

struct bt_pod_owner bt_pod_owner_of(const struct bt_object_meta *pod)
{
	const struct bt_owner_reference *controller = bt_object_controller(pod);
	if (controller == NULL) {
		return (struct bt_pod_owner){BT_STR(""), BT_STR("")};
	}
	struct bt_str deployment = bt_str_equal_c(controller->kind, "ReplicaSet")
		? bt_manifests_deployment_of(pod, controller->name)
		: BT_STR("");
	return deployment.length != 0 ? (struct bt_pod_owner){BT_STR("Deployment"), deployment}
				      : (struct bt_pod_owner){controller->kind, controller->name};
}

void bt_manifests_index_owners(struct bt_manifests *cluster)
{
	const struct bt_str replica_set = BT_STR("ReplicaSet");
	cluster->owners.count = 0;
	bt_map_reset(&cluster->owner_map);
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		cluster->objects.items[i].next_owned = BT_MANIFESTS_NONE;
	}
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		const struct bt_owner_reference *controller =
			bt_object_controller(object->object->meta);
		if (controller == NULL) {
			continue;
		}
		struct bt_str kind = controller->kind;
		struct bt_str name = controller->name;
		if (object->kind == BT_KIND_POD && bt_str_equal(kind, replica_set) &&
			bt_manifests_find(cluster, BT_KIND_REPLICA_SET, object->namespace_, name) ==
				BT_MANIFESTS_NONE) {
			struct bt_str deployment =
				bt_manifests_deployment_of(object->object->meta, name);
			if (deployment.length != 0 &&
				bt_manifests_find(cluster, BT_KIND_DEPLOYMENT, object->namespace_,
					deployment) != BT_MANIFESTS_NONE) {
				kind = BT_STR("Deployment");
				name = deployment;
			}
		}
		struct bt_str namespace_ = object->namespace_;
		struct bt_manifests_owner *owner = find_owner(cluster, namespace_, kind, name);
		if (owner != NULL) {
			cluster->objects.items[owner->last].next_owned = i;
			owner->last = i;
			continue;
		}
		struct bt_manifests_owner entry = {namespace_, bt_arena_str(&cluster->arena, kind),
			bt_arena_str(&cluster->arena, name), i, i};
		bt_vec_push(&cluster->owners, entry);
		bt_map_insert(&cluster->owner_map, owner_hash(namespace_, kind, name),
			cluster->owners.count - 1);
	}
}

uint32_t bt_manifests_first_owned(const struct bt_manifests *cluster, struct bt_str namespace_,
	struct bt_str kind, struct bt_str name)
{
	const struct bt_manifests_owner *owner = find_owner(cluster, namespace_, kind, name);
	return owner != NULL ? owner->first : BT_MANIFESTS_NONE;
}
