/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/snapshot.h"

#include <string.h>

#include "api/int_or_string.h"
#include "api/storage.h"
#include "api/types.h"
#include "base/text_set.h"
#include "cel/rename.h"

#define PIECE_BYTES 65536
#define KNOWN_FIELDS 1024
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
 * How --strip-names handles the values of the annotations that berth reads. Other annotations are
 * not in snapshots, because they may contain anything.
 */
enum note {
	NOTE_NAME, /* the value is a name */
	NOTE_KEEP, /* the value is a word of the API or a number */
	NOTE_PRIVATE,
};
static const struct {
	const char *key;
	enum note note;
} notes[] = {
	{BT_ANNOTATION_PODS_EXIST, NOTE_KEEP},
	{"batch.kubernetes.io/job-completion-index", NOTE_KEEP},
	{"controller.kubernetes.io/pod-deletion-cost", NOTE_KEEP},
	{"kubernetes.io/config.mirror", NOTE_NAME},
	{"pv.kubernetes.io/bind-completed", NOTE_KEEP},
	{"pv.kubernetes.io/bound-by-controller", NOTE_KEEP},
	{"scheduler.alpha.kubernetes.io/preferAvoidPods", NOTE_PRIVATE},
	{"storage.alpha.kubernetes.io/migrated-plugins", NOTE_KEEP},
	{BT_DEFAULT_CLASS, NOTE_KEEP},
	{"volume.beta.kubernetes.io/storage-class", NOTE_NAME},
	{"volume.kubernetes.io/selected-node", NOTE_NAME},
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

/**
 * One pass over an object's texts. collecting not NULL: the words of the texts are collected there.
 * renaming not NULL: the texts are replaced by neutral texts. Both members may be set.
 */
struct pass {
	struct bt_neutral_names *collecting;
	const struct bt_neutral_names *renaming;
	struct bt_arena *arena;
	enum note note;    /* how to handle the next annotation's value */
	uint32_t by_parts; /* CEL expressions that read parts of texts */
	/**
	 * Texts of devices: drivers, and the strings, names and domains of attributes. Not NULL if
	 * `renaming` is set.
	 */
	const struct bt_text_set *device_texts;
	struct {
		const struct bt_field *field; /* NULL: free */
		enum bt_snapshot_action action;
	} known[KNOWN_FIELDS]; /* cache of actions, by the field's address */
};

static bool is_plain(const struct pass *pass)
{
	return pass->renaming == NULL && pass->collecting == NULL;
}

static enum bt_snapshot_action find_action(
	struct pass *pass, const struct bt_message *message, const struct bt_field *field)
{
	size_t slot = ((uintptr_t)field / sizeof(*field)) % KNOWN_FIELDS;
	if (pass->known[slot].field != field) {
		pass->known[slot].field = field;
		enum bt_snapshot_action action;
		pass->known[slot].action =
			bt_snapshot_find_action(message->name, field->name, &action)
			? action
			: BT_SNAPSHOT_DROP;
	}
	return pass->known[slot].action;
}

static bool is_kept(void *context, const struct bt_message *message, const struct bt_field *field,
	struct bt_str text)
{
	struct pass *pass = context;
	enum bt_snapshot_action action = find_action(pass, message, field);
	if (action == BT_SNAPSHOT_WORDS) {
		return is_plain(pass) || bt_neutral_names_is_term(text);
	}
	if (action != BT_SNAPSHOT_NOTES) {
		return action != BT_SNAPSHOT_DROP &&
			(action != BT_SNAPSHOT_PRIVATE || is_plain(pass));
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(notes); i++) {
		if (bt_str_equal_c(text, notes[i].key)) {
			pass->note = notes[i].note;
			return pass->note != NOTE_PRIVATE || is_plain(pass);
		}
	}
	return false;
}

static void rename_text(struct pass *pass, struct bt_str *text, bool is_term)
{
	if (pass->collecting != NULL) {
		bt_neutral_names_collect(pass->collecting, *text, is_term);
	}
	if (pass->renaming != NULL) {
		*text = bt_neutral_names_rename(pass->renaming, *text, is_term, pass->arena);
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
static void rename_value(struct pass *pass, struct bt_str *text)
{
	struct bt_strbuf out = {0};
	uint32_t start = 0;
	for (uint32_t i = 0; i <= text->length && !is_plain(pass); i++) {
		if (i < text->length && text->data[i] != ',' && text->data[i] != ' ') {
			continue;
		}
		struct bt_str part = bt_str_sub(*text, start, i - start);
		if (!is_numeric(part)) {
			rename_text(pass, &part, true);
		}
		bt_strbuf_append_str(&out, part);
		bt_strbuf_append_str(&out, bt_str_sub(*text, i, 1));
		start = i + 1;
	}
	if (pass->renaming != NULL) {
		*text = bt_arena_str(pass->arena, bt_strbuf_str(&out));
	}
	bt_strbuf_finish(&out);
}

static struct bt_str rename_in_expression(
	void *context, struct bt_str name, BT_UNUSED struct bt_arena *arena)
{
	rename_text(context, &name, false);
	return name;
}

static bool has_part(struct bt_str text, struct bt_str function, struct bt_str part)
{
	if (bt_str_equal_c(function, "startsWith")) {
		return bt_str_has_prefix(text, part);
	}
	if (bt_str_equal_c(function, "endsWith")) {
		return bt_str_has_suffix(text, part);
	}
	return bt_str_find(text, part) >= 0;
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
	const struct pass *pass = context;
	struct bt_strbuf out = {0};
	struct bt_str pattern = {0};
	if (pass->renaming == NULL) {
		return pattern; /* device texts are not complete yet */
	}
	for (uint32_t i = 0; i < pass->device_texts->items.count; i++) {
		struct bt_str text = pass->device_texts->items.items[i];
		if (out.length <= PATTERN_BYTES_MAX && has_part(text, function, part)) {
			bt_strbuf_append_c(&out, out.length == 0 ? "^(?:\\Q" : "|\\Q");
			bt_strbuf_append_str(
				&out, bt_neutral_names_rename(pass->renaming, text, false, arena));
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
static void rename_expression(struct pass *pass, struct bt_str *text)
{
	struct bt_cel_renaming renaming = {
		.rename = rename_in_expression, .find_texts = find_texts, .context = pass};
	struct bt_strbuf out = {0};
	if (is_plain(pass)) {
		return;
	}
	if (!bt_cel_rename(*text, &renaming, pass->arena, &out)) {
		rename_text(pass, text, false);
	} else if (pass->renaming != NULL) {
		*text = bt_arena_str(pass->arena, bt_strbuf_str(&out));
	}
	pass->by_parts += renaming.has_parts;
	bt_strbuf_finish(&out);
}

static void take_text(void *context, const struct bt_message *message, const struct bt_field *field,
	bool is_key, struct bt_str *text)
{
	struct pass *pass = context;
	switch (find_action(pass, message, field)) {
	case BT_SNAPSHOT_NAME:
		rename_text(pass, text, false);
		break;
	case BT_SNAPSHOT_TERM:
		rename_text(pass, text, true);
		break;
	case BT_SNAPSHOT_EXPRESSION:
		rename_expression(pass, text);
		break;
	case BT_SNAPSHOT_WORDS:
		break; /* the words stay; is_kept has dropped all other texts */
	case BT_SNAPSHOT_KEEP:
		rename_value(pass, text);
		break;
	case BT_SNAPSHOT_PRIVATE:
		*text = is_plain(pass) ? *text : (struct bt_str){0};
		break;
	case BT_SNAPSHOT_DROP:
		*text = (struct bt_str){0};
		break;
	case BT_SNAPSHOT_NOTES:
		if (!is_key && pass->note == NOTE_NAME) {
			rename_text(pass, text, false);
		} else if (!is_key) {
			rename_value(pass, text);
		}
		break;
	}
}

static bool is_percentage(struct bt_str text)
{
	int64_t value;
	return bt_str_has_suffix(text, BT_STR("%")) &&
		bt_str_parse_int64(bt_str_sub(text, 0, text.length - 1), &value);
}

/**
 * Renames the text of an IntOrString unless it is a percentage. API servers accept only
 * percentages, but files may contain names.
 */
static void take_scalar(void *context, const struct bt_field *field, void *value)
{
	struct bt_int_or_string *number = value;
	if (field->scalar == &bt_int_or_string_scalar && number->is_string &&
		!is_percentage(number->text)) {
		rename_text(context, &number->text, false);
	}
}

/** --- objects --- */

/**
 * Copies the object into the pass's arena and visits the texts of the copy. name: the name that the
 * copy gets if the object has none. Returns the copy, which the caller may change.
 */
static void *visit_object(const struct bt_object *object, struct bt_str name, struct pass *pass)
{
	const struct bt_kind_info *info = bt_kind_info(object->kind);
	const struct bt_message_visitor visitor = {pass, take_text, take_scalar, is_kept};
	void *copy = bt_arena_alloc(pass->arena, info->size);
	bt_message_copy(info->message, copy, object->value, pass->arena);
	struct bt_object_meta *meta = copy; /* every kind starts with its metadata */
	if (meta->name.length == 0) {
		meta->name = name;
	}
	bt_message_visit(info->message, &visitor, copy);
	return copy;
}

static void annotate_pods_exist(struct bt_object_meta *meta, struct bt_arena *arena)
{
	const struct bt_str_map old = meta->annotations;
	struct bt_str_pair *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, (size_t)old.count + 1);
	uint32_t count = 0;
	for (uint32_t i = 0; i < old.count; i++) {
		if (!bt_str_equal_c(old.items[i].key, BT_ANNOTATION_PODS_EXIST)) {
			items[count++] = old.items[i];
		}
	}
	items[count++] = (struct bt_str_pair){BT_STR(BT_ANNOTATION_PODS_EXIST), BT_STR("true")};
	meta->annotations = (struct bt_str_map){items, count, true};
}

static void add_text(struct bt_text_set *texts, struct bt_str text, struct bt_arena *arena)
{
	/*
	 * Texts with a backslash are left out: they could end the quotation in a regular
	 * expression, and valid names have none.
	 */
	if (text.data != NULL && bt_str_find_char(text, '\\') < 0 &&
		!bt_text_set_has(texts, text)) {
		(void)bt_text_set_add(texts, bt_arena_str(arena, text)); /* not in the set yet */
	}
}

/** Adds the domain and the name of a key separately, because expressions may iterate over them. */
static void add_key(struct bt_text_set *texts, struct bt_str key, struct bt_arena *arena)
{
	struct bt_str name = key;
	struct bt_str domain = bt_str_cut(&name, '/');
	add_text(texts, domain, arena);
	add_text(texts, name, arena);
}

static void add_device_texts(
	struct bt_text_set *texts, const struct bt_device *device, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < device->attributes.count; i++) {
		const struct bt_device_attribute *attribute = &device->attributes.items[i].value;
		add_key(texts, device->attributes.items[i].key, arena);
		add_text(texts, attribute->string, arena);
		for (uint32_t n = 0; n < attribute->strings.count; n++) {
			add_text(texts, attribute->strings.items[n], arena);
		}
	}
	for (uint32_t i = 0; i < device->capacity.count; i++) {
		add_key(texts, device->capacity.items[i].key, arena);
	}
}

/**
 * Adds copies of a ResourceSlice's texts, because objects are released while the snapshot is
 * written. Other kinds are ignored.
 */
static void add_slice_texts(
	struct bt_text_set *texts, const struct bt_object *object, struct bt_arena *arena)
{
	if (object->kind != BT_KIND_RESOURCE_SLICE) {
		return;
	}
	const struct bt_resource_slice *slice = bt_object_value(object, BT_KIND_RESOURCE_SLICE);
	add_text(texts, slice->spec.driver, arena);
	for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
		add_device_texts(texts, &slice->spec.devices.items[i], arena);
	}
}

static void collect_device_texts(
	const struct bt_manifests *cluster, struct bt_text_set *texts, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		add_slice_texts(texts, cluster->objects.items[i].object, arena);
	}
}

void bt_snapshot_collect_names(const struct bt_manifests *cluster, struct bt_neutral_names *names)
{
	struct bt_arena arena = {0};
	struct pass pass = {.collecting = names, .arena = &arena};
	bt_arena_init(&arena, 0);
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		(void)visit_object(object->object, object->name, &pass); /* collects texts */
		bt_arena_reset(&arena);
	}
	struct bt_text_set device_texts = {0};
	collect_device_texts(cluster, &device_texts, &arena);
	for (uint32_t i = 0; i < device_texts.items.count; i++) {
		bt_neutral_names_collect(names, device_texts.items.items[i], false);
	}
	bt_text_set_finish(&device_texts);
	bt_arena_finish(&arena);
	bt_neutral_names_sort(names);
}

int bt_snapshot_write(struct bt_manifests *cluster, const struct bt_neutral_names *names,
	int (*write)(void *context, struct bt_str text, struct berth_error *err), void *context,
	struct berth_error *err)
{
	struct bt_arena arena;
	struct bt_strbuf text = {0};
	struct bt_text_set device_texts = {0};
	struct bt_arena text_arena = {0};
	struct pass pass = {.renaming = names, .arena = &arena, .device_texts = &device_texts};
	int result = 0;
	bt_arena_init(&arena, 0);
	if (names != NULL) {
		collect_device_texts(cluster, &device_texts, &text_arena);
	}
	bt_strbuf_append_c(&text, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
	for (uint32_t i = 0; i < cluster->objects.count && result == 0; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		struct bt_json_writer writer;
		void *value = visit_object(object->object, object->name, &pass);
		if (object->pods_exist && bt_kind_creates_pods(object->kind)) {
			annotate_pods_exist(value, &arena);
		}
		bt_strbuf_append_c(&text, i == 0 ? "\n" : ",\n");
		bt_json_writer_init(&writer, &text, 0);
		bt_object_encode_json(object->kind, value, &writer);
		bt_arena_reset(&arena);
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
	if (pass.by_parts != 0) {
		bt_manifests_warn(cluster,
			"--strip-names: %u selector expression%s of devices look%s at parts of "
			"texts "
			"(matches, substring and the like); with neutral names their result may "
			"differ",
			pass.by_parts, BT_PLURAL(pass.by_parts), pass.by_parts == 1 ? "s" : "");
	}
	bt_text_set_finish(&device_texts);
	bt_arena_finish(&text_arena);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

struct bt_snapshot_stream {
	struct pass pass;
	struct bt_neutral_names names;
	struct bt_text_set device_texts;
	struct bt_arena arena; /* of one object */
	struct bt_arena text_arena;
	bool strips_names;
};

struct bt_snapshot_stream *bt_snapshot_stream_create(bool strip_names)
{
	struct bt_snapshot_stream *stream = BT_NEW(struct bt_snapshot_stream);
	bt_arena_init(&stream->arena, 0);
	bt_arena_init(&stream->text_arena, 0);
	bt_neutral_names_init(&stream->names);
	stream->strips_names = strip_names;
	stream->pass.arena = &stream->arena;
	stream->pass.device_texts = &stream->device_texts;
	stream->pass.collecting = strip_names ? &stream->names : NULL;
	return stream;
}

void bt_snapshot_stream_collect_names(
	struct bt_snapshot_stream *stream, const struct bt_object *object)
{
	if (stream->strips_names) {
		bt_arena_reset(&stream->arena);
		(void)visit_object(object, object->meta->name, &stream->pass); /* collects texts */
		add_slice_texts(&stream->device_texts, object, &stream->text_arena);
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
	stream->pass.renaming = &stream->names;
	stream->pass.by_parts = 0; /* bt_snapshot_stream_append counts them again */
}

const struct bt_object_meta *bt_snapshot_stream_append(
	struct bt_snapshot_stream *stream, const struct bt_object *object, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_arena_reset(&stream->arena);
	struct bt_object_meta *meta = visit_object(object, object->meta->name, &stream->pass);
	meta->resource_version = (struct bt_str){0};
	bt_json_writer_init(&writer, out, 0);
	bt_object_encode_json(object->kind, meta, &writer);
	return meta;
}

uint32_t bt_snapshot_stream_by_parts(const struct bt_snapshot_stream *stream)
{
	return stream->pass.by_parts;
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
