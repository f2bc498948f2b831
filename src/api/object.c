/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object.h"

#include "api/event.h"
#include "api/meta.h"
#include "api/node.h"
#include "api/object_private.h"
#include "api/pod.h"
#include "api/pod_common.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "api/types.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "codec/json_patch.h"
#include "codec/wire.h"

/* Many objects are kept in memory, so their chunks are small. */
#define FIRST_CHUNK_BYTES 1024
#define NEXT_CHUNK_BYTES 512
#define GUESSED_TEXT_BYTES_MAX 8192
/** Stack memory for decoding, enough for a usual pod or node. */
#define DECODED_BYTES 16384

#define BT_KIND(id, kind, group, versions, resource, namespaced, structure, message) \
	_Static_assert( \
		offsetof(struct structure, metadata) == 0, "an object starts with its metadata");
#include "api/kinds.def"
#undef BT_KIND

static const struct bt_kind_info infos[BT_KIND__COUNT] = {
#define BT_KIND(id, kind, group, versions, resource, namespaced, structure, message) \
	{kind, group, versions, resource, namespaced, (uint32_t)sizeof(struct structure), &message},
#include "api/kinds.def"
#undef BT_KIND
};

const struct bt_kind_info *bt_kind_info(enum bt_kind kind)
{
	BT_ASSERT(kind >= 0 && kind < BT_KIND__COUNT);
	return &infos[kind];
}

bool bt_kind_find(struct bt_str api_version, struct bt_str name, enum bt_kind *out_kind)
{
	struct bt_str group;
	struct bt_str version;

	(void)bt_api_version_split(api_version, &group, &version);
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		if (bt_str_equal_c(name, infos[i].name) && bt_str_equal_c(group, infos[i].group) &&
			bt_str_has_word(bt_str_from(infos[i].versions), version)) {
			*out_kind = (enum bt_kind)i;
			return true;
		}
	}
	return false;
}

struct bt_str bt_kind_version_at(enum bt_kind kind, uint32_t index)
{
	struct bt_str rest = bt_str_from(bt_kind_info(kind)->versions);
	struct bt_str version = bt_str_cut(&rest, ' ');

	while (index-- > 0) {
		version = bt_str_cut(&rest, ' ');
	}
	return version;
}

void bt_kind_append_path(enum bt_kind kind, struct bt_str version, struct bt_strbuf *out)
{
	const struct bt_kind_info *info = bt_kind_info(kind);

	bt_strbuf_printf(out, "%s%s/%.*s", info->group[0] == '\0' ? "/api" : "/apis/", info->group,
		BT_STR_ARG(version));
}

void bt_kind_append_resource(enum bt_kind kind, struct bt_strbuf *out)
{
	const struct bt_kind_info *info = bt_kind_info(kind);

	bt_strbuf_printf(
		out, "%s%s%s", info->resource, info->group[0] != '\0' ? "." : "", info->group);
}

void bt_kind_append_api_version(enum bt_kind kind, struct bt_strbuf *out)
{
	const struct bt_kind_info *info = bt_kind_info(kind);

	if (info->group[0] != '\0') {
		bt_strbuf_append_c(out, info->group);
		bt_strbuf_append_char(out, '/');
	}
	bt_strbuf_append_str(out, bt_kind_version_at(kind, 0));
}

/**
 * Initialises the arena with a first chunk of about this size (0: unknown size), and allocates the
 * kind's structure in it, zeroed.
 */
static void *new_value(enum bt_kind kind, size_t bytes, struct bt_arena *arena)
{
	bt_arena_init(arena, bytes != 0 ? bytes : FIRST_CHUNK_BYTES);
	void *value = bt_arena_calloc(arena, 1, bt_kind_info(kind)->size);
	arena->chunk_bytes = NEXT_CHUNK_BYTES;
	return value;
}

