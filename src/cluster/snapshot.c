/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/snapshot.h"

#include <string.h>

#include "api/int_or_string.h"
#include "api/storage.h"
#include "api/text_template.h"
#include "api/types.h"
#include "cel/cel.h"

#define PIECE_BYTES 65536
/** Maximum bytes of a regular expression that replaces startsWith, endsWith or contains in CEL. */
#define PATTERN_BYTES_MAX 4096

struct row {
	const char *message;
	const char *field;
	enum bt_snapshot_action action;
};

static const struct row rows[] = {
#define BT_SNAPSHOT_FIELD(message, field, what) {message, field, BT_SNAPSHOT_##what},
#include "cluster/snapshot_fields.def"
#undef BT_SNAPSHOT_FIELD
};

/**
 * How --strip-names handles the values of the annotations that berth reads: NAME if the value is a
 * name, KEEP if it is a word of the API or a number, PRIVATE. Other annotations are not in
 * snapshots, because they may contain anything.
 */
static const struct {
	const char *key;
	enum bt_snapshot_action note;
} notes[] = {
	{BT_ANNOTATION_PODS_EXIST, BT_SNAPSHOT_KEEP},
	{"batch.kubernetes.io/job-completion-index", BT_SNAPSHOT_KEEP},
	{"controller.kubernetes.io/pod-deletion-cost", BT_SNAPSHOT_KEEP},
	{"kubernetes.io/config.mirror", BT_SNAPSHOT_NAME},
	{"pv.kubernetes.io/bind-completed", BT_SNAPSHOT_KEEP},
	{"pv.kubernetes.io/bound-by-controller", BT_SNAPSHOT_KEEP},
	{"scheduler.alpha.kubernetes.io/preferAvoidPods", BT_SNAPSHOT_PRIVATE},
	{"storage.alpha.kubernetes.io/migrated-plugins", BT_SNAPSHOT_KEEP},
	{BT_DEFAULT_CLASS, BT_SNAPSHOT_KEEP},
	{"volume.beta.kubernetes.io/storage-class", BT_SNAPSHOT_NAME},
	{"volume.kubernetes.io/selected-node", BT_SNAPSHOT_NAME},
};

bool bt_snapshot_find_action(
	const char *message, const char *field, enum bt_snapshot_action *out_action)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (strcmp(rows[i].field, field) == 0 && strcmp(rows[i].message, message) == 0) {
			*out_action = rows[i].action;
			return true;
		}
	}
	return false;
}

/** --- visiting the fields of an object --- */

static enum bt_snapshot_action find_action(struct bt_snapshot_stream *stream,
	const struct bt_message *message, const struct bt_field *field)
{
	size_t slot = ((uintptr_t)field / sizeof(*field)) % BT_SNAPSHOT_KNOWN_FIELDS;
	if (stream->known[slot].field != field) {
		stream->known[slot].field = field;
		enum bt_snapshot_action action;
		stream->known[slot].action =
			bt_snapshot_find_action(message->name, field->name, &action)
			? action
			: BT_SNAPSHOT_DROP;
	}
	return stream->known[slot].action;
}

static bool is_kept(void *context, const struct bt_message *message, const struct bt_field *field,
	struct bt_str text)
{
	struct bt_snapshot_stream *stream = context;
	enum bt_snapshot_action action = find_action(stream, message, field);
	if (action == BT_SNAPSHOT_WORDS) {
		return !stream->strips_names || bt_neutral_names_is_term(text);
	}
	if (action != BT_SNAPSHOT_NOTES) {
		return action != BT_SNAPSHOT_DROP &&
			(action != BT_SNAPSHOT_PRIVATE || !stream->strips_names);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(notes); i++) {
		if (bt_str_equal_c(text, notes[i].key)) {
			stream->note = notes[i].note;
			return stream->note != BT_SNAPSHOT_PRIVATE || !stream->strips_names;
		}
	}
	return false;
}

/** Collects the words of the text, or replaces the text by its neutral text. */
static void rename_text(struct bt_snapshot_stream *stream, struct bt_str *text, bool is_term)
{
	if (stream->renames) {
		*text = bt_neutral_names_rename(&stream->names, *text, is_term, &stream->arena);
	} else if (stream->strips_names) {
		bt_neutral_names_collect(&stream->names, *text, is_term);
	}
}

