/* SPDX-License-Identifier: Apache-2.0 */
/** JSON of requests to extenders, and the exchange by POST. Spec 11b section 9.2. */
#include "sched/extender_wire.h"

#include <stdlib.h>

#include "api/node.h"
#include "api/pod.h"
#include "base/alloc.h"
#include "codec/json.h"

static struct bt_json_writer writer_on(struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = true;
	return writer;
}

static void write_member_null(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_null(writer);
}

/** --- pods --- */

static void write_pod(struct bt_json_writer *writer, const struct bt_pod_info *info,
	const struct bt_extender_objects *objects)
{
	struct bt_strbuf json = {0};
	if (objects != NULL && objects->append_pod != NULL &&
		objects->append_pod(
			objects->context, info->namespace_, info->name, info->uid, &json)) {
		bt_json_write_raw(writer, bt_strbuf_str(&json));
	} else if (info->object != NULL) {
		bt_message_encode_json(&bt_pod_message, writer, info->object);
	} else {
		/*
		 * Build the pod from the engine's data: the spec from the shape, and the
		 * identifying fields.
		 */
		struct bt_pod pod = *bt_shape_pod(info->shape);
		pod.metadata = (struct bt_object_meta){
			.name = info->name,
			.namespace_ = info->namespace_,
			.uid = info->uid,
			.labels = *info->labels,
		};
		pod.spec.node_name = info->node_name;
		pod.status.nominated_node_name = info->nominated_node_name;
		bt_message_encode_json(&bt_pod_message, writer, &pod);
	}
	bt_strbuf_finish(&json);
}

/** --- nodes --- */

#define ALLOCATABLE_FIXED 4

static void write_known_node(
	struct bt_json_writer *writer, const struct bt_state *state, struct bt_str name)
{
	struct bt_node node = {.metadata = {.name = name}};
	struct bt_arena arena = {0};
	uint32_t slot = bt_state_snapshot_find(state, name);
	if (slot != BT_SLOT_NONE) {
		const struct bt_node_row *row = &state->nodes.rows[slot];
		node.metadata.uid = (struct bt_str){row->uid, row->uid_length};
		node.metadata.labels = row->labels;
		node.spec.unschedulable = state->nodes.unschedulable[slot] != 0;
		node.spec.taints = *bt_node_table_taints(&state->nodes, slot);
		const struct bt_node_table *nodes = &state->nodes;
		struct bt_resource_list list = {
			.items = BT_ARENA_NEW_ARRAY(&arena, struct bt_resource_entry,
				ALLOCATABLE_FIXED + nodes->scalars.count),
			.present = true,
		};
		list.items[list.count++] = (struct bt_resource_entry){BT_STR("cpu"),
			bt_quantity_make(nodes->allocatable[BT_CPU_MILLI][slot], -3,
				BT_QUANTITY_DECIMAL_SI)};
		list.items[list.count++] = (struct bt_resource_entry){BT_STR("ephemeral-storage"),
			bt_quantity_make(nodes->allocatable[BT_EPHEMERAL_BYTES][slot], 0,
				BT_QUANTITY_BINARY_SI)};
		list.items[list.count++] = (struct bt_resource_entry){BT_STR("memory"),
			bt_quantity_make(nodes->allocatable[BT_MEMORY_BYTES][slot], 0,
				BT_QUANTITY_BINARY_SI)};
		list.items[list.count++] = (struct bt_resource_entry){BT_STR("pods"),
			bt_quantity_make(nodes->allocatable_pods[slot], 0, BT_QUANTITY_DECIMAL_SI)};
		for (uint32_t i = 0; i < nodes->scalars.count; i++) {
			int64_t amount = nodes->scalars.items[i].allocatable[slot];
			if (amount != 0) {
				list.items[list.count++] = (struct bt_resource_entry){
					bt_symbol_text(
						&state->symbols, nodes->scalars.items[i].name),
					bt_quantity_make(amount, 0, BT_QUANTITY_DECIMAL_SI)};
			}
		}
		qsort(list.items, list.count, sizeof(*list.items), bt_str_compare_qsort);
		node.status.allocatable = list;
	}
	bt_message_encode_json(&bt_node_message, writer, &node);
	bt_arena_finish(&arena);
}

