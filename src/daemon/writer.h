/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_WRITER_H
#define BT_DAEMON_WRITER_H
/**
 * The requests of a struct bt_scheduler_writer, with upstream's verbs and documents (a volume is a
 * patch, which the owner may turn into upstream's update). The owner sends the requests:
 * daemon/api_writes.c over HTTP, cluster/writes.c to an API server in the same process. Spec: 13
 * section 14, 11b section 6, 12 sections 10 and 12 to 15.
 */
#include "daemon/event_recorder.h"
#include "sched/scheduler.h"

/** Ordered: owners compare a kind with the ends of the three groups. */
enum bt_write_kind {
	/* The caller repeats the request until there is a result. */
	BT_WRITE_BINDING,
	BT_WRITE_VOLUME, /* PersistentVolume or PersistentVolumeClaim */
	BT_WRITE_CLAIM,  /* by DynamicResources: a ResourceClaim, or a pod's claim statuses */
	/* By preemption: status patch or deletion of a victim. The ticket gets the result. */
	BT_WRITE_EVICTION,
	/* A failure is only reported. */
	BT_WRITE_STATUS,    /* status of the pod being scheduled */
	BT_WRITE_POD_GROUP, /* status of the group being scheduled */
	BT_WRITE_UNRESERVE, /* removes a pod from a ResourceClaim's status */
};

/** Borrowed for the call; method and tail are literals. */
struct bt_write_request {
	enum bt_write_kind kind;
	/**
	 * POST, GET, PUT, PATCH or DELETE. A volume's PATCH is a merge patch with the
	 * resourceVersion that the object must have; every other PATCH is a strategic merge patch.
	 */
	const char *method;
	enum bt_kind target;
	const char *tail;  /* end of the path: "", "/status" or "/binding" */
	struct bt_str uid; /* of the pod or PodGroup; "": of the pod whose binding cycle runs */
	struct bt_str namespace_;
	struct bt_str name;      /* "": a request on the collection */
	struct bt_str node_name; /* BINDING: for the log */
	struct bt_str body;      /* "": none */
	bool is_protobuf;        /* the body; else it is JSON */
	bool retries;            /* after temporary errors */
	bool must_end;           /* wait for the answer */
	struct bt_preemption_ticket ticket;
};

/** The part of an answer that a caller needs. */
struct bt_write_answer {
	struct bt_object *claim;        /* CLAIM: the claim in the answer, owned; may be NULL */
	struct bt_str resource_version; /* VOLUME: borrowed until the next call */
};

/** The first member of the owner's struct, so that functions of the owner can cast the pointer. */
struct bt_writer {
	/* Set by the owner before bt_writer_init. */

	/**
	 * Sends the request or, if an equal request was sent in an earlier call, takes its result.
	 * Returns 0, an error, BT_WRITE_PENDING, BT_WRITE_CONFLICT for a CLAIM, or
	 * BT_PREEMPTION_PENDING for a ticket with an executor: such an eviction is held until
	 * attempt_ended, because the preemptor's nomination must be written before the victims are
	 * deleted (spec 13 section 14.9). out_answer (may be NULL): set only if the result is 0.
	 */
	int (*send)(struct bt_writer *writer, const struct bt_write_request *request,
		struct bt_write_answer *out_answer, struct berth_error *err);
	/**
	 * Returns a reference to the object with all members that the API has, of the same
	 * resourceVersion as base; NULL: there is none. NULL: base has all members.
	 */
	struct bt_object *(*find_complete)(struct bt_writer *writer, const struct bt_object *base);
	int64_t (*now_ns)(void *context); /* wall clock */
	void *clock_context;
	struct bt_event_recorder *events; /* NULL: no events are recorded */
	bool is_protobuf;                 /* write protobuf where upstream does */

	/* The owner sets `warn`, `may_schedule` and `attempt_ended` after bt_writer_init. */
	struct bt_scheduler_writer writer;
	struct bt_scheduler *scheduler; /* set once the scheduler exists */

	/* private */
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	struct bt_arena arena; /* of the current patch */
	struct bt_strbuf text; /* body of the current request */
};

/** The struct must not move afterwards: writer->writer, whose context is writer, points into it. */
void bt_writer_init(struct bt_writer *writer);
void bt_writer_finish(struct bt_writer *writer);
#endif
