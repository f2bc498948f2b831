/* SPDX-License-Identifier: Apache-2.0 */
#include "api/meta.h"
#include "api/pod.h"
#include "base/alloc.h"
#include "cli/output.h"
#include "cli/view/view.h"
#include "client/rest.h"
#include "codec/json_edit.h"
#include "planning/whatif.h"

/**
 * Makes the changes that users request on the page. The requests to the API server are sent one
 * after another, so that a namespace exists before its objects.
 */

#define STEPS_MAX 1000

struct step {
	struct bt_str object_text; /* "Deployment shop/web", for the answer */
	const char *method;
	struct bt_str path; /* for apply: path of the API version, until take_resources adds the
	                       resource */
	struct bt_str kind; /* for apply: kind whose resource is missing in path; empty: path is
	                       complete */
	struct bt_str namespace_;
	struct bt_str name;
	const char *query;
	const char *content_type;
	struct bt_str body;
};

struct bt_view_change {
	struct bt_view_page *view;
	bt_question_answered *answered; /* NULL: the change was cancelled */
	void *context;
	struct bt_arena arena;
	BT_VEC(struct step) steps;
	uint32_t next;
	struct bt_rest_call *call;
	struct bt_strbuf answer;
	struct bt_json_writer json;
};

static void destroy(struct bt_view_change *change)
{
	struct bt_view_page *view = change->view;
	for (uint32_t i = 0; i < view->changes.count; i++) {
		if (view->changes.items[i] == change) {
			bt_vec_remove_swap(&view->changes, i);
			break;
		}
	}
	if (change->call != NULL) {
		bt_rest_cancel(change->call);
	}
	bt_vec_finish(&change->steps);
	bt_strbuf_finish(&change->answer);
	bt_arena_finish(&change->arena);
	bt_free(change);
}

void bt_view_changes_finish(struct bt_view_page *view)
{
	while (view->changes.count != 0) {
		destroy(view->changes.items[0]);
	}
	bt_vec_finish(&view->changes);
}

/** --- steps of a change --- */

/** Returns "/apis/apps/v1/namespaces/shop/deployments/web/scale", in the arena. */
static struct bt_str path_of(struct bt_view_change *change, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name, const char *subresource)
{
	struct bt_strbuf path = {0};
	bt_kind_append_path(kind, bt_kind_version_at(kind, 0), &path);
	bt_rest_append_object(&path, namespace_, bt_str_from(bt_kind_info(kind)->resource), name);
	bt_strbuf_append_c(&path, subresource);
	return bt_arena_take_strbuf(&change->arena, &path);
}

static struct bt_str name_object(struct bt_view_change *change, struct bt_str kind,
	struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(&change->arena, "%.*s %.*s%s%.*s", BT_STR_ARG(kind),
		BT_STR_ARG(namespace_), namespace_.length != 0 ? "/" : "", BT_STR_ARG(name));
}

static void add_step(struct bt_view_change *change, struct bt_str what, const char *method,
	struct bt_str path, const char *content_type, struct bt_str body)
{
	const struct step step = {.object_text = what,
		.method = method,
		.path = path,
		.query = "",
		.content_type = content_type,
		.body = body};
	bt_vec_push(&change->steps, step);
}

static void add_cordon(struct bt_view_change *change, struct bt_str node, bool is_cordoned)
{
	add_step(change, name_object(change, BT_STR("Node"), BT_STR(""), node), "PATCH",
		path_of(change, BT_KIND_NODE, BT_STR(""), node, ""), "application/merge-patch+json",
		is_cordoned ? BT_STR("{\"spec\":{\"unschedulable\":true}}")
			    : BT_STR("{\"spec\":{\"unschedulable\":null}}"));
}

/** Same as kubectl drain --ignore-daemonsets --delete-emptydir-data --force. */
static int add_drain(struct bt_view_change *change, struct bt_str node, struct berth_error *err)
{
	const struct bt_history *history = &change->view->history;
	add_cordon(change, node, true);
	for (uint32_t i = 0; i < history->versions.count; i++) {
		const struct bt_version *version = &history->versions.items[i];
		if (version->to_ns != INT64_MAX || version->object->kind != BT_KIND_POD ||
			version->is_over || version->node == BT_HISTORY_NONE ||
			!bt_str_equal(history->node_names.items.items[version->node], node)) {
			continue;
		}
		const struct bt_pod *pod =
			bt_object_value(bt_object_unpack(version->object), BT_KIND_POD);
		struct bt_str namespace_ = bt_arena_str(&change->arena, pod->metadata.namespace_);
		struct bt_str name = bt_arena_str(&change->arena, pod->metadata.name);
		enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
		bt_object_allow_pack(version->object);
		if (keeper == BT_KEEPER_DAEMON_SET || keeper == BT_KEEPER_NODE) {
			continue;
		}
		if (change->steps.count > STEPS_MAX) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"the node has more than %d pods: drain it with kubectl", STEPS_MAX);
		}
		struct bt_strbuf eviction = {0};
		struct bt_json_writer json;
		bt_json_writer_init(&json, &eviction, 0);
		bt_json_write(&json,
			"{apiVersion: 'policy/v1', kind: 'Eviction', metadata: {namespace: %s, "
			"name: %s}}",
			namespace_, name);
		add_step(change, name_object(change, BT_STR("Pod"), namespace_, name), "POST",
			path_of(change, BT_KIND_POD, namespace_, name, "/eviction"), BT_MEDIA_JSON,
			bt_arena_take_strbuf(&change->arena, &eviction));
	}
	return 0;
}

