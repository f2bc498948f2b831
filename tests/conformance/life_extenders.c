/* SPDX-License-Identifier: Apache-2.0 */
/** Extenders of a recorded life: each verb applies the first rule whose conditions hold. */
#include "base/alloc.h"
#include "codec/json_edit.h"
#include "conformance/life_api.h"

/** One request to one extender. */
struct question {
	struct life_api *api;
	struct bt_arena *arena;
	const struct bt_json_value *rule; /* NULL: accept everything */
	const struct bt_json_value *body;
	struct bt_json_value *answer;
};

/** --- rules --- */

static bool has_labels(const struct bt_json_value *wanted, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; wanted != NULL && i < wanted->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, wanted->members[i].name);
		if (value == NULL || !bt_str_equal(*value, wanted->members[i].value->text)) {
			return false;
		}
	}
	return true;
}

/** --- nodes of a question --- */

/** Returns the request's nodes. *out_by_name: as names (nodeCacheCapable), not as objects. */
static const struct bt_json_value *nodes_of(const struct question *question, bool *out_by_name)
{
	const struct bt_json_value *names = bt_json_find(question->body, "NodeNames");
	*out_by_name = names != NULL && names->type == BT_JSON_ARRAY;
	return *out_by_name ? names : bt_json_array_at(question->body, "Nodes.items");
}

static struct bt_str node_name(const struct bt_json_value *node, bool by_name)
{
	return by_name ? node->text : bt_json_text_at(node, "metadata.name");
}

/** --- filter --- */

static const struct bt_json_value *find_drop(struct question *question, struct bt_str name)
{
	const struct bt_json_value *drops = bt_json_array_at(question->rule, "drop");
	const struct bt_node *node =
		bt_object_store_find(&question->api->store, BT_KIND_NODE, BT_STR(""), name);
	static const struct bt_str_map no_labels;
	for (uint32_t i = 0; i < drops->count; i++) {
		const struct bt_json_value *drop = drops->elements[i];
		struct bt_str wanted = bt_json_text_at(drop, "node");
		if ((wanted.length == 0 || bt_str_equal(wanted, name)) &&
			has_labels(bt_json_find(drop, "labels"),
				node != NULL ? &node->metadata.labels : &no_labels)) {
			return drop;
		}
	}
	return NULL;
}

static void note_failure(struct question *question, const struct bt_json_value *drop,
	struct bt_str name, const char *member)
{
	bt_json_set(question->arena,
		bt_json_ensure_object(question->arena, question->answer, member), name,
		bt_json_new_str(question->arena, bt_json_text_at(drop, "reason")));
}

/** Returns whether the node stays in the answer. If not, adds the rule's reason. */
static bool filter_node(struct question *question, struct bt_str name)
{
	const struct bt_json_value *drop = find_drop(question, name);
	bool both = bt_json_bool_at(drop, "both", false);
	bool unresolvable = bt_json_bool_at(drop, "unresolvable", false);
	if (drop == NULL) {
		return true;
	}
	if (!bt_json_bool_at(drop, "silent", false)) {
		if (both || !unresolvable) {
			note_failure(question, drop, name, "FailedNodes");
		}
		if (both || unresolvable) {
			note_failure(question, drop, name, "FailedAndUnresolvableNodes");
		}
	}
	return false;
}

static void answer_filter(struct question *question)
{
	struct bt_arena *arena = question->arena;
	bool by_name;
	const struct bt_json_value *nodes = nodes_of(question, &by_name);
	struct bt_json_value *kept = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_str extra = bt_json_text_at(question->rule, "extra");
	if (bt_json_bool_at(question->rule, "empty", false)) {
		return;
	}
	for (uint32_t i = 0; i < nodes->count; i++) {
		struct bt_json_value *node = nodes->elements[i];
		if (filter_node(question, node_name(node, by_name))) {
			bt_json_append(arena, kept, bt_json_clone(arena, node, false));
		}
	}
	if (extra.length != 0) {
		struct bt_json_value *node = bt_json_new_str(arena, extra);
		if (!by_name) {
			const struct bt_object *known = bt_object_store_find_object(
				&question->api->store, BT_KIND_NODE, BT_STR(""), extra);
			struct bt_strbuf json = {0};
			struct bt_json_writer writer;
			bt_json_writer_init(&writer, &json, 0);
			node = bt_json_new(arena, BT_JSON_OBJECT);
			bt_json_set_str(arena, bt_json_ensure_object(arena, node, "metadata"),
				"name", extra);
			if (known != NULL) {
				bt_message_encode_json(
					bt_kind_info(BT_KIND_NODE)->message, &writer, known->value);
				/* The text was encoded from an object, so parsing succeeds. */
				(void)!bt_json_parse(
					arena, bt_strbuf_str(&json), true, &node, NULL);
			}
			bt_strbuf_finish(&json);
		}
		bt_json_append(arena, kept, node);
	}
	if (by_name) {
		bt_json_set_value(arena, question->answer, "NodeNames", kept);
	} else {
		bt_json_set_value(arena, bt_json_ensure_object(arena, question->answer, "Nodes"),
			"items", kept);
	}
}

