/* SPDX-License-Identifier: Apache-2.0 */
/** Creates the objects of operations in a workload file. */
#include <string.h>

#include "api/storage.h"
#include "api/types.h"
#include "base/alloc.h"
#include "bench/bench_perf_private.h"

/** Default manifests for operations without a template path, and their names in messages. */
static const char default_node[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"generateName\":\"node-\"},"
	"\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"32Gi\",\"pods\":\"110\"},"
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";

#define DEFAULT_NODE_NAME "default node"

static const char default_pod[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"pod-\"},\"spec\":"
	"{\"containers\":[{\"name\":\"pause\",\"image\":\"registry.k8s.io/pause:3.10\",\"ports\":"
	"[{\"containerPort\":80}],\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":"
	"\"500Mi\"},\"limits\":{\"cpu\":\"100m\",\"memory\":\"500Mi\"}}}]}}";

#define DEFAULT_POD_NAME "default pod"

#define HOST_LABEL "kubernetes.io/hostname"

static struct bt_bench_template *find_read(const struct bt_perf *perf, const char *path)
{
	for (uint32_t i = 0; i < perf->templates.count; i++) {
		if (strcmp(bt_bench_template_path(perf->templates.items[i]), path) == 0) {
			return perf->templates.items[i];
		}
	}
	return NULL;
}

static int find_or_read(struct bt_perf *perf, struct bt_str path, const char *default_name,
	const char *default_text, struct bt_bench_template **out_template, struct berth_error *err)
{
	struct bt_strbuf full = {0};
	int result = 0;
	if (path.length == 0) {
		bt_strbuf_append_c(&full, default_name);
	} else {
		if (path.data[0] != '/') {
			bt_strbuf_append_str(&full, perf->file->folder);
		}
		bt_strbuf_append_str(&full, path);
	}
	*out_template = find_read(perf, bt_strbuf_c(&full));
	if (*out_template == NULL) {
		result = path.length == 0
			? bt_bench_template_from_text(
				  default_name, bt_str_from(default_text), out_template, err)
			: bt_bench_template_read(bt_strbuf_c(&full), out_template, err);
		if (result == 0) {
			bt_vec_push(&perf->templates, *out_template);
		}
	}
	bt_strbuf_finish(&full);
	return result;
}

/**
 * Returns the template at this path, and reads the file at the first use. path: relative to the
 * workload file; "": the default node.
 */
static int find_template(struct bt_perf *perf, struct bt_str path,
	struct bt_bench_template **out_template, struct berth_error *err)
{
	return find_or_read(perf, path, DEFAULT_NODE_NAME, default_node, out_template, err);
}

/** Make an object of this kind; error if the template has another kind. Sets stamp.serial. */
static int make(struct bt_perf *perf, struct bt_bench_template *template_, enum bt_kind kind,
	struct bt_bench_stamp stamp, struct bt_object **out_object, struct berth_error *err)
{
	struct bt_object *object;
	stamp.serial = ++perf->serial;
	int result = bt_bench_template_make(template_, &stamp, &object, err);
	if (result == 0 && object->kind != kind) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "%s: a %s, not a %s",
			bt_bench_template_path(template_), bt_kind_info(object->kind)->name,
			bt_kind_info(kind)->name);
		bt_object_release(object);
	}
	if (result == 0) {
		*out_object = object;
	}
	return result;
}

/** Copy the map with one pair added or replaced. */
static struct bt_str_map with_pair(struct bt_arena *arena, const struct bt_str_map *map,
	struct bt_str key, struct bt_str value)
{
	struct bt_str_map result = {.present = true};
	bool placed = false;
	result.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, map->count + 1);
	for (uint32_t i = 0; i < map->count; i++) {
		int order = bt_str_compare(map->items[i].key, key);
		if (order >= 0 && !placed) {
			result.items[result.count++] = (struct bt_str_pair){key, value};
			placed = true;
		}
		if (order != 0) {
			result.items[result.count++] = map->items[i];
		}
	}
	if (!placed) {
		result.items[result.count++] = (struct bt_str_pair){key, value};
	}
	return result;
}

/** --- nodes --- */

static int strategy_key(const struct bt_json_value *strategy, const char *name,
	struct bt_str *out_key, struct berth_error *err)
{
	*out_key = bt_json_find_str(strategy, "labelKey");
	return out_key->length != 0
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID, "%s: labelKey: missing", name);
}

