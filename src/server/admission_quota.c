/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"

#include <inttypes.h>

#include "base/arena.h"
#include "server/quota.h"
#include "server/write.h"

/*
 * ResourceQuota: each create, and each update of a Service or claim, is checked against the usage
 * of the namespace. The first check of a quota counts all objects. Later checks add only the
 * changes since then, which they read from the store's window. Spec: 14b section 4.11.
 */

/** Separates the name of a storage class from the name of its limited resource. */
#define CLASS_SUFFIX ".storageclass.storage.k8s.io/"

/** Bounds the cached sums: a quota has one sum per resource that it limits. */
#define SUMS_PER_QUOTA_MAX 64

/** The resource of a write, and the amounts of quota that the written object uses. */
struct usage {
	struct bt_admission *admission;
	bool is_pod;
	bool is_claim;
	bool is_service;
	struct bt_str count_name; /* "count/deployments.apps" */
	const struct bt_json_value *object;
	/**
	 * The amounts that `object` uses, by the names of spec.hard; for an update, only the
	 * increase.
	 */
	struct bt_json_value *requested;
};

static void init_usage(struct usage *usage, struct bt_admission *admission)
{
	const struct bt_write *write = admission->write;

	usage->admission = admission;
	usage->is_pod = bt_admission_is(admission, "", "pods");
	usage->is_claim = bt_admission_is(admission, "", "persistentvolumeclaims");
	usage->is_service = bt_admission_is(admission, "", "services");
	usage->count_name = bt_arena_printf(write->arena, "count/%.*s",
		BT_STR_ARG(bt_resource_qualified(write->resource, write->arena)));
}

static void add_one(struct bt_arena *arena, struct bt_json_value *amounts, const char *name)
{
	bt_json_set_c(arena, amounts, name, "1");
}

/**
 * Adds the pod's requests or limits under names such as "requests.cpu". `which`: "requests" or
 * "limits". `plain`: also adds them under names such as "cpu".
 */
static void add_prefixed(struct bt_arena *arena, struct bt_json_value *amounts,
	const struct bt_json_value *spec, const char *which, bool plain)
{
	const struct bt_json_value *sum = bt_kinds_pod_sum(arena, spec, which);
	for (uint32_t i = 0; i < sum->count; i++) {
		const struct bt_json_member *member = &sum->members[i];
		struct bt_json_value *amount = bt_json_new_str(arena, member->value->text);
		bt_json_set(arena, amounts,
			bt_arena_printf(arena, "%s.%.*s", which, BT_STR_ARG(member->name)), amount);
		if (plain) {
			bt_json_set(arena, amounts, member->name, amount);
		}
	}
}

/**
 * Returns the amounts that the object uses, as a JSON object with the names of a quota's spec.hard.
 */
static struct bt_json_value *amounts_of(
	const struct usage *usage, struct bt_arena *arena, const struct bt_json_value *object)
{
	struct bt_json_value *amounts = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set(arena, amounts, usage->count_name, bt_json_new_c(arena, "1"));
	if (usage->is_pod) {
		const struct bt_json_value *spec = bt_json_object_at(object, "spec");
		add_one(arena, amounts, "pods");
		add_prefixed(arena, amounts, spec, "requests", true);
		add_prefixed(arena, amounts, spec, "limits", false);
		return amounts;
	}
	if (usage->admission->write->resource->group[0] == '\0') {
		add_one(arena, amounts, usage->admission->write->resource->name);
	}
	if (usage->is_claim) {
		const struct bt_json_value *storage =
			bt_json_find_path(object, "spec.resources.requests.storage");
		struct bt_str class_ = bt_json_text_at(object, "spec.storageClassName");

		if (storage != NULL) {
			bt_json_set_str(arena, amounts, "requests.storage", storage->text);
		}
		if (class_.length != 0) {
			add_one(arena, amounts,
				bt_arena_printf(arena, "%.*s" CLASS_SUFFIX "persistentvolumeclaims",
					BT_STR_ARG(class_))
					.data);
		}
		if (class_.length != 0 && storage != NULL) {
			bt_json_set_str(arena, amounts,
				bt_arena_printf(arena, "%.*s" CLASS_SUFFIX "requests.storage",
					BT_STR_ARG(class_))
					.data,
				storage->text);
		}
	}
	if (usage->is_service) {
		const struct bt_json_value *spec = bt_json_object_at(object, "spec");
		struct bt_str type = bt_json_text_at(spec, "type");
		bool is_balanced = bt_str_equal_c(type, "LoadBalancer");

		if (is_balanced) {
			add_one(arena, amounts, "services.loadbalancers");
		}
		if (bt_str_equal_c(type, "NodePort") ||
			(is_balanced &&
				bt_json_bool_at(spec, "allocateLoadBalancerNodePorts", true))) {
			bt_json_set_str(arena, amounts, "services.nodeports",
				bt_arena_printf(
					arena, "%" PRIu32, bt_json_array_at(spec, "ports")->count));
		}
	}
	return amounts;
}

