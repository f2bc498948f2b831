/* SPDX-License-Identifier: Apache-2.0 */
/** Resources of CustomResourceDefinitions. */
#include "base/alloc.h"
#include "codec/json_edit.h"
#include "server/custom_rules.h"
#include "server/custom_schema.h"
#include "server/resource_private.h"
#include "server/store.h"
#include "server/strategy.h"

/**
 * Largest number of rows for custom resources. Each version that was ever defined has a row,
 * because rows are never freed.
 */
#define CUSTOM_RESOURCES_MAX 4096
/**
 * New definitions are refused if the store has more collections than this: the collections up to
 * BT_STORE_COLLECTIONS_MAX are reserved for built-in resources. Collections are never removed from
 * a store's file.
 */
#define COLLECTIONS_MAX (BT_STORE_COLLECTIONS_MAX - 2 * CUSTOM_RESOURCES_MAX)

static const char *terminated(struct bt_arena *arena, struct bt_str text)
{
	return text.data != NULL ? bt_arena_str(arena, text).data : "";
}

static const char *join_texts(struct bt_arena *arena, const struct bt_json_value *texts)
{
	struct bt_strbuf buffer = {0};
	for (uint32_t i = 0; i < texts->count; i++) {
		if (texts->elements[i]->type == BT_JSON_STRING) {
			if (buffer.length != 0) {
				bt_strbuf_append_char(&buffer, ' ');
			}
			bt_strbuf_append_str(&buffer, texts->elements[i]->text);
		}
	}
	return bt_arena_take_strbuf(arena, &buffer).data;
}

/** Fills the row from a version of the definition and releases the row's old texts. */
static void fill_row(struct bt_resources *resources, struct bt_resource_row *row,
	const struct bt_definition *definition, uint32_t index)
{
	const struct bt_json_value *tree = definition->tree;
	const struct bt_json_value *names = bt_json_object_at(tree, "spec.names");
	const struct bt_json_value *version =
		bt_json_array_at(tree, "spec.versions")->elements[index];
	const struct bt_json_value *schema = bt_json_find_path(version, "schema.openAPIV3Schema");
	const struct bt_json_value *parts = bt_json_object_at(version, "subresources");
	uint32_t subresources = 0;
	if (bt_json_find(parts, "status") != NULL) {
		subresources |= 1u << BT_SUBRESOURCE_STATUS;
	}
	if (bt_json_find(parts, "scale") != NULL) {
		subresources |= 1u << BT_SUBRESOURCE_SCALE;
	}
	struct bt_arena arena;
	bt_arena_init(&arena, 512);
	struct bt_str kind = bt_json_text_at(names, "kind");
	struct bt_str singular = bt_json_text_at(names, "singular");
	struct bt_str list_kind = bt_json_text_at(names, "listKind");
	if (singular.length == 0) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_lower(&text, kind);
		singular = bt_arena_take_strbuf(&arena, &text);
	}
	if (list_kind.length == 0) {
		list_kind = bt_arena_printf(&arena, "%.*sList", BT_STR_ARG(kind));
	}
	definition->rules[index] = bt_custom_rules_create(schema, NULL, NULL, NULL);
	row->resource = (struct bt_api_resource){
		.group = terminated(&arena, bt_json_text_at(tree, "spec.group")),
		.version = terminated(&arena, bt_json_text_at(version, "name")),
		.name = terminated(&arena, bt_json_text_at(names, "plural")),
		.singular = terminated(&arena, singular),
		.kind = terminated(&arena, kind),
		.list_kind = terminated(&arena, list_kind),
		.short_names = join_texts(&arena, bt_json_array_at(names, "shortNames")),
		.categories = join_texts(&arena, bt_json_array_at(names, "categories")),
		.namespaced = bt_str_equal_c(bt_json_text_at(tree, "spec.scope"), "Namespaced"),
		.verbs = (1u << BT_VERB__COUNT) - 1,
		.subresources = subresources,
		.flags = BT_RESOURCE_CUSTOM | BT_RESOURCE_GENERATION | BT_RESOURCE_NEEDS_VERSION,
		.collection = bt_store_collection(resources->store, definition->name),
		.strategy = bt_custom_has_defaults(schema) ? &bt_strategy_custom_with_defaults
							   : &bt_strategy_custom,
		.definition = tree,
		.definition_version = version,
		.rules = definition->rules[index],
		.parts = bt_custom_describe_parts(schema, &arena),
	};
	bt_arena_finish(&row->arena);
	row->arena = arena;
	row->owner = definition;
	row->served = true;
}