/** Returns whether the text has only numbers, ranges and wildcards. */
static bool is_numeric(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if ((byte < '0' || byte > '9') && byte != '-' && byte != '*' && byte != '/') {
			return false;
		}
	}
	return true;
}

/**
 * Renames the parts of a text that is a list with commas or blanks. Words of the API and numbers
 * stay.
 */
static void rename_value(struct bt_snapshot_stream *stream, struct bt_str *text)
{
	struct bt_strbuf out = {0};
	uint32_t start = 0;
	for (uint32_t i = 0; i <= text->length && stream->strips_names; i++) {
		if (i < text->length && text->data[i] != ',' && text->data[i] != ' ') {
			continue;
		}
		struct bt_str part = bt_str_sub(*text, start, i - start);
		if (!is_numeric(part)) {
			rename_text(stream, &part, true);
		}
		bt_strbuf_append_str(&out, part);
		bt_strbuf_append_str(&out, bt_str_sub(*text, i, 1));
		start = i + 1;
	}
	if (stream->renames) {
		*text = bt_arena_str(&stream->arena, bt_strbuf_str(&out));
	}
	bt_strbuf_finish(&out);
}

static struct bt_str rename_in_expression(
	void *context, struct bt_str name, BT_UNUSED struct bt_arena *arena)
{
	rename_text(context, &name, false);
	return name;
}

/**
 * For a call of `function` (startsWith, endsWith or contains) with the argument `part` in a CEL
 * expression, returns a regular expression that matches the neutral names of all device texts for
 * which the call is true. Returns an absent text if the regular expression would be too long, or if
 * names are still being collected.
 */
static struct bt_str find_texts(
	void *context, struct bt_str function, struct bt_str part, struct bt_arena *arena)
{
	struct bt_snapshot_stream *stream = context;
	struct bt_strbuf out = {0};
	struct bt_str pattern = {0};
	if (!stream->renames) {
		return pattern; /* device texts are not complete yet */
	}
	for (uint32_t i = 0; i < stream->device_texts.items.count; i++) {
		struct bt_str text = stream->device_texts.items.items[i];
		bool has_part = bt_str_equal_c(function, "startsWith")
			? bt_str_has_prefix(text, part)
			: bt_str_equal_c(function, "endsWith") ? bt_str_has_suffix(text, part)
							       : bt_str_find(text, part) >= 0;
		if (out.length <= PATTERN_BYTES_MAX && has_part) {
			bt_strbuf_append_c(&out, out.length == 0 ? "^(?:\\Q" : "|\\Q");
			bt_strbuf_append_str(
				&out, bt_neutral_names_rename(&stream->names, text, false, arena));
			bt_strbuf_append_c(&out, "\\E");
		}
	}
	bt_strbuf_append_c(&out, out.length == 0 ? "^\\b$" /* matches nothing */ : ")$");
	if (out.length <= PATTERN_BYTES_MAX) {
		pattern = bt_arena_str(arena, bt_strbuf_str(&out));
	}
	bt_strbuf_finish(&out);
	return pattern;
}

/**
 * Renames the names in a CEL expression. An expression that cannot be parsed is renamed as if it
 * were one name: its evaluation fails before and after the renaming.
 */
static void rename_expression(struct bt_snapshot_stream *stream, struct bt_str *text)
{
	struct bt_cel_renaming renaming = {
		.rename = rename_in_expression, .find_texts = find_texts, .context = stream};
	struct bt_strbuf out = {0};
	if (!stream->strips_names) {
		return;
	}
	if (!bt_cel_rename(*text, &renaming, &stream->arena, &out)) {
		rename_text(stream, text, false);
	} else if (stream->renames) {
		*text = bt_arena_str(&stream->arena, bt_strbuf_str(&out));
	}
	stream->by_parts += renaming.has_parts;
	bt_strbuf_finish(&out);
}