/**
 * Adds the labels of the operation's strategies to node number `index`. labelNodePrepareStrategy
 * cycles through the values of its list. uniqueNodeLabelStrategy gives every node a different
 * value.
 */
static int add_labels(struct bt_arena *arena, const struct bt_perf_op *op, uint32_t index,
	struct bt_object_meta *meta, struct berth_error *err)
{
	struct bt_str key;
	if (op->label_strategy != NULL) {
		const struct bt_json_value *values =
			bt_json_find(op->label_strategy, "labelValues");
		int result =
			strategy_key(op->label_strategy, "labelNodePrepareStrategy", &key, err);
		if (result < 0) {
			return result;
		}
		if (values == NULL || values->type != BT_JSON_ARRAY || values->count == 0 ||
			values->elements[index % values->count]->type != BT_JSON_STRING) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"labelNodePrepareStrategy: labelValues: a list of strings is "
				"needed");
		}
		meta->labels = with_pair(
			arena, &meta->labels, key, values->elements[index % values->count]->text);
	}
	if (op->unique_strategy != NULL) {
		int result =
			strategy_key(op->unique_strategy, "uniqueNodeLabelStrategy", &key, err);
		if (result < 0) {
			return result;
		}
		meta->labels = with_pair(arena, &meta->labels, key, meta->uid);
	}
	return 0;
}

/** Adds the hostname label, as upstream does, because anti-affinity by host needs this label. */
static void label_host(struct bt_arena *arena, struct bt_object_meta *meta)
{
	if (bt_str_map_find(&meta->labels, BT_STR(HOST_LABEL)) == NULL) {
		meta->labels = with_pair(arena, &meta->labels, BT_STR(HOST_LABEL), meta->name);
	}
}

/** Set the amount of a resource in a copy of the list. */
static void set_amount(struct bt_arena *arena, struct bt_resource_list *list, struct bt_str name,
	const struct bt_quantity *amount)
{
	struct bt_resource_entry *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_resource_entry, list->count + 1);
	uint32_t count = 0;
	bool placed = false;
	for (uint32_t i = 0; i < list->count; i++) {
		int order = bt_str_compare(list->items[i].name, name);
		if (order >= 0 && !placed) {
			items[count++] = (struct bt_resource_entry){name, *amount};
			placed = true;
		}
		if (order != 0) {
			items[count++] = list->items[i];
		}
	}
	if (!placed) {
		items[count++] = (struct bt_resource_entry){name, *amount};
	}
	*list = (struct bt_resource_list){items, count, true};
}

#define STRATEGY "nodeAllocatableStrategy: "

static int set_allocatable(struct bt_arena *arena, const struct bt_json_value *amounts,
	struct bt_node *node, struct berth_error *err)
{
	if (amounts == NULL) {
		return 0;
	}
	if (amounts->type != BT_JSON_OBJECT) {
		return bt_perf_wrong_type(STRATEGY "nodeAllocatable", "object", amounts, err);
	}
	for (uint32_t i = 0; i < amounts->count; i++) {
		const struct bt_json_member *member = &amounts->members[i];
		struct bt_quantity amount;
		if (member->value->type != BT_JSON_STRING &&
			member->value->type != BT_JSON_NUMBER) {
			return bt_perf_wrong_type(
				STRATEGY "nodeAllocatable", "string", member->value, err);
		}
		int result = bt_quantity_parse(member->value->text, arena, &amount, err);
		if (result < 0) {
			return bt_error_wrap(err, result, STRATEGY "nodeAllocatable[%.*s]",
				BT_STR_ARG(member->name));
		}
		set_amount(arena, &node->status.capacity, member->name, &amount);
		set_amount(arena, &node->status.allocatable, member->name, &amount);
	}
	return 0;
}

/** Join a list of strings: "a,b". */
static int join_texts(struct bt_arena *arena, const struct bt_json_value *list, struct bt_str *out,
	struct berth_error *err)
{
	struct bt_strbuf text = {0};
	int result = list->type == BT_JSON_ARRAY
		? 0
		: bt_perf_wrong_type(STRATEGY "migratedPlugins", "array", list, err);
	for (uint32_t i = 0; result == 0 && i < list->count; i++) {
		struct bt_str name;
		result =
			bt_perf_read_str(list->elements[i], STRATEGY "migratedPlugins", &name, err);
		if (result == 0) {
			bt_strbuf_printf(&text, "%s%.*s", i != 0 ? "," : "", BT_STR_ARG(name));
		}
	}
	*out = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result;
}

