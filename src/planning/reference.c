/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/reference.h"

#include "api/selector.h"
#include "api/suggest.h"
#include "api/text_template.h"
#include "base/printable.h"
#include "cluster/manifests.h"

enum bt_node_reference bt_node_reference_of(struct bt_str text)
{
	if (text.length != 0 && text.data[0] == '[') {
		return BT_NODE_SELECTOR;
	}
	return bt_str_find_char(text, '*') >= 0 || bt_str_find_char(text, '?') >= 0
		? BT_NODE_PATTERN
		: BT_NODE_NAME;
}

int bt_node_reference_cut(
	struct bt_str *rest, char separator, struct bt_str *out_reference, struct berth_error *err)
{
	struct bt_str text = *rest;
	if (text.length != 0 && text.data[0] == '[') {
		int64_t end = bt_str_find_char(text, ']');
		uint32_t length = end < 0 ? 0 : (uint32_t)end + 1;
		if (end < 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"the bracket of the node selector is not closed: write "
				"[key=value]");
		}
		*out_reference = bt_str_sub(text, 0, length);
		*rest = bt_str_sub(text, length, text.length);
		if (rest->length != 0 && (separator == 0 || rest->data[0] != separator)) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "unexpected text after the node selector");
		}
		*rest = rest->length == 0 ? (struct bt_str){NULL, 0}
					  : bt_str_sub(*rest, 1, rest->length);
		return 0;
	}
	*out_reference = text;
	if (separator != 0) {
		*out_reference = bt_str_cut(rest, separator);
	}
	if (out_reference->length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no node is named: write a name, a pattern such as 'node-a*', or a "
			"selector such as '[key=value]'");
	}
	return 0;
}

int64_t bt_node_reference_match(const struct bt_manifests *cluster, struct bt_str reference,
	bool (*is_there)(const void *context, uint32_t index), const void *context, bool *selected,
	struct berth_error *err)
{
	bool by_labels = bt_node_reference_of(reference) == BT_NODE_SELECTOR;
	struct bt_arena arena = {0};
	struct bt_selector selector;
	int64_t count = 0;
	int result = 0;
	if (by_labels) {
		result = bt_selector_parse(
			bt_str_sub(reference, 1, reference.length - 2), &arena, &selector, err);
	}
	for (uint32_t i = 0; result == 0 && i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		bool matches = object->kind == BT_KIND_NODE &&
			(is_there == NULL || is_there(context, i)) &&
			(by_labels ? bt_selector_matches(&selector, &object->object->meta->labels)
				   : bt_str_matches_pattern(object->name, reference));
		selected[i] = selected[i] || matches;
		count += matches;
	}
	bt_arena_finish(&arena);
	return result < 0 ? result : count;
}

#define WORDS_MAX 5

/** Kinds with the names that kubectl accepts. */
static const struct {
	enum bt_kind kind;
	const char *words[WORDS_MAX]; /* NULL after the last name */
} kind_words[] = {
	{BT_KIND_POD, {"pod", "pods", "po"}},
	{BT_KIND_DEPLOYMENT,
		{"deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"}},
	{BT_KIND_STATEFUL_SET,
		{"statefulset", "statefulsets", "sts", "statefulset.apps", "statefulsets.apps"}},
	{BT_KIND_DAEMON_SET,
		{"daemonset", "daemonsets", "ds", "daemonset.apps", "daemonsets.apps"}},
	{BT_KIND_REPLICA_SET,
		{"replicaset", "replicasets", "rs", "replicaset.apps", "replicasets.apps"}},
	{BT_KIND_REPLICATION_CONTROLLER, {"replicationcontroller", "replicationcontrollers", "rc"}},
	{BT_KIND_JOB, {"job", "jobs", "job.batch", "jobs.batch"}},
	{BT_KIND_CRON_JOB, {"cronjob", "cronjobs", "cj", "cronjob.batch", "cronjobs.batch"}},
	{BT_KIND_POD_GROUP,
		{"podgroup", "podgroups", "podgroup.scheduling.k8s.io",
			"podgroups.scheduling.k8s.io"}},
};

#define PARTS_MAX 3