/* --- scopes --- */

/**
 * Returns whether the text matches the expression's operator and values. `text` is "" if the object
 * does not have the field.
 */
static bool matches_values(const struct bt_json_value *expression, struct bt_str text)
{
	struct bt_str operator_ = bt_json_text_at(expression, "operator");
	bool found = bt_json_has_text(bt_json_array_at(expression, "values"), text);

	if (bt_str_equal_c(operator_, "In")) {
		return found;
	}
	if (bt_str_equal_c(operator_, "NotIn")) {
		return !found;
	}
	return (text.length != 0) == bt_str_equal_c(operator_, "Exists");
}

/**
 * Returns whether the object is in the scope. expression: the entry of spec.scopeSelector with this
 * scope; NULL: the scope is from spec.scopes.
 */
static bool matches_scope(const struct usage *usage, struct bt_arena *arena, struct bt_str scope,
	const struct bt_json_value *expression, const struct bt_json_value *object)
{
	static const char *const lists[] = {
		"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
		"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
		"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
		"affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution",
	};
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	bool is_terminating = bt_json_int64_at(spec, "activeDeadlineSeconds", -1) >= 0;

	if (bt_str_equal_c(scope, "VolumeAttributesClass")) {
		struct bt_str class_ = bt_json_text_at(spec, "volumeAttributesClassName");

		return usage->is_claim &&
			(expression != NULL ? matches_values(expression, class_)
					    : class_.length != 0);
	}
	if (!usage->is_pod) {
		return false;
	}
	if (bt_str_equal_c(scope, "Terminating")) {
		return is_terminating;
	}
	if (bt_str_equal_c(scope, "NotTerminating")) {
		return !is_terminating;
	}
	if (bt_str_equal_c(scope, "BestEffort") || bt_str_equal_c(scope, "NotBestEffort")) {
		bool is_best_effort = strcmp(bt_kinds_qos_class(arena, spec), "BestEffort") == 0;

		return is_best_effort == bt_str_equal_c(scope, "BestEffort");
	}
	if (bt_str_equal_c(scope, "PriorityClass")) {
		struct bt_str class_ = bt_json_text_at(spec, "priorityClassName");

		return expression != NULL ? matches_values(expression, class_) : class_.length != 0;
	}
	if (!bt_str_equal_c(scope, "CrossNamespacePodAffinity")) {
		return false;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		const struct bt_json_value *terms = bt_json_array_at(spec, lists[i]);

		for (uint32_t n = 0; n < terms->count; n++) {
			const struct bt_json_value *inner =
				bt_json_find(terms->elements[n], "podAffinityTerm");
			const struct bt_json_value *term =
				inner != NULL ? inner : terms->elements[n];

			if (bt_json_array_at(term, "namespaces")->count != 0 ||
				bt_json_find(term, "namespaceSelector") != NULL) {
				return true;
			}
		}
	}
	return false;
}