/** {"ebs.csi.aws.com": {"count": 39}} */
static int read_drivers(struct bt_arena *arena, const struct bt_json_value *limits,
	struct bt_str node_name, struct bt_csi_node *csi_node, struct berth_error *err)
{
	if (limits->type != BT_JSON_OBJECT) {
		return bt_perf_wrong_type(STRATEGY "csiNodeAllocatable", "object", limits, err);
	}
	csi_node->spec.drivers.items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_csi_node_driver, limits->count);
	csi_node->spec.drivers.count = limits->count;
	csi_node->spec.drivers.present = true;
	for (uint32_t i = 0; i < limits->count; i++) {
		const struct bt_json_member *member = &limits->members[i];
		const struct bt_json_value *limit = bt_json_find(member->value, "count");
		struct bt_volume_node_resources *resources =
			BT_ARENA_NEW(arena, struct bt_volume_node_resources);
		int64_t count;
		if (limit == NULL || limit->type != BT_JSON_NUMBER ||
			!bt_json_number_int64(limit->text, &count) || count < 0 ||
			count > INT32_MAX) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				STRATEGY "csiNodeAllocatable[%.*s]: count: a number is needed",
				BT_STR_ARG(member->name));
		}
		resources->count = (struct bt_opt_i32){true, (int32_t)count};
		csi_node->spec.drivers.items[i] = (struct bt_csi_node_driver){
			.name = member->name, .node_id = node_name, .allocatable = resources};
	}
	return 0;
}

/** Make the CSINode of the node. *out_object is NULL if the strategy has no CSI fields. */
static int make_csi_node(struct bt_arena *arena, const struct bt_json_value *strategy,
	const struct bt_object_meta *node, struct bt_object **out_object, struct berth_error *err)
{
	const struct bt_json_value *limits = bt_json_find(strategy, "csiNodeAllocatable");
	const struct bt_json_value *migrated = bt_json_find(strategy, "migratedPlugins");
	struct bt_csi_node csi_node = {.metadata = {.name = node->name, .uid = node->uid}};
	int result = 0;
	*out_object = NULL;
	if (limits != NULL) {
		result = read_drivers(arena, limits, node->name, &csi_node, err);
	}
	if (result == 0 && migrated != NULL) {
		struct bt_str names;
		result = join_texts(arena, migrated, &names, err);
		csi_node.metadata.annotations = with_pair(arena, &csi_node.metadata.annotations,
			BT_STR("storage.alpha.kubernetes.io/migrated-plugins"), names);
	}
	if (result == 0 && (limits != NULL || migrated != NULL)) {
		*out_object = bt_object_create(BT_KIND_CSI_NODE, &csi_node);
	}
	return result;
}

static int create_node(struct bt_perf *perf, const struct bt_perf_op *op,
	const struct bt_object *made, uint32_t index, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_node node = *(const struct bt_node *)made->value;
	struct bt_object *csi_node = NULL;
	label_host(arena, &node.metadata);
	int result = add_labels(arena, op, index, &node.metadata, err);
	if (result == 0 && op->allocatable_strategy != NULL) {
		result = set_allocatable(arena,
			bt_json_find(op->allocatable_strategy, "nodeAllocatable"), &node, err);
		if (result == 0) {
			result = make_csi_node(
				arena, op->allocatable_strategy, &node.metadata, &csi_node, err);
		}
	}
	if (result < 0) {
		return result;
	}
	struct bt_object *object = bt_object_create(BT_KIND_NODE, &node);
	bt_vec_push(&perf->nodes, bt_object_share(object));
	perf->result->node_count++;
	result = bt_living_add(&perf->living, object, err);
	if (csi_node != NULL) {
		result = result == 0 ? bt_living_add(&perf->living, csi_node, err) : result;
	}
	return result;
}