static int wrong_argument(const char *argument, const char *what, struct berth_error *err)
{
	return bt_text_error(err, BERTH_ERR_INVALID, "%p: %c",
		bt_str_sub(bt_str_from(argument), 0, BT_MANIFESTS_NAME_BYTES_MAX), what);
}

bool bt_pod_reference_find_kind(struct bt_str word, enum bt_kind *out_kind)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kind_words); i++) {
		const char *const *words = kind_words[i].words;
		for (size_t k = 0; k < WORDS_MAX && words[k] != NULL; k++) {
			if (bt_str_equal_without_case(word, bt_str_from(words[k]))) {
				*out_kind = kind_words[i].kind;
				return true;
			}
		}
	}
	return false;
}

int bt_pod_reference_parse(const char *argument, const char *namespace_,
	struct bt_pod_reference *out, struct berth_error *err)
{
	struct bt_str parts[PARTS_MAX];
	uint32_t count = 0;
	struct bt_str rest = bt_str_from(argument);
	struct bt_str named = BT_STR("");
	bool empty_part = false;
	*out = (struct bt_pod_reference){.kind = BT_KIND_POD};
	while (rest.data != NULL && count < PARTS_MAX) {
		parts[count] = bt_str_cut(&rest, '/');
		empty_part = empty_part || parts[count++].length == 0;
	}
	if (empty_part || rest.data != NULL) {
		return wrong_argument(argument,
			"write NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME", err);
	}
	out->name = parts[count - 1];
	if (count == PARTS_MAX) {
		if (!bt_pod_reference_find_kind(parts[0], &out->kind)) {
			struct bt_str word = parts[0];
			const char *words[BT_ARRAY_LENGTH(kind_words) * WORDS_MAX];
			uint32_t word_count = 0;
			for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
				words[word_count] = kind_words[i / WORDS_MAX].words[i % WORDS_MAX];
				word_count += words[word_count] != NULL;
			}
			struct bt_strbuf text = {0};
			bt_printable_append(
				&text, bt_str_sub(word, 0, BT_MANIFESTS_NAME_BYTES_MAX));
			const char *close = bt_suggest(bt_strbuf_c(&text), words, word_count);
			bt_strbuf_append_c(&text, " is no kind that has pods");
			if (close != NULL) {
				bt_strbuf_printf(&text, "; did you mean %s?", close);
			} else {
				bt_strbuf_append_c(&text,
					": use pod, deployment, statefulset, daemonset, "
					"replicaset, "
					"replicationcontroller, job, cronjob or podgroup");
			}
			return bt_error_take(err, BERTH_ERR_INVALID, &text);
		}
		named = parts[1];
	} else if (count == 2) {
		if (!bt_pod_reference_find_kind(parts[0], &out->kind)) {
			named = parts[0];
		} else if (namespace_ == NULL) {
			out->other_namespace = parts[0];
		}
	}
	/* The flag and the argument must not name two namespaces. */
	if (namespace_ != NULL && named.length != 0 && !bt_str_equal_c(named, namespace_)) {
		return wrong_argument(
			argument, "names another namespace than --namespace does", err);
	}
	out->namespace_ =
		named.length != 0 ? named : bt_str_from(namespace_ != NULL ? namespace_ : "");
	return 0;
}

/** Maximum number of names that are compared for a suggestion. */
#define NAMES_COMPARED 10000

const char *bt_manifests_suggest(const struct bt_manifests *cluster, enum bt_kind kind,
	const struct bt_str *namespace_, struct bt_str name,
	bool (*is_there)(const void *context, uint32_t index), const void *context,
	struct bt_arena *arena)
{
	BT_VEC(const char *) names = {0};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind == kind && names.count < NAMES_COMPARED &&
			(namespace_ == NULL || bt_str_equal(object->namespace_, *namespace_)) &&
			(is_there == NULL || is_there(context, i))) {
			bt_vec_push(&names,
				bt_arena_printf(arena, "%.*s", BT_STR_ARG(object->name)).data);
		}
	}
	struct bt_str given = bt_arena_printf(arena, "%.*s", BT_STR_ARG(name));
	const char *near = bt_suggest(given.data, names.items, names.count);
	bt_vec_finish(&names);
	return near;
}
