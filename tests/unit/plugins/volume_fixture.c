/* SPDX-License-Identifier: Apache-2.0 */
#include "volume_fixture.h"

#include <check.h>

#include "base/error.h"
#include "plugins/volume_binder_private.h"

void put_class(struct fixture *fixture, const char *name, const char *provisioner, const char *mode,
	const char *extra)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'%s'},"
		"'provisioner':'%s'%s%s%s%s}",
		name, provisioner, mode != NULL ? ",'volumeBindingMode':'" : "",
		mode != NULL ? mode : "", mode != NULL ? "'" : "", extra);

	fixture_put(fixture, json.data);
}

void volume_fixture_init(struct fixture *fixture, const struct bt_plugin_ops *ops,
	const char *gates, const char *args)
{
	fixture_init_with(fixture, ops, gates, args);
	fixture_add_node(fixture, "{'metadata':{'name':'n1','labels':{'k':'n1'}}}");
	fixture_add_node(fixture, "{'metadata':{'name':'n2','labels':{'k':'n2'}}}");
	put_class(fixture, "W", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", "");
	put_class(fixture, "P", "x", "WaitForFirstConsumer",
		",'allowedTopologies':[{'matchLabelExpressions':[{'key':'k','values':['n1','ref']}]"
		"}]");
	put_class(fixture, "I", "x", "Immediate", "");
}

void put_volume(struct fixture *fixture, const char *name, const char *class_name, const char *size,
	const char *node, const char *extra)
{
	struct bt_str affinity = node != NULL
		? bt_arena_printf(&fixture->arena,
			  ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':"
			  "[{'key':'k','operator':'In','values':['%s']}]}]}}",
			  node)
		: BT_STR("");
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'v1','kind':'PersistentVolume',"
		"'metadata':{'name':'%s','resourceVersion':'1'},'spec':{'capacity':{'storage':'%s'}"
		","
		"'accessModes':['ReadWriteOnce'],'storageClassName':'%s'%.*s},"
		"'status':{'phase':'Available'}%s}",
		name, size, class_name, BT_STR_ARG(affinity), extra);

	fixture_put(fixture, json.data);
}

void put_claim(struct fixture *fixture, const char *name, const char *class_name, const char *size,
	const char *extra)
{
	struct bt_str request = size != NULL
		? bt_arena_printf(
			  &fixture->arena, ",'resources':{'requests':{'storage':'%s'}}", size)
		: BT_STR("");
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
		"'metadata':{'name':'%s','uid':'uid-%s','resourceVersion':'1'},"
		"'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'%s'%.*s}%s}",
		name, name, class_name, BT_STR_ARG(request), extra);

	fixture_put(fixture, json.data);
}

void put_bound_claim(struct fixture *fixture, const char *name, const char *volume_name)
{
	struct bt_str extra = bt_arena_printf(&fixture->arena,
		",'metadata':{'annotations':{'pv.kubernetes.io/bind-completed':'yes'}},"
		"'spec':{'volumeName':'%s'}",
		volume_name);

	put_claim(fixture, name, "I", "1G", extra.data);
}

void put_csi_node(
	struct fixture *fixture, const char *name, const char *migrated, const char *drivers)
{
	struct bt_str annotations = migrated != NULL
		? bt_arena_printf(&fixture->arena,
			  ",'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'%s'}",
			  migrated)
		: BT_STR("");
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'%s'%.*s},"
		"'spec':{'drivers':[%s]}}",
		name, BT_STR_ARG(annotations), drivers);

	fixture_put(fixture, json.data);
}

const char *claims_pod(struct fixture *fixture, const char *claims)
{
	struct bt_strbuf json = {0};
	struct bt_str rest = bt_str_from(claims);
	struct bt_str result;
	int number = 0;

	bt_strbuf_append_c(&json, "{'metadata':{'name':'p'},'spec':{'volumes':[");
	while (rest.length != 0) {
		int64_t blank = bt_str_find_char(rest, ' ');
		struct bt_str name = blank < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)blank);

		bt_strbuf_printf(&json,
			"%s{'name':'v%d','persistentVolumeClaim':{'claimName':'%.*s'}}",
			number != 0 ? "," : "", number, BT_STR_ARG(name));
		number++;
		rest = bt_str_sub(rest, name.length + 1, rest.length);
	}
	bt_strbuf_append_c(&json, "]}}");
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
	return result.data;
}

/* --- writer --- */

static int fails(struct volume_recorder *recorder, const char *resource, struct bt_str name,
	struct berth_error *err)
{
	if (recorder->writes++ != recorder->fail_at) {
		return 0;
	}
	return bt_error_set(err, BERTH_ERR_STATE,
		"Operation cannot be fulfilled on %s \"%.*s\": the object has been modified",
		resource, BT_STR_ARG(name));
}

static int record_volume(void *context, const struct bt_persistent_volume *volume,
	BT_UNUSED const struct bt_persistent_volume_claim *claim,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	struct volume_recorder *recorder = context;

	bt_strbuf_printf(&recorder->log, "%.*s<-%.*s;", BT_STR_ARG(volume->metadata.name),
		BT_STR_ARG(volume->spec.claim_ref != NULL ? volume->spec.claim_ref->name
							  : BT_STR("")));
	if (recorder->version != NULL) {
		*out_resource_version = bt_str_from(recorder->version);
	}
	return fails(recorder, "persistentvolumes", volume->metadata.name, err);
}

