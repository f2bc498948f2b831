/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_API_WRITES_PRIVATE_H
#define BT_DAEMON_API_WRITES_PRIVATE_H
/** Declarations shared by the files api_writes*.c. */
#include "base/map.h"
#include "base/prng.h"
#include "base/vec.h"
#include "daemon/api_writes.h"

enum bt_write_kind {
	BT_WRITE_BINDING,
	BT_WRITE_STATUS,    /* status of the pod being scheduled */
	BT_WRITE_POD_GROUP, /* status of the group being scheduled */
	BT_WRITE_EVICTION,  /* by preemption: status patch or deletion of a victim */
	BT_WRITE_VOLUME,    /* PersistentVolume or PersistentVolumeClaim: GET, then PUT */
	BT_WRITE_CLAIM,     /* by DynamicResources: a ResourceClaim, or a pod's claim statuses */
};

enum bt_write_state {
	BT_WRITE_WAITS, /* for an earlier write of the same uid, or for the write `after` */
	BT_WRITE_SENT,
	BT_WRITE_PAUSED,   /* will be sent again at due_ns */
	BT_WRITE_ANSWERED, /* the answer is kept until bt_api_writes_deliver */
	BT_WRITE_REPORTED, /* the scheduler was resumed, but has not taken the result yet */
};

struct bt_write {
	struct bt_api_writes *writes;
	enum bt_write_kind kind;
	enum bt_write_state state;
	uint32_t index;    /* in bt_api_writes.list */
	uint64_t sequence; /* unique, ascending, above 0 */
	/**
	 * The uid of the pod or PodGroup; writes with the same uid are sent in order. Owned, as
	 * every char * below.
	 */
	char *uid;
	/**
	 * Identifies the write among the writes of one kind and uid. BINDING: the node. VOLUME: the
	 * uid of the claim, or the node selected for the claim. CLAIM: method, kind, namespace,
	 * name and subresource. NULL: no caller takes the result.
	 */
	char *subject;
	char *namespace_;
	char *name;
	const char *method;
	char *path;
	char *body; /* NULL once no retry can need the body */
	uint32_t body_length;
	struct bt_str content_type; /* a literal; "": the client's content type */
	const char *resource;       /* a literal: "resourceclaims" */
	struct bt_rest_call *call;
	uint32_t tries;
	int64_t due_ns; /* PAUSED: when to send again, loop time */
	uint64_t after; /* sequence of the write that must end first; 0: no such write */
	struct bt_preemption_ticket ticket;
	bool retries; /* the write is sent again after temporary errors */
	/* For BT_WRITE_VOLUME. */
	struct bt_object *volume; /* the changed volume; NULL: the claim is written */
	struct bt_object *claim;
	bool was_read; /* the GET was answered */
	/* For BT_WRITE_CLAIM. */
	enum bt_kind target;
	uint64_t digest; /* of the body */
	/* The answer. */
	int result;               /* 0 or BERTH_ERR_* */
	char *message;            /* of the error */
	char *resource_version;   /* VOLUME: of the written object */
	struct bt_object *object; /* CLAIM: the claim in the answer, owned; NULL: no claim */
	bool conflicts;           /* CLAIM: the answer is a conflict */
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
	struct bt_map by_uid; /* hash of the uid -> index in `list` */
	BT_VEC(struct bt_write *) answered;
	BT_VEC(struct bt_write *) evictions; /* held evictions of the current attempt */
	uint64_t last_sequence;
	uint64_t attempt_patch; /* sequence of the current attempt's status patch; 0: no patch */
	uint32_t in_flight;     /* writes that have no answer, sent or not */
	uint32_t paused;
	uint32_t reported;
	int64_t next_due_ns; /* when the first paused write is due, loop time */
	struct bt_strbuf scratch;
	struct bt_strbuf resource_version; /* in the last BT_WRITE_VOLUME answer that was taken */
};

/** Create a write in state BT_WRITE_WAITS, with copies of the texts. */
struct bt_write *bt_write_create(struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str namespace_, struct bt_str name);
void bt_write_destroy(struct bt_write *write);
/**
 * Send the oldest waiting write with the uid of `write` (which may have ended). Sends nothing if
 * another write of that uid is in flight, or if the oldest waiting write must wait for its write
 * `after`.
 */
void bt_write_start(struct bt_write *write);
/** Find the pod's write of this kind and subject; NULL: there is no such write. */
struct bt_write *bt_write_find(const struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str subject);
/** Destroy a write that has its answer. Returns 0, or the error in the answer. */
int bt_write_take(struct bt_write *write, struct berth_error *err);
/** Replace *text (NULL accepted) by a copy of value. */
void bt_write_set_text(char **text, struct bt_str value);
void bt_write_set_body(struct bt_write *write, struct bt_str body);
/**
 * Set write->path to "/api/v1/[namespaces/<ns>/]<resource>[/<name>]" or "/apis/<group>/...", with
 * `tail` at the end. Also set write->resource.
 */
void bt_write_set_path(struct bt_write *write, enum bt_kind kind, const char *tail);
/** Return whether this process leads; if not, set BERTH_ERR_STATE in err (NULL accepted). */
bool bt_api_writes_may_write(const struct bt_api_writes *writes, struct berth_error *err);
/** Send the write, for the first time or as a retry. */
void bt_write_send(struct bt_write *write);
/**
 * Store the result and start the writes that waited for this write. err: the error if result is
 * negative; emptied.
 */
void bt_write_end(struct bt_write *write, int result, struct berth_error *err);

/** api_writes.c: handle the answer to the GET or PUT of a BT_WRITE_VOLUME. */
void bt_write_volume_answered(struct bt_write *write, const struct bt_rest_answer *answer);
/** api_writes.c: set the functions for bindings, patches, preemption and volumes. */
void bt_api_writes_init(struct bt_api_writes *writes);
/** api_writes_claim.c: handle the answer to a BT_WRITE_CLAIM. */
void bt_write_claim_answered(struct bt_write *write, const struct bt_rest_answer *answer);
void bt_api_writes_init_claims(struct bt_api_writes *writes);

/**
 * Turn the loop until the write has an answer, inside a call of the scheduler. false: the process
 * stops, or the loop failed; the write still exists.
 */
bool bt_write_await(struct bt_write *write);
/** Drop the write: no caller takes the result. A write that was not sent yet is never sent. */
void bt_write_abandon(struct bt_write *write);
#endif
