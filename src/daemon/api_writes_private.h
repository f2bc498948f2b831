/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_API_WRITES_PRIVATE_H
#define BT_DAEMON_API_WRITES_PRIVATE_H
/** Shared by the files of api_writes only. */
#include "base/map.h"
#include "base/prng.h"
#include "base/vec.h"
#include "daemon/api_writes.h"

enum bt_write_kind {
	BT_WRITE_BINDING,
	BT_WRITE_STATUS,    /* of the pod being scheduled */
	BT_WRITE_POD_GROUP, /* status of the group being scheduled */
	BT_WRITE_EVICTION,  /* of a victim: its status, or its deletion */
	BT_WRITE_VOLUME,    /* read, then written as a whole */
	BT_WRITE_CLAIM,     /* of DynamicResources: claims, and claim statuses of pods */
};

enum bt_write_state {
	BT_WRITE_WAITS, /* for an earlier write of its pod, or for another write */
	BT_WRITE_SENT,
	BT_WRITE_PAUSED,   /* to be sent again */
	BT_WRITE_ANSWERED, /* until bt_api_writes_deliver */
	BT_WRITE_REPORTED, /* reported to the scheduler, which has not taken it yet */
};

struct bt_write {
	struct bt_api_writes *writes;
	enum bt_write_kind kind;
	enum bt_write_state state;
	uint32_t index;
	uint64_t sequence;
	char *uid; /* owned, as all texts here; writes of one uid are sent in order */
	/**
	 * Distinguishes writes for one pod: the node of a binding, the volume, or method and path.
	 * NULL: no caller needs the answer.
	 */
	char *subject;
	char *namespace_;
	char *name;
	const char *method;
	char *path;
	char *body; /* kept while a retry may need it */
	uint32_t body_length;
	struct bt_str content_type; /* a literal; "": the type of the client */
	char *resource;             /* "resourceclaims.resource.k8s.io" */
	struct bt_rest_call *call;
	uint32_t tries;
	int64_t due_ns; /* PAUSED: loop time */
	uint64_t after; /* sequence of the write that must end first; 0: none */
	struct bt_preemption_ticket ticket;
	bool retries;
	/* For BT_WRITE_VOLUME: the changed objects. */
	struct bt_object *volume;
	struct bt_object *claim;
	bool was_read;
	/* For BT_WRITE_CLAIM. */
	enum bt_kind target;
	uint64_t digest; /* of the body */
	/* The answer. */
	int result;
	char *message;
	char *resource_version;
	struct bt_object *object; /* the claim to write, with a reference; NULL: no claim */
	bool conflicts;
};

struct bt_api_writes {
	struct bt_api_writes_options options;
	struct bt_scheduler *scheduler;
	struct bt_scheduler_writer writer;
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	struct bt_prng prng;
	BT_VEC(struct bt_write *) list; /* a free place is NULL */
	BT_VEC(uint32_t) free_places;
	struct bt_map by_uid;
	BT_VEC(struct bt_write *) answered;
	BT_VEC(struct bt_write *) evictions; /* held evictions of the current attempt */
	uint64_t last_sequence;
	uint64_t attempt_patch; /* sequence of the current attempt's status patch; 0: none */
	uint32_t in_flight;
	uint32_t paused;
	uint32_t reported;
	int64_t next_due_ns; /* when the first paused write is due */
	struct bt_strbuf scratch;
	struct bt_strbuf resource_version; /* of the last volume whose answer was taken */
};

struct bt_write *bt_write_create(struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str namespace_, struct bt_str name);
void bt_write_destroy(struct bt_write *write);
/**
 * Send the next write of the same pod if none is in flight. The body is copied if a retry may need
 * it.
 */
void bt_write_start(struct bt_write *write);
/** Find the pod's write of this kind and subject; NULL: none. */
struct bt_write *bt_write_find(const struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str subject);
/** Destroy a finished write. Returns its result: 0, or the error in the answer. */
int bt_write_take(struct bt_write *write, struct berth_error *err);
void bt_write_set_text(char **text, struct bt_str value);
void bt_write_set_body(struct bt_write *write, struct bt_str body);
/**
 * Set the path "/api/v1/[namespaces/<ns>/]<resource>[/<name>]" or "/apis/<group>/...", then tail.
 */
void bt_write_set_path(struct bt_write *write, enum bt_kind kind, const char *tail);
bool bt_api_writes_may_write(const struct bt_api_writes *writes, struct berth_error *err);
/** Send the write, for the first time or as a retry. */
void bt_write_send(struct bt_write *write);
/** Store the result and start the pod's next write; err: the error of a failure, emptied. */
void bt_write_end(struct bt_write *write, int result, struct berth_error *err);

/** api_writes.c: handle the answer to the read or to the write of a volume. */
void bt_write_volume_answered(struct bt_write *write, const struct bt_rest_answer *answer);
/** Set the functions for bindings, patches, preemption and volumes. */
void bt_api_writes_init(struct bt_api_writes *writes);
/** api_writes_claim.c: handle the answer to the write of a claim. */
void bt_write_claim_answered(struct bt_write *write, const struct bt_rest_answer *answer);
void bt_api_writes_init_claims(struct bt_api_writes *writes);

/**
 * Turn the loop until the write has its answer, in the middle of a call of the scheduler. false:
 * the process stops, or the loop failed.
 */
bool bt_write_await(struct bt_write *write);
/** Like bt_write_await, then bt_write_take. */
int bt_write_wait(struct bt_write *write, struct berth_error *err);
/** Drop the write: its answer is not needed. A write that was not sent yet is never sent. */
void bt_write_abandon(struct bt_write *write);
#endif
