/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rbac.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/text_set.h"
#include "base/vec.h"
#include "server/rbac_private.h"

/** --- the index --- */

enum record_kind {
	RECORD_CLUSTER_ROLE,
	RECORD_ROLE,
	RECORD_CLUSTER_BINDING,
	RECORD_BINDING,
	RECORD_KIND_COUNT,
};

static const char *const resources_by_kind[RECORD_KIND_COUNT] = {
	"clusterroles", "roles", "clusterrolebindings", "rolebindings"};

struct subject {
	enum subject_kind { SUBJECT_USER, SUBJECT_GROUP, SUBJECT_ACCOUNT } kind;
	struct bt_str text;  /* name of the user or group; for a ServiceAccount its user name */
	struct bt_str shown; /* name in messages */
};

/** A compiled Role, ClusterRole, RoleBinding or ClusterRoleBinding. */
struct record {
	enum record_kind kind;
	struct bt_str key; /* "ns/name" or "name" */
	struct bt_arena arena;
	struct bt_policy_rule *rules; /* rules of a role; NULL for a binding */
	uint32_t rule_count;
	struct subject *subjects; /* subjects of a binding; NULL for a role */
	uint32_t subject_count;
	enum record_kind role_kind;
	struct bt_str role_key;
	struct bt_str role_name;
};

/**
 * Entry of bt_rbac.by_subject: the index of a binding in `records`, and the index of a subject in
 * the binding's `subjects`.
 */
struct link {
	uint32_t record;
	uint32_t subject;
};

struct bt_rbac {
	struct bt_store *store;
	uint32_t collections[RECORD_KIND_COUNT];
	BT_VEC(struct record *) records; /* NULL: a free slot */
	BT_VEC(uint32_t) free_records;
	BT_VEC(struct link) links;
	BT_VEC(uint32_t) free_links;
	struct bt_map by_key;     /* key -> record */
	struct bt_map by_subject; /* binding's namespace and subject -> link */
};

static uint64_t hash_key(enum record_kind kind, struct bt_str key)
{
	return bt_hash_bytes(key.data, key.length, (uint64_t)kind + 1);
}

/** Hashes the key of a subject. A ServiceAccount has the key of its user name. */
static uint64_t hash_subject(struct bt_str namespace_, bool is_group, struct bt_str text)
{
	uint64_t hash = bt_hash_bytes(namespace_.data, namespace_.length, is_group ? 2 : 1);
	return bt_hash_bytes(text.data, text.length, hash);
}

/** Returns the hash in by_subject of a binding's subject. `index`: the subject in the binding. */
static uint64_t hash_link(const struct record *record, uint32_t index)
{
	const struct subject *subject = &record->subjects[index];
	return hash_subject(
		bt_key_namespace(record->key), subject->kind == SUBJECT_GROUP, subject->text);
}

static uint32_t find_record(const struct bt_rbac *rbac, enum record_kind kind, struct bt_str key)
{
	BT_MAP_EACH (&rbac->by_key, hash_key(kind, key), index) {
		const struct record *record = rbac->records.items[index];
		if (record->kind == kind && bt_str_equal(record->key, key)) {
			return index;
		}
	}
	return UINT32_MAX;
}

static struct bt_text_list text_list(
	struct bt_arena *arena, const struct bt_json_value *object, const char *name)
{
	const struct bt_json_value *array = bt_json_array_at(object, name);
	struct bt_str *items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, array->count);
	struct bt_text_list list = {.items = items};
	for (uint32_t i = 0; i < array->count; i++) {
		if (array->elements[i]->type == BT_JSON_STRING) {
			items[list.count++] = array->elements[i]->text;
		}
	}
	return list;
}

