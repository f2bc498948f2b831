/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_RECORD_H
#define BT_DAEMON_EVENT_RECORD_H
/**
 * One event in one small block: some 250 bytes, shared by the recorder that may make a series of it
 * and the queue it waits in. Documents are written from it when they are sent. Spec: 11b sections
 * 8.1 and 8.2, 13 section 14.4.
 */
#include "api/meta.h"
#include "codec/json.h"

/** What happened, and to whom. Borrowed for the call. */
struct bt_event_facts {
	const char *kind;        /* of regarding: "Pod" */
	const char *api_version; /* "v1" */
	const struct bt_object_meta *regarding;
	const char *type;
	const char *reason;
	const char *action;
	struct bt_str controller; /* reportingController: the schedulerName */
	struct bt_str note;
};

enum bt_event_part {
	BT_EVENT_TYPE,
	BT_EVENT_REASON,
	BT_EVENT_ACTION,
	BT_EVENT_CONTROLLER,
	BT_EVENT_KIND,
	BT_EVENT_API_VERSION,
	BT_EVENT_NAMESPACE,
	BT_EVENT_NAME,
	BT_EVENT_UID,
	BT_EVENT_RESOURCE_VERSION,
	BT_EVENT_NOTE, /* last: everything before it is the key of a series */
	BT_EVENT_PART__COUNT,
};

/** Immutable and shared. Parts that are longer than 65535 bytes were cut. */
struct bt_event_record {
	uint32_t references;
	uint16_t lengths[BT_EVENT_PART__COUNT];
	int64_t time_ns; /* since 1970 */
	char bytes[];    /* the parts, one after another */
};

BT_MUST_USE struct bt_event_record *bt_event_record_create(
	const struct bt_event_facts *facts, int64_t now_ns);
struct bt_event_record *bt_event_record_share(struct bt_event_record *record);
/** NULL accepted. */
void bt_event_record_release(struct bt_event_record *record);
struct bt_str bt_event_record_part(const struct bt_event_record *record, enum bt_event_part part);
/** Regarding's, or "default". */
struct bt_str bt_event_record_namespace(const struct bt_event_record *record);
/** Everything but the note: what tells series apart. */
bool bt_event_record_same_series(const struct bt_event_record *a, const struct bt_event_record *b);
uint64_t bt_event_record_series_hash(const struct bt_event_record *record);
/** Append metadata.name: `<name>.<time in hexadecimal>`, or a UUID where that is too long. */
void bt_event_record_append_name(const struct bt_event_record *record, struct bt_strbuf *out);

/**
 * Append the events.k8s.io/v1 Event as JSON. host: what reportingInstance ends in. series_count
 * below 2: no series.
 */
void bt_event_record_write(const struct bt_event_record *record, struct bt_str host,
	uint32_t series_count, int64_t series_ns, struct bt_strbuf *out);
/** Append the strategic merge patch that brings a series up to date. */
void bt_event_record_write_series(uint32_t series_count, int64_t series_ns, struct bt_strbuf *out);

/** What core/v1 Events have that changes as more of the same happen. */
struct bt_event_counts {
	struct bt_str message; /* the note, or what stands for several */
	int64_t first_ns;
	int64_t last_ns;
	uint32_t count;
};

/** Append the core/v1 Event as JSON; name: metadata.name. */
void bt_event_record_write_core(const struct bt_event_record *record, struct bt_str name,
	const struct bt_event_counts *counts, struct bt_strbuf *out);
/** Append the patch that brings a core/v1 Event up to date; with_message: that changed too. */
void bt_event_record_write_counts(
	const struct bt_event_counts *counts, bool with_message, struct bt_strbuf *out);
#endif
