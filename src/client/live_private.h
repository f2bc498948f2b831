/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_LIVE_PRIVATE_H
#define BT_CLIENT_LIVE_PRIVATE_H
/**
 * Internals of a live connection, shared by live.c (connection, errors, all kinds, events) and
 * live_list.c (one list).
 */
#include "base/vec.h"
#include "client/live.h"
#include "client/rest.h"
#include "client/watch_frames.h"

struct bt_live {
	struct bt_loop *loop;
	struct bt_client_config config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_strbuf server;  /* printable */
	struct bt_strbuf context; /* printable */
	bool has_answered;
	int64_t last_data_ns; /* time of the last received data, or of the end of a Retry-After wait
	                       */
	int64_t long_wait_ns; /* last Retry-After that was too long; 0: none */
};

struct bt_live_list;

/** How a list ended. */
enum bt_live_end {
	BT_LIVE_COMPLETE,
	BT_LIVE_FORBIDDEN, /* the user may not list the kind */
	BT_LIVE_ABSENT,    /* the server does not have the kind */
	BT_LIVE_FAILED,    /* bt_live_list.err is set */
};

/**
 * One paged list of one kind. The caller sets the fields of the first block, starts the list, and
 * runs the loop until is_over.
 */
struct bt_live_list {
	struct bt_live *live;
	enum bt_kind kind;
	struct bt_str namespace_;     /* "": all */
	struct bt_str field_selector; /* "": no selector */
	struct bt_str at_version;     /* resource version; "": the newest */
	uint32_t objects_max;         /* maximum; is_cut if there are more */

	bool is_over;
	enum bt_live_end end;
	bool is_cut;
	struct berth_error err;             /* set with BT_LIVE_FAILED and BT_LIVE_FORBIDDEN */
	struct bt_strbuf version;           /* resource version of the list */
	BT_VEC(struct bt_object *) objects; /* owned */
	size_t object_bytes;

	/* private */
	uint32_t version_index; /* index of the kind's API version */
	uint32_t restarts;
	uint32_t pages;
	struct bt_strbuf resource; /* for messages: "pods", "leases.coordination.k8s.io" */
	struct bt_strbuf continue_token;
	struct bt_rest_call *call;
	struct bt_frames frames;
	struct bt_arena arena;
	bool is_open;
	bool is_protobuf;
};

void bt_live_list_start(struct bt_live_list *list);
/** Cancels a running request and releases the objects. All-zero memory is accepted. */
void bt_live_list_finish(struct bt_live_list *list);
/** Sets the error for a failed answer. Returns the error's code. */
int bt_live_answer_error(const struct bt_live *live, const char *resource,
	const struct bt_rest_answer *answer, struct berth_error *err);
/** Runs the loop until data arrives. Fails if the server is silent for too long. */
BT_MUST_USE int bt_live_wait(struct bt_live *live, struct berth_error *err);

/** A kind that is read, and the consequence if it cannot be read. */
struct bt_live_kind {
	enum bt_kind kind;
	bool is_needed;
	bool is_optional; /* many clusters do not serve the kind: no warning */
	const char *without;
};

/**
 * Nodes come first, because the version of their list is used for all other lists. Pods come
 * second, because their list is usually the longest: the other lists are read in parallel with it.
 */
#define BT_LIVE_KIND_COUNT 27
extern const struct bt_live_kind bt_live_kinds[BT_LIVE_KIND_COUNT];
/** Sets the error for a needed kind that the server does not serve. */
int bt_live_absent_error(const struct bt_live *live, const char *resource, struct berth_error *err);
/**
 * Warns that a kind is left out, with the consequence; no warning for optional kinds that the
 * server does not serve.
 */
void bt_live_warn_left_out(const struct bt_live *live, const struct bt_live_kind *kind,
	const char *resource, bool is_absent, void (*warn)(void *context, const char *line),
	void *context);
#endif
