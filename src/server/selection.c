/* SPDX-License-Identifier: Apache-2.0 */
#include "server/selection.h"

#include <stdlib.h>

#include "codec/json.h"
#include "codec/json_edit.h"

/** How the JSON value of a field becomes the text that terms compare. */
enum bt_selection_form {
	BT_SELECTION_TEXT,
	BT_SELECTION_BOOL,   /* "false" when absent */
	BT_SELECTION_NUMBER, /* "0" when absent */
	BT_SELECTION_IPS,    /* [{"ip":".."}], joined by commas */
};

/** All terms on one field. */
struct bt_selection_field {
	const char *path;
	enum bt_selection_form form;
	uint32_t term_count;
	const struct bt_field_term *terms;
};

/**
 * Field labels besides metadata.name and metadata.namespace: spec 14 section 16. Paths are in the
 * stored form; all Events are stored in the form of the core group.
 */
static const struct row {
	const char *group;
	const char *resource;
	const char *labels; /* separated by blanks */
	const char *path;   /* NULL: the label */
	enum bt_selection_form form;
} rows[] = {
	{"", "pods",
		"spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName "
		"status.phase status.podIP status.nominatedNodeName",
		NULL, BT_SELECTION_TEXT},
	{"", "pods", "spec.host", "spec.nodeName", BT_SELECTION_TEXT},
	{"", "pods", "spec.hostNetwork", NULL, BT_SELECTION_BOOL},
	{"", "pods", "status.podIPs", NULL, BT_SELECTION_IPS},
	{"", "nodes", "spec.unschedulable", NULL, BT_SELECTION_BOOL},
	{"", "namespaces", "status.phase", NULL, BT_SELECTION_TEXT},
	{"", "events",
		"involvedObject.kind involvedObject.namespace involvedObject.name "
		"involvedObject.uid involvedObject.apiVersion involvedObject.resourceVersion "
		"involvedObject.fieldPath reason reportingComponent type",
		NULL, BT_SELECTION_TEXT},
	{"", "events", "source", "source.component", BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.kind", "involvedObject.kind", BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.namespace", "involvedObject.namespace",
		BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.name", "involvedObject.name", BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.uid", "involvedObject.uid", BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.apiVersion", "involvedObject.apiVersion",
		BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.resourceVersion", "involvedObject.resourceVersion",
		BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "regarding.fieldPath", "involvedObject.fieldPath",
		BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "reason type", NULL, BT_SELECTION_TEXT},
	{"events.k8s.io", "events", "reportingController", "reportingComponent", BT_SELECTION_TEXT},
	{"", "replicationcontrollers", "status.replicas", NULL, BT_SELECTION_NUMBER},
	{"batch", "jobs", "status.successful", "status.succeeded", BT_SELECTION_NUMBER},
	{"", "secrets", "type", NULL, BT_SELECTION_TEXT},
	{"", "services", "spec.clusterIP spec.type", NULL, BT_SELECTION_TEXT},
	{"resource.k8s.io", "resourceslices", "spec.nodeName spec.driver", NULL, BT_SELECTION_TEXT},
};

static bool is_row_of(const struct row *row, const struct bt_api_resource *resource)
{
	return strcmp(row->resource, resource->name) == 0 &&
		strcmp(row->group, resource->group) == 0;
}

static bool has_rows(const struct bt_api_resource *resource)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (is_row_of(&rows[i], resource)) {
			return true;
		}
	}
	return false;
}

/**
 * Finds where to read the value of a field label: sets the path of *out_field, which is a literal
 * or lives in the arena, or leaves it NULL if the value is a part of the key. Returns false if the
 * resource does not support the label.
 */