int bt_perf_create_nodes(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err)
{
	struct bt_bench_template *template_;
	struct bt_arena arena = {0};
	int result = find_template(perf, op->node_template, &template_, err);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_object *object;
		result = make(perf, template_, BT_KIND_NODE,
			(struct bt_bench_stamp){.index = i, .count = count}, &object, err);
		if (result == 0) {
			result = create_node(perf, op, object, i, &arena, err);
			bt_object_release(object);
		}
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
	return result;
}

/** --- namespaces --- */

static int add_namespace(struct bt_perf *perf, struct bt_str name, const struct bt_str_map *labels,
	struct berth_error *err)
{
	static const struct bt_str_map none = {NULL, 0, false};
	const struct bt_object_store *objects =
		&bt_scheduler_engine(perf->living.scheduler)->state->objects;
	struct bt_namespace namespace_ = {.metadata = {.name = name}};
	if (bt_object_store_find(objects, BT_KIND_NAMESPACE, (struct bt_str){NULL, 0}, name) !=
		NULL) {
		return 0;
	}
	namespace_.metadata.labels = with_pair(&perf->arena, labels != NULL ? labels : &none,
		BT_STR("kubernetes.io/metadata.name"), name);
	return bt_living_add(&perf->living, bt_object_create(BT_KIND_NAMESPACE, &namespace_), err);
}

int bt_perf_create_namespaces(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err)
{
	struct bt_bench_template *template_ = NULL;
	int result = 0;
	if (op->namespace_template.length != 0) {
		result = find_template(perf, op->namespace_template, &template_, err);
	}
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_str name =
			bt_arena_printf(&perf->arena, "%.*s-%u", BT_STR_ARG(op->prefix), i);
		struct bt_object *object = NULL;
		if (template_ != NULL) {
			const struct bt_bench_stamp stamp = {
				.index = i, .count = count, .name = name};
			result = make(perf, template_, BT_KIND_NAMESPACE, stamp, &object, err);
		}
		if (result == 0) {
			result = add_namespace(
				perf, name, object != NULL ? &object->meta->labels : NULL, err);
		}
		bt_object_release(object);
	}
	return result;
}

/** --- pods --- */

/** Add copies of the volume and the claim, bound to each other. */
static int add_bound(struct bt_perf *perf, const struct bt_object *volume_object,
	const struct bt_object *claim_object, struct bt_str claim_name, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_persistent_volume volume =
		*(const struct bt_persistent_volume *)volume_object->value;
	struct bt_persistent_volume_claim claim =
		*(const struct bt_persistent_volume_claim *)claim_object->value;
	volume.metadata.name = bt_arena_printf(arena, "volume-of-%.*s", BT_STR_ARG(claim_name));
	claim.metadata.name = claim_name;
	struct bt_object_reference reference = {
		.kind = BT_STR("PersistentVolumeClaim"),
		.namespace_ = claim.metadata.namespace_,
		.name = claim_name,
		.uid = claim.metadata.uid,
	};
	volume.spec.claim_ref = &reference;
	volume.status.phase = BT_STR("Bound");
	claim.spec.volume_name = volume.metadata.name;
	claim.status.phase = BT_STR("Bound");
	claim.metadata.annotations = with_pair(arena, &claim.metadata.annotations,
		BT_STR("pv.kubernetes.io/bind-completed"), BT_STR("true"));
	int result = bt_living_add(
		&perf->living, bt_object_create(BT_KIND_PERSISTENT_VOLUME, &volume), err);
	return result == 0 ? bt_living_add(&perf->living,
				     bt_object_create(BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim), err)
			   : result;
}

static int add_volume(struct bt_perf *perf, const struct bt_perf_op *op, uint32_t index,
	struct bt_str namespace_, struct bt_str claim_name, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_bench_template *templates[2];
	struct bt_object *objects[2] = {NULL, NULL};
	int result = find_template(perf, op->volume_template, &templates[0], err);
	if (result == 0) {
		result = find_template(perf, op->claim_template, &templates[1], err);
	}
	struct bt_bench_stamp stamp = {
		.index = index, .count = (uint64_t)op->count, .name = claim_name};
	if (result == 0) {
		result = make(
			perf, templates[0], BT_KIND_PERSISTENT_VOLUME, stamp, &objects[0], err);
	}
	if (result == 0) {
		stamp.namespace_ = namespace_;
		result = make(perf, templates[1], BT_KIND_PERSISTENT_VOLUME_CLAIM, stamp,
			&objects[1], err);
	}
	if (result == 0) {
		result = add_bound(perf, objects[0], objects[1], claim_name, arena, err);
	}
	bt_object_release(objects[0]);
	bt_object_release(objects[1]);
	return result;
}

