/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"
#include "server/rbac_private.h"

#define GROUP "rbac.authorization.k8s.io"

enum row_kind { ROW_ROLE, ROW_RULE, ROW_PATHS, ROW_BINDING };

struct row {
	enum row_kind kind;
	const char *texts[6];
};

#define BT_ROLE(...) {ROW_ROLE, {__VA_ARGS__}},
#define BT_RULE(...) {ROW_RULE, {__VA_ARGS__}},
#define BT_PATHS(...) {ROW_PATHS, {__VA_ARGS__}},
#define BT_BINDING(...) {ROW_BINDING, {__VA_ARGS__}},
static const struct row rows[] = {
#include "server/rbac_bootstrap.def"
};
#undef BT_ROLE
#undef BT_RULE
#undef BT_PATHS
#undef BT_BINDING

static void set_words(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *words)
{
	struct bt_str rest = bt_str_from(words);
	while (rest.length != 0) {
		struct bt_str word = bt_str_cut(&rest, ' ');
		bt_json_append(arena, bt_json_ensure_array(arena, object, name),
			bt_json_new_str(arena, bt_str_equal_c(word, "core") ? BT_STR("") : word));
	}
}

static struct bt_json_value *new_object(struct bt_arena *arena, const char *name)
{
	struct bt_json_value *object = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	bt_json_set_c(arena, metadata, "name", name);
	bt_json_set_c(arena, bt_json_ensure_object(arena, metadata, "annotations"),
		GROUP "/autoupdate", "true");
	bt_json_set_c(arena, bt_json_ensure_object(arena, metadata, "labels"),
		"kubernetes.io/bootstrapping", "rbac-defaults");
	return object;
}

/** Makes the role of a row, with the rules in the rows after it. */
static struct bt_json_value *make_role(const struct row *row, struct bt_arena *arena)
{
	struct bt_json_value *role = new_object(arena, row->texts[1]);
	struct bt_json_value *rules = bt_json_ensure_array(arena, role, "rules");
	if (row->texts[2][0] != '\0') {
		bt_json_set_c(arena,
			bt_json_ensure_object(
				arena, bt_json_ensure_object(arena, role, "metadata"), "labels"),
			row->texts[2], "true");
	}
	if (row->texts[3][0] != '\0') {
		struct bt_json_value *aggregation =
			bt_json_ensure_object(arena, role, "aggregationRule");
		struct bt_json_value *selector = bt_json_new(arena, BT_JSON_OBJECT);
		bt_json_set_c(arena, bt_json_ensure_object(arena, selector, "matchLabels"),
			row->texts[3], "true");
		bt_json_append(arena,
			bt_json_ensure_array(arena, aggregation, "clusterRoleSelectors"), selector);
	}
	for (row++; row < rows + BT_ARRAY_LENGTH(rows) &&
		(row->kind == ROW_RULE || row->kind == ROW_PATHS);
		row++) {
		struct bt_json_value *rule = bt_json_new(arena, BT_JSON_OBJECT);
		set_words(arena, rule, "verbs", row->texts[0]);
		if (row->kind == ROW_PATHS) {
			set_words(arena, rule, "nonResourceURLs", row->texts[1]);
		} else {
			set_words(arena, rule, "apiGroups", row->texts[1]);
			set_words(arena, rule, "resources", row->texts[2]);
			set_words(arena, rule, "resourceNames", row->texts[3]);
		}
		bt_json_append(arena, rules, rule);
	}
	return role;
}

static struct bt_json_value *make_binding(const struct row *row, struct bt_arena *arena)
{
	struct bt_json_value *binding = new_object(arena, row->texts[1]);
	struct bt_json_value *reference = bt_json_ensure_object(arena, binding, "roleRef");
	struct bt_str names = bt_str_from(row->texts[5]);
	bt_json_set_c(arena, reference, "apiGroup", GROUP);
	bt_json_set_c(arena, reference, "kind", row->texts[2]);
	bt_json_set_c(arena, reference, "name", row->texts[3]);
	while (names.length != 0) {
		struct bt_str name = bt_str_cut(&names, ' ');
		struct bt_json_value *subject = bt_json_new(arena, BT_JSON_OBJECT);
		bt_json_set_c(arena, subject, "kind", row->texts[4]);
		if (bt_str_equal_c(bt_str_from(row->texts[4]), "ServiceAccount")) {
			bt_json_set_str(arena, subject, "namespace", bt_str_cut(&name, ':'));
		} else {
			bt_json_set_c(arena, subject, "apiGroup", GROUP);
		}
		bt_json_set_str(arena, subject, "name", name);
		bt_json_append(arena, bt_json_ensure_array(arena, binding, "subjects"), subject);
	}
	return binding;
}

void bt_rbac_bootstrap(struct bt_api *api)
{
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		bool is_role = row->kind == ROW_ROLE;
		if (!is_role && row->kind != ROW_BINDING) {
			continue;
		}
		struct bt_str namespace_ = bt_str_from(row->texts[0]);
		const char *resource = is_role ? "roles" : "rolebindings";
		if (namespace_.length == 0) {
			resource = is_role ? "clusterroles" : "clusterrolebindings";
		}
		struct bt_api_request request = BT_API_REQUEST_INIT;
		struct bt_api_answer answer;
		request.verb = BT_VERB_CREATE;
		request.resource = bt_resources_builtin(bt_api_resources(api), GROUP, resource);
		request.namespace_ = namespace_;
		if (bt_store_find(bt_api_store(api), request.resource->collection,
			    bt_api_key(&arena, namespace_, bt_str_from(row->texts[1]))) != NULL) {
			continue;
		}
		request.body = is_role ? make_role(row, &arena) : make_binding(row, &arena);
		bt_api_perform(api, &request, &arena, &answer);
		/* Fails only in a kube-system of a reopened store that is being deleted. */
		BT_ASSERT(answer.code == 201 || namespace_.length != 0);
		bt_api_answer_finish(&answer);
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
}