struct bt_policy_rule *bt_rbac_compile_rules(
	const struct bt_json_value *role, struct bt_arena *arena, uint32_t *out_count)
{
	const struct bt_json_value *array = bt_json_array_at(role, "rules");
	struct bt_policy_rule *rules =
		BT_ARENA_NEW_ARRAY(arena, struct bt_policy_rule, array->count);
	for (uint32_t i = 0; i < array->count; i++) {
		const struct bt_json_value *rule = array->elements[i];
		rules[i] = (struct bt_policy_rule){
			.verbs = text_list(arena, rule, "verbs"),
			.groups = text_list(arena, rule, "apiGroups"),
			.resources = text_list(arena, rule, "resources"),
			.names = text_list(arena, rule, "resourceNames"),
			.paths = text_list(arena, rule, "nonResourceURLs"),
		};
	}
	*out_count = array->count;
	return rules;
}

struct bt_str bt_account_user_name(
	struct bt_arena *arena, struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(
		arena, "system:serviceaccount:%.*s:%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
}

static void compile_binding(struct record *record, const struct bt_json_value *object)
{
	struct bt_arena *arena = &record->arena;
	const struct bt_json_value *subjects = bt_json_array_at(object, "subjects");
	struct bt_str namespace_ = bt_key_namespace(record->key);
	struct bt_text_set seen[2] = {0}; /* users, groups */
	record->subjects = BT_ARENA_NEW_ARRAY(arena, struct subject, subjects->count);
	for (uint32_t i = 0; i < subjects->count; i++) {
		struct subject *subject = &record->subjects[record->subject_count];
		struct bt_str kind = bt_json_text_at(subjects->elements[i], "kind");
		struct bt_str name = bt_json_text_at(subjects->elements[i], "name");
		*subject = (struct subject){.text = name, .shown = name};
		if (bt_str_equal_c(kind, "User")) {
			subject->kind = SUBJECT_USER;
		} else if (bt_str_equal_c(kind, "Group")) {
			subject->kind = SUBJECT_GROUP;
		} else if (bt_str_equal_c(kind, "ServiceAccount")) {
			struct bt_str own = bt_json_text_at(subjects->elements[i], "namespace");
			own = own.length != 0 ? own : namespace_;
			if (own.length == 0) {
				continue;
			}
			subject->kind = SUBJECT_ACCOUNT;
			subject->text = bt_account_user_name(arena, own, name);
			subject->shown = bt_arena_printf(
				arena, "%.*s/%.*s", BT_STR_ARG(name), BT_STR_ARG(own));
		} else {
			continue;
		}
		/* Repeated subjects would make the search for each link take longer. */
		if (bt_text_set_add(&seen[subject->kind == SUBJECT_GROUP], subject->text)) {
			record->subject_count++;
		}
	}
	bt_text_set_finish(&seen[0]);
	bt_text_set_finish(&seen[1]);
	bool is_cluster_role =
		bt_str_equal_c(bt_json_text_at(object, "roleRef.kind"), "ClusterRole");
	record->role_name = bt_json_text_at(object, "roleRef.name");
	record->role_kind = is_cluster_role ? RECORD_CLUSTER_ROLE : RECORD_ROLE;
	record->role_key = is_cluster_role ? record->role_name
					   : bt_api_key(arena, namespace_, record->role_name);
}

static void add_record(struct bt_rbac *rbac, enum record_kind kind, const struct bt_stored *stored)
{
	struct record *record = BT_NEW(struct record);
	struct bt_json_value *object;
	uint32_t index;
	record->kind = kind;
	bt_arena_init(&record->arena, 512);
	record->key = bt_arena_str(&record->arena, bt_stored_key(stored));
	int result = bt_json_parse(&record->arena, bt_stored_text(stored), true, &object, NULL);
	BT_ASSERT(result == 0); /* the store's texts are JSON */
	if (kind == RECORD_CLUSTER_ROLE || kind == RECORD_ROLE) {
		record->rules = bt_rbac_compile_rules(object, &record->arena, &record->rule_count);
	} else {
		compile_binding(record, object);
	}
	bt_vec_store(&rbac->records, &rbac->free_records, record, index);
	bt_map_insert(&rbac->by_key, hash_key(kind, record->key), index);
	for (uint32_t i = 0; i < record->subject_count; i++) {
		struct link link = {index, i};
		uint32_t at;
		bt_vec_store(&rbac->links, &rbac->free_links, link, at);
		bt_map_insert(&rbac->by_subject, hash_link(record, i), at);
	}
}

static void free_record(struct record *record)
{
	if (record != NULL) {
		bt_arena_finish(&record->arena);
		bt_free(record);
	}
}

static void remove_record(struct bt_rbac *rbac, uint32_t index)
{
	struct record *record = rbac->records.items[index];
	for (uint32_t i = 0; i < record->subject_count; i++) {
		uint64_t hash = hash_link(record, i);
		uint32_t found = UINT32_MAX;
		BT_MAP_EACH (&rbac->by_subject, hash, at) {
			const struct link *link = &rbac->links.items[at];
			if (link->record == index && link->subject == i) {
				found = at;
				break;
			}
		}
		(void)bt_map_remove(&rbac->by_subject, hash, found); /* every link is in the map */
		bt_vec_push(&rbac->free_links, found);
	}
	(void)bt_map_remove(&rbac->by_key, hash_key(record->kind, record->key), index);
	rbac->records.items[index] = NULL;
	bt_vec_push(&rbac->free_records, index);
	free_record(record);
}

static void record_change(void *context, const struct bt_store_change *change)
{
	struct bt_rbac *rbac = context;
	for (uint32_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
		if (rbac->collections[kind] != change->collection) {
			continue;
		}
		uint32_t index =
			find_record(rbac, (enum record_kind)kind, bt_stored_key(change->after));
		if (index != UINT32_MAX) {
			remove_record(rbac, index);
		}
		if (change->type != BT_CHANGE_DELETED) {
			add_record(rbac, (enum record_kind)kind, change->after);
		}
	}
}

struct bt_rbac *bt_rbac_create(struct bt_api *api)
{
	struct bt_rbac *rbac = BT_NEW(struct bt_rbac);
	rbac->store = bt_api_store(api);
	for (uint32_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
		rbac->collections[kind] = bt_resources_builtin(
			bt_api_resources(api), "rbac.authorization.k8s.io", resources_by_kind[kind])
						  ->collection;
		BT_STORE_EACH (stored, rbac->store, rbac->collections[kind], BT_STR("")) {
			add_record(rbac, (enum record_kind)kind, stored);
		}
	}
	bt_store_on_change(rbac->store, record_change, rbac);
	return rbac;
}

void bt_rbac_destroy(struct bt_rbac *rbac)
{
	if (rbac == NULL) {
		return;
	}
	bt_store_off_change(rbac->store, rbac);
	bt_vec_finish_each(&rbac->records, free_record(*each));
	bt_vec_finish(&rbac->free_records);
	bt_vec_finish(&rbac->links);
	bt_vec_finish(&rbac->free_links);
	bt_map_finish(&rbac->by_key);
	bt_map_finish(&rbac->by_subject);
	bt_free(rbac);
}

/** --- the bindings of a user --- */

/** A binding that names the user or one of its groups, in the namespace or cluster-wide. */
struct match {
	const struct record *binding;
	const struct subject *subject;
	const struct record *role; /* NULL: the role does not exist */
};

struct matches {
	struct match *items;
	uint32_t count;
	uint32_t capacity;
};

static void add_matches(const struct bt_rbac *rbac, struct bt_str namespace_, bool is_group,
	struct bt_str text, struct bt_arena *arena, struct matches *out)
{
	BT_MAP_EACH (&rbac->by_subject, hash_subject(namespace_, is_group, text), at) {
		const struct link *link = &rbac->links.items[at];
		const struct record *binding = rbac->records.items[link->record];
		const struct subject *subject = &binding->subjects[link->subject];
		if ((subject->kind == SUBJECT_GROUP) != is_group ||
			!bt_str_equal(subject->text, text) ||
			!bt_str_equal(bt_key_namespace(binding->key), namespace_)) {
			continue;
		}
		uint32_t role = find_record(rbac, binding->role_kind, binding->role_key);
		const struct match match = {
			binding, subject, role == UINT32_MAX ? NULL : rbac->records.items[role]};
		bt_arena_push(arena, out, match);
	}
}

BT_COMPARE(compare_matches, struct match,
	BT_ORDER_BY(BT_ORDER(a->binding->kind, b->binding->kind),
		bt_str_compare(a->binding->key, b->binding->key), BT_ORDER(a->subject, b->subject)))

/**
 * Finds the bindings of the user and its groups, cluster-wide and in the namespace. `sorted` true:
 * cluster bindings come first, and each kind is sorted by name, so that messages do not depend on
 * the order in the map.
 */
static struct matches find_matches(struct bt_rbac *rbac, const struct bt_user *user,
	struct bt_str namespace_, bool sorted, struct bt_arena *arena)
{
	struct matches matches = {0};
	for (int scope = 0; scope < (namespace_.length != 0 ? 2 : 1); scope++) {
		struct bt_str in = scope == 0 ? BT_STR("") : namespace_;
		add_matches(rbac, in, false, user->name, arena, &matches);
		for (uint32_t i = 0; i < user->group_count; i++) {
			add_matches(rbac, in, true, user->groups[i], arena, &matches);
		}
	}
	if (sorted && matches.count > 1) {
		qsort(matches.items, matches.count, sizeof(*matches.items), compare_matches);
	}
	return matches;
}

/** --- decisions --- */

bool bt_user_has_group(const struct bt_user *user, const char *group)
{
	for (uint32_t i = 0; i < user->group_count; i++) {
		if (bt_str_equal_c(user->groups[i], group)) {
			return true;
		}
	}
	return false;
}

static bool list_has(const struct bt_text_list *list, struct bt_str text)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_str_equal_c(list->items[i], "*") || bt_str_equal(list->items[i], text)) {
			return true;
		}
	}
	return false;
}