void bt_resources_define(
	struct bt_resources *resources, struct bt_str name, const struct bt_json_value *definition)
{
	for (uint32_t i = 0; i < resources->definitions.count; i++) {
		if (bt_str_equal(resources->definitions.items[i]->name, name)) {
			struct bt_definition *gone = resources->definitions.items[i];
			for (uint32_t k = resources->builtin_count; k < resources->rows.count;
				k++) {
				struct bt_resource_row *row = resources->rows.items[k];
				if (row->owner == gone) {
					row->served = false;
					row->owner = NULL;
					row->resource.definition = NULL;
					row->resource.definition_version = NULL;
					row->resource.rules = NULL;
				}
			}
			bt_vec_remove_swap(&resources->definitions, i);
			bt_definition_destroy(gone);
			break;
		}
	}
	if (definition != NULL) {
		struct bt_definition *copy = BT_NEW(struct bt_definition);
		bt_arena_init(&copy->arena, 2048);
		copy->name = bt_arena_str(&copy->arena, name);
		copy->tree = bt_json_clone(&copy->arena, definition, true);
		bt_vec_push(&resources->definitions, copy);
		const struct bt_json_value *versions =
			bt_json_array_at(copy->tree, "spec.versions");
		copy->rules =
			BT_ARENA_NEW_ARRAY(&copy->arena, struct bt_custom_rules *, versions->count);
		for (uint32_t i = 0; i < versions->count; i++) {
			if (bt_json_bool_at(versions->elements[i], "served", false)) {
				struct bt_str group = bt_json_text_at(copy->tree, "spec.group");
				struct bt_str plural =
					bt_json_text_at(copy->tree, "spec.names.plural");
				struct bt_resource_row *row = bt_resources_row(resources, group,
					bt_json_text_at(versions->elements[i], "name"), plural);
				if (row != NULL) {
					if (!row->served &&
						(row->resource.flags & BT_RESOURCE_CUSTOM) != 0) {
						fill_row(resources, row, copy, i);
					}
				} else if (resources->rows.count <
					resources->builtin_count + CUSTOM_RESOURCES_MAX) {
					row = BT_NEW(struct bt_resource_row);
					fill_row(resources, row, copy, i);
					bt_resources_add_row(resources, row);
				}
			}
		}
	}
	bt_resources_sort(resources);
}

/** --- names --- */

/** Returns whether `word` is a plural, singular or short name of the resource. */
static bool is_name_of(const struct bt_api_resource *resource, struct bt_str word)
{
	return word.length != 0 &&
		(bt_str_equal_c(word, resource->name) || bt_str_equal_c(word, resource->singular) ||
			bt_str_has_word(bt_str_from(resource->short_names), word));
}

static struct bt_str conflict_with(
	const struct bt_api_resource *resource, const struct bt_json_value *names)
{
	static const char *const kinds[] = {"kind", "listKind"};
	static const char *const words[] = {"plural", "singular"};
	const struct bt_json_value *short_names = bt_json_array_at(names, "shortNames");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		struct bt_str kind = bt_json_text_at(names, kinds[i]);
		if (kind.length != 0 &&
			(bt_str_equal_c(kind, resource->kind) ||
				bt_str_equal_c(kind, resource->list_kind))) {
			return kind;
		}
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
		struct bt_str word = bt_json_text_at(names, words[i]);
		if (is_name_of(resource, word)) {
			return word;
		}
	}
	for (uint32_t i = 0; i < short_names->count; i++) {
		if (is_name_of(resource, short_names->elements[i]->text)) {
			return short_names->elements[i]->text;
		}
	}
	return (struct bt_str){NULL, 0};
}

struct bt_str bt_resources_name_conflict(const struct bt_resources *resources, struct bt_str name,
	const struct bt_json_value *definition, struct bt_arena *arena)
{
	struct bt_str group = bt_json_text_at(definition, "spec.group");
	const struct bt_json_value *names = bt_json_object_at(definition, "spec.names");
	for (uint32_t i = 0; i < resources->rows.count; i++) {
		const struct bt_resource_row *row = resources->rows.items[i];
		if (!row->served || !bt_str_equal_c(group, row->resource.group) ||
			(row->owner != NULL && bt_str_equal(row->owner->name, name))) {
			continue;
		}
		struct bt_str taken = conflict_with(&row->resource, names);
		if (taken.data != NULL) {
			return bt_arena_printf(
				arena, "\"%.*s\" is already in use", BT_STR_ARG(taken));
		}
	}
	uint64_t wanted = bt_json_array_at(definition, "spec.versions")->count;
	if (resources->rows.count + wanted > resources->builtin_count + CUSTOM_RESOURCES_MAX ||
		bt_store_collection_count(resources->store) > COLLECTIONS_MAX) {
		return BT_STR("there are too many custom resources");
	}
	return (struct bt_str){NULL, 0};
}