static void use_claim(struct bt_pod *pod, struct bt_str claim_name, struct bt_arena *arena)
{
	uint32_t count = pod->spec.volumes.count;
	struct bt_volume *volumes = BT_ARENA_NEW_ARRAY(arena, struct bt_volume, count + 1);
	struct bt_pvc_volume_source *source = BT_ARENA_NEW(arena, struct bt_pvc_volume_source);
	if (count != 0) {
		memcpy(volumes, pod->spec.volumes.items, count * sizeof(volumes[0]));
	}
	source->claim_name = claim_name;
	volumes[count] =
		(struct bt_volume){.name = BT_STR("claimed"), .persistent_volume_claim = source};
	pod->spec.volumes.items = volumes;
	pod->spec.volumes.count = count + 1;
	pod->spec.volumes.present = true;
}

static uint64_t pod_hash(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_u64(bt_str_hash(name), bt_str_hash(namespace_));
}

uint32_t bt_perf_find_pod(const struct bt_perf *perf, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = pod_hash(namespace_, name);
	BT_MAP_EACH (&perf->pods_by_name, hash, index) {
		const struct bt_perf_pod *pod = &perf->pods.items[index];
		if (bt_str_equal(pod->namespace_, namespace_) && bt_str_equal(pod->name, name)) {
			return index;
		}
	}
	return UINT32_MAX;
}

/** Records the pod, so that operations can wait for it and delete it. */
static void note_pod(struct bt_perf *perf, const struct bt_object_meta *meta)
{
	struct bt_str namespace_ = perf->pods.count != 0
		? perf->pods.items[perf->pods.count - 1].namespace_
		: (struct bt_str){NULL, 0};
	if (!bt_str_equal(namespace_, meta->namespace_)) {
		namespace_ = bt_arena_str(&perf->arena, meta->namespace_);
	}
	struct bt_perf_pod pod = {namespace_, bt_arena_str(&perf->arena, meta->name), false};
	bt_vec_push(&perf->pods, pod);
	bt_map_insert(
		&perf->pods_by_name, pod_hash(pod.namespace_, pod.name), perf->pods.count - 1);
}

/** Adds the claims that the pod's claim templates make, then the pod. */
static int add_pod(
	struct bt_perf *perf, struct bt_pod *pod, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_str missing;
	if (bt_scheduler_find_pod(
		    perf->living.scheduler, pod->metadata.namespace_, pod->metadata.name) != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"pod %.*s is there already: templates need a generateName or {{.Index}}",
			BT_STR_ARG(pod->metadata.name));
	}
	size_t bytes;
	int result = bt_claim_maker_make(perf->claims, pod, arena, &missing, &bytes, err);
	if (result < 0) {
		return result;
	}
	if (missing.length != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"pod %.*s/%.*s: there is no ResourceClaimTemplate %.*s",
			BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name),
			BT_STR_ARG(missing));
	}
	result = bt_living_add(&perf->living, bt_object_create(BT_KIND_POD, pod), err);
	return result < 0 ? result : bt_living_note_claims(&perf->living, pod, err);
}

static int create_pod(struct bt_perf *perf, const struct bt_perf_op *op,
	const struct bt_object *object, uint32_t index, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_pod pod = *(const struct bt_pod *)object->value;
	int result = 0;
	if (op->claim_template.length != 0) {
		struct bt_str claim_name =
			bt_arena_printf(arena, "claim-of-%.*s", BT_STR_ARG(pod.metadata.name));
		result = add_volume(
			perf, op, index, pod.metadata.namespace_, claim_name, arena, err);
		use_claim(&pod, claim_name, arena);
	}
	if (result == 0) {
		result = add_pod(perf, &pod, arena, err);
	}
	if (result == 0) {
		note_pod(perf, &pod.metadata);
	}
	return result;
}