/** Creates an object from a value in the arena, and takes over the arena's chunks. */
static struct bt_object *object_new(enum bt_kind kind, const void *value, struct bt_arena *arena)
{
	struct bt_object *object = BT_NEW(struct bt_object);

	object->kind = kind;
	object->reference_count = 1;
	object->value = value;
	object->memory = arena->chunks;
	return object;
}

struct bt_object *bt_object_create(enum bt_kind kind, const void *value)
{
	struct bt_arena arena;
	void *copy = new_value(kind, 0, &arena);

	bt_message_copy(bt_kind_info(kind)->message, copy, value, &arena);
	return object_new(kind, copy, &arena);
}

size_t bt_object_bytes(const struct bt_object *object)
{
	return sizeof(*object) +
		(object->value != NULL ? bt_arena_chunk_bytes(object->memory)
				       : bt_packed_object_bytes(object->packed));
}

void bt_object_keep_json(struct bt_object *object, struct bt_str json)
{
	struct bt_arena arena = {.chunks = object->memory, .chunk_bytes = (size_t)json.length + 1};

	BT_ASSERT(object->json.data == NULL && object->value != NULL);
	object->json = bt_arena_str(&arena, json);
	object->memory = arena.chunks;
}

struct bt_object *bt_object_share(struct bt_object *object)
{
	BT_ASSERT(object->reference_count > 0 && object->reference_count < UINT32_MAX);
	BT_ASSERT(object->value != NULL);
	object->reference_count++;
	return object;
}

void bt_object_release(struct bt_object *object)
{
	if (object == NULL) {
		return;
	}
	BT_ASSERT(object->reference_count > 0);
	if (--object->reference_count == 0) {
		if (object->value != NULL) {
			bt_packed_bases_release(object->bases);
		} else {
			bt_packed_object_destroy(object->packed);
		}
		bt_arena_free_chunks(object->memory);
		bt_pod_common_release(object->common);
		bt_free(object);
	} else if (object->packable_count == object->reference_count) {
		bt_object_pack_if_allowed(object);
	}
}

const void *bt_object_value(const struct bt_object *object, enum bt_kind kind)
{
	BT_ASSERT(object->kind == kind);
	return object->value;
}

void bt_object_encode_json(enum bt_kind kind, const void *value, struct bt_json_writer *writer)
{
	struct bt_strbuf api_version = {NULL, 0, 0};

	bt_kind_append_api_version(kind, &api_version);
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "apiVersion", bt_strbuf_str(&api_version));
	bt_json_write_member_c(writer, "kind", bt_kind_info(kind)->name);
	bt_message_encode_json_members(bt_kind_info(kind)->message, writer, value);
	bt_json_end_object(writer);
	bt_strbuf_finish(&api_version);
}