/** --- requests --- */

void bt_extender_encode_args(const struct bt_extender_args *args,
	const struct bt_extender_objects *objects, bool by_name, struct bt_strbuf *out)
{
	struct bt_json_writer writer = writer_on(out);
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "Pod");
	write_pod(&writer, args->pod, objects);
	if (by_name) {
		write_member_null(&writer, "Nodes");
		bt_json_begin_member_array(&writer, "NodeNames");
		for (uint32_t i = 0; i < args->node_count; i++) {
			bt_json_write_str(&writer, args->nodes[i].name);
		}
		bt_json_end_array(&writer);
	} else {
		bt_json_begin_member_object(&writer, "Nodes");
		bt_json_begin_member_object(&writer, "metadata");
		bt_json_end_object(&writer);
		bt_json_begin_member_array(&writer, "items");
		for (uint32_t i = 0; i < args->node_count; i++) {
			const struct bt_state *state = args->state;
			const struct bt_extender_node *node = &args->nodes[i];
			struct bt_strbuf json = {0};
			if (node->json.data != NULL) {
				bt_json_write_raw(&writer, node->json);
			} else if (objects != NULL && objects->append_node != NULL &&
				objects->append_node(objects->context, node->name, &json)) {
				bt_json_write_raw(&writer, bt_strbuf_str(&json));
			} else {
				write_known_node(&writer, state, node->name);
			}
			bt_strbuf_finish(&json);
		}
		bt_json_end_array(&writer);
		bt_json_end_object(&writer);
		write_member_null(&writer, "NodeNames");
	}
	bt_json_end_object(&writer);
}

/**
 * Write a map from node name to victims, sorted by key as in Go. args NULL: victims are written as
 * uids only (MetaVictims).
 */
static void write_victims_map(struct bt_json_writer *writer, const char *name,
	const struct bt_node_victims_list *victims, const struct bt_extender_preemption_args *args,
	const struct bt_extender_objects *objects)
{
	struct bt_node_victims *sorted = BT_NEW_ARRAY(struct bt_node_victims, victims->count);
	if (victims->count != 0) {
		memcpy(sorted, victims->items, victims->count * sizeof(*sorted));
		qsort(sorted, victims->count, sizeof(*sorted), bt_str_compare_qsort);
	}
	bt_json_begin_member_object(writer, name);
	for (uint32_t i = 0; i < victims->count; i++) {
		const struct bt_node_victims *entry = &sorted[i];
		bt_json_write_name(writer, entry->node_name);
		bt_json_begin_object(writer);
		bt_json_begin_member_array(writer, "Pods");
		for (uint32_t j = 0; j < entry->victim_count; j++) {
			if (args != NULL) {
				const struct bt_state *state = args->state;
				struct bt_str uid = entry->victim_uids[j];
				struct bt_pod_info info;
				uint32_t pod_id = bt_state_find_pod(state, uid);
				if (pod_id == BT_POD_NONE) {
					/*
					 * The pod was deleted meanwhile. The extender can still
					 * identify the pod by the uid.
					 */
					struct bt_pod pod = {.metadata = {.uid = uid}};
					bt_message_encode_json(&bt_pod_message, writer, &pod);
				} else {
					bt_pod_info_from_record(state, pod_id, &info);
					write_pod(writer, &info, objects);
				}
				continue;
			}
			bt_json_begin_object(writer);
			bt_json_write_member(writer, "UID", entry->victim_uids[j]);
			bt_json_end_object(writer);
		}
		bt_json_end_array(writer);
		bt_json_write_member_int64(writer, "NumPDBViolations", entry->pdb_violations);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
	bt_free(sorted);
}

void bt_extender_encode_preemption_args(const struct bt_extender_preemption_args *args,
	const struct bt_extender_objects *objects, bool by_name, struct bt_strbuf *out)
{
	struct bt_json_writer writer = writer_on(out);
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "Pod");
	write_pod(&writer, args->pod, objects);
	if (by_name) {
		write_member_null(&writer, "NodeNameToVictims");
		write_victims_map(&writer, "NodeNameToMetaVictims", args->candidates, NULL, NULL);
	} else {
		write_victims_map(&writer, "NodeNameToVictims", args->candidates, args, objects);
		write_member_null(&writer, "NodeNameToMetaVictims");
	}
	bt_json_end_object(&writer);
}