/** --- prioritize --- */

static void answer_prioritize(struct question *question)
{
	struct bt_arena *arena = question->arena;
	bool by_name;
	const struct bt_json_value *nodes = nodes_of(question, &by_name);
	const struct bt_json_value *fallback = bt_json_find(question->rule, "default");
	question->answer = bt_json_new(arena, BT_JSON_ARRAY);
	for (uint32_t i = 0; question->rule != NULL && i < nodes->count; i++) {
		struct bt_str name = node_name(nodes->elements[i], by_name);
		const struct bt_json_value *score =
			bt_json_get(bt_json_find(question->rule, "scores"), name);
		score = score != NULL ? score : fallback;
		if (score != NULL) {
			struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);
			bt_json_set_str(arena, entry, "Host", name);
			bt_json_set_value(
				arena, entry, "Score", bt_json_clone(arena, score, false));
			bt_json_append(arena, question->answer, entry);
		}
	}
}

/** --- preempt --- */

static void add_victim(struct bt_arena *arena, struct bt_json_value *victims, struct bt_str uid)
{
	struct bt_json_value *pod = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_str(arena, pod, "UID", uid);
	bt_json_append(arena, victims, pod);
}

static void answer_preempt(struct question *question)
{
	struct bt_arena *arena = question->arena;
	const struct bt_json_value *meta = bt_json_find(question->body, "NodeNameToMetaVictims");
	bool is_meta = meta != NULL && meta->type == BT_JSON_OBJECT;
	const struct bt_json_value *victims =
		is_meta ? meta : bt_json_find(question->body, "NodeNameToVictims");
	const struct bt_json_value *rule = question->rule;
	struct bt_json_value *out =
		bt_json_ensure_object(arena, question->answer, "NodeNameToMetaVictims");
	for (uint32_t i = 0; victims != NULL && i < victims->count; i++) {
		struct bt_str node = victims->members[i].name;
		const struct bt_json_value *entry = victims->members[i].value;
		const struct bt_json_value *pods = bt_json_array_at(entry, "Pods");
		const struct bt_json_value *pdb = bt_json_get(bt_json_find(rule, "pdb"), node);
		const struct bt_json_value *added = bt_json_get(bt_json_find(rule, "add"), node);
		int64_t keep = bt_json_int64_at(rule, "keep", INT64_MAX);
		struct bt_json_value *kept = bt_json_new(arena, BT_JSON_ARRAY);
		struct bt_json_value *answer = bt_json_new(arena, BT_JSON_OBJECT);
		if (bt_json_has_text(bt_json_array_at(rule, "drop"), node)) {
			continue;
		}
		for (uint32_t k = 0; k < pods->count && k < keep; k++) {
			add_victim(arena, kept,
				bt_json_text_at(
					pods->elements[k], is_meta ? "UID" : "metadata.uid"));
		}
		for (uint32_t k = 0; added != NULL && k < added->count; k++) {
			add_victim(arena, kept, added->elements[k]->text);
		}
		bt_json_set_value(arena, answer, "Pods", kept);
		bt_json_set_value(arena, answer, "NumPDBViolations",
			pdb != NULL ? bt_json_clone(arena, pdb, false)
				    : bt_json_new_int64(arena,
					      bt_json_int64_at(entry, "NumPDBViolations", 0)));
		bt_json_set(arena, out, node, answer);
	}
}

/** --- bind --- */

static void carry_out_binding(struct question *question)
{
	/* Cannot fail: the request belongs to the pod's cycle, so the pod exists. */
	(void)!life_api_bind(question->api, bt_json_text_at(question->body, "PodNamespace"),
		bt_json_text_at(question->body, "PodName"),
		bt_arena_str(&question->api->arena, bt_json_text_at(question->body, "Node")), NULL);
}

/** --- the exchange --- */

struct verb {
	const char *name; /* as in the rules */
	void (*answer)(struct question *question);
	bool reads_error;
};

