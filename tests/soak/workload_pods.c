/* SPDX-License-Identifier: Apache-2.0 */
/** Random changes of pods and claims. */
#include "api/identity.h"
#include "api/storage.h"
#include "soak/world.h"

#define APPS_MAX 14

/** --- replicas --- */

static bool is_of(const struct bt_pod *pod, const struct bt_sim_app *app)
{
	const struct bt_str *label = bt_str_map_find(&pod->metadata.labels, BT_STR("app"));
	int64_t serial;
	return label != NULL && bt_str_equal(pod->metadata.namespace_, app->namespace_) &&
		bt_str_parse_int64(bt_str_sub(*label, 1, label->length), &serial) &&
		serial == app->serial;
}

/**
 * Count the app's pods that are neither terminal nor being deleted; *out_last: the last of them.
 */
static uint32_t count_replicas(
	struct bt_sim *sim, const struct bt_sim_app *app, const struct bt_pod **out_last)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	uint32_t count = 0;
	*out_last = NULL;
	while ((pod = bt_object_store_next(
			&sim->store.objects, BT_KIND_POD, app->namespace_, &cursor)) != NULL) {
		if (is_of(pod, app) && !bt_pod_is_terminal(pod) &&
			pod->metadata.deletion_timestamp == NULL) {
			*out_last = pod;
			count++;
		}
	}
	return count;
}

static void create_claim(struct bt_sim *sim, const struct bt_sim_app *app, struct bt_str name)
{
	struct bt_strbuf *json = &sim->workload.json;
	if (bt_sim_store_find(
		    &sim->store, BT_KIND_PERSISTENT_VOLUME_CLAIM, app->namespace_, name) != NULL) {
		return;
	}
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{"
		"\"namespace\":\"%.*s\",\"name\":\"%.*s\"},\"spec\":{\"accessModes\":[\"%s\"],"
		"\"storageClassName\":\"%.*s\",\"resources\":{\"requests\":{\"storage\":\"%uGi\"}}}"
		"}",
		BT_STR_ARG(app->namespace_), BT_STR_ARG(name),
		/* The volumes of found-late are there before the claims, and have one mode. */
		app->serial % 3 == 0 && !bt_str_equal_c(app->storage_class, "found-late")
			? "ReadWriteOncePod"
			: "ReadWriteOnce",
		BT_STR_ARG(app->storage_class), 1 + app->serial % 10);
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
}

static void create_replica(struct bt_sim *sim, const struct bt_sim_app *app, struct bt_str name)
{
	struct bt_strbuf *json = &sim->workload.json;
	bool has_claim = app->storage_class.length != 0;
	bool claim_first = bt_sim_chance(&sim->changes, 70);
	bool devices_first = app->claim_count == 0 || bt_sim_chance(&sim->changes, 70);
	struct bt_str claim = bt_arena_printf(&sim->scratch, "c-%.*s", BT_STR_ARG(name));
	if (has_claim && claim_first) {
		create_claim(sim, app, claim);
	}
	if (devices_first) {
		bt_sim_create_claims(sim, app, name);
	}
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"%.*s\","
		"\"name\":\"%.*s\",\"labels\":{%.*s}",
		BT_STR_ARG(app->namespace_), BT_STR_ARG(name), BT_STR_ARG(app->labels));
	if (app->is_job) {
		bt_strbuf_printf(json, ",\"annotations\":{\"berth.dev/run-time\":\"%us\"}",
			3 + (unsigned)bt_prng_below(&sim->changes, 28));
	}
	bt_strbuf_printf(json, "},\"spec\":{\"restartPolicy\":\"%s\",%.*s",
		app->is_job ? "Never" : "Always", BT_STR_ARG(app->spec));
	if (has_claim) {
		bt_strbuf_printf(json,
			",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":"
			"\"%.*s\"}}]",
			BT_STR_ARG(claim));
	}
	bt_sim_append_claims(app, name, json);
	if (app->group.length != 0) {
		bt_strbuf_printf(json, ",\"schedulingGroup\":{\"podGroupName\":\"%.*s\"}",
			BT_STR_ARG(app->group));
	}
	bt_strbuf_append_c(json, "}}");
	bt_sim_log(sim, "pod %.*s/%.*s is created", BT_STR_ARG(app->namespace_), BT_STR_ARG(name));
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
	if (has_claim && !claim_first) {
		create_claim(sim, app, claim);
	}
	if (!devices_first) {
		bt_sim_create_claims(sim, app, name);
	}
}