bool bt_policy_rule_allows(const struct bt_policy_rule *rule, const struct bt_access *access)
{
	if (!list_has(&rule->verbs, access->verb)) {
		return false;
	}
	if (access->is_path) {
		for (uint32_t i = 0; i < rule->paths.count; i++) {
			struct bt_str item = rule->paths.items[i];
			if (bt_str_equal(item, access->path) ||
				(item.length != 0 && item.data[item.length - 1] == '*' &&
					bt_str_has_prefix(access->path,
						bt_str_sub(item, 0, item.length - 1)))) {
				return true;
			}
		}
		return false;
	}
	bool names_match = rule->names.count == 0 ||
		bt_str_is_among(access->name, rule->names.items, rule->names.count);
	if (!names_match || !list_has(&rule->groups, access->group)) {
		return false;
	}
	/* Entries are "*", "pods", "pods/log", or "*" with "/log": the log of all resources. */
	for (uint32_t i = 0; i < rule->resources.count; i++) {
		struct bt_str item = rule->resources.items[i];
		if (bt_str_equal_c(item, "*")) {
			return true;
		}
		struct bt_str part = bt_str_cut(&item, '/');
		bool has_slash = item.data != NULL; /* "pods/" matches nothing */
		if (has_slash == (access->subresource.length != 0) &&
			bt_str_equal(item, access->subresource) &&
			(bt_str_equal(part, access->resource) ||
				(access->subresource.length != 0 && bt_str_equal_c(part, "*")))) {
			return true;
		}
	}
	return false;
}