static const struct verb verbs[] = {
	{"filter", answer_filter, true},
	{"prioritize", answer_prioritize, false},
	{"preempt", answer_preempt, false},
	{"bind", carry_out_binding, true},
};

static const struct verb *find_verb(const struct bt_extender_request *request)
{
	const struct bt_config_extender *config = request->config;
	const struct bt_str names[] = {config->filter_verb, config->prioritize_verb,
		config->preempt_verb, config->bind_verb};
	const struct verb *found = NULL;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names) && found == NULL; i++) {
		struct bt_strbuf url = {0};
		if (names[i].length != 0) {
			bt_extender_append_url(config, names[i], &url);
		}
		if (bt_str_equal(bt_strbuf_str(&url), request->url)) {
			found = &verbs[i];
		}
		bt_strbuf_finish(&url);
	}
	return found;
}

/**
 * Finds the rules of this extender's server by urlPrefix. Returns NULL if the case has no rules for
 * the extender.
 */
static const struct bt_json_value *find_server(
	const struct life_api *api, const struct bt_config_extender *config)
{
	for (uint32_t i = 0; i < api->extenders->count && i < api->extender_configs->count; i++) {
		if (bt_str_equal(bt_json_text_at(api->extender_configs->elements[i], "urlPrefix"),
			    config->url_prefix)) {
			return api->extenders->elements[i];
		}
	}
	return NULL;
}

/**
 * Whether the pod has the labels. A bind request has only the pod's name, so the labels are read
 * from the store.
 */
static bool pod_has_labels(struct question *question, const struct bt_json_value *wanted)
{
	const struct bt_json_value *pod = bt_json_find(question->body, "Pod");
	struct bt_object *stored = NULL;
	if (pod == NULL) {
		stored = life_api_find_pod(question->api,
			bt_json_text_at(question->body, "PodNamespace"),
			bt_json_text_at(question->body, "PodName"));
		return stored != NULL && has_labels(wanted, &stored->meta->labels);
	}
	const struct bt_json_value *labels = bt_json_find_path(pod, "metadata.labels");
	for (uint32_t i = 0; wanted != NULL && i < wanted->count; i++) {
		const struct bt_json_value *value = bt_json_get(labels, wanted->members[i].name);
		if (value == NULL || !bt_str_equal(value->text, wanted->members[i].value->text)) {
			return false;
		}
	}
	return true;
}

static const struct bt_json_value *find_rule(
	struct question *question, const struct bt_json_value *rules)
{
	const struct life_api *api = question->api;
	for (uint32_t i = 0; rules != NULL && i < rules->count; i++) {
		const struct bt_json_value *rule = rules->elements[i];
		int64_t until = bt_json_int64_at(rule, "until", INT64_MAX);
		if (pod_has_labels(question, bt_json_find(rule, "pods")) &&
			(api->now_ns - api->start_ns) / 1000000000 < until) {
			return rule;
		}
	}
	return NULL;
}

static int post(void *context, const struct bt_extender_request *request, struct bt_arena *arena,
	struct bt_extender_response *out_response, struct berth_error *err)
{
	struct question question = {
		.api = context, .arena = arena, .answer = bt_json_new(arena, BT_JSON_OBJECT)};
	const struct verb *verb = find_verb(request);
	struct bt_json_value *body = NULL;
	int result = bt_json_parse(arena, request->body, false, &body, err);
	if (result < 0) {
		return result;
	}
	question.body = body;
	question.rule = find_rule(
		&question, bt_json_find(find_server(question.api, request->config), verb->name));
	int64_t fail = bt_json_int64_at(question.rule, "fail", 0);
	struct bt_str error = bt_json_text_at(question.rule, "error");
	*out_response = (struct bt_extender_response){.status = fail != 0 ? (int)fail : 200};
	if (fail != 0 && !bt_json_bool_at(question.rule, "lost", false)) {
		return 0;
	}
	if (error.length != 0 && verb->reads_error) {
		bt_json_set_str(arena, question.answer, "Error", error);
	} else {
		verb->answer(&question);
	}
	struct bt_strbuf json = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &json, 0);
	bt_json_write_value(&writer, question.answer);
	out_response->body = fail != 0 ? BT_STR("") : bt_arena_str(arena, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
	return 0;
}

struct bt_extender_factory life_extenders(struct life_api *api)
{
	api->poster = (struct bt_extender_poster){.context = api, .post = post};
	return bt_extender_poster_factory(&api->poster);
}
