/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"

#include <stdlib.h>

/* LimitRanger: the limits of type Container of a namespace. Spec: 14b section 4.2. */

static const struct {
	const char *name;
	const char *title;
} container_lists[] = {
	{"containers", "container"},
	{"initContainers", "init container"},
};

#define LIST_COUNT (sizeof(container_lists) / sizeof(container_lists[0]))

struct visit {
	struct bt_admission *admission;
	struct bt_json_value *pod;             /* gets the defaults */
	const struct bt_json_value *validated; /* is checked */
	struct bt_json_value *notes;           /* texts of the annotation, an array */
	struct bt_strbuf errors;
	uint32_t error_count;
};

/** Sets the missing defaults of a container; adds "cpu, memory limit for container c" to notes. */
static void set_defaults_of(struct visit *visit, struct bt_json_value *container, const char *which,
	const char *title, const struct bt_json_value *defaults)
{
	struct bt_arena *arena = visit->admission->write->arena;
	struct bt_strbuf names = {0};
	if (defaults == NULL || defaults->count == 0 || defaults->count > BT_KINDS_RESOURCES_MAX) {
		return;
	}
	struct bt_json_value *sorted = bt_json_clone(arena, defaults, true);
	qsort(sorted->members, sorted->count, sizeof(*sorted->members), bt_str_compare_qsort);
	struct bt_json_value *list = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, container, "resources"), which);
	for (uint32_t i = 0; i < sorted->count; i++) {
		const struct bt_json_member *member = &sorted->members[i];
		if (bt_json_get(list, member->name) == NULL) {
			bt_json_set(arena, list, member->name, member->value);
			bt_strbuf_printf(&names, "%s%.*s", names.length != 0 ? ", " : "",
				BT_STR_ARG(member->name));
		}
	}
	if (names.length != 0) {
		bool is_limit = strcmp(which, "limits") == 0;
		struct bt_str note = bt_arena_printf(arena, "%s %s for %s %.*s",
			bt_strbuf_c(&names), is_limit ? "limit" : "request", title,
			BT_STR_ARG(bt_kinds_text(container, "name")));
		bt_json_append(arena, visit->notes, bt_json_new_str(arena, note));
	}
	bt_strbuf_finish(&names);
}

/** Calls take for each limit of type Container in the range and each container of the pod. */
static void each_limit(struct visit *visit, const struct bt_json_value *range,
	const struct bt_json_value *pod,
	void (*take)(struct visit *visit, struct bt_json_value *container, const char *title,
		const struct bt_json_value *limit))
{
	const struct bt_json_value *limits = bt_json_array_at(range, "spec.limits");
	for (uint32_t i = 0; i < limits->count; i++) {
		const struct bt_json_value *limit = limits->elements[i];
		if (!bt_str_equal_c(bt_kinds_text(limit, "type"), "Container")) {
			continue;
		}
		for (uint32_t n = 0; n < LIST_COUNT; n++) {
			const struct bt_json_value *list = bt_json_array_at(
				bt_json_find(pod, "spec"), container_lists[n].name);
			for (uint32_t c = 0; c < list->count; c++) {
				if (list->elements[c]->type == BT_JSON_OBJECT) {
					take(visit, list->elements[c], container_lists[n].title,
						limit);
				}
			}
		}
	}
}

static void default_container(struct visit *visit, struct bt_json_value *container,
	const char *title, const struct bt_json_value *limit)
{
	set_defaults_of(
		visit, container, "requests", title, bt_kinds_object(limit, "defaultRequest"));
	set_defaults_of(visit, container, "limits", title, bt_kinds_object(limit, "default"));
}

static bool set_defaults(void *context, const struct bt_json_value *range)
{
	struct visit *visit = context;
	each_limit(visit, range, visit->pod, default_container);
	return true;
}

static struct bt_str namespace_prefix(const struct bt_admission *admission)
{
	return bt_arena_printf(
		admission->write->arena, "%.*s/", BT_STR_ARG(admission->write->namespace_));
}

static bool has_ranges(const struct bt_admission *admission)
{
	const struct bt_api_resource *ranges = bt_admission_resource(admission, "", "limitranges");
	return admission->old == NULL && !admission->write->restoring &&
		bt_store_count(bt_api_store(admission->write->api), ranges->collection) != 0;
}