static void add_replica(struct bt_sim *sim, const struct bt_sim_app *app)
{
	if (!app->is_stateful) {
		create_replica(sim, app,
			bt_arena_printf(
				&sim->scratch, "a%u-x%u", app->serial, sim->workload.next_pod++));
		return;
	}
	for (uint32_t i = 0; i < app->replicas; i++) {
		struct bt_str name = bt_arena_printf(&sim->scratch, "a%u-%u", app->serial, i);
		if (bt_sim_store_find(&sim->store, BT_KIND_POD, app->namespace_, name) == NULL) {
			create_replica(sim, app, name);
			return;
		}
	}
}

static void remove_pod(struct bt_sim *sim, const struct bt_pod *pod)
{
	struct bt_str namespace_ = bt_arena_str(&sim->texts, pod->metadata.namespace_);
	struct bt_str name = bt_arena_str(&sim->texts, pod->metadata.name);
	bool at_once = bt_sim_chance(&sim->changes, 15);
	bt_sim_log(sim, "pod %.*s/%.*s is deleted%s", BT_STR_ARG(namespace_), BT_STR_ARG(name),
		at_once ? " at once" : "");
	/* The pod exists: the caller has just found it. */
	(void)(at_once ? bt_sim_store_delete_now : bt_sim_store_delete)(
		&sim->store, BT_KIND_POD, namespace_, name);
}

void bt_sim_workload_reconcile(struct bt_sim *sim, uint32_t index)
{
	struct bt_sim_workload *workload = &sim->workload;
	const struct bt_sim_app *app = &workload->apps.items[index];
	const struct bt_pod *last;
	uint32_t count = count_replicas(sim, app, &last);
	if (app->group.length != 0 && bt_sim_chance(&sim->changes, 50)) {
		bt_sim_create_group(sim, app);
	}
	if (count < app->replicas &&
		bt_object_store_count(&sim->store.objects, BT_KIND_POD) < workload->pods_max) {
		add_replica(sim, app);
	} else if (count > app->replicas) {
		remove_pod(sim, last);
	}
}

/** --- changes --- */

static void new_app(struct bt_sim *sim)
{
	struct bt_sim_workload *workload = &sim->workload;
	if (workload->apps.count >= APPS_MAX) {
		return;
	}
	bt_sim_workload_design_app(sim);
	/* Create up to five replicas at once; reconciliation creates the others later. */
	uint32_t at_once = (uint32_t)bt_prng_below(&sim->changes, 6);
	for (uint32_t i = 0; i < at_once; i++) {
		bt_arena_reset(&sim->scratch);
		bt_sim_workload_reconcile(sim, workload->apps.count - 1);
	}
}

static void end_app(struct bt_sim *sim)
{
	struct bt_sim_workload *workload = &sim->workload;
	if (workload->apps.count == 0) {
		return;
	}
	uint32_t index = (uint32_t)bt_prng_below(&sim->changes, workload->apps.count);
	struct bt_sim_app app = workload->apps.items[index];
	bt_vec_remove_ordered(&workload->apps, index);
	bt_sim_delete_templates(sim, &app);
	if (app.group.length != 0) {
		(void)bt_sim_store_delete(&sim->store, BT_KIND_POD_GROUP, app.namespace_,
			app.group); /* it may not exist yet */
	}
	for (;;) {
		const struct bt_pod *last;
		(void)count_replicas(sim, &app, &last);
		if (last == NULL) {
			return;
		}
		remove_pod(sim, last);
	}
}

static void scale_app(struct bt_sim *sim)
{
	struct bt_sim_workload *workload = &sim->workload;
	if (workload->apps.count != 0) {
		uint32_t index = (uint32_t)bt_prng_below(&sim->changes, workload->apps.count);
		workload->apps.items[index].replicas = (uint32_t)bt_prng_below(&sim->changes, 14);
	}
}