static bool find_field(const struct bt_api_resource *resource, struct bt_str label,
	struct bt_arena *arena, struct bt_selection_field *out_field)
{
	/* Cluster-scoped kinds that have entries in `rows` do not support metadata.namespace. */
	if (bt_str_equal(label, BT_STR("metadata.name")) ||
		(bt_str_equal(label, BT_STR("metadata.namespace")) &&
			(resource->namespaced || !has_rows(resource)))) {
		return true;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (is_row_of(&rows[i], resource) &&
			bt_str_has_word(bt_str_from(rows[i].labels), label)) {
			out_field->form = rows[i].form;
			out_field->path = rows[i].path != NULL ? rows[i].path
							       : bt_arena_str(arena, label).data;
			return true;
		}
	}
	/* a definition's selectableFields: [{"jsonPath":".spec.color"}] */
	const struct bt_json_value *fields =
		bt_json_array_at(resource->definition_version, "selectableFields");
	for (uint32_t i = 0; i < fields->count; i++) {
		struct bt_str path = bt_json_find_str(fields->elements[i], "jsonPath");

		if (path.length > 1 && path.data[0] == '.' &&
			bt_str_equal(bt_str_sub(path, 1, path.length), label)) {
			out_field->path = bt_arena_str(arena, label).data;
			return true;
		}
	}
	return false;
}

/** Longest part of an invalid label in a message. */
#define SHOWN_MAX 256

/* --- reading a text --- */

/** Returns the field's value in an object's text, as a text that terms can compare. */
static struct bt_str read_field(struct bt_selection *selection,
	const struct bt_selection_field *field, const struct bt_stored *stored)
{
	struct bt_str text = bt_stored_text(stored);
	const char *path = field->path;
	struct bt_json_reader reader;
	enum bt_json_type type;

	/* Most selected fields are in the status, which is behind the spec. */
	if (stored->status_bytes != 0 && strncmp(path, "status.", 7) == 0) {
		text = bt_str_sub(text, text.length - stored->status_bytes, text.length);
		path += 7;
	}
	bt_json_reader_init(&reader, text);
	if (bt_json_seek(&reader, path) && bt_json_peek(&reader, &type, NULL) == 0) {
		if (type == BT_JSON_STRING &&
			bt_json_read_string(&reader, &selection->scratch, &text, NULL, NULL) == 0) {
			return text;
		}
		if ((type == BT_JSON_BOOL || type == BT_JSON_NUMBER || type == BT_JSON_ARRAY) &&
			bt_json_skip(&reader, &text, NULL) == 0) {
			if (type != BT_JSON_ARRAY) {
				return text;
			}
			struct bt_json_value *list;
			if (field->form == BT_SELECTION_IPS &&
				bt_json_parse(&selection->scratch, text, false, &list, NULL) == 0) {
				struct bt_strbuf joined = {0};
				for (uint32_t i = 0; i < list->count; i++) {
					bt_strbuf_append_c(&joined, i != 0 ? "," : "");
					bt_strbuf_append_str(
						&joined, bt_json_find_str(list->elements[i], "ip"));
				}
				return bt_arena_take_strbuf(&selection->scratch, &joined);
			}
		}
	}
	return field->form == BT_SELECTION_BOOL      ? BT_STR("false")
		: field->form == BT_SELECTION_NUMBER ? BT_STR("0")
						     : BT_STR("");
}

/* --- parsing --- */