int bt_object_merge_patch(enum bt_kind kind, const void *value, struct bt_str patch,
	struct bt_object **out_object, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_reader reader;
	struct bt_json_value *document;
	struct bt_json_value *changes;

	bt_json_writer_init(&writer, &text, 0);
	bt_object_encode_json(kind, value, &writer);
	int result = bt_json_parse(&arena, bt_strbuf_str(&text), true, &document, err);
	if (result == 0) {
		result = bt_json_parse(&arena, patch, true, &changes, err);
	}
	if (result == 0) {
		document = bt_json_merge_patch(&arena, document, changes);
		bt_strbuf_reset(&text);
		bt_json_format(document, &text);
		bt_json_reader_init(&reader, bt_strbuf_str(&text));
		result = bt_object_decode_as(kind, &reader, out_object, err);
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

/** Maximum bytes of an input name in a message. */
#define SHOWN_MAX 256

/** Appends a name for a message: shortened, without control characters. */
static void append_shown(struct bt_strbuf *out, struct bt_str text)
{
	uint32_t length = text.length < SHOWN_MAX ? text.length : SHOWN_MAX;

	for (uint32_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text.data[i];

		bt_strbuf_append_char(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
	}
}

/**
 * Reads the two named string members of the next value without consuming the value; stops when both
 * are found.
 */
static int peek_strings(struct bt_json_reader reader, const char *first_name,
	struct bt_str *out_first, const char *second_name, struct bt_str *out_second,
	struct bt_arena *arena, struct berth_error *err)
{
	struct bt_str name;
	int code;

	BT_JSON_EACH_MEMBER (&reader, arena, name, code, err) {
		struct bt_str *out = NULL;
		enum bt_json_type type;

		if (bt_str_equal_c(name, first_name)) {
			out = out_first;
		} else if (bt_str_equal_c(name, second_name)) {
			out = out_second;
		}
		code = bt_json_peek(&reader, &type, err);
		if (code == 0 && out != NULL && type == BT_JSON_STRING) {
			code = bt_json_read_string(&reader, arena, out, NULL, err);
		} else if (code == 0) {
			code = bt_json_skip(&reader, NULL, err);
		}
		if (out_first->data != NULL && out_second->data != NULL) {
			break;
		}
	}
	return code;
}

/** Prefixes the error with "<kind> <namespace>/<name>"; name "": with the kind only. */
static int name_object(enum bt_kind kind, struct bt_str namespace_, struct bt_str name, int code,
	struct berth_error *err)
{
	struct bt_strbuf what = {NULL, 0, 0};

	bt_strbuf_append_c(&what, bt_kind_info(kind)->name);
	if (name.length != 0) {
		bt_strbuf_append_char(&what, ' ');
		append_shown(&what, namespace_);
		bt_strbuf_append_c(&what, namespace_.length != 0 ? "/" : "");
		append_shown(&what, name);
	}
	code = bt_error_wrap(err, code, "%s", bt_strbuf_c(&what));
	bt_strbuf_finish(&what);
	return code;
}

int bt_object_decode_as(enum bt_kind kind, struct bt_json_reader *reader,
	struct bt_object **out_object, struct berth_error *err)
{
	struct bt_json_reader start = *reader;
	const struct bt_kind_info *info = bt_kind_info(kind);
	size_t text_bytes =
		(size_t)(reader->end - reader->position); /* includes the text after the object */
	struct bt_arena arena;
	/* a structure is smaller than its text, which has the names of members */
	void *value = new_value(kind,
		text_bytes != 0 && text_bytes <= GUESSED_TEXT_BYTES_MAX
			? info->size + text_bytes / 4 * 3 + 64
			: 0,
		&arena);
	int code = bt_message_decode_json(info->message, reader, &arena, value, err);

	if (code != 0) {
		struct bt_str name = {NULL, 0};
		struct bt_str namespace_ = {NULL, 0};

		if (bt_json_seek(&start, "metadata")) {
			(void)peek_strings(
				start, "name", &name, "namespace", &namespace_, &arena, NULL);
		}
		code = name_object(kind, namespace_, name, code, err);
		bt_arena_finish(&arena);
		return code;
	}
	*out_object = object_new(kind, value, &arena);
	return 0;
}

int bt_object_decode_metadata(enum bt_kind kind BT_UNUSED, struct bt_str json,
	struct bt_object **out_object, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct bt_json_value *tree;
	struct bt_arena scratch = {0};
	struct bt_arena arena;

	int code = bt_json_parse(&scratch, json, false, &tree, err);
	bt_arena_finish(&scratch);
	if (code != 0) {
		return code;
	}
	bt_arena_init(&arena, NEXT_CHUNK_BYTES);
	struct bt_partial_object_metadata *value =
		BT_ARENA_NEW(&arena, struct bt_partial_object_metadata);
	bt_json_reader_init(&reader, json);
	code = bt_message_decode_json(
		&bt_partial_object_metadata_message, &reader, &arena, value, err);
	if (code != 0) {
		bt_arena_finish(&arena);
		return code;
	}
	*out_object = object_new(BT_KIND__COUNT, value, &arena);
	bt_object_keep_json(*out_object, json);
	return 0;
}

/** Protobuf field numbers: metadata in objects of all kinds, name and namespace in ObjectMeta. */
enum {
	OBJECT_META = 1,
	META_NAME = 1,
	META_NAMESPACE = 3,
};

/**
 * Creates an object from value, usually in exactly the memory that it needs; large objects may get
 * a little more. The common part of a pod is moved out of value.
 */
static struct bt_object *object_fitted(enum bt_kind kind, void *value, struct bt_pod_common *before,
	struct bt_pod_commons *commons, struct bt_arena *scratch)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	struct bt_pod_common *common = commons != NULL && kind == BT_KIND_POD
		? bt_pod_commons_take_out(commons, before, value)
		: NULL;
	struct bt_arena arena;
	/* measure the memory of a copy by making a copy in `scratch` */
	char *measured = bt_arena_alloc(scratch, info->size);
	bt_message_copy(info->message, measured, value, scratch);
	size_t bytes =
		scratch->chunks == NULL ? (size_t)(scratch->next - measured) : FIRST_CHUNK_BYTES;
	void *copy = new_value(kind, bytes, &arena);

	bt_message_copy(info->message, copy, value, &arena);
	if (common != NULL) {
		bt_pod_common_apply(common, copy);
	}
	struct bt_object *object = object_new(kind, copy, &arena);
	object->common = common;
	if (commons != NULL) {
		object->bases = bt_packed_bases_share(commons, kind == BT_KIND_POD, common);
	}
	return object;
}

struct bt_object *bt_object_create_pod(
	const struct bt_pod *pod, const struct bt_object *before, struct bt_pod_commons *commons)
{
	struct bt_pod own = *pod;
	struct bt_arena scratch = {0};
	struct bt_object *object = object_fitted(
		BT_KIND_POD, &own, before != NULL ? before->common : NULL, commons, &scratch);
	bt_arena_finish(&scratch);
	return object;
}

/** Decodes on the stack first, so that the kept copy can be allocated in its exact size. */
int bt_object_decode_protobuf(enum bt_kind kind, struct bt_str bytes,
	struct bt_pod_commons *commons, struct bt_object **out_object, struct berth_error *err)
{
	_Alignas(max_align_t) char memory[DECODED_BYTES];
	const struct bt_kind_info *info = bt_kind_info(kind);
	struct bt_arena arena;

	bt_arena_init_with(&arena, memory, sizeof(memory));
	void *value = bt_arena_calloc(&arena, 1, info->size);
	int code = bt_message_decode_protobuf(info->message, bytes, &arena, value, err);
	if (code == 0) {
		*out_object = object_fitted(kind, value, NULL, commons, &arena);
	} else {
		struct bt_wire_fields object;
		struct bt_wire_fields meta;

		(void)bt_wire_read_fields(bytes, &object, NULL);
		(void)bt_wire_read_fields(object.texts[OBJECT_META], &meta, NULL);
		code = name_object(
			kind, meta.texts[META_NAMESPACE], meta.texts[META_NAME], code, err);
	}
	bt_arena_finish(&arena);
	return code;
}

/** Kind and version of an object, as read from its text. */
struct identity {
	struct bt_str api_version;
	struct bt_str kind;
	bool known;
	enum bt_kind known_kind;
	bool is_list;       /* the kind List */
	bool is_typed_list; /* a list of known_kind */
};

static int read_identity(const struct bt_json_reader *reader, struct bt_arena *arena,
	struct identity *out, struct berth_error *err)
{
	*out = (struct identity){.known = false};
	int code = peek_strings(
		*reader, "kind", &out->kind, "apiVersion", &out->api_version, arena, err);
	if (code != 0) {
		return code;
	}
	if (out->kind.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "object has no kind");
	}
	if (out->api_version.length == 0) {
		struct bt_strbuf shown = {NULL, 0, 0};

		append_shown(&shown, out->kind);
		(void)bt_error_set(err, BERTH_ERR_INVALID, "%s: object has no apiVersion",
			bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
		return BERTH_ERR_INVALID;
	}
	out->known = bt_kind_find(out->api_version, out->kind, &out->known_kind);
	out->is_list = bt_str_equal(out->kind, BT_STR("List")) &&
		bt_str_equal(out->api_version, BT_STR("v1"));
	if (!out->known && !out->is_list && bt_str_has_suffix(out->kind, BT_STR("List"))) {
		out->is_typed_list = bt_kind_find(out->api_version,
			bt_str_sub(out->kind, 0, out->kind.length - 4), &out->known_kind);
	}
	return 0;
}

static int decode_any(struct bt_json_reader *reader, const struct bt_object_sink *sink,
	uint32_t depth, struct berth_error *err);

static int decode_known(enum bt_kind kind, struct bt_json_reader *reader,
	const struct bt_object_sink *sink, struct berth_error *err)
{
	struct bt_object *object;
	int code = bt_object_decode_as(kind, reader, &object, err);

	return code != 0 ? code : sink->take(sink->context, object, err);
}

static int decode_items(const struct identity *list, struct bt_json_reader *reader,
	const struct bt_object_sink *sink, uint32_t depth, struct berth_error *err)
{
	bool first = true;
	bool more;
	enum bt_json_type type;
	int code = bt_json_peek(reader, &type, err);

	if (code != 0 || type == BT_JSON_NULL) {
		return code != 0 ? code : bt_json_read_null(reader, err);
	}
	if (depth >= BT_OBJECT_LIST_DEPTH_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "lists are nested too deeply");
	}
	code = bt_json_enter_array(reader, err);
	if (code != 0) {
		return bt_error_wrap(err, code, "items");
	}
	for (uint64_t i = 0;; i++) {
		code = bt_json_next_element(reader, &first, &more, err);
		if (code != 0) {
			return bt_error_wrap(err, code, "items");
		}
		if (!more) {
			return 0;
		}
		code = bt_json_peek(reader, &type, err);
		if (code == 0 && type == BT_JSON_NULL) {
			code = bt_json_read_null(reader, err);
		} else if (code == 0) {
			/* items of a typed list have no kind of their own */
			code = list->is_typed_list
				? decode_known(list->known_kind, reader, sink, err)
				: decode_any(reader, sink, depth + 1, err);
		}
		if (code != 0) {
			return bt_error_wrap(err, code, "items[%llu]", (unsigned long long)i);
		}
	}
}

static int decode_list(const struct identity *list, struct bt_json_reader *reader,
	const struct bt_object_sink *sink, uint32_t depth, struct berth_error *err)
{
	struct bt_arena names = {0};
	struct bt_str name;
	int code;

	BT_JSON_EACH_MEMBER (reader, &names, name, code, err) {
		if (bt_str_equal(name, BT_STR("items"))) {
			code = decode_items(list, reader, sink, depth, err);
		} else {
			code = bt_json_skip(reader, NULL, err);
		}
	}
	bt_arena_finish(&names);
	return code;
}

static int decode_any(struct bt_json_reader *reader, const struct bt_object_sink *sink,
	uint32_t depth, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct identity identity;
	int code = read_identity(reader, &arena, &identity, err);

	if (code == 0) {
		if (identity.known) {
			code = decode_known(identity.known_kind, reader, sink, err);
		} else if (identity.is_list || identity.is_typed_list) {
			code = decode_list(&identity, reader, sink, depth, err);
		} else {
			struct bt_str text;
			code = bt_json_skip(reader, &text, err);
			if (code == 0 && sink->skipped != NULL) {
				sink->skipped(
					sink->context, identity.api_version, identity.kind, text);
			}
		}
	}
	bt_arena_finish(&arena);
	return code;
}

int bt_object_decode_reader(
	struct bt_json_reader *reader, const struct bt_object_sink *sink, struct berth_error *err)
{
	enum bt_json_type type;
	int code = bt_json_peek(reader, &type, err);

	if (code != 0 || type == BT_JSON_NULL) {
		return code != 0 ? code : bt_json_read_null(reader, err);
	}
	return decode_any(reader, sink, 0, err);
}

int bt_object_decode(struct bt_str json, struct bt_object **out_object, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_json_reader reader;
	struct identity identity;
	struct bt_object *object = NULL;

	bt_json_reader_init(&reader, json);
	int code = read_identity(&reader, &arena, &identity, err);
	if (code == 0 && !identity.known) {
		struct bt_strbuf shown = {NULL, 0, 0};

		append_shown(&shown, identity.api_version);
		bt_strbuf_append_c(&shown, " ");
		append_shown(&shown, identity.kind);
		code = bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "%s: kind is not known", bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
	}
	if (code == 0) {
		code = bt_object_decode_as(identity.known_kind, &reader, &object, err);
	}
	if (code == 0) {
		code = bt_json_expect_end(&reader, err);
	}
	bt_arena_finish(&arena);
	if (code != 0) {
		bt_object_release(object);
		return code;
	}
	*out_object = object;
	return 0;
}

void *bt_object_copy_value(const struct bt_object *object, struct bt_arena *arena)
{
	size_t size = bt_kind_info(object->kind)->size;
	void *copy = bt_arena_alloc(arena, size);
	memcpy(copy, object->value, size);
	return copy;
}

const struct bt_pod_template *bt_workload_template(const struct bt_object *object)
{
	const void *value = object->value;
	switch ((int)object->kind) {
	case BT_KIND_DEPLOYMENT:
		return &((const struct bt_deployment *)value)->spec.template_;
	case BT_KIND_REPLICA_SET:
		return &((const struct bt_replica_set *)value)->spec.template_;
	case BT_KIND_REPLICATION_CONTROLLER:
		return ((const struct bt_replication_controller *)value)->spec.template_;
	case BT_KIND_STATEFUL_SET:
		return &((const struct bt_stateful_set *)value)->spec.template_;
	case BT_KIND_DAEMON_SET:
		return &((const struct bt_daemon_set *)value)->spec.template_;
	case BT_KIND_JOB:
		return &((const struct bt_job *)value)->spec.template_;
	case BT_KIND_CRON_JOB:
		return &((const struct bt_cron_job *)value)->spec.job_template.spec.template_;
	default:
		return NULL;
	}
}

const struct bt_opt_i32 *bt_workload_replicas(const struct bt_object *object)
{
	const void *value = object->value;
	switch ((int)object->kind) {
	case BT_KIND_DEPLOYMENT:
		return &((const struct bt_deployment *)value)->spec.replicas;
	case BT_KIND_REPLICA_SET:
		return &((const struct bt_replica_set *)value)->spec.replicas;
	case BT_KIND_REPLICATION_CONTROLLER:
		return &((const struct bt_replication_controller *)value)->spec.replicas;
	case BT_KIND_STATEFUL_SET:
		return &((const struct bt_stateful_set *)value)->spec.replicas;
	default:
		return NULL;
	}
}

bool bt_kind_has_replicas(enum bt_kind kind)
{
	return kind == BT_KIND_DEPLOYMENT || kind == BT_KIND_REPLICA_SET ||
		kind == BT_KIND_REPLICATION_CONTROLLER || kind == BT_KIND_STATEFUL_SET;
}

bool bt_kind_creates_pods(enum bt_kind kind)
{
	return bt_kind_has_replicas(kind) || kind == BT_KIND_DAEMON_SET || kind == BT_KIND_JOB ||
		kind == BT_KIND_CRON_JOB;
}
