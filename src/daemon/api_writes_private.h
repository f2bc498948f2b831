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
	BT_WRITE_STATUS,    /* of the pod that is scheduled */
	BT_WRITE_POD_GROUP, /* status of the group that is scheduled */
	BT_WRITE_EVICTION,  /* of others: their status, or their deletion */
	BT_WRITE_VOLUME,    /* read, then written as a whole */
	BT_WRITE_CLAIM,     /* of DynamicResources: claims, and what pods' statuses say of them */
};

enum bt_write_state {
	BT_WRITE_WAITS, /* for an earlier one of its pod, or for another write */
	BT_WRITE_SENT,
	BT_WRITE_PAUSED,   /* to be sent again */
	BT_WRITE_ANSWERED, /* until deliver */
	BT_WRITE_TOLD,     /* the scheduler knows and has not asked yet */
};

struct bt_write {
	struct bt_api_writes *writes;
	enum bt_write_kind kind;
	enum bt_write_state state;
	uint32_t index;
	uint64_t sequence;
	char *uid; /* owned, as all texts here; whose turn is kept */
	/** Tells calls for one pod apart: the node of a binding, the volume, method and path.
	 * NULL: nobody will ask for the answer. */
	char *subject;
	char *namespace_;
	char *name;
	const char *method;
	char *path;
	char *body; /* kept while it may be sent again */
	uint32_t body_length;
	struct bt_str content_type; /* of literals, or "": the client's */
	char *resource;             /* "resourceclaims.resource.k8s.io" */
	struct bt_rest_call *call;
	uint32_t tries;
	int64_t due_ns; /* PAUSED: loop time */
	uint64_t after; /* sequence of the write that must end first; 0: none */
	struct bt_preemption_ticket ticket;
	bool retries;
	/* Of a volume: how the object changes. */
	struct bt_object *volume;
	struct bt_object *claim;
	bool was_read;
	/* Of a claim's write. */
	enum bt_kind target;
	uint64_t digest; /* of the body */
	/* The answer. */
	int result;
	char *message;
	char *resource_version;
	struct bt_object *object; /* reference held; of a claim's write */
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
	BT_VEC(struct bt_write *) evictions; /* of the attempt that runs */
	uint64_t last_sequence;
	uint64_t attempt_patch; /* sequence of the preemptor's patch in that attempt; 0: none */
	uint32_t in_flight;
	uint32_t paused;
	uint32_t told;
	int64_t next_due_ns; /* of the paused ones */
	struct bt_strbuf scratch;
	struct bt_strbuf resource_version; /* of the last volume that was told */
};

struct bt_write *bt_write_create(struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str namespace_, struct bt_str name);
void bt_write_destroy(struct bt_write *write);
/** body: copied when it may be needed again. Sent when it is its pod's turn. */
void bt_write_start(struct bt_write *write);
/** The pod's write of this kind and subject, or NULL. */
struct bt_write *bt_write_find(const struct bt_api_writes *writes, enum bt_write_kind kind,
	struct bt_str uid, struct bt_str subject);
/** 0 or the error that the answer was; the write ends. */
int bt_write_take(struct bt_write *write, struct berth_error *err);
void bt_write_set_text(char **text, struct bt_str value);
void bt_write_set_body(struct bt_write *write, struct bt_str body);
/** "/api/v1/[namespaces/<ns>/]<resource>[/<name>]" or "/apis/<group>/..." and what follows. */
void bt_write_set_path(struct bt_write *write, enum bt_kind kind, const char *tail);
bool bt_api_writes_may_write(const struct bt_api_writes *writes, struct berth_error *err);
/** Send it (again). */
void bt_write_send(struct bt_write *write);
/** It is over; err: of a failure, emptied. */
void bt_write_end(struct bt_write *write, int result, struct berth_error *err);

/** api_writes.c: an answer to its read or its write. */
void bt_write_volume_answered(struct bt_write *write, const struct bt_rest_answer *answer);
/** Bindings, patches, preemption and volumes. */
void bt_api_writes_init(struct bt_api_writes *writes);
/** api_writes_claim.c: the answer came. */
void bt_write_claim_answered(struct bt_write *write, const struct bt_rest_answer *answer);
void bt_api_writes_init_claims(struct bt_api_writes *writes);

/** Turn the loop until the write ended, in the middle of a call of the scheduler. false: the
 * process stops, or the loop failed. */
bool bt_write_await(struct bt_write *write);
/** The same, and take the answer; the write ends. */
int bt_write_wait(struct bt_write *write, struct berth_error *err);
/** Nobody will ask for its answer: what was not sent yet will not be. */
void bt_write_abandon(struct bt_write *write);
#endif