static void delete_one(struct bt_sim *sim)
{
	struct bt_object *object = bt_sim_store_pick(&sim->store, BT_KIND_POD, &sim->changes);
	if (object != NULL) {
		remove_pod(sim, object->value);
	}
}

/** Delete a random terminal pod. */
static void delete_terminal(struct bt_sim *sim)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (bt_pod_is_terminal(pod) && bt_sim_chance(&sim->changes, 40)) {
			remove_pod(sim, pod);
			return;
		}
	}
}

/** Returns a random pod, borrowed until the next request; NULL: there are no pods. */
static const struct bt_pod *pick_pod(struct bt_sim *sim)
{
	struct bt_object *object = bt_sim_store_pick(&sim->store, BT_KIND_POD, &sim->changes);
	return object != NULL ? object->value : NULL;
}

/** Apply a strategic merge patch, which the API may refuse. what: the change, for the log. */
static void patch_pod(struct bt_sim *sim, const struct bt_pod *pod, enum bt_subresource subresource,
	const char *what, struct bt_str json)
{
	struct bt_str namespace_ = bt_arena_str(&sim->scratch, pod->metadata.namespace_);
	struct bt_str name = bt_arena_str(&sim->scratch, pod->metadata.name);
	uint16_t code =
		bt_sim_store_patch(&sim->store, BT_KIND_POD, namespace_, name, subresource, json);
	bt_sim_log(sim, "pod %.*s/%.*s %s: %u", BT_STR_ARG(namespace_), BT_STR_ARG(name), what,
		(unsigned)code);
}

static void relabel(struct bt_sim *sim)
{
	const struct bt_pod *pod = pick_pod(sim);
	unsigned tier = (unsigned)bt_prng_below(&sim->changes, 3);
	if (pod != NULL) {
		patch_pod(sim, pod, BT_SUBRESOURCE_NONE, "has other labels",
			bt_arena_printf(&sim->scratch,
				"{\"metadata\":{\"labels\":{\"tier\":\"t%u\"}}}", tier));
	}
}

/** Resize a pod in place, up or down. */
static void resize(struct bt_sim *sim)
{
	const struct bt_pod *pod = pick_pod(sim);
	unsigned cpu = 50 * (1 + (unsigned)bt_prng_below(&sim->changes, 20));
	if (pod != NULL) {
		bt_sim_excuse(sim, pod->spec.node_name);
		patch_pod(sim, pod, BT_SUBRESOURCE_RESIZE, "is resized",
			bt_arena_printf(&sim->scratch,
				"{\"spec\":{\"containers\":[{\"name\":\"c0\",\"resources\":{"
				"\"requests\":{\"cpu\":\"%um\"}}}]}}",
				cpu));
	}
}

static void remove_gate(struct bt_sim *sim)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (pod->spec.scheduling_gates.count != 0 && bt_sim_chance(&sim->changes, 40)) {
			patch_pod(sim, pod, BT_SUBRESOURCE_NONE, "has no gate any more",
				BT_STR("{\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\","
				       "\"name\":\"example.com/hold\"}]}}"));
			return;
		}
	}
}

static void add_toleration(struct bt_sim *sim)
{
	const struct bt_pod *pod = pick_pod(sim);
	struct bt_strbuf *json = &sim->workload.json;
	if (pod == NULL) {
		return;
	}
	/* Lists of tolerations are replaced as a whole, and may only grow. */
	bt_strbuf_reset(json);
	bt_strbuf_append_c(json, "{\"spec\":{\"tolerations\":[");
	for (uint32_t i = 0; i < pod->spec.tolerations.count; i++) {
		const struct bt_toleration *toleration = &pod->spec.tolerations.items[i];
		if (bt_str_equal_c(toleration->key, "dedicated")) {
			return;
		}
		bt_strbuf_printf(json,
			"{\"key\":\"%.*s\",\"operator\":\"Exists\",\"effect\":\"%.*s\","
			"\"tolerationSeconds\":%lld},",
			BT_STR_ARG(toleration->key), BT_STR_ARG(toleration->effect),
			(long long)toleration->toleration_seconds.value);
	}
	bt_strbuf_append_c(json, "{\"key\":\"dedicated\",\"operator\":\"Exists\"}]}}");
	patch_pod(sim, pod, BT_SUBRESOURCE_NONE, "tolerates", bt_strbuf_str(json));
}

