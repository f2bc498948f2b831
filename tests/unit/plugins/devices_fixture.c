/* SPDX-License-Identifier: Apache-2.0 */
#include "devices_fixture.h"

#include <check.h>

#include "base/error.h"

/* --- objects --- */

void devices_fixture_init(struct fixture *fixture, const char *gates, const char *args)
{
	fixture_init_with(fixture, &bt_dynamic_resources_plugin, gates, args);
	fixture->handle.verify = true;
	fixture_add_node(fixture, "{'metadata':{'name':'n1'}}");
	fixture_add_node(fixture, "{'metadata':{'name':'n2'}}");
	fixture_put(fixture,
		"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'c'}}");
}

void put_slice(struct fixture *fixture, const char *node, const char *devices)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
			"'metadata':{'name':'s-%s'},'spec':{'driver':'d','nodeName':'%s',"
			"'pool':{'name':'%s','generation':1,'resourceSliceCount':1},"
			"'devices':[%s]}}",
			node, node, node, devices)
			.data);
}

void put_device_claim(
	struct fixture *fixture, const char *name, const char *requests, const char *extra)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
			"'metadata':{'name':'%s','uid':'uid-%s','resourceVersion':'1'},"
			"'spec':{'devices':{'requests':[%s]}}%s}",
			name, name, requests, extra)
			.data);
}

void put_allocated_claim(struct fixture *fixture, const char *name, const char *node,
	const char *results, const char *reserved_for)
{
	struct bt_str selector = node == NULL
		? BT_STR("")
		: bt_arena_printf(&fixture->arena,
			  ",'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':"
			  "'metadata.name','operator':'In','values':['%s']}]}]}",
			  node);

	put_device_claim(fixture, name, ONE_REQUEST,
		bt_arena_printf(&fixture->arena,
			",'status':{'allocation':{'devices':{'results':[%s]}%.*s},"
			"'reservedFor':[%s]}",
			results, BT_STR_ARG(selector), reserved_for)
			.data);
}

void put_vain_claim(struct fixture *fixture)
{
	struct bt_strbuf devices = {0};

	for (int i = 0; i < 60; i++) {
		bt_strbuf_printf(&devices, "%s{'name':'a%d','attributes':{'x':{'int':%d}}}",
			i != 0 ? "," : "", i, i);
	}
	put_slice(fixture, "n1", bt_strbuf_c(&devices));
	bt_strbuf_finish(&devices);
	fixture_put(fixture,
		"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c'},"
		"'spec':{'devices':{'requests':[{'name':'r','exactly':{" DEVICES_OF_C(
			2) "}}],'constraints':[{'matchAttribute':'d/x'}]}}}");
}

const char *devices_pod(struct fixture *fixture, const char *name, const char *claims)
{
	struct bt_str rest = bt_str_from(claims);
	struct bt_strbuf json = {0};
	struct bt_str result;
	int number = 0;

	bt_strbuf_printf(&json,
		"{'metadata':{'name':'%s','uid':'uid-%s'},'spec':{'resourceClaims':[", name, name);
	while (rest.length != 0) {
		struct bt_str claim = bt_str_cut(&rest, ' ');

		bt_strbuf_printf(&json, "%s{'name':'c%d','resourceClaimName':'%.*s'}",
			number != 0 ? "," : "", number, BT_STR_ARG(claim));
		number++;
	}
	bt_strbuf_append_c(&json, "]}}");
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
	return result.data;
}

/**
 * Appends the claim's devices and consumers: "a,b {p,q}"; "-" in place of the devices if there is
 * no allocation.
 */
static void append_status(struct bt_strbuf *out, const struct bt_resource_claim *claim)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;

	if (allocation == NULL) {
		bt_strbuf_append_c(out, "-");
	}
	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		bt_strbuf_printf(out, "%s%.*s", i != 0 ? "," : "",
			BT_STR_ARG(allocation->devices.results.items[i].device));
	}
	bt_strbuf_append_c(out, " {");
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		bt_strbuf_printf(out, "%s%.*s", i != 0 ? "," : "",
			BT_STR_ARG(claim->status.reserved_for.items[i].name));
	}
	bt_strbuf_append_c(out, "}");
}

const char *latest_claim(struct fixture *fixture, const char *name)
{
	struct bt_object *object = bt_claim_cache_find(
		&fixture->state->dra->claims, BT_STR("default"), bt_str_from(name));
	const struct bt_resource_claim *claim;
	struct bt_strbuf text = {0};
	struct bt_str result;

	ck_assert_msg(object != NULL, "no claim %s", name);
	claim = bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
	bt_strbuf_printf(&text, "[%u] ", claim->metadata.finalizers.count);
	append_status(&text, claim);
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result.data;
}

/* --- metrics --- */