/** Returns whether all scopes of the quota's spec match. */
static bool matches_scopes(const struct usage *usage, struct bt_arena *arena,
	const struct bt_json_value *quota_spec, const struct bt_json_value *object)
{
	const struct bt_json_value *scopes = bt_json_array_at(quota_spec, "scopes");
	const struct bt_json_value *expressions =
		bt_json_array_at(quota_spec, "scopeSelector.matchExpressions");
	bool matches = true;

	for (uint32_t i = 0; i < scopes->count && matches; i++) {
		matches = matches_scope(usage, arena, scopes->elements[i]->text, NULL, object);
	}
	for (uint32_t i = 0; i < expressions->count && matches; i++) {
		const struct bt_json_value *expression = expressions->elements[i];

		matches = matches_scope(
			usage, arena, bt_json_text_at(expression, "scopeName"), expression, object);
	}
	return matches;
}

/**
 * For each name in `names` that is in both `used` and `amounts`: adds the amount to `used`.
 * `subtracts`: subtracts the amount, because the object was removed.
 */
static void add_amounts(struct bt_arena *arena, struct bt_json_value *used,
	const struct bt_json_value *names, const struct bt_json_value *amounts, bool subtracts)
{
	for (uint32_t i = 0; i < names->count; i++) {
		const struct bt_json_value *more = bt_json_get(amounts, names->members[i].name);
		struct bt_json_value *sum = bt_json_get(used, names->members[i].name);
		struct bt_quantity a;
		struct bt_quantity b;
		if (bt_kinds_quantity(sum, arena, &a) && bt_kinds_quantity(more, arena, &b)) {
			if (subtracts) {
				bt_quantity_sub(&a, &b, arena);
			} else {
				bt_quantity_add(&a, &b, arena);
			}
			sum->text = bt_kinds_quantity_value(&a, arena)->text;
		}
	}
}

/** The usage of one quota by the objects of one resource. */
struct quota_sum {
	char *key; /* key of the quota; owned */
	uint32_t collection;
	struct bt_strbuf spec; /* spec of the quota; a change of it discards the sum */
	struct bt_strbuf used; /* amounts by name, a JSON object */
	uint64_t rv;           /* RV of the last change that `used` includes */
};

struct bt_quota_sums {
	BT_VEC(struct quota_sum) items;
	struct bt_map by_key;
};

static void empty_sums(struct bt_quota_sums *sums)
{
	for (uint32_t i = 0; i < sums->items.count; i++) {
		bt_free(sums->items.items[i].key);
		bt_strbuf_finish(&sums->items.items[i].spec);
		bt_strbuf_finish(&sums->items.items[i].used);
	}
	sums->items.count = 0;
	bt_map_reset(&sums->by_key);
}

void bt_quota_sums_destroy(struct bt_quota_sums *sums)
{
	if (sums != NULL) {
		empty_sums(sums);
		bt_vec_finish(&sums->items);
		bt_map_finish(&sums->by_key);
		bt_free(sums);
	}
}

/**
 * Finds or creates the sum. Drops all sums first if there are too many; most of them then belong to
 * deleted quotas.
 */
static struct quota_sum *find_sum(struct bt_api *api, struct bt_str key, uint32_t collection)
{
	uint64_t hash = bt_hash_u64(bt_str_hash(key), collection);
	struct bt_quota_sums *sums = api->quota_sums;
	if (sums == NULL) {
		sums = api->quota_sums = BT_NEW(struct bt_quota_sums);
	}
	BT_MAP_EACH (&sums->by_key, hash, index) {
		struct quota_sum *sum = &sums->items.items[index];
		if (sum->collection == collection && bt_str_equal_c(key, sum->key)) {
			return sum;
		}
	}
	const struct bt_api_resource *quotas =
		bt_resources_builtin(api->resources, "", "resourcequotas");
	uint64_t quota_count = bt_store_count(api->options.store, quotas->collection);
	if (sums->items.count > SUMS_PER_QUOTA_MAX * quota_count + SUMS_PER_QUOTA_MAX) {
		empty_sums(sums);
	}
	struct quota_sum sum = {.key = bt_strndup(key.data, key.length), .collection = collection};
	bt_vec_push(&sums->items, sum);
	bt_map_insert(&sums->by_key, hash, sums->items.count - 1);
	return &sums->items.items[sums->items.count - 1];
}