static bool parse(struct bt_selection *selection, const struct bt_api_resource *resource,
	struct bt_str labels, struct bt_str fields, struct bt_arena *failure_arena,
	struct bt_failure *out_failure)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_field_selector field_selector = {0};

	if (bt_selector_parse(bt_arena_str(&selection->arena, labels), &selection->arena,
		    &selection->labels, &err) != 0 ||
		bt_field_selector_parse(bt_arena_str(&selection->arena, fields), &selection->arena,
			&field_selector, &err) != 0) {
		(void)bt_fail(out_failure, failure_arena, 400, "BadRequest", "%s",
			berth_error_message(&err));
		berth_error_finish(&err);
		return false;
	}
	if (field_selector.count == 0) {
		return true;
	}
	struct bt_field_term *terms =
		BT_ARENA_NEW_ARRAY(&selection->arena, struct bt_field_term, field_selector.count);
	struct bt_field_term *key_terms =
		BT_ARENA_NEW_ARRAY(&selection->arena, struct bt_field_term, field_selector.count);

	memcpy(terms, field_selector.terms, field_selector.count * sizeof(*terms));
	qsort(terms, field_selector.count, sizeof(*terms), bt_str_compare_qsort);
	selection->fields = BT_ARENA_NEW_ARRAY(
		&selection->arena, struct bt_selection_field, field_selector.count);
	for (uint32_t i = 0; i < field_selector.count; i++) {
		struct bt_selection_field row = {.terms = &terms[i]};

		if (!find_field(resource, terms[i].field, &selection->arena, &row)) {
			struct bt_str shown = bt_str_sub(terms[i].field, 0, SHOWN_MAX);
			const struct bt_json_value *own =
				bt_json_array_at(resource->definition_version, "selectableFields");
			if (has_rows(resource) || own->count != 0) {
				return bt_fail(out_failure, failure_arena, 400, "BadRequest",
					"field label not supported: %.*s", BT_STR_ARG(shown));
			}
			shown = bt_failure_quoted(failure_arena, shown);
			return bt_fail(out_failure, failure_arena, 400, "BadRequest",
				"%.*s is not a known field selector: only "
				"\"metadata.name\", \"metadata.namespace\"",
				BT_STR_ARG(shown));
		}
		if (row.path == NULL) {
			/* A term with "=" limits the keys that are searched. */
			struct bt_str value = terms[i].value;
			key_terms[selection->key_term_count++] = terms[i];
			if (terms[i].negated) {
				continue;
			}
			if (bt_str_equal(terms[i].field, BT_STR("metadata.name"))) {
				selection->nothing |= selection->name.data != NULL &&
					!bt_str_equal(selection->name, value);
				selection->name = value;
			} else if (resource->namespaced && value.length != 0) {
				struct bt_str prefix = bt_arena_printf(
					&selection->arena, "%.*s/", BT_STR_ARG(value));
				selection->nothing |= selection->prefix.length != 0 &&
					!bt_str_equal(selection->prefix, prefix);
				selection->prefix = prefix;
			}
			continue;
		}
		/* Terms are sorted by field. */
		if (i == 0 || !bt_str_equal(terms[i - 1].field, terms[i].field)) {
			selection->fields[selection->field_count++] = row;
		}
		selection->fields[selection->field_count - 1].term_count++;
	}
	selection->key_terms = key_terms;
	return true;
}

bool bt_selection_parse(struct bt_selection *out_selection, const struct bt_api_resource *resource,
	struct bt_str namespace_, struct bt_str labels, struct bt_str fields,
	struct bt_arena *failure_arena, struct bt_failure *out_failure)
{
	struct bt_selection selection = {0};

	if (namespace_.length != 0) {
		selection.prefix =
			bt_arena_printf(&selection.arena, "%.*s/", BT_STR_ARG(namespace_));
	}
	/* No object has a key this long. */
	selection.nothing = selection.prefix.length > BT_STORE_KEY_BYTES_MAX;
	bool is_valid = parse(&selection, resource, labels, fields, failure_arena, out_failure);
	selection.nothing |=
		selection.prefix.length + selection.name.length > BT_STORE_KEY_BYTES_MAX;
	if (selection.nothing) {
		selection.prefix = BT_STR("");
	}
	if (!is_valid) {
		bt_selection_finish(&selection);
		return false;
	}
	*out_selection = selection;
	return true;
}

void bt_selection_finish(struct bt_selection *selection)
{
	bt_arena_finish(&selection->arena);
	bt_arena_finish(&selection->scratch);
	*selection = (struct bt_selection){0};
}

/* --- matching --- */