const char *metric_lines(struct fixture *fixture, struct bt_metrics *metrics, const char *start)
{
	struct bt_strbuf all = {0};
	struct bt_strbuf out = {0};
	struct bt_str rest;
	struct bt_str result;

	bt_metrics_write(metrics, BT_METRICS_TEXT, &all);
	rest = bt_strbuf_str(&all);
	while (rest.length != 0) {
		struct bt_str line = bt_str_cut(&rest, '\n');

		if (bt_str_has_prefix(line, bt_str_from(start))) {
			bt_strbuf_append_str(&out, line);
			bt_strbuf_append_char(&out, '\n');
		}
	}
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&out));
	bt_strbuf_finish(&all);
	bt_strbuf_finish(&out);
	return result.data;
}

/* --- writer --- */

/** Returns the result that the script has for the next call; sets err if the call fails. */
static int next_answer(struct claim_recorder *recorder, struct bt_str name, struct berth_error *err)
{
	char answer = '.';

	if (recorder->calls < strlen(recorder->script)) {
		answer = recorder->script[recorder->calls];
	}
	recorder->calls++;
	switch (answer) {
	case 'p':
		return BT_WRITE_PENDING;
	case 'c':
		(void)bt_error_set(err, BERTH_ERR_STATE, "conflict on %.*s", BT_STR_ARG(name));
		return BT_WRITE_CONFLICT;
	case 'e':
		return bt_error_set(err, BERTH_ERR_STATE, "no API");
	default:
		return 0;
	}
}

/** Stores the object in the API with the next version. */
static struct bt_object *store(
	struct claim_recorder *recorder, const struct bt_resource_claim *claim)
{
	struct bt_resource_claim stored = *claim;
	struct bt_object *object;

	recorder->version++;
	stored.metadata.resource_version =
		bt_arena_printf(&recorder->fixture->arena, "%lld", (long long)recorder->version);
	object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &stored);
	bt_vec_push(&recorder->objects, object);
	return bt_object_share(object);
}

/** Returns the newest of the recorder's objects for the claim; NULL: none. */
static struct bt_object *find_made(const struct claim_recorder *recorder, struct bt_str name)
{
	struct bt_object *found = NULL;

	for (uint32_t i = 0; i < recorder->objects.count; i++) {
		if (bt_str_equal(recorder->objects.items[i]->meta->name, name)) {
			found = recorder->objects.items[i];
		}
	}
	return found;
}

static int update(struct claim_recorder *recorder, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	const struct bt_object *made = find_made(recorder, base->meta->name);
	int code;

	ck_assert(bt_str_equal(base->meta->uid, claim->metadata.uid));
	bt_strbuf_printf(&recorder->log, "PUT %.*s;", BT_STR_ARG(claim->metadata.name));
	code = next_answer(recorder, claim->metadata.name, err);
	if (code == 0 && made != NULL &&
		!bt_str_equal(made->meta->resource_version, base->meta->resource_version)) {
		(void)bt_error_set(err, BERTH_ERR_STATE, "conflict");
		return BT_WRITE_CONFLICT;
	}
	if (code == 0) {
		*out_claim = store(recorder, claim);
	}
	return code;
}

static int write_claim(void *context, BT_UNUSED const struct bt_pod_info *pod,
	enum bt_claim_write what, const struct bt_object *base,
	const struct bt_resource_claim *claim, bool must_end, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct claim_recorder *recorder = context;
	int code;

	if (what == BT_CLAIM_WRITE_NEW) {
		return recorder->create(recorder, claim, out_claim, err);
	}
	if (what == BT_CLAIM_WRITE_FINALIZERS) {
		return update(recorder, base, claim, out_claim, err);
	}
	bt_strbuf_printf(&recorder->log, "PUT %.*s/status ", BT_STR_ARG(claim->metadata.name));
	append_status(&recorder->log, claim);
	bt_strbuf_append_c(&recorder->log, must_end ? " now;" : ";");
	code = next_answer(recorder, claim->metadata.name, err);
	if (code == 0) {
		*out_claim = store(recorder, claim);
	}
	return code;
}

static int get(void *context, BT_UNUSED const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, BT_UNUSED bool must_end, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct claim_recorder *recorder = context;
	struct bt_object *found = bt_object_store_find_object(
		&recorder->fixture->state->objects, BT_KIND_RESOURCE_CLAIM, namespace_, name);
	int code;

	bt_strbuf_printf(&recorder->log, "GET %.*s;", BT_STR_ARG(name));
	code = next_answer(recorder, name, err);
	if (code != 0) {
		return code;
	}
	if (find_made(recorder, name) != NULL) {
		found = find_made(recorder, name);
	}
	*out_claim = bt_object_share(found);
	return 0;
}