static void set_text(struct bt_strbuf *text, const struct bt_json_value *value)
{
	bt_strbuf_reset(text);
	bt_json_format(value, text);
}

/**
 * Adds the amounts of a stored object to `used`, or subtracts them if `is_gone`. Finished pods use
 * nothing.
 */
static void add_stored(const struct usage *usage, const struct bt_json_value *quota_spec,
	const struct bt_stored *stored, bool is_gone, struct bt_json_value *used)
{
	struct bt_str text = bt_stored_text(stored);
	if (usage->is_pod &&
		(bt_str_find(text, BT_STR("\"phase\":\"Succeeded\"")) >= 0 ||
			bt_str_find(text, BT_STR("\"phase\":\"Failed\"")) >= 0)) {
		return;
	}
	struct bt_arena scratch = {0};
	const struct bt_json_value *object = bt_api_parse_stored(stored, &scratch);
	if (matches_scopes(usage, &scratch, quota_spec, object)) {
		add_amounts(usage->admission->write->arena, used,
			bt_json_object_at(quota_spec, "hard"), amounts_of(usage, &scratch, object),
			is_gone);
	}
	bt_arena_finish(&scratch);
}

/**
 * Returns how much of each amount in spec.hard the namespace's stored objects use. Counts only
 * objects of the API resource that the request writes (such as pods). Updates the cached sum and
 * sets *out_sum to it.
 */
static struct bt_json_value *used_of(
	const struct usage *usage, const struct bt_json_value *quota, struct quota_sum **out_sum)
{
	const struct bt_write *write = usage->admission->write;
	struct bt_store *store = bt_api_store(write->api);
	const struct bt_json_value *spec = bt_json_object_at(quota, "spec");
	const struct bt_json_value *hard = bt_json_object_at(spec, "hard");
	uint32_t collection = write->resource->collection;
	struct bt_str prefix = bt_api_key(write->arena, write->namespace_, BT_STR(""));
	struct quota_sum *sum = find_sum(write->api,
		bt_api_key(
			write->arena, write->namespace_, bt_json_text_at(quota, "metadata.name")),
		collection);
	struct bt_strbuf spec_text = {0};
	struct bt_json_value *used;
	set_text(&spec_text, spec);
	if (sum->rv >= bt_store_window_start(store, collection) && sum->rv != 0 &&
		bt_str_equal(bt_strbuf_str(&sum->spec), bt_strbuf_str(&spec_text)) &&
		bt_json_parse(write->arena, bt_strbuf_str(&sum->used), true, &used, NULL) == 0) {
		struct bt_store_change change;
		for (; bt_store_next_change(store, collection, sum->rv, &change);
			sum->rv = change.rv) {
			if (!bt_str_has_prefix(bt_stored_key(change.after), prefix)) {
				continue;
			}
			if (change.before != NULL) {
				add_stored(usage, spec, change.before, true, used);
			}
			if (change.type != BT_CHANGE_DELETED) {
				add_stored(usage, spec, change.after, false, used);
			}
		}
	} else {
		used = bt_json_new(write->arena, BT_JSON_OBJECT);
		for (uint32_t i = 0; i < hard->count; i++) {
			bt_json_set(write->arena, used, hard->members[i].name,
				bt_json_new_c(write->arena, "0"));
		}
		BT_STORE_EACH (stored, store, collection, prefix) {
			add_stored(usage, spec, stored, false, used);
		}
	}
	sum->rv = bt_store_rv(store);
	bt_strbuf_finish(&sum->spec);
	sum->spec = spec_text;
	set_text(&sum->used, used);
	*out_sum = sum;
	return used;
}

static void append_amount(struct bt_strbuf *out, struct bt_str name, struct bt_str amount)
{
	bt_strbuf_printf(out, "%s%.*s=%.*s", out->length != 0 ? "," : "", BT_STR_ARG(name),
		BT_STR_ARG(amount));
}

