/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_RECORDER_H
#define BT_DAEMON_EVENT_RECORDER_H
/**
 * Turns the scheduler's events into writes. Events with the same key, that is, events that differ
 * at most in their note, form a series: the first event is posted, the second event starts the
 * series, later events are counted, and the count is patched from time to time. The recorder does
 * no I/O: it passes the writes to a sink. Spec: 11b sections 8.1 and 8.4.
 *
 * Events with reason `Scheduled` are not remembered: the key contains the pod's resourceVersion,
 * which the binding changes, so no later event can have the same key. Bursts of such events take no
 * memory here.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/meta.h"
#include "api/pod.h"
#include "codec/json.h"

/**
 * A record holds one event in one block of about 250 bytes. The recorder, which may make a series
 * of the event, and the queue of waiting events share the record. The JSON is written from the
 * record when the event is sent. Spec: 11b sections 8.1 and 8.2, 13 section 14.4.
 */

/** What happened to which object. Borrowed for the call. */
struct bt_event_facts {
	const char *kind;        /* of the regarding object: "Pod" */
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
	BT_EVENT_NOTE, /* must be last: the parts before it are the key of a series */
	BT_EVENT_PART__COUNT,
};

/** Immutable and shared. Parts longer than 65535 bytes were cut. */
struct bt_event_record {
	uint32_t references;
	uint16_t lengths[BT_EVENT_PART__COUNT];
	int64_t time_ns; /* since 1970 */
	char bytes[];    /* the parts in order, without separators */
};

BT_MUST_USE struct bt_event_record *bt_event_record_create(
	const struct bt_event_facts *facts, int64_t now_ns);
struct bt_event_record *bt_event_record_share(struct bt_event_record *record);
/** Release a reference. NULL accepted. */
void bt_event_record_release(struct bt_event_record *record);
struct bt_str bt_event_record_part(const struct bt_event_record *record, enum bt_event_part part);
/** Return the namespace of the regarding object, or "default". */
struct bt_str bt_event_record_namespace(const struct bt_event_record *record);
/**
 * Append metadata.name: `<name of the object>.<time in hexadecimal>`, or a UUID if that name
 * would be longer than 253 bytes.
 */
void bt_event_record_append_name(const struct bt_event_record *record, struct bt_strbuf *out);

/**
 * Append the events.k8s.io/v1 Event as JSON. host: the last part of reportingInstance. series_count
 * below 2: no series. series_ns: when the last event of the series happened, since 1970.
 */
void bt_event_record_write(const struct bt_event_record *record, struct bt_str host,
	uint32_t series_count, int64_t series_ns, struct bt_strbuf *out);
/** Append the strategic merge patch that brings a series up to date. */
void bt_event_record_write_series(uint32_t series_count, int64_t series_ns, struct bt_strbuf *out);

/** The members of a core/v1 Event that change when the event is repeated. Times since 1970. */
struct bt_event_counts {
	struct bt_str message; /* the note, or the text for several similar events */
	int64_t first_ns;
	int64_t last_ns;
	uint32_t count;
};

/** Append the core/v1 Event as JSON; name: metadata.name. */
void bt_event_record_write_core(const struct bt_event_record *record, struct bt_str name,
	const struct bt_event_counts *counts, struct bt_strbuf *out);
/**
 * Append the strategic merge patch that brings a core/v1 Event up to date. with_message: patch the
 * message, too.
 */
void bt_event_record_write_counts(
	const struct bt_event_counts *counts, bool with_message, struct bt_strbuf *out);

/**
 * At most this many keys are remembered. A further key replaces the key seen longest ago, whose
 * series is patched a last time.
 */
#define BT_EVENT_SERIES_MAX 4096

/** An event with the count of its series. Borrowed for the call; the record may be shared. */
struct bt_event_delivery {
	struct bt_event_record *record;
	uint32_t series_count; /* below 2: no series */
	int64_t series_ns;     /* when the last event of the series happened, since 1970 */
};

struct bt_event_sink {
	void *context;
	/**
	 * POST the event or, if patches is true, PATCH the series of the event; if the event was
	 * deleted (404), POST it with the series.
	 */
	void (*send)(void *context, const struct bt_event_delivery *event, bool patches);
	/**
	 * Called before the event is counted or posted; may be NULL. true: the sink handles the
	 * event, and may pass the record to bt_event_recorder_accept later.
	 */
	bool (*take)(void *context, struct bt_event_record *record);
};

struct bt_event_recorder;

BT_MUST_USE struct bt_event_recorder *bt_event_recorder_create(const struct bt_event_sink *sink);
void bt_event_recorder_destroy(struct bt_event_recorder *recorder);
/** Record an event. now_ns: since 1970. */
void bt_event_recorder_record(
	struct bt_event_recorder *recorder, const struct bt_event_facts *facts, int64_t now_ns);
/** Record an event on a pod; the reporting controller is the pod's schedulerName. */
void bt_event_recorder_record_pod(struct bt_event_recorder *recorder, const struct bt_pod *pod,
	const char *type, const char *reason, const char *action, struct bt_str note,
	int64_t now_ns);
/** Post or count an event that the sink took earlier, with the time of the event. */
void bt_event_recorder_accept(struct bt_event_recorder *recorder, struct bt_event_record *record);
/**
 * Every 30 minutes, patch all series. Every 6 minutes, forget the keys that were not seen for 6
 * minutes. now_ns: since 1970. Returns when to call this function next, since 1970.
 */
int64_t bt_event_recorder_tick(struct bt_event_recorder *recorder, int64_t now_ns);
/** Return the number of remembered series and single events. */
uint32_t bt_event_recorder_count(const struct bt_event_recorder *recorder);

#endif