void bt_extender_encode_binding_args(
	const struct bt_extender_binding_args *args, struct bt_strbuf *out)
{
	struct bt_json_writer writer = writer_on(out);
	bt_json_begin_object(&writer);
	bt_json_write_member(&writer, "PodName", args->pod_name);
	bt_json_write_member(&writer, "PodNamespace", args->pod_namespace);
	bt_json_write_member(&writer, "PodUID", args->pod_uid);
	bt_json_write_member(&writer, "Node", args->node);
	bt_json_end_object(&writer);
}

#define DEFAULT_TIMEOUT_NS (INT64_C(5) * 1000 * 1000 * 1000)
#define STATUS_OK 200
#define REQUEST_TOO_LARGE "request is longer than 4 GiB"

/** Context of an extender that is called by POST. */
struct posted_extender {
	struct bt_extender_poster *poster;
	const struct bt_config_extender *config;
};

void bt_extender_append_url(
	const struct bt_config_extender *config, struct bt_str verb, struct bt_strbuf *out)
{
	struct bt_str prefix = config->url_prefix;
	while (prefix.length != 0 && prefix.data[prefix.length - 1] == '/') {
		prefix.length--;
	}
	bt_strbuf_append_str(out, prefix);
	bt_strbuf_append_char(out, '/');
	bt_strbuf_append_str(out, verb);
}

static struct bt_extender_request request_of(const struct posted_extender *posting,
	const struct bt_strbuf *url, const struct bt_strbuf *body)
{
	return (struct bt_extender_request){
		.config = posting->config,
		.url = bt_strbuf_str(url),
		.body = bt_strbuf_str(body),
		.timeout_ns = posting->config->http_timeout_ns != 0
			? posting->config->http_timeout_ns
			: DEFAULT_TIMEOUT_NS,
	};
}

static int check_status(const struct bt_extender_response *response, struct bt_str verb,
	const struct bt_strbuf *url, struct berth_error *err)
{
	return response->status == STATUS_OK
		? 0
		: bt_error_set(err, BERTH_ERR_IO, "failed %.*s with extender at URL %s, code %d",
			  BT_STR_ARG(verb), bt_strbuf_c(url), response->status);
}

/** POST the body and get the body of a response with status 200. Frees `body`. */
static int exchange(const struct posted_extender *posting, struct bt_str verb,
	struct bt_strbuf *body, struct bt_arena *arena, struct bt_str *out_answer,
	struct berth_error *err)
{
	struct bt_strbuf url = {0};
	struct bt_extender_response response = {0};

	if (body->length > BT_STR_MAX) {
		bt_strbuf_finish(body);
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, REQUEST_TOO_LARGE);
	}
	bt_extender_append_url(posting->config, verb, &url);
	struct bt_extender_request request = request_of(posting, &url, body);
	struct bt_extender_poster *poster = posting->poster;
	int result = poster->post(poster->context, &request, arena, &response, err);
	if (result == 0) {
		result = check_status(&response, verb, &url, err);
	}
	if (result == 0) {
		*out_answer = response.body;
	}
	bt_strbuf_finish(&url);
	bt_strbuf_finish(body);
	return result;
}