static void take_text(void *context, const struct bt_message *message, const struct bt_field *field,
	bool is_key, struct bt_str *text)
{
	struct bt_snapshot_stream *stream = context;
	switch (find_action(stream, message, field)) {
	case BT_SNAPSHOT_NAME:
		rename_text(stream, text, false);
		break;
	case BT_SNAPSHOT_TERM:
		rename_text(stream, text, true);
		break;
	case BT_SNAPSHOT_EXPRESSION:
		rename_expression(stream, text);
		break;
	case BT_SNAPSHOT_WORDS:
		break; /* the words stay; is_kept has dropped all other texts */
	case BT_SNAPSHOT_KEEP:
		rename_value(stream, text);
		break;
	case BT_SNAPSHOT_PRIVATE:
		*text = !stream->strips_names ? *text : (struct bt_str){0};
		break;
	case BT_SNAPSHOT_DROP:
		*text = (struct bt_str){0};
		break;
	case BT_SNAPSHOT_NOTES:
		if (!is_key && stream->note == BT_SNAPSHOT_NAME) {
			rename_text(stream, text, false);
		} else if (!is_key) {
			rename_value(stream, text);
		}
		break;
	}
}

/**
 * Renames the text of an IntOrString unless it is a percentage. API servers accept only
 * percentages, but files may contain names.
 */
static void take_scalar(void *context, const struct bt_field *field, void *value)
{
	struct bt_int_or_string *number = value;
	int64_t percent;
	if (field->scalar == &bt_int_or_string_scalar && number->is_string &&
		!(bt_str_has_suffix(number->text, BT_STR("%")) &&
			bt_str_parse_int64(
				bt_str_sub(number->text, 0, number->text.length - 1), &percent))) {
		rename_text(context, &number->text, false);
	}
}

/** --- objects --- */

/**
 * Copies the object into the arena and visits the texts of the copy. name: the name that the copy
 * gets if the object has none. Returns the copy, which the caller may change.
 */
static struct bt_object_meta *visit_object(
	struct bt_snapshot_stream *stream, const struct bt_object *object, struct bt_str name)
{
	const struct bt_kind_info *info = bt_kind_info(object->kind);
	const struct bt_message_visitor visitor = {stream, take_text, take_scalar, is_kept};
	bt_arena_reset(&stream->arena);
	struct bt_object_meta *copy = bt_arena_alloc(&stream->arena, info->size);
	bt_message_copy(info->message, copy, object->value, &stream->arena);
	if (copy->name.length == 0) {
		copy->name = name;
	}
	bt_message_visit(info->message, &visitor, copy);
	return copy;
}

static void add_text(struct bt_snapshot_stream *stream, struct bt_str text)
{
	/*
	 * Texts with a backslash are left out: they could end the quotation in a regular
	 * expression, and valid names have none.
	 */
	if (text.data != NULL && bt_str_find_char(text, '\\') < 0 &&
		!bt_text_set_has(&stream->device_texts, text)) {
		(void)bt_text_set_add(&stream->device_texts,
			bt_arena_str(&stream->text_arena, text)); /* not in the set yet */
	}
}

/** Adds the domain and the name of a key separately, because expressions may iterate over them. */
static void add_key(struct bt_snapshot_stream *stream, struct bt_str key)
{
	struct bt_str name = key;
	struct bt_str domain = bt_str_cut(&name, '/');
	add_text(stream, domain);
	add_text(stream, name);
}

/** Collects the words of an object, and copies of a ResourceSlice's texts. */
static void collect_names(
	struct bt_snapshot_stream *stream, const struct bt_object *object, struct bt_str name)
{
	(void)visit_object(stream, object, name); /* collects texts */
	if (object->kind == BT_KIND_RESOURCE_SLICE) {
		const struct bt_resource_slice *slice =
			bt_object_value(object, BT_KIND_RESOURCE_SLICE);
		add_text(stream, slice->spec.driver);
		for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
			const struct bt_device *device = &slice->spec.devices.items[i];
			for (uint32_t k = 0; k < device->attributes.count; k++) {
				const struct bt_device_attribute *attribute =
					&device->attributes.items[k].value;
				add_key(stream, device->attributes.items[k].key);
				add_text(stream, attribute->string);
				for (uint32_t n = 0; n < attribute->strings.count; n++) {
					add_text(stream, attribute->strings.items[n]);
				}
			}
			for (uint32_t k = 0; k < device->capacity.count; k++) {
				add_key(stream, device->capacity.items[k].key);
			}
		}
	}
}