bool bt_selection_matches(struct bt_selection *selection, const struct bt_stored *stored)
{
	struct bt_str key = bt_stored_key(stored);
	if (selection->nothing || !bt_str_has_prefix(key, selection->prefix)) {
		return false;
	}
	for (uint32_t i = 0; i < selection->key_term_count; i++) {
		const struct bt_field_term *term = &selection->key_terms[i];
		bool is_name = bt_str_equal(term->field, BT_STR("metadata.name"));

		if (!bt_field_term_matches(
			    term, is_name ? bt_key_name(key) : bt_key_namespace(key))) {
			return false;
		}
	}
	bt_arena_reset(&selection->scratch);
	for (uint32_t i = 0; i < selection->field_count; i++) {
		const struct bt_selection_field *field = &selection->fields[i];
		struct bt_str value = read_field(selection, field, stored);

		for (uint32_t k = 0; k < field->term_count; k++) {
			if (!bt_field_term_matches(&field->terms[k], value)) {
				return false;
			}
		}
	}
	if (selection->labels.requirement_count == 0) {
		return true;
	}
	struct bt_json_reader reader;
	struct bt_json_value *labels = NULL;
	struct bt_str text;
	bt_json_reader_init(&reader, bt_stored_text(stored));
	if (bt_json_seek(&reader, "metadata.labels") && bt_json_skip(&reader, &text, NULL) == 0 &&
		bt_json_parse(&selection->scratch, text, false, &labels, NULL) != 0) {
		labels = NULL;
	}
	struct bt_str_map map = bt_str_map_from_json(&selection->scratch, labels);
	return bt_selector_matches(&selection->labels, &map);
}

/* --- texts --- */

struct requirement {
	struct bt_str key; /* first member: compared by qsort */
	struct bt_str text;
};

static struct bt_str expression_text(struct bt_arena *arena, const struct bt_json_value *expression)
{
	struct bt_strbuf text = {0};
	struct bt_str operator_ = bt_json_text_at(expression, "operator");
	const struct bt_json_value *values = bt_json_array_at(expression, "values");
	bool is_in = bt_str_equal_c(operator_, "In");

	bt_strbuf_append_c(&text, bt_str_equal_c(operator_, "DoesNotExist") ? "!" : "");
	bt_strbuf_append_str(&text, bt_json_text_at(expression, "key"));
	if (is_in || bt_str_equal_c(operator_, "NotIn")) {
		struct bt_str *sorted = BT_ARENA_NEW_ARRAY(arena, struct bt_str, values->count);

		for (uint32_t i = 0; i < values->count; i++) {
			sorted[i] = values->elements[i]->text;
		}
		qsort(sorted, values->count, sizeof(*sorted), bt_str_compare_qsort);
		bt_strbuf_append_c(&text, is_in ? " in (" : " notin (");
		for (uint32_t i = 0; i < values->count; i++) {
			bt_strbuf_append_c(&text, i != 0 ? "," : "");
			bt_strbuf_append_str(&text, sorted[i]);
		}
		bt_strbuf_append_char(&text, ')');
	}
	return bt_arena_take_strbuf(arena, &text);
}

struct bt_str bt_selection_text(struct bt_arena *arena, const struct bt_json_value *selector)
{
	const struct bt_json_value *labels = bt_json_object_at(selector, "matchLabels");
	const struct bt_json_value *expressions = bt_json_array_at(selector, "matchExpressions");
	if (labels->count == 0 && expressions->count == 0 && selector != NULL) {
		labels = selector; /* ReplicationControllers have a plain map */
	}
	uint64_t count = (uint64_t)labels->count + expressions->count;
	struct requirement *items = BT_ARENA_NEW_ARRAY(arena, struct requirement, count);
	uint64_t used = 0;
	for (uint32_t i = 0; i < labels->count; i++) {
		const struct bt_json_member *label = &labels->members[i];
		if (label->value->type == BT_JSON_STRING) {
			items[used++] = (struct requirement){label->name,
				bt_arena_printf(arena, "%.*s=%.*s", BT_STR_ARG(label->name),
					BT_STR_ARG(label->value->text))};
		}
	}
	for (uint32_t i = 0; i < expressions->count; i++) {
		const struct bt_json_value *expression = expressions->elements[i];
		items[used++] = (struct requirement){
			bt_json_text_at(expression, "key"), expression_text(arena, expression)};
	}
	if (used > 1) {
		qsort(items, used, sizeof(*items), bt_str_compare_qsort);
	}
	struct bt_strbuf text = {0};
	for (uint64_t i = 0; i < used; i++) {
		bt_strbuf_append_c(&text, i != 0 ? "," : "");
		bt_strbuf_append_str(&text, items[i].text);
	}
	return bt_arena_take_strbuf(arena, &text);
}