static int filter(void *context, const struct bt_extender_args *args, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err)
{
	const struct posted_extender *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	bt_extender_encode_args(
		args, &posting->poster->objects, posting->config->node_cache_capable, &body);
	int result = exchange(posting, posting->config->filter_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_filter_result(answer, arena, out_result, err);
}

static int prioritize(void *context, const struct bt_extender_args *args, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	const struct posted_extender *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	bt_extender_encode_args(
		args, &posting->poster->objects, posting->config->node_cache_capable, &body);
	int result =
		exchange(posting, posting->config->prioritize_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_priorities(answer, arena, out_priorities, err);
}

/** A prioritize request in flight. */
struct prioritize_call {
	struct bt_strbuf url;
	struct bt_strbuf body;
	struct bt_extender_request request;
	void *exchange; /* the poster's handle; NULL: the body is too large */
};

static void *begin_prioritize(
	void *context, const struct bt_extender_args *args, struct bt_arena *arena)
{
	const struct posted_extender *posting = context;
	struct bt_extender_poster *poster = posting->poster;
	struct prioritize_call *call = BT_NEW(struct prioritize_call);

	bt_extender_encode_args(
		args, &poster->objects, posting->config->node_cache_capable, &call->body);
	if (call->body.length <= BT_STR_MAX) {
		bt_extender_append_url(
			posting->config, posting->config->prioritize_verb, &call->url);
		call->request = request_of(posting, &call->url, &call->body);
		call->exchange = poster->begin(poster->context, &call->request, arena);
	}
	return call;
}

static int end_prioritize(void *context, void *begun, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err)
{
	const struct posted_extender *posting = context;
	struct bt_extender_poster *poster = posting->poster;
	struct prioritize_call *call = begun;
	struct bt_extender_response response = {0};
	int result = call->exchange == NULL
		? bt_error_set(err, BERTH_ERR_TOO_LARGE, REQUEST_TOO_LARGE)
		: poster->end(poster->context, call->exchange, &response, err);

	if (result == 0) {
		result = check_status(&response, posting->config->prioritize_verb, &call->url, err);
	}
	if (result == 0) {
		result = bt_extender_decode_priorities(response.body, arena, out_priorities, err);
	}
	bt_strbuf_finish(&call->url);
	bt_strbuf_finish(&call->body);
	bt_free(call);
	return result;
}

static int preempt(void *context, const struct bt_extender_preemption_args *args,
	struct bt_arena *arena, struct bt_node_victims_list *out_answer, struct berth_error *err)
{
	const struct posted_extender *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	if (posting->config->preempt_verb.length == 0) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"preempt verb is not defined for extender %.*s but run into "
			"ProcessPreemption",
			BT_STR_ARG(posting->config->url_prefix));
	}
	bt_extender_encode_preemption_args(
		args, &posting->poster->objects, posting->config->node_cache_capable, &body);
	int result = exchange(posting, posting->config->preempt_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_preemption_result(answer, arena, out_answer, err);
}

static int bind(void *context, const struct bt_extender_binding_args *args, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err)
{
	const struct posted_extender *posting = context;
	struct bt_strbuf body = {0};
	struct bt_str answer;

	bt_extender_encode_binding_args(args, &body);
	int result = exchange(posting, posting->config->bind_verb, &body, arena, &answer, err);
	return result < 0 ? result
			  : bt_extender_decode_binding_result(answer, arena, out_result, err);
}

static const struct bt_extender_ops posting_ops = {
	.filter = filter,
	.prioritize = prioritize,
	.preempt = preempt,
	.bind = bind,
	.destroy = bt_free,
};

static const struct bt_extender_ops parallel_ops = {
	.filter = filter,
	.prioritize = prioritize,
	.begin_prioritize = begin_prioritize,
	.end_prioritize = end_prioritize,
	.preempt = preempt,
	.bind = bind,
	.destroy = bt_free,
};

static int create(void *context, const struct bt_config_extender *config,
	const struct bt_extender_ops **out_ops, void **out_context, struct berth_error *err)
{
	const struct bt_extender_poster *poster = context;
	struct posted_extender *posting;

	/* A TLS client refuses this configuration before it connects; spec 11b section 9.1. */
	if (config->tls_config != NULL && config->tls_config->insecure &&
		(config->tls_config->ca_file.length != 0 ||
			config->tls_config->ca_data.length != 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"specifying a root certificates file with the insecure flag is not "
			"allowed");
	}
	posting = BT_NEW(struct posted_extender);
	*posting = (struct posted_extender){context, config};
	*out_ops = poster->begin != NULL ? &parallel_ops : &posting_ops;
	*out_context = posting;
	return 0;
}

struct bt_extender_factory bt_extender_poster_factory(struct bt_extender_poster *poster)
{
	return (struct bt_extender_factory){create, poster};
}
