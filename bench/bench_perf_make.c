/* SPDX-License-Identifier: Apache-2.0 */
/** What operations of a workload file create. */
#include <string.h>

#include "api/storage.h"
#include "api/workload.h"
#include "base/alloc.h"
#include "bench/bench_perf_private.h"

/** Where an operation names none. */
static const char default_node[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"generateName\":\"node-\"},"
	"\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"32Gi\",\"pods\":\"110\"},"
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";

#define DEFAULT_NODE_NAME "default node"

static struct bt_bench_template *find_template(const struct bt_perf *perf, const char *path)
{
	for (uint32_t i = 0; i < perf->templates.count; i++) {
		if (strcmp(bt_bench_template_path(perf->templates.items[i]), path) == 0) {
			return perf->templates.items[i];
		}
	}
	return NULL;
}

int bt_perf_template(struct bt_perf *perf, struct bt_str path,
	struct bt_bench_template **out_template, struct berth_error *err)
{
	struct bt_strbuf full = {0};
	int result = 0;
	if (path.length == 0) {
		bt_strbuf_append_c(&full, DEFAULT_NODE_NAME);
	} else {
		if (path.data[0] != '/') {
			bt_strbuf_append_str(&full, perf->file->folder);
		}
		bt_strbuf_append_str(&full, path);
	}
	*out_template = find_template(perf, bt_strbuf_c(&full));
	if (*out_template == NULL) {
		result = path.length == 0
			? bt_bench_template_from_text(
				  DEFAULT_NODE_NAME, bt_str_from(default_node), out_template, err)
			: bt_bench_template_read(bt_strbuf_c(&full), out_template, err);
		if (result == 0) {
			bt_vec_push(&perf->templates, *out_template);
		}
	}
	bt_strbuf_finish(&full);
	return result;
}

static struct bt_bench_stamp next_stamp(
	struct bt_perf *perf, uint64_t index, struct bt_str namespace_)
{
	return (struct bt_bench_stamp){
		.index = index, .serial = ++perf->serial, .namespace_ = namespace_};
}

static int make(struct bt_perf *perf, struct bt_bench_template *template_, enum bt_kind kind,
	uint64_t index, struct bt_str namespace_, struct bt_object **out_object,
	struct berth_error *err)
{
	struct bt_bench_stamp stamp = next_stamp(perf, index, namespace_);
	struct bt_object *object;
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

/** A copy of the map with one pair more, or another value of it. */
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

/** Labels that are not in the template: in turn from a list, or different on every node. */
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

int bt_perf_create_nodes(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err)
{
	struct bt_bench_template *template_;
	struct bt_arena arena = {0};
	int result = bt_perf_template(perf, op->node_template, &template_, err);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_object *object;
		result = make(
			perf, template_, BT_KIND_NODE, i, (struct bt_str){NULL, 0}, &object, err);
		if (result < 0) {
			break;
		}
		struct bt_node node = *(const struct bt_node *)object->value;
		result = add_labels(&arena, op, i, &node.metadata, err);
		if (result == 0) {
			result = bt_living_add(
				&perf->living, bt_object_create(BT_KIND_NODE, &node), err);
			perf->result->node_count++;
		}
		bt_object_release(object);
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
		result = bt_perf_template(perf, op->namespace_template, &template_, err);
	}
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_str name =
			bt_arena_printf(&perf->arena, "%.*s-%u", BT_STR_ARG(op->prefix), i);
		struct bt_object *object = NULL;
		if (template_ != NULL) {
			result = make(perf, template_, BT_KIND_NAMESPACE, i,
				(struct bt_str){NULL, 0}, &object, err);
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

/** Copies of both that are bound to each other, told to the scheduler. */
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
	int result = bt_perf_template(perf, op->volume_template, &templates[0], err);
	if (result == 0) {
		result = bt_perf_template(perf, op->claim_template, &templates[1], err);
	}
	if (result == 0) {
		result = make(perf, templates[0], BT_KIND_PERSISTENT_VOLUME, index,
			(struct bt_str){NULL, 0}, &objects[0], err);
	}
	if (result == 0) {
		result = make(perf, templates[1], BT_KIND_PERSISTENT_VOLUME_CLAIM, index,
			namespace_, &objects[1], err);
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

/** Known to the workload from here on: waited for, deleted. */
static void note_pod(struct bt_perf *perf, const struct bt_object_meta *meta)
{
	struct bt_str namespace_ = perf->pods.count != 0
		? perf->pods.items[perf->pods.count - 1].namespace_
		: (struct bt_str){NULL, 0};
	if (!bt_str_equal(namespace_, meta->namespace_)) {
		namespace_ = bt_arena_str(&perf->arena, meta->namespace_);
	}
	struct bt_perf_pod pod = {namespace_, bt_arena_str(&perf->arena, meta->name)};
	bt_vec_push(&perf->pods, pod);
}

static int add_pod(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_object *object,
	uint32_t index, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_pod pod = *(const struct bt_pod *)object->value;
	if (bt_scheduler_find_pod(
		    perf->living.scheduler, pod.metadata.namespace_, pod.metadata.name) != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"pod %.*s is there already: templates need a generateName or {{.Index}}",
			BT_STR_ARG(pod.metadata.name));
	}
	if (op->claim_template.length != 0) {
		struct bt_str claim_name =
			bt_arena_printf(arena, "claim-of-%.*s", BT_STR_ARG(pod.metadata.name));
		int result = add_volume(
			perf, op, index, pod.metadata.namespace_, claim_name, arena, err);
		if (result < 0) {
			return result;
		}
		use_claim(&pod, claim_name, arena);
	}
	note_pod(perf, &pod.metadata);
	return bt_living_add(&perf->living, bt_object_create(BT_KIND_POD, &pod), err);
}

int bt_perf_create_pods(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str namespace_,
	uint32_t count, struct berth_error *err)
{
	struct bt_bench_template *template_;
	struct bt_arena arena = {0};
	int result = bt_perf_template(perf,
		op->pod_template.length != 0 ? op->pod_template : perf->test->pod_template,
		&template_, err);
	if (result == 0) {
		result = add_namespace(perf, namespace_, NULL, err);
	}
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_object *object;
		result = make(perf, template_, BT_KIND_POD, i, namespace_, &object, err);
		if (result == 0) {
			result = add_pod(perf, op, object, i, &arena, err);
			bt_object_release(object);
		}
		bt_arena_reset(&arena);
	}
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
		struct bt_bench_stamp stamp = next_stamp(perf, churn->made_count, namespace_);
		result = bt_perf_template(perf, paths->items[i], &template_, err);
		if (result == 0) {
			result = bt_bench_template_make(template_, &stamp, &object, err);
		}
		if (result == 0) {
			bt_vec_push(&churn->objects, bt_object_share(object));
			result = bt_living_add(&perf->living, object, err);
		}
	}
	churn->made_count++;
	return result;
}

/** The objects of one round, the newest first. */
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
			object = now; /* NULL: preempted meanwhile */
		}
		if (object != NULL) {
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
		return 0; /* create: all that were asked for are there */
	}
	int result = churn_create(perf, churn, err);
	churn->deleting = recreates && churn->made_count >= number;
	return result;
}