static void check_quota(const struct usage *usage, const struct bt_json_value *quota)
{
	struct bt_str name = bt_json_text_at(quota, "metadata.name");
	const struct bt_json_value *spec = bt_json_object_at(quota, "spec");
	const struct bt_json_value *hard = bt_json_object_at(spec, "hard");
	struct bt_strbuf missing = {0};
	bool concerns = false;
	if (hard->count > BT_KINDS_RESOURCES_MAX ||
		!matches_scopes(usage, usage->admission->write->arena, spec, usage->object)) {
		return;
	}
	for (uint32_t i = 0; i < hard->count; i++) {
		struct bt_str limited = hard->members[i].name;
		concerns = concerns || bt_json_get(usage->requested, limited) != NULL;
		if (usage->is_pod &&
			bt_str_has_word(BT_STR("cpu memory requests.cpu requests.memory limits.cpu "
		                               "limits.memory"),
				limited) &&
			bt_json_get(usage->requested, limited) == NULL) {
			bt_strbuf_printf(&missing, "%s%.*s", missing.length != 0 ? "," : "",
				BT_STR_ARG(limited));
		}
	}
	if (missing.length != 0) {
		bt_admission_refuse(usage->admission, "failed quota: %.*s: must specify %s",
			BT_STR_ARG(name), bt_strbuf_c(&missing));
	} else if (concerns) {
		struct bt_arena *arena = usage->admission->write->arena;
		struct bt_strbuf requested = {0};
		struct bt_strbuf used_text = {0};
		struct bt_strbuf limited = {0};
		struct quota_sum *sum;
		struct bt_json_value *used = used_of(usage, quota, &sum);
		for (uint32_t i = 0; i < hard->count; i++) {
			struct bt_str resource = hard->members[i].name;
			const struct bt_json_value *wanted =
				bt_json_get(usage->requested, resource);
			const struct bt_json_value *taken = bt_json_get(used, resource);
			struct bt_quantity total;
			struct bt_quantity more;
			struct bt_quantity limit;
			if (!bt_kinds_quantity(wanted, arena, &more) ||
				!bt_kinds_quantity(taken, arena, &total) ||
				!bt_kinds_quantity(hard->members[i].value, arena, &limit)) {
				continue;
			}
			bt_quantity_add(&total, &more, arena);
			if (bt_quantity_compare(&total, &limit) > 0) {
				append_amount(&requested, resource, wanted->text);
				append_amount(&used_text, resource, taken->text);
				append_amount(&limited, resource, hard->members[i].value->text);
			}
		}
		if (requested.length != 0) {
			bt_admission_refuse(usage->admission,
				"exceeded quota: %.*s, requested: %s, used: %s, limited: %s",
				BT_STR_ARG(name), bt_strbuf_c(&requested), bt_strbuf_c(&used_text),
				bt_strbuf_c(&limited));
		}
		bt_strbuf_finish(&requested);
		bt_strbuf_finish(&used_text);
		bt_strbuf_finish(&limited);
	}
	bt_strbuf_finish(&missing);
}

void bt_admission_check_quota(struct bt_admission *admission, const struct bt_json_value *object)
{
	const struct bt_write *write = admission->write;
	struct usage usage = {.object = object};

	if (write->restoring || !write->resource->namespaced) {
		return;
	}
	const struct bt_api_resource *quotas =
		bt_admission_resource(admission, "", "resourcequotas");
	if (bt_store_count(bt_api_store(write->api), quotas->collection) == 0) {
		return;
	}
	init_usage(&usage, admission);
	if (admission->old != NULL && !usage.is_service && !usage.is_claim) {
		return;
	}
	usage.requested = amounts_of(&usage, write->arena, object);
	if (admission->old != NULL) {
		/* An update is checked only for the amounts by which it exceeds the old object. */
		struct bt_json_value *before = amounts_of(&usage, write->arena, admission->old);

		for (uint32_t i = usage.requested->count; i > 0; i--) {
			struct bt_json_member *member = &usage.requested->members[i - 1];
			struct bt_quantity more;
			struct bt_quantity less;

			if (!bt_kinds_quantity(
				    bt_json_get(before, member->name), write->arena, &less) ||
				!bt_kinds_quantity(member->value, write->arena, &more)) {
				continue;
			}
			if (bt_quantity_compare(&more, &less) <= 0) {
				(void)bt_json_remove(usage.requested, member->name);
				continue;
			}
			bt_quantity_sub(&more, &less, write->arena);
			member->value->text = bt_kinds_quantity_value(&more, write->arena)->text;
		}
	}
	const struct bt_json_value *list =
		bt_admission_list(admission, "", "resourcequotas", BT_STR("\"hard\""));
	for (uint32_t i = 0; i < list->count && admission->failure->code == 0; i++) {
		check_quota(&usage, list->elements[i]);
	}
}