static void unreserve(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct claim_recorder *recorder = context;

	bt_strbuf_printf(
		&recorder->log, "-%.*s %.*s;", BT_STR_ARG(uid), BT_STR_ARG(claim->metadata.name));
}

void claim_recorder_init(
	struct claim_recorder *recorder, struct fixture *fixture, const char *script)
{
	*recorder = (struct claim_recorder){
		.writer = {.write = write_claim,
			.get = get,
			.unreserve = unreserve,
			.context = recorder},
		.fixture = fixture,
		.script = script,
		.version = 100,
	};
	fixture->handle.claim_writer = &recorder->writer;
}

void claim_recorder_finish(struct claim_recorder *recorder)
{
	recorder->fixture->handle.claim_writer = NULL;
	for (uint32_t i = 0; i < recorder->objects.count; i++) {
		bt_object_release(recorder->objects.items[i]);
	}
	bt_vec_finish(&recorder->objects);
	bt_strbuf_finish(&recorder->log);
}

/* --- cycle --- */

void devices_cycle_begin_in_group(struct devices_cycle *cycle, struct fixture *fixture,
	const char *pod, struct bt_group_state *group)
{
	struct bt_pre_filter_result result = {0};
	struct bt_status status;

	*cycle = (struct devices_cycle){.fixture = fixture};
	cycle->pod = fixture_pending(fixture, pod);
	bt_cycle_state_init(&cycle->state, &fixture->arena, 1);
	cycle->state.group = group;
	status = fixture->plugin->ops->pre_filter(
		fixture->plugin, &cycle->state, cycle->pod, &result);
	ck_assert(!result.restricted);
	cycle->pre_filter = fixture_status_text(fixture, status);
}

void devices_cycle_begin(struct devices_cycle *cycle, struct fixture *fixture, const char *pod)
{
	devices_cycle_begin_in_group(cycle, fixture, pod, NULL);
}

const char *devices_cycle_filter(struct devices_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;
	struct bt_node_info info;

	bt_node_info_init(&info, fixture->state, fixture_slot(fixture, node));
	return fixture_status_text(fixture,
		fixture->plugin->ops->filter(fixture->plugin, &cycle->state, cycle->pod, &info));
}

int64_t devices_cycle_score(struct devices_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;
	struct bt_node_info info;
	int64_t score = 0;

	bt_node_info_init(&info, fixture->state, fixture_slot(fixture, node));
	fixture_expect("score",
		fixture_status_text(fixture,
			fixture->plugin->ops->score(
				fixture->plugin, &cycle->state, cycle->pod, &info, &score)),
		"Success");
	return score;
}

const char *devices_cycle_post_filter(struct devices_cycle *cycle)
{
	struct fixture *fixture = cycle->fixture;
	struct bt_node_statuses statuses = {0};
	struct bt_post_filter_result result = {0};
	struct bt_status status = fixture->plugin->ops->post_filter(
		fixture->plugin, &cycle->state, cycle->pod, &statuses, &result);

	ck_assert(!result.present);
	return fixture_status_text(fixture, status);
}

const char *devices_cycle_reserve(struct devices_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;

	return fixture_status_text(fixture,
		fixture->plugin->ops->reserve(
			fixture->plugin, &cycle->state, cycle->pod, fixture_slot(fixture, node)));
}

void devices_cycle_unreserve(struct devices_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;

	fixture->plugin->ops->unreserve(
		fixture->plugin, &cycle->state, cycle->pod, fixture_slot(fixture, node));
}

const char *devices_cycle_pre_bind(struct devices_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;

	cycle->state.wake_ns = INT64_MAX;
	return fixture_status_text(fixture,
		fixture->plugin->ops->pre_bind(
			fixture->plugin, &cycle->state, cycle->pod, fixture_slot(fixture, node)));
}

const char *devices_cycle_pre_bind_to_end(struct devices_cycle *cycle, const char *node)
{
	const char *status = devices_cycle_pre_bind(cycle, node);

	while (strcmp(status, "Wait") == 0) {
		if (cycle->state.wake_ns != INT64_MAX) {
			ck_assert_int_gt(cycle->state.wake_ns, cycle->fixture->handle.now_ns);
			cycle->fixture->handle.now_ns = cycle->state.wake_ns;
		}
		status = devices_cycle_pre_bind(cycle, node);
	}
	return status;
}

void devices_cycle_end(struct devices_cycle *cycle)
{
	bt_cycle_state_finish(&cycle->state);
}

void devices_cycle_place(
	struct devices_cycle *cycle, struct fixture *fixture, const char *pod, const char *node)
{
	devices_cycle_begin(cycle, fixture, pod);
	fixture_expect("PreFilter", cycle->pre_filter, "Success");
	fixture_expect("Filter", devices_cycle_filter(cycle, node), "Success");
	fixture_expect("Reserve", devices_cycle_reserve(cycle, node), "Success");
}