static struct bt_str allowed_by(const struct match *match, struct bt_arena *arena)
{
	static const char *const kinds[] = {"User", "Group", "ServiceAccount"};
	struct bt_str namespace_ = bt_key_namespace(match->binding->key);
	return bt_arena_printf(arena,
		"RBAC: allowed by %s \"%.*s%s%.*s\" of %s \"%.*s\" to %s \"%.*s\"",
		match->binding->kind == RECORD_BINDING ? "RoleBinding" : "ClusterRoleBinding",
		BT_STR_ARG(bt_key_name(match->binding->key)), namespace_.length != 0 ? "/" : "",
		BT_STR_ARG(namespace_), match->role->kind == RECORD_ROLE ? "Role" : "ClusterRole",
		BT_STR_ARG(match->binding->role_name), kinds[match->subject->kind],
		BT_STR_ARG(match->subject->shown));
}

/**
 * Returns the text "clusterrole.rbac.authorization.k8s.io \"x\" not found", or several such texts
 * in brackets; "" if no role is missing.
 */
static struct bt_str missing_roles(const struct matches *matches, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < matches->count; i++) {
		const struct match *match = &matches->items[i];
		if (match->role == NULL && text.length < 2048) {
			bt_strbuf_printf(&text, "%s%s.rbac.authorization.k8s.io \"%.*s\" not found",
				count++ != 0 ? ", " : "",
				match->binding->role_kind == RECORD_ROLE ? "role" : "clusterrole",
				BT_STR_ARG(match->binding->role_name));
		}
	}
	struct bt_str result = bt_arena_printf(
		arena, count > 1 ? "[%.*s]" : "%.*s", BT_STR_ARG(bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	return result;
}

bool bt_api_authorize(struct bt_api *api, const struct bt_access *access, struct bt_arena *arena,
	struct bt_str *out_reason)
{
	struct bt_rbac *rbac = api->rbac;
	if (out_reason != NULL) {
		*out_reason = BT_STR("");
	}
	if (rbac == NULL || bt_user_has_group(access->user, "system:masters")) {
		return true;
	}
	if (bt_node_authorize(api, access, arena, out_reason)) {
		return true;
	}
	struct matches matches = find_matches(rbac, access->user,
		access->is_path ? BT_STR("") : access->namespace_, out_reason != NULL, arena);
	for (uint32_t i = 0; i < matches.count; i++) {
		const struct record *role = matches.items[i].role;
		for (uint32_t j = 0; role != NULL && j < role->rule_count; j++) {
			if (bt_policy_rule_allows(&role->rules[j], access)) {
				if (out_reason != NULL) {
					*out_reason = allowed_by(&matches.items[i], arena);
				}
				return true;
			}
		}
	}
	if (out_reason != NULL) {
		struct bt_str missing = missing_roles(&matches, arena);
		if (missing.length != 0 && out_reason->length == 0) {
			*out_reason = bt_arena_printf(arena, "RBAC: %.*s", BT_STR_ARG(missing));
		}
	}
	return false;
}

void bt_rbac_forbid(const struct bt_access *access, struct bt_str reason, struct bt_arena *arena,
	struct bt_failure *out_failure)
{
	struct bt_str name = bt_str_sub(access->name, 0, 512);
	struct bt_strbuf text = {0};
	if (access->is_path) {
		struct bt_str path = bt_str_sub(access->path, 0, 1024);
		bt_strbuf_printf(&text, "forbidden: User \"%.*s\" cannot %.*s path \"%.*s\"",
			BT_STR_ARG(access->user->name), BT_STR_ARG(access->verb), BT_STR_ARG(path));
	} else {
		bt_strbuf_append_str(&text, access->resource);
		if (access->group.length != 0) {
			bt_strbuf_printf(&text, ".%.*s", BT_STR_ARG(access->group));
		}
		if (name.length != 0) {
			bt_strbuf_printf(&text, " \"%.*s\"", BT_STR_ARG(name));
		}
		bt_strbuf_printf(&text,
			" is forbidden: User \"%.*s\" cannot %.*s resource \"%.*s%s%.*s\" in API "
			"group \"%.*s\" ",
			BT_STR_ARG(access->user->name), BT_STR_ARG(access->verb),
			BT_STR_ARG(access->resource), access->subresource.length != 0 ? "/" : "",
			BT_STR_ARG(access->subresource), BT_STR_ARG(access->group));
		if (access->namespace_.length != 0) {
			bt_strbuf_printf(
				&text, "in the namespace \"%.*s\"", BT_STR_ARG(access->namespace_));
		} else {
			bt_strbuf_append_c(&text, "at the cluster scope");
		}
	}
	if (reason.length != 0) {
		bt_strbuf_printf(&text, ": %.*s", BT_STR_ARG(reason));
	}
	(void)bt_fail(
		out_failure, arena, 403, "Forbidden", "%.*s", BT_STR_ARG(bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	if (!access->is_path) {
		out_failure->name = name;
		out_failure->group = access->group;
		out_failure->kind = access->resource;
	}
}

/** --- rules of a user --- */

struct bt_policy_rule *bt_rbac_rules_of(struct bt_rbac *rbac, const struct bt_user *user,
	struct bt_str namespace_, struct bt_arena *arena, uint32_t *out_count,
	struct bt_str *out_problems)
{
	struct matches matches = find_matches(rbac, user, namespace_, true, arena);
	size_t count = 0;
	for (uint32_t i = 0; i < matches.count; i++) {
		count += matches.items[i].role != NULL ? matches.items[i].role->rule_count : 0;
	}
	struct bt_policy_rule *rules = BT_ARENA_NEW_ARRAY(arena, struct bt_policy_rule, count);
	*out_count = 0;
	for (uint32_t i = 0; i < matches.count; i++) {
		const struct record *role = matches.items[i].role;
		for (uint32_t j = 0; role != NULL && j < role->rule_count; j++) {
			rules[(*out_count)++] = role->rules[j];
		}
	}
	*out_problems = missing_roles(&matches, arena);
	return rules;
}

bool bt_rbac_role_rules(struct bt_rbac *rbac, struct bt_str namespace_, bool is_cluster_role,
	struct bt_str name, struct bt_arena *arena, const struct bt_policy_rule **out_rules,
	uint32_t *out_count)
{
	uint32_t index = find_record(rbac, is_cluster_role ? RECORD_CLUSTER_ROLE : RECORD_ROLE,
		is_cluster_role ? name : bt_api_key(arena, namespace_, name));
	if (index == UINT32_MAX) {
		return false;
	}
	*out_rules = rbac->records.items[index]->rules;
	*out_count = rbac->records.items[index]->rule_count;
	return true;
}

static void add_list(struct bt_arena *arena, struct bt_json_value *rule, const char *name,
	const struct bt_text_list *list)
{
	if (list->count == 0) {
		return;
	}
	struct bt_json_value *array = bt_json_ensure_array(arena, rule, name);
	for (uint32_t i = 0; i < list->count; i++) {
		bt_json_append(
			arena, array, bt_json_new_str(arena, bt_arena_str(arena, list->items[i])));
	}
}

void bt_api_rules_of(struct bt_api *api, const struct bt_user *user, struct bt_str namespace_,
	struct bt_arena *arena, struct bt_json_value **out_resource_rules,
	struct bt_json_value **out_other_rules, struct bt_str *out_problems)
{
	static const struct bt_str star[] = {BT_STR_INIT("*")};
	static const struct bt_text_list all = {star, 1};
	const struct bt_policy_rule everything[] = {
		{.verbs = all, .groups = all, .resources = all}, {.verbs = all, .paths = all}};
	const struct bt_policy_rule *rules = everything;
	uint32_t count = BT_ARRAY_LENGTH(everything);
	*out_resource_rules = bt_json_new(arena, BT_JSON_ARRAY);
	*out_other_rules = bt_json_new(arena, BT_JSON_ARRAY);
	*out_problems = BT_STR("");
	if (api->rbac != NULL && !bt_user_has_group(user, "system:masters")) {
		rules = bt_rbac_rules_of(api->rbac, user, namespace_, arena, &count, out_problems);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_json_value *rule = bt_json_new(arena, BT_JSON_OBJECT);
		add_list(arena, rule, "verbs", &rules[i].verbs);
		if (rules[i].resources.count != 0) {
			add_list(arena, rule, "apiGroups", &rules[i].groups);
			add_list(arena, rule, "resources", &rules[i].resources);
			add_list(arena, rule, "resourceNames", &rules[i].names);
			bt_json_append(arena, *out_resource_rules, rule);
		} else {
			add_list(arena, rule, "nonResourceURLs", &rules[i].paths);
			bt_json_append(arena, *out_other_rules, rule);
		}
	}
}