static int add_scale(
	struct bt_view_change *change, const struct bt_json_value *request, struct berth_error *err)
{
	static const enum bt_kind kinds[] = {
		BT_KIND_DEPLOYMENT, BT_KIND_STATEFUL_SET, BT_KIND_REPLICA_SET};
	struct bt_str kind = bt_json_find_str(request, "kind");
	struct bt_str namespace_ = bt_json_find_str(request, "namespace");
	struct bt_str name = bt_json_find_str(request, "name");
	const struct bt_json_value *replicas = bt_json_find(request, "replicas");
	int64_t count;
	if (replicas == NULL || replicas->type != BT_JSON_NUMBER ||
		!bt_json_number_int64(replicas->text, &count) || count < 0 || count > INT32_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "replicas: must be a number from 0");
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		struct bt_str kind_name = bt_str_from(bt_kind_info(kinds[i])->name);
		if (bt_str_equal_without_case(kind, kind_name) && namespace_.length != 0 &&
			name.length != 0) {
			add_step(change, name_object(change, kind_name, namespace_, name), "PATCH",
				path_of(change, kinds[i], namespace_, name, "/scale"),
				"application/merge-patch+json",
				bt_arena_printf(&change->arena, "{\"spec\":{\"replicas\":%d}}",
					(int)count));
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"kind, namespace, name: a Deployment, StatefulSet or ReplicaSet is needed");
}

/** Add an object of the applied text, or the objects of a List, for server-side apply. */
static int add_apply(struct bt_view_change *change, const struct bt_json_value *document,
	struct berth_error *err)
{
	const struct bt_json_value *items = bt_json_find(document, "items");
	if (items != NULL && items->type == BT_JSON_ARRAY &&
		bt_str_equal_c(bt_json_find_str(document, "kind"), "List")) {
		int result = 0;
		for (uint32_t i = 0; i < items->count && result == 0; i++) {
			result = add_apply(change, items->elements[i], err);
		}
		return result;
	}
	const struct bt_json_value *metadata = bt_json_find(document, "metadata");
	struct step step = {.method = "PATCH",
		.kind = bt_json_find_str(document, "kind"),
		.namespace_ = bt_json_find_str(metadata, "namespace"),
		.name = bt_json_find_str(metadata, "name"),
		.query = "fieldManager=berth-view",
		.content_type = "application/apply-patch+yaml"};
	struct bt_str api_version = bt_json_find_str(document, "apiVersion");
	if (api_version.length == 0 || step.kind.length == 0 || step.name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%.*s%sapiVersion, kind and metadata.name are needed",
			BT_STR_ARG(step.kind), step.kind.length != 0 ? ": " : "");
	}
	struct bt_strbuf body = {0};
	bt_json_format(document, &body);
	step.body = bt_arena_take_strbuf(&change->arena, &body);
	struct bt_strbuf path = {0};
	struct bt_str group;
	struct bt_str version;
	bt_api_version_split(api_version, &group, &version);
	bool has_group = version.length != api_version.length;
	bt_strbuf_append_c(&path, has_group ? "/apis/" : "/api/");
	if (has_group) {
		bt_rest_append_segment(&path, group);
		bt_strbuf_append_char(&path, '/');
	}
	bt_rest_append_segment(&path, version);
	step.path = bt_arena_take_strbuf(&change->arena, &path);
	step.object_text = name_object(change, step.kind, step.namespace_, step.name);
	bt_vec_push(&change->steps, step);
	return 0;
}

static int take_document(void *context, BT_UNUSED struct bt_origin origin,
	struct bt_json_reader *reader, struct berth_error *err)
{
	struct bt_view_change *change = context;
	struct bt_str text;
	struct bt_json_value *document;
	int result = bt_json_skip(reader, &text, err);
	if (result == 0) {
		result = bt_json_parse(&change->arena, text, true, &document, err);
	}
	return result < 0 || document->type == BT_JSON_NULL ? result
							    : add_apply(change, document, err);
}