/** --- snapshots --- */

struct bt_snapshot_stream *bt_snapshot_stream_create(bool strip_names)
{
	struct bt_snapshot_stream *stream = BT_NEW(struct bt_snapshot_stream);
	stream->strips_names = strip_names;
	return stream;
}

void bt_snapshot_stream_collect_names(
	struct bt_snapshot_stream *stream, const struct bt_object *object)
{
	if (stream->strips_names) {
		collect_names(stream, object, object->meta->name);
	}
}

void bt_snapshot_stream_sort_names(struct bt_snapshot_stream *stream)
{
	if (!stream->strips_names) {
		return;
	}
	for (uint32_t i = 0; i < stream->device_texts.items.count; i++) {
		bt_neutral_names_collect(
			&stream->names, stream->device_texts.items.items[i], false);
	}
	bt_neutral_names_sort(&stream->names);
	stream->renames = true;
	stream->by_parts = 0; /* renaming counts them again */
}

const struct bt_object_meta *bt_snapshot_stream_append(
	struct bt_snapshot_stream *stream, const struct bt_object *object, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_object_meta *meta = visit_object(stream, object, object->meta->name);
	meta->resource_version = (struct bt_str){0};
	bt_json_writer_init(&writer, out, 0);
	bt_object_encode_json(object->kind, meta, &writer);
	return meta;
}

void bt_snapshot_stream_destroy(struct bt_snapshot_stream *stream)
{
	if (stream != NULL) {
		bt_neutral_names_finish(&stream->names);
		bt_text_set_finish(&stream->device_texts);
		bt_arena_finish(&stream->arena);
		bt_arena_finish(&stream->text_arena);
		bt_free(stream);
	}
}

int bt_snapshot_write(struct bt_manifests *cluster, struct bt_snapshot_stream *stream,
	int (*write)(void *context, struct bt_str text, struct berth_error *err), void *context,
	struct berth_error *err)
{
	struct bt_strbuf text = {0};
	int result = 0;
	for (uint32_t i = 0; i < cluster->objects.count && stream->strips_names; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		collect_names(stream, object->object, object->name);
	}
	bt_snapshot_stream_sort_names(stream);
	bt_strbuf_append_c(&text, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
	for (uint32_t i = 0; i < cluster->objects.count && result == 0; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		struct bt_json_writer writer;
		struct bt_object_meta *meta = visit_object(stream, object->object, object->name);
		if (object->pods_exist && bt_kind_creates_pods(object->kind)) {
			const struct bt_str_map old = meta->annotations;
			struct bt_str_pair *items = BT_ARENA_NEW_ARRAY(
				&stream->arena, struct bt_str_pair, (size_t)old.count + 1);
			uint32_t count = 0;
			for (uint32_t k = 0; k < old.count; k++) {
				if (!bt_str_equal_c(old.items[k].key, BT_ANNOTATION_PODS_EXIST)) {
					items[count++] = old.items[k];
				}
			}
			items[count++] = (struct bt_str_pair){
				BT_STR(BT_ANNOTATION_PODS_EXIST), BT_STR("true")};
			meta->annotations = (struct bt_str_map){items, count, true};
		}
		bt_strbuf_append_c(&text, i == 0 ? "\n" : ",\n");
		bt_json_writer_init(&writer, &text, 0);
		bt_object_encode_json(object->kind, meta, &writer);
		bt_manifests_release(cluster, i);
		if (text.length >= PIECE_BYTES) {
			result = write(context, bt_strbuf_str(&text), err);
			bt_strbuf_reset(&text);
		}
	}
	bt_strbuf_append_c(&text, "\n]}\n");
	if (result == 0) {
		result = write(context, bt_strbuf_str(&text), err);
	}
	if (stream->by_parts != 0) {
		bt_manifests_warn(cluster,
			"--strip-names: %u selector {expression of devices looks|expressions of "
			"devices look} at parts of texts (matches, substring and the like); with "
			"neutral names their result may differ",
			stream->by_parts);
	}
	bt_strbuf_finish(&text);
	return result;
}