struct bt_json_value *bt_quota_used(struct bt_api *api, struct bt_str namespace_,
	const struct bt_json_value *quota, struct bt_arena *arena)
{
	const struct bt_json_value *hard = bt_json_object_at(quota, "spec.hard");
	const struct bt_resources *resources = bt_api_resources(api);
	struct bt_json_value *total = bt_json_new(arena, BT_JSON_OBJECT);

	for (uint32_t i = 0; i < hard->count; i++) {
		bt_json_set(arena, total, hard->members[i].name, bt_json_new_c(arena, "0"));
	}
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		struct bt_write write = {
			.api = api, .arena = arena, .resource = resource, .namespace_ = namespace_};
		struct bt_admission admission = {.write = &write};
		struct usage usage = {.is_pod = false};
		struct quota_sum *sum;

		if (!resource->namespaced ||
			bt_resources_of_collection(resources, resource->collection) != resource) {
			continue;
		}
		init_usage(&usage, &admission);
		bool may_count = bt_json_get(hard, usage.count_name) != NULL ||
			(resource->group[0] == '\0' &&
				bt_json_find(hard, resource->name) != NULL) ||
			(usage.is_service &&
				(bt_json_find(hard, "services.nodeports") != NULL ||
					bt_json_find(hard, "services.loadbalancers") != NULL));
		/* Every name without the prefix "count/" may be a resource of pods. */
		for (uint32_t k = 0; k < hard->count && !may_count; k++) {
			struct bt_str name = hard->members[k].name;
			may_count =
				(usage.is_pod && !bt_str_has_prefix(name, BT_STR("count/"))) ||
				(usage.is_claim &&
					(bt_str_equal_c(name, "requests.storage") ||
						bt_str_find(name, BT_STR(CLASS_SUFFIX)) >= 0));
		}
		if (may_count) {
			add_amounts(arena, total, hard, used_of(&usage, quota, &sum), false);
		}
	}
	return total;
}

bool bt_quota_take(struct bt_api *api, const struct bt_json_value *pod, bool checks,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	const struct bt_write write = {
		.api = api,
		.arena = arena,
		.resource = api->pods,
		.namespace_ = bt_json_text_at(pod, "metadata.namespace"),
		.name = bt_json_text_at(pod, "metadata.name"),
	};
	struct bt_admission admission = {.write = &write, .failure = out_failure};
	struct usage usage = {.object = pod};
	if (checks) {
		bt_admission_check_quota(&admission, pod);
		if (out_failure->code != 0) {
			return false;
		}
	}
	init_usage(&usage, &admission);
	usage.requested = amounts_of(&usage, arena, pod);
	const struct bt_json_value *list =
		bt_admission_list(&admission, "", "resourcequotas", BT_STR("\"hard\""));
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *spec = bt_json_object_at(list->elements[i], "spec");
		const struct bt_json_value *hard = bt_json_object_at(spec, "hard");
		struct quota_sum *sum;
		if (hard->count <= BT_KINDS_RESOURCES_MAX &&
			matches_scopes(&usage, arena, spec, pod)) {
			struct bt_json_value *used = used_of(&usage, list->elements[i], &sum);
			add_amounts(arena, used, hard, usage.requested, false);
			set_text(&sum->used, used);
		}
	}
	return true;
}
