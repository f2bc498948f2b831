/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_ENCODE_H
#define BT_SERVER_ENCODE_H
/**
 * Encodes objects for clients. The usual form, JSON of the stored version, is the stored text with
 * kind and apiVersion put in front, without parsing the text. Every other form (other versions,
 * YAML, protobuf, tables, bare metadata, indented JSON) is made from a tree. Spec: 14 sections 8.2,
 * 15.8 and 18; 13 section 8.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "server/api.h"

enum bt_media {
	BT_MEDIA_JSON,
	BT_MEDIA_YAML, /* not for watches */
	BT_MEDIA_PROTOBUF,
};

/** Which view of an object the client gets. */
enum bt_view {
	BT_VIEW_OBJECT,
	BT_VIEW_METADATA, /* as=PartialObjectMetadata, as=PartialObjectMetadataList */
	BT_VIEW_TABLE,    /* as=Table; JSON and YAML only */
};

/** The query parameter includeObject of tables. */
enum bt_include_object {
	BT_INCLUDE_METADATA,
	BT_INCLUDE_OBJECT,
	BT_INCLUDE_NONE,
};

/** The encoding that a client asked for. All-zero: compact JSON of the object. */
struct bt_encoding {
	enum bt_media media;
	enum bt_view view;
	bool pretty;  /* JSON indented by two blanks per level; watches ignore it */
	bool v1beta1; /* tables and metadata as meta.k8s.io/v1beta1 instead of v1 */
	enum bt_include_object include_object;
};

/**
 * Returns whether the resource can be encoded like this: custom resources have no protobuf (except
 * as bare metadata), tables have no protobuf, and reviews have no tables.
 */
bool bt_encoding_is_possible(
	const struct bt_encoding *encoding, const struct bt_api_resource *resource);
/**
 * Returns the content type: "application/json", "application/yaml" or
 * "application/vnd.kubernetes.protobuf"; for watches in protobuf
 * "application/vnd.kubernetes.protobuf;stream=watch".
 */
const char *bt_media_content_type(enum bt_media media, bool is_watch);

/**
 * Encodes a document that is complete with kind and apiVersion (a Status, a Scale, discovery ...),
 * with a newline after JSON. Ignores the view. Kinds without protobuf are written as JSON instead.
 * Returns the media type that was used.
 */
enum bt_media bt_encode_document(const struct bt_encoding *encoding,
	const struct bt_json_value *document, struct bt_strbuf *out);

/** Encodes objects of one resource in one encoding. */
struct bt_encoder {
	struct bt_api *api;
	const struct bt_api_resource *resource;
	struct bt_encoding encoding;
	/* The fields below are private. */
	struct bt_arena arena;        /* cleared for each object */
	struct bt_strbuf head;        /* start of every object: {"kind":"Pod","apiVersion":"v1" */
	struct bt_strbuf complete;    /* text of the current object with its managedFields */
	struct bt_strbuf envelope;    /* protobuf envelope of the current watch event */
	struct bt_strbuf bytes;       /* current protobuf message, or JSON on its way to YAML */
	struct bt_json_writer writer; /* writes the current list */
	bool is_stored_text;          /* JSON of the stored version: events copy the stored text */
	bool is_plain;                /* is_stored_text, not pretty: answers copy the text too */
	bool wrote_columns;           /* a watch sends the columns with its first table only */
	uint64_t item_count;          /* items of the current list so far */
};

/** api and resource are borrowed; bt_encoding_is_possible must hold for the encoding. */
void bt_encoder_init(struct bt_encoder *encoder, struct bt_api *api,
	const struct bt_api_resource *resource, const struct bt_encoding *encoding);
void bt_encoder_finish(struct bt_encoder *encoder);

/** Encodes one object as the body of an answer (JSON with a newline). */
void bt_encode_object(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out);
/**
 * Like bt_encode_object, for an object that is not stored (dry run). The object has kind and
 * apiVersion, as in the answer of bt_api_perform. For Status and other kinds use
 * bt_encode_document.
 */
void bt_encode_object_tree(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out);

/** --- lists: begin, items, end. The caller may empty `out` between the calls --- */

struct bt_list_metadata {
	uint64_t rv;
	struct bt_str continue_token; /* "": the last page */
	int64_t remaining_item_count; /* 0: leave the field out */
};

/**
 * Encodes the beginning of a list. metadata NULL: the list's metadata is not known yet, and
 * bt_encode_list_end writes the metadata.
 */
void bt_encode_list_begin(
	struct bt_encoder *encoder, const struct bt_list_metadata *metadata, struct bt_strbuf *out);
void bt_encode_list_item(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out);
/** Encodes the end of a list. metadata NULL: bt_encode_list_begin has written the metadata. */
void bt_encode_list_end(
	struct bt_encoder *encoder, const struct bt_list_metadata *metadata, struct bt_strbuf *out);
/**
 * Writes the head of the protobuf envelope of a list. `message_bytes`: the number of bytes that
 * bt_encode_list_begin (with metadata), the items and bt_encode_list_end write. The caller must
 * know the number in advance, because protobuf puts the length of a message in front of the
 * message.
 */
void bt_encode_list_envelope(
	struct bt_encoder *encoder, uint64_t message_bytes, struct bt_strbuf *out);

/** --- watch events --- */

enum bt_event_type {
	BT_EVENT_ADDED,
	BT_EVENT_MODIFIED,
	BT_EVENT_DELETED,
	BT_EVENT_BOOKMARK,
	BT_EVENT_ERROR,
};

/** Wraps this protobuf envelope of an object in the frame of a watch event: spec 13 section 8.4. */
void bt_encode_frame(enum bt_event_type type, struct bt_str envelope, struct bt_strbuf *out);
/**
 * Encodes a watch event with the object. rv: resourceVersion to write into the metadata; 0: keep
 * the resourceVersion of the object.
 */
void bt_encode_event(struct bt_encoder *encoder, enum bt_event_type type,
	const struct bt_stored *stored, uint64_t rv, struct bt_strbuf *out);
/**
 * Encodes the event of a write in protobuf from the tree that was written (struct bt_api_trees).
 * owners: metadata.managedFields, parsed like the encoder's objects; NULL: none. Leaves the
 * object's envelope in encoder->envelope, as bt_encode_event does.
 */
void bt_encode_written(struct bt_encoder *encoder, enum bt_event_type type,
	struct bt_json_value *owners, const struct bt_json_value *object, struct bt_strbuf *out);
/**
 * Encodes a BOOKMARK event. is_initial_end: the bookmark has the annotation
 * k8s.io/initial-events-end.
 */
void bt_encode_bookmark(
	struct bt_encoder *encoder, uint64_t rv, bool is_initial_end, struct bt_strbuf *out);
void bt_encode_error_event(
	struct bt_encoder *encoder, const struct bt_failure *failure, struct bt_strbuf *out);
#endif