int bt_perf_create_pods(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str namespace_,
	uint32_t count, struct berth_error *err)
{
	struct bt_bench_template *template_;
	struct bt_arena arena = {0};
	int result = find_or_read(perf,
		op->pod_template.length != 0 ? op->pod_template : perf->test->pod_template,
		DEFAULT_POD_NAME, default_pod, &template_, err);
	if (result == 0) {
		result = add_namespace(perf, namespace_, NULL, err);
	}
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_object *object;
		result = make(perf, template_, BT_KIND_POD,
			(struct bt_bench_stamp){
				.index = i, .count = count, .namespace_ = namespace_},
			&object, err);
		if (result == 0) {
			result = create_pod(perf, op, object, i, &arena, err);
			bt_object_release(object);
		}
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
	return result;
}

/** --- objects of any kind --- */

/** Add an object, which is consumed. Operations do not wait for pods that are added here. */
static int add_any(struct bt_perf *perf, struct bt_object *object, struct berth_error *err)
{
	if (object->kind != BT_KIND_POD) {
		return bt_living_add(&perf->living, object, err);
	}
	struct bt_arena arena = {0};
	struct bt_pod pod = *(const struct bt_pod *)object->value;
	int result = add_pod(perf, &pod, &arena, err);
	bt_arena_finish(&arena);
	bt_object_release(object);
	return result;
}

static struct bt_str namespace_of(const struct bt_perf_op *op)
{
	return op->namespace_.length != 0 ? op->namespace_ : BT_STR("default");
}

static int make_any(struct bt_perf *perf, const struct bt_perf_op *op, uint32_t index,
	uint32_t count, struct bt_object **out_object, struct berth_error *err)
{
	struct bt_bench_template *template_;
	const struct bt_bench_stamp stamp = {.index = index,
		.count = count,
		.serial = ++perf->serial,
		.namespace_ = namespace_of(op)};
	int result = find_template(perf, op->any_template, &template_, err);
	return result == 0 ? bt_bench_template_make(template_, &stamp, out_object, err) : result;
}

int bt_perf_create_any(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_object *object;
		result = make_any(perf, op, i, count, &object, err);
		if (result < 0) {
			break;
		}
		if (bt_kind_info(object->kind)->namespaced) {
			result = add_namespace(perf, object->meta->namespace_, NULL, err);
		}
		if (object->kind == BT_KIND_NODE) {
			bt_vec_push(&perf->nodes, bt_object_share(object));
			perf->result->node_count++;
		} else if (object->kind == BT_KIND_POD) {
			note_pod(perf, object->meta);
		}
		if (result == 0) {
			result = add_any(perf, object, err);
		} else {
			bt_object_release(object);
		}
	}
	return result;
}

/**
 * Returns the existing object of the same kind and name, borrowed. *out_node: its index in nodes.
 */
static struct bt_object *find_same(
	const struct bt_perf *perf, const struct bt_object *object, uint32_t *out_node)
{
	const struct bt_object_meta *meta = object->meta;
	*out_node = UINT32_MAX;
	if (object->kind == BT_KIND_POD) {
		return bt_scheduler_find_pod(perf->living.scheduler, meta->namespace_, meta->name);
	}
	for (uint32_t i = 0; object->kind == BT_KIND_NODE && i < perf->nodes.count; i++) {
		if (bt_str_equal(perf->nodes.items[i]->meta->name, meta->name)) {
			*out_node = i;
			return perf->nodes.items[i];
		}
	}
	return object->kind == BT_KIND_NODE
		? NULL
		: bt_object_store_find_object(
			  &bt_scheduler_engine(perf->living.scheduler)->state->objects,
			  object->kind, meta->namespace_, meta->name);
}

/**
 * Replaces the old object by the wanted object. The update keeps uid and creation time of the old
 * object, and the node and status of a pod.
 */