static int read_change(struct bt_view_change *change, struct bt_str text, struct berth_error *err)
{
	struct bt_json_value *request;
	int result = bt_json_parse(&change->arena, text, false, &request, err);
	if (result < 0) {
		return result;
	}
	struct bt_str type = bt_json_find_str(request, "type");
	struct bt_str node = bt_json_find_str(request, "node");
	if (bt_str_equal_c(type, "apply")) {
		struct bt_input input = {.sink = {.context = change, .take_value = take_document}};
		result = bt_input_read_text(
			&input, "the text", bt_json_find_str(request, "text"), err);
		bt_input_finish(&input);
		if (result == 0 && change->steps.count == 0) {
			result = bt_error_set(err, BERTH_ERR_INVALID, "the text has no object");
		}
		return result;
	}
	if (bt_str_equal_c(type, "scale")) {
		return add_scale(change, request, err);
	}
	if (node.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "node: Required value");
	}
	if (bt_str_equal_c(type, "drain")) {
		return add_drain(change, node, err);
	}
	bool is_cordon = bt_str_equal_c(type, "cordon");
	if (!is_cordon && !bt_str_equal_c(type, "uncordon")) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"type: must be apply, scale, cordon, uncordon or drain");
	}
	add_cordon(change, node, is_cordon);
	return 0;
}

/** --- running the steps --- */

static void start_step(struct bt_view_change *change);

/** Finish the current step and start the next one; message "": success. */
static void end_step(struct bt_view_change *change, struct bt_str message)
{
	const struct step *step = &change->steps.items[change->next++];
	bt_json_write(&change->json, "{object: %s, ok: %b, message: %s}", step->object_text,
		message.length == 0, message);
	if (change->next == change->steps.count) {
		bt_json_write(&change->json, "]}");
		change->answered(change->context, &change->answer, NULL);
		destroy(change);
	} else {
		start_step(change);
	}
}

static struct bt_str message_of(const struct bt_rest_answer *answer)
{
	return answer->class_ == BT_REST_OK   ? BT_STR("")
		: answer->message.length != 0 ? answer->message
					      : BT_STR("the server did not answer");
}

static void take_step(
	void *context, BT_UNUSED struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_view_change *change = context;
	change->call = NULL;
	end_step(change, message_of(answer));
}

/** Receive the resources of an API version, and complete the path of the step. */
static void take_resources(
	void *context, BT_UNUSED struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_view_change *change = context;
	struct step *step = &change->steps.items[change->next];
	struct bt_json_value *root = NULL;
	change->call = NULL;
	if (answer->class_ != BT_REST_OK) {
		end_step(change, message_of(answer));
		return;
	}
	if (bt_rest_decode_body(answer, &change->arena, &root, NULL) < 0) {
		end_step(change, BT_STR("the server's list of resources cannot be read"));
		return;
	}
	const struct bt_json_value *list = bt_json_find(root, "resources");
	for (uint32_t i = 0; list != NULL && list->type == BT_JSON_ARRAY && i < list->count; i++) {
		const struct bt_json_value *resource = list->elements[i];
		struct bt_str name = bt_json_find_str(resource, "name");
		if (!bt_str_equal(bt_json_find_str(resource, "kind"), step->kind) ||
			bt_str_find_char(name, '/') >= 0) {
			continue; /* another resource, or a subresource */
		}
		bool is_namespaced = bt_json_bool_at(resource, "namespaced", false);
		struct bt_strbuf path = {0};
		bt_strbuf_append_str(&path, step->path);
		bt_rest_append_object(&path,
			!is_namespaced                         ? BT_STR("")
				: step->namespace_.length != 0 ? step->namespace_
							       : BT_STR("default"),
			name, step->name);
		if (is_namespaced && step->namespace_.length == 0) {
			step->object_text =
				name_object(change, step->kind, BT_STR("default"), step->name);
		}
		step->path = bt_arena_take_strbuf(&change->arena, &path);
		step->kind = BT_STR("");
		start_step(change);
		return;
	}
	end_step(change, BT_STR("the server does not serve this kind in this apiVersion"));
}

static void start_step(struct bt_view_change *change)
{
	const struct step *step = &change->steps.items[change->next];
	bool is_known = step->kind.length == 0;
	const struct bt_rest_request request = {
		.method = is_known ? step->method : "GET",
		.path = step->path,
		.query = bt_str_from(is_known ? step->query : ""),
		.content_type = bt_str_from(is_known ? step->content_type : ""),
		.accept = BT_STR(BT_MEDIA_JSON),
		.body = is_known ? step->body : BT_STR(""),
		.handler = {.context = change, .done = is_known ? take_step : take_resources},
	};
	change->call = bt_rest_start(change->view->client, &request);
}

struct bt_view_change *bt_view_change_start(struct bt_view_page *view, struct bt_str request,
	bt_question_answered *answered, void *context, struct berth_error *err)
{
	struct bt_view_change *change = BT_NEW(struct bt_view_change);
	change->view = view;
	change->answered = answered;
	change->context = context;
	bt_vec_push(&view->changes, change);
	if (read_change(change, request, err) < 0) {
		destroy(change);
		return NULL;
	}
	bt_json_writer_init(&change->json, &change->answer, 0);
	bt_json_write(&change->json, "{results: [");
	start_step(change);
	return change;
}

void bt_view_change_cancel(struct bt_view_change *change)
{
	destroy(change);
}