static int record_claim(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct volume_recorder *recorder = context;

	bt_strbuf_printf(&recorder->log, "%.*s@%.*s;", BT_STR_ARG(claim->metadata.name),
		BT_STR_ARG(node_name));
	if (recorder->version != NULL) {
		*out_resource_version = bt_str_from(recorder->version);
	}
	return fails(recorder, "persistentvolumeclaims", claim->metadata.name, err);
}

static int wait(void *context, BT_UNUSED const struct bt_pod_info *pod, struct berth_error *err)
{
	struct volume_recorder *recorder = context;

	if (recorder->tick == NULL) {
		return bt_error_set(err, BERTH_ERR_STATE, "binding volumes: context canceled");
	}
	recorder->ticks++;
	recorder->tick(recorder);
	return 0;
}

static bool pod_exists(void *context, BT_UNUSED const struct bt_pod_info *pod)
{
	return !((const struct volume_recorder *)context)->pod_is_gone;
}

void volume_recorder_init(struct volume_recorder *recorder, struct fixture *fixture)
{
	*recorder = (struct volume_recorder){
		.writer = {.bind_volume = record_volume,
			.select_node = record_claim,
			.wait = wait,
			.pod_exists = pod_exists,
			.context = recorder},
		.fixture = fixture,
		.fail_at = -1,
	};
	fixture->handle.volume_writer = &recorder->writer;
}

void volume_recorder_finish(struct volume_recorder *recorder)
{
	recorder->fixture->handle.volume_writer = NULL;
	bt_strbuf_finish(&recorder->log);
}

/* --- cycle --- */

void volume_cycle_begin(struct volume_cycle *cycle, struct fixture *fixture, const char *pod)
{
	struct bt_pre_filter_result result = {0};
	struct bt_status status;

	*cycle = (struct volume_cycle){.fixture = fixture};
	cycle->pod = fixture_pending(fixture, pod);
	bt_cycle_state_init(&cycle->state, &fixture->arena, 1);
	status = fixture->plugin->ops->pre_filter(
		fixture->plugin, &cycle->state, cycle->pod, &result);
	cycle->pre_filter = fixture_status_text(fixture, status);
}

const char *volume_cycle_filter(struct volume_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;
	struct bt_node_info info;

	bt_node_info_init(&info, fixture->state, fixture_slot(fixture, node));
	return fixture_status_text(fixture,
		fixture->plugin->ops->filter(fixture->plugin, &cycle->state, cycle->pod, &info));
}

const char *volume_cycle_reserve(struct volume_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;

	return fixture_status_text(fixture,
		fixture->plugin->ops->reserve(
			fixture->plugin, &cycle->state, cycle->pod, fixture_slot(fixture, node)));
}

const char *volume_cycle_pre_bind(struct volume_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;

	return fixture_status_text(fixture,
		fixture->plugin->ops->pre_bind(
			fixture->plugin, &cycle->state, cycle->pod, fixture_slot(fixture, node)));
}

void volume_cycle_unreserve(struct volume_cycle *cycle, const char *node)
{
	struct fixture *fixture = cycle->fixture;

	fixture->plugin->ops->unreserve(
		fixture->plugin, &cycle->state, cycle->pod, fixture_slot(fixture, node));
}

void volume_cycle_end(struct volume_cycle *cycle)
{
	bt_cycle_state_finish(&cycle->state);
}

void volume_cycle_place(
	struct volume_cycle *cycle, struct fixture *fixture, const char *pod, const char *node)
{
	volume_cycle_begin(cycle, fixture, pod);
	fixture_expect("PreFilter", cycle->pre_filter, "Success");
	fixture_expect("Filter", volume_cycle_filter(cycle, node), "Success");
	fixture_expect("Reserve", volume_cycle_reserve(cycle, node), "Success");
}

const char *volumes_for(struct fixture *fixture, const char *pod, const char *node)
{
	const struct bt_volume_writer *before = fixture->handle.volume_writer;
	struct volume_recorder recorder;
	struct volume_cycle cycle;
	const char *result;

	volume_recorder_init(&recorder, fixture);
	volume_cycle_begin(&cycle, fixture, pod);
	result = cycle.pre_filter;
	if (strcmp(result, "Success") == 0) {
		result = volume_cycle_filter(&cycle, node);
	}
	if (strcmp(result, "Success") == 0) {
		result = volume_cycle_reserve(&cycle, node);
	}
	if (strcmp(result, "Success") == 0) {
		(void)volume_cycle_pre_bind(&cycle, node); /* only the log matters */
		volume_cycle_unreserve(&cycle, node);
		result = bt_arena_str(&fixture->arena, bt_strbuf_str(&recorder.log)).data;
	}
	volume_cycle_end(&cycle);
	volume_recorder_finish(&recorder);
	fixture->handle.volume_writer = before;
	return result;
}

const struct bt_persistent_volume *assumed_volume(struct fixture *fixture, const char *name)
{
	struct bt_real_binder *binder =
		bt_real_binder_of(bt_volume_binding_binder(fixture->plugin));

	return bt_assume_cache_find(&binder->volumes, BT_STR(""), bt_str_from(name));
}

const struct bt_persistent_volume_claim *assumed_claim(struct fixture *fixture, const char *name)
{
	struct bt_real_binder *binder =
		bt_real_binder_of(bt_volume_binding_binder(fixture->plugin));

	return bt_assume_cache_find(&binder->claims, BT_STR("default"), bt_str_from(name));
}