static int update_object(struct bt_perf *perf, struct bt_object *old, uint32_t node,
	const struct bt_object *wanted, struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_kind_info *info = bt_kind_info(wanted->kind);
	void *value = bt_arena_alloc(arena, info->size);
	struct bt_object_meta *meta = value; /* metadata is the first member of all kinds */
	memcpy(value, wanted->value, info->size);
	meta->uid = old->meta->uid;
	meta->creation_timestamp = old->meta->creation_timestamp;
	if (wanted->kind == BT_KIND_POD) {
		const struct bt_pod *before = old->value;
		struct bt_pod *pod = value;
		pod->spec.node_name = before->spec.node_name;
		pod->status = before->status;
		return bt_living_change_pod(&perf->living, bt_object_share(old), pod, err);
	}
	if (wanted->kind == BT_KIND_NODE &&
		bt_str_map_find(&old->meta->labels, BT_STR(HOST_LABEL)) != NULL) {
		label_host(arena, meta);
	}
	meta->resource_version = bt_arena_printf(
		arena, "%llu", (unsigned long long)++perf->living.resource_version + UINT32_MAX);
	struct bt_object *changed = bt_object_create(wanted->kind, value);
	if (node != UINT32_MAX) {
		perf->nodes.items[node] = bt_object_share(changed);
	} else {
		old = bt_object_share(old);
	}
	return bt_living_change(&perf->living, old, changed, err);
}

int bt_perf_update_any(struct bt_perf *perf, const struct bt_perf_op *op, uint32_t index,
	uint32_t count, struct berth_error *err)
{
	struct bt_object *wanted;
	struct bt_arena arena = {0};
	uint32_t node;
	int result = make_any(perf, op, index, count, &wanted, err);
	if (result < 0) {
		return result;
	}
	struct bt_object *old = find_same(perf, wanted, &node);
	result = old != NULL
		? update_object(perf, old, node, wanted, &arena, err)
		: bt_error_set(err, BERTH_ERR_INVALID, "there is no %s %.*s%s%.*s",
			  bt_kind_info(wanted->kind)->name, BT_STR_ARG(wanted->meta->namespace_),
			  wanted->meta->namespace_.length != 0 ? "/" : "",
			  BT_STR_ARG(wanted->meta->name));
	bt_object_release(wanted);
	bt_arena_finish(&arena);
	return result;
}

/** --- churn --- */

static int churn_create(struct bt_perf *perf, struct bt_perf_churn *churn, struct berth_error *err)
{
	const bt_str_list *paths = &churn->op->template_paths;
	struct bt_str namespace_ = bt_arena_printf(&perf->arena, "namespace-%u", churn->op->number);
	int result = 0;
	for (uint32_t i = 0; i < paths->count && result == 0; i++) {
		struct bt_bench_template *template_;
		struct bt_object *object;
		const struct bt_bench_stamp stamp = {.index = churn->made_count,
			.count = (uint64_t)churn->op->churn_number,
			.serial = ++perf->serial,
			.namespace_ = namespace_};
		result = find_template(perf, paths->items[i], &template_, err);
		if (result == 0) {
			result = bt_bench_template_make(template_, &stamp, &object, err);
		}
		if (result == 0) {
			bt_vec_push(&churn->objects, bt_object_share(object));
			result = add_any(perf, object, err);
		}
	}
	churn->made_count++;
	return result;
}

/** Deletes as many objects as one round of the churn creates, newest first. */
static int churn_delete(struct bt_perf *perf, struct bt_perf_churn *churn, struct berth_error *err)
{
	uint32_t count = churn->op->template_paths.count;
	int result = 0;
	for (uint32_t i = 0; i < count && churn->objects.count != 0 && result == 0; i++) {
		struct bt_object *object = churn->objects.items[--churn->objects.count];
		if (object->kind == BT_KIND_POD) {
			struct bt_object *now = bt_scheduler_find_pod(perf->living.scheduler,
				object->meta->namespace_, object->meta->name);
			now = now != NULL ? bt_object_share(now) : NULL;
			bt_object_release(object);
			if (now != NULL) { /* NULL: preempted since */
				result = bt_living_delete_pod(&perf->living, now, err);
			}
		} else {
			result = bt_living_change(&perf->living, object, NULL, err);
		}
	}
	return result;
}

int bt_perf_churn_once(struct bt_perf *perf, struct bt_perf_churn *churn, struct berth_error *err)
{
	int64_t number = churn->op->churn_number;
	bool recreates = bt_str_equal_c(churn->op->mode, "recreate");
	if (churn->deleting) {
		int result = churn_delete(perf, churn, err);
		churn->deleting = churn->objects.count != 0;
		churn->made_count = churn->deleting ? churn->made_count : 0;
		return result;
	}
	if (number != 0 && churn->made_count >= number) {
		return 0; /* mode create: all requested rounds were made */
	}
	int result = churn_create(perf, churn, err);
	churn->deleting = recreates && churn->made_count >= number;
	return result;
}