/**
 * Another scheduler binds a random pod without checking for room. In runs with failing writes, the
 * pod may also be one that the scheduler under test must schedule.
 */
static void bind_elsewhere(struct bt_sim *sim)
{
	struct bt_object *node = bt_sim_store_pick(&sim->store, BT_KIND_NODE, &sim->changes);
	struct bt_object *picked = bt_sim_store_pick(&sim->store, BT_KIND_POD, &sim->changes);
	if (node == NULL || picked == NULL) {
		return;
	}
	const struct bt_pod *pod = picked->value;
	bool ours = !bt_str_equal_c(pod->spec.scheduler_name, "other");
	if (ours && (sim->write_fault_one_in == 0 || !bt_sim_chance(&sim->changes, 25))) {
		return;
	}
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str node_name = bt_arena_str(&sim->scratch, node->meta->name);
	picked = bt_object_share(picked);
	if (bt_sim_bind(sim, picked->meta, node_name, &err) == 0) {
		bt_sim_excuse(sim, node_name);
		bt_sim_excuse_pod(sim, picked->meta->uid);
		bt_sim_log(sim, "pod %.*s/%.*s is bound to %.*s by another scheduler",
			BT_STR_ARG(picked->meta->namespace_), BT_STR_ARG(picked->meta->name),
			BT_STR_ARG(node_name));
	}
	bt_object_release(picked);
	berth_error_finish(&err);
}

static void delete_claim(struct bt_sim *sim)
{
	struct bt_object *claim =
		bt_sim_store_pick(&sim->store, BT_KIND_PERSISTENT_VOLUME_CLAIM, &sim->changes);
	if (claim != NULL) {
		struct bt_str namespace_ = bt_arena_str(&sim->scratch, claim->meta->namespace_);
		struct bt_str name = bt_arena_str(&sim->scratch, claim->meta->name);
		bt_sim_log(sim, "claim %.*s is deleted", BT_STR_ARG(name));
		(void)bt_sim_store_delete(&sim->store, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_,
			name); /* it exists */
	}
}

/** Create or delete a disruption budget for the pods of an app. */
static void toggle_budget(struct bt_sim *sim)
{
	struct bt_strbuf *json = &sim->workload.json;
	if (sim->workload.apps.count == 0) {
		return;
	}
	const struct bt_sim_app *app =
		&sim->workload.apps.items[bt_prng_below(&sim->changes, sim->workload.apps.count)];
	struct bt_str name = bt_arena_printf(&sim->scratch, "b%u", app->serial);
	if (!bt_sim_store_delete(
		    &sim->store, BT_KIND_POD_DISRUPTION_BUDGET, app->namespace_, name)) {
		bt_strbuf_reset(json);
		bt_strbuf_printf(json,
			"{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\","
			"\"metadata\":{\"namespace\":\"%.*s\",\"name\":\"%.*s\"},\"spec\":{"
			"\"selector\":{\"matchLabels\":{\"app\":\"a%u\"}},\"maxUnavailable\":"
			"%u}}",
			BT_STR_ARG(app->namespace_), BT_STR_ARG(name), app->serial,
			(unsigned)bt_prng_below(&sim->changes, 3));
		bt_sim_store_create(&sim->store, bt_strbuf_str(json));
	}
}

const struct bt_sim_change bt_sim_pod_changes[] = {
	{14, new_app},
	{4, end_app},
	{6, scale_app},
	{6, delete_one},
	{6, delete_terminal},
	{3, relabel},
	{4, resize},
	{5, remove_gate},
	{2, add_toleration},
	{5, bind_elsewhere},
	{2, delete_claim},
	{2, toggle_budget},
};
const uint32_t bt_sim_pod_change_count = BT_ARRAY_LENGTH(bt_sim_pod_changes);