void bt_admission_set_limits(struct bt_admission *admission, struct bt_json_value *pod)
{
	struct bt_arena *arena = admission->write->arena;
	struct visit visit = {.admission = admission, .pod = pod};
	struct bt_strbuf text = {0};
	if (!has_ranges(admission)) {
		return;
	}
	visit.notes = bt_json_new(arena, BT_JSON_ARRAY);
	bt_admission_visit(admission, "", "limitranges", namespace_prefix(admission),
		BT_STR("\"Container\""), set_defaults, &visit);
	if (visit.notes->count == 0) {
		return;
	}
	bt_strbuf_append_c(&text, "LimitRanger plugin set: ");
	for (uint32_t i = 0; i < visit.notes->count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : "; ");
		bt_strbuf_append_str(&text, visit.notes->elements[i]->text);
	}
	bt_json_set_str(arena,
		bt_json_ensure_object(
			arena, bt_json_ensure_object(arena, pod, "metadata"), "annotations"),
		"kubernetes.io/limit-ranger", bt_arena_str(arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
}

/** --- checks --- */

static struct bt_strbuf *next_error(struct visit *visit)
{
	if (visit->error_count++ != 0) {
		bt_strbuf_append_c(&visit->errors, ", ");
	}
	return &visit->errors;
}

/** Errors after this many are not reported. */
#define ERRORS_MAX 50

static void check_bound(struct visit *visit, const struct bt_json_member *bound,
	const struct bt_json_value *requests, const struct bt_json_value *limits, bool is_max)
{
	struct bt_arena *arena = visit->admission->write->arena;
	const struct bt_json_value *request = bt_json_get(requests, bound->name);
	const struct bt_json_value *limit = bt_json_get(limits, bound->name);
	const char *word = is_max ? "maximum" : "minimum";
	struct bt_quantity edge;
	struct bt_quantity value;
	if (!bt_kinds_quantity(bound->value, arena, &edge) || visit->error_count >= ERRORS_MAX) {
		return;
	}
	if ((is_max ? limit : request) == NULL) {
		bt_strbuf_printf(next_error(visit),
			"%s %.*s usage per Container is %.*s.%s No %s is specified", word,
			BT_STR_ARG(bound->name), BT_STR_ARG(bound->value->text), is_max ? "" : " ",
			is_max ? "limit" : "request");
		return;
	}
	/*
	 * The limit is checked against a maximum, the request against a minimum. The other value
	 * needs no check, because a request is at most its limit.
	 */
	const struct bt_json_value *own = is_max ? limit : request;
	if (bt_kinds_quantity(own, arena, &value)) {
		int order = bt_quantity_compare(&value, &edge);
		if (is_max ? order > 0 : order < 0) {
			bt_strbuf_printf(next_error(visit),
				"%s %.*s usage per Container is %.*s, but %s is %.*s", word,
				BT_STR_ARG(bound->name), BT_STR_ARG(bound->value->text),
				is_max ? "limit" : "request", BT_STR_ARG(own->text));
		}
	}
}

static double as_double(const struct bt_quantity *quantity)
{
	return (double)bt_quantity_milli(quantity);
}

static void check_ratio(struct visit *visit, const struct bt_json_member *ratio,
	const struct bt_json_value *requests, const struct bt_json_value *limits)
{
	struct bt_arena *arena = visit->admission->write->arena;
	struct bt_quantity most;
	struct bt_quantity request;
	struct bt_quantity limit;
	if (visit->error_count >= ERRORS_MAX || !bt_kinds_quantity(ratio->value, arena, &most)) {
		return;
	}
	if (!bt_kinds_quantity(bt_json_get(requests, ratio->name), arena, &request) ||
		!bt_kinds_quantity(bt_json_get(limits, ratio->name), arena, &limit) ||
		bt_quantity_is_zero(&request)) {
		bt_strbuf_printf(next_error(visit),
			"%.*s max limit to request ratio per Container is %.*s, but no request is "
			"specified or request is 0",
			BT_STR_ARG(ratio->name), BT_STR_ARG(ratio->value->text));
		return;
	}
	double observed = as_double(&limit) / as_double(&request);
	if (observed > as_double(&most) / 1000) {
		bt_strbuf_printf(next_error(visit),
			"%.*s max limit to request ratio per Container is %.*s, but provided "
			"ratio is %f",
			BT_STR_ARG(ratio->name), BT_STR_ARG(ratio->value->text), observed);
	}
}

static void check_container(struct visit *visit, struct bt_json_value *container, const char *title,
	const struct bt_json_value *limit)
{
	const struct bt_json_value *resources = bt_kinds_object(container, "resources");
	const struct bt_json_value *requests = bt_kinds_object(resources, "requests");
	const struct bt_json_value *limits = bt_kinds_object(resources, "limits");
	const struct bt_json_value *least = bt_json_object_at(limit, "min");
	const struct bt_json_value *most = bt_json_object_at(limit, "max");
	const struct bt_json_value *ratios = bt_json_object_at(limit, "maxLimitRequestRatio");
	(void)title; /* the messages have no container name */
	for (uint32_t i = 0; i < least->count; i++) {
		check_bound(visit, &least->members[i], requests, limits, false);
	}
	for (uint32_t i = 0; i < most->count; i++) {
		check_bound(visit, &most->members[i], requests, limits, true);
	}
	for (uint32_t i = 0; i < ratios->count; i++) {
		check_ratio(visit, &ratios->members[i], requests, limits);
	}
}

static bool check_range(void *context, const struct bt_json_value *range)
{
	struct visit *visit = context;
	each_limit(visit, range, visit->validated, check_container);
	return visit->error_count < ERRORS_MAX;
}

void bt_admission_check_limits(struct bt_admission *admission, const struct bt_json_value *pod)
{
	struct visit visit = {.admission = admission, .validated = pod};
	if (!has_ranges(admission)) {
		return;
	}
	bt_admission_visit(admission, "", "limitranges", namespace_prefix(admission),
		BT_STR("\"Container\""), check_range, &visit);
	if (visit.error_count > 1) {
		bt_admission_refuse(admission, "[%s]", bt_strbuf_c(&visit.errors));
	} else if (visit.error_count == 1) {
		bt_admission_refuse(admission, "%s", bt_strbuf_c(&visit.errors));
	}
	bt_strbuf_finish(&visit.errors);
}
