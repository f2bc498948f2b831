/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_ENCODE_H
#define BT_SERVER_ENCODE_H
/**
 * Writing objects for clients. What is stored is what JSON clients get, with kind and apiVersion
 * put in front: no tree is made for them. Everything else (other versions, YAML, protobuf, tables,
 * bare metadata, indented JSON) goes through a tree. Spec: 14 sections 8.2, 15.8 and 18; 13
 * section 8.
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

/** What becomes of an object. */
enum bt_view {
	BT_VIEW_OBJECT,
	BT_VIEW_METADATA, /* as=PartialObjectMetadata, as=PartialObjectMetadataList */
	BT_VIEW_TABLE,    /* as=Table; JSON and YAML only */
};

/** includeObject of tables. */
enum bt_include_object {
	BT_INCLUDE_METADATA,
	BT_INCLUDE_OBJECT,
	BT_INCLUDE_NONE,
};

/** What a client asked for. All-zero: compact JSON of the object. */
struct bt_encoding {
	enum bt_media media;
	enum bt_view view;
	bool pretty;  /* JSON with two blanks per level; watches are compact nevertheless */
	bool v1beta1; /* meta.k8s.io/v1beta1 instead of v1, of tables and metadata */
	enum bt_include_object include_object;
};

/** Whether the resource can be written so: custom resources have no protobuf (but their bare
 * metadata has), and tables are no protobuf. */
bool bt_encoding_is_possible(
	const struct bt_encoding *encoding, const struct bt_api_resource *resource);
/** "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"; of watches
 * "application/vnd.kubernetes.protobuf;stream=watch". */
const char *bt_encoding_content_type(const struct bt_encoding *encoding, bool is_watch);

/**
 * A document that is complete with kind and apiVersion (a Status, a Scale, discovery ...), with a
 * newline behind JSON. The view is not looked at. Kinds without protobuf are written as JSON:
 * returns the media that was used.
 */
enum bt_media bt_encode_document(const struct bt_encoding *encoding,
	const struct bt_json_value *document, struct bt_strbuf *out);

/** For objects of one resource in one encoding. */
struct bt_encoder {
	struct bt_api *api;
	const struct bt_api_resource *resource;
	struct bt_encoding encoding;
	/* Private. */
	struct bt_arena arena;        /* of one object */
	struct bt_strbuf head;        /* {"kind":"Pod","apiVersion":"v1" */
	struct bt_strbuf whole;       /* of an object with its managedFields */
	struct bt_strbuf envelope;    /* of a watch event, as protobuf */
	struct bt_strbuf bytes;       /* of a protobuf message, of JSON that becomes YAML */
	struct bt_json_writer writer; /* of the list that is being written */
	bool is_stored_text;          /* JSON of the version that is stored ... */
	bool is_plain;                /* ... and compact: the stored text is the answer */
	bool wrote_columns;           /* a watch's first table did */
	uint64_t item_count;          /* of the list that is being written */
};

/** api and resource are borrowed; the encoding must be possible. */
void bt_encoder_init(struct bt_encoder *encoder, struct bt_api *api,
	const struct bt_api_resource *resource, const struct bt_encoding *encoding);
void bt_encoder_finish(struct bt_encoder *encoder);

/** One object, as the body of an answer (JSON with a newline). */
void bt_encode_object(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out);
/** The same of an object that is not stored (of a dry run), complete with kind and apiVersion as
 * bt_api_perform answers it. Not for Status and other kinds: see bt_encode_document. */
void bt_encode_object_tree(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out);

/** --- lists: begin, items, end. What is written in between may be taken out of `out` --- */

struct bt_list_metadata {
	uint64_t rv;
	struct bt_str continue_token; /* "": the last page */
	int64_t remaining_item_count; /* -1: not told */
};

/** metadata NULL: it is only known at the end, and is written there. */
void bt_encode_list_begin(
	struct bt_encoder *encoder, const struct bt_list_metadata *metadata, struct bt_strbuf *out);
void bt_encode_list_item(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out);
/** metadata: what begin did not get, else NULL. */
void bt_encode_list_end(
	struct bt_encoder *encoder, const struct bt_list_metadata *metadata, struct bt_strbuf *out);
/**
 * Protobuf: the items' bytes are in front of everything that contains them, so their total must be
 * known first. The envelope's head of a list whose message will have so many bytes; the message is
 * what begin (metadata given), items and end write.
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

/** A frame of an event whose object is this envelope: spec 13 section 8.4. */
void bt_encode_frame(enum bt_event_type type, struct bt_str envelope, struct bt_strbuf *out);
/** rv: what the object's metadata says instead of its own; 0: its own. */
void bt_encode_event(struct bt_encoder *encoder, enum bt_event_type type,
	const struct bt_stored *stored, uint64_t rv, struct bt_strbuf *out);
/** is_initial_end: with the annotation k8s.io/initial-events-end. */
void bt_encode_bookmark(
	struct bt_encoder *encoder, uint64_t rv, bool is_initial_end, struct bt_strbuf *out);
void bt_encode_error_event(
	struct bt_encoder *encoder, const struct bt_failure *failure, struct bt_strbuf *out);
#endif
