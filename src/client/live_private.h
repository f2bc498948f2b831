/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_LIVE_PRIVATE_H
#define BT_CLIENT_LIVE_PRIVATE_H
/** Inside of a live connection. Shared by live.c (connection, errors, all kinds,
 * events) and live_list.c (one list). */
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
	int64_t heard_ns;     /* when something came last, or may come again */
	int64_t long_wait_ns; /* what the server asked for last, when that was too long */
};

struct bt_live_list;

/** What a list did not end with. */
enum bt_live_end {
	BT_LIVE_COMPLETE,
	BT_LIVE_FORBIDDEN, /* to this user */
	BT_LIVE_ABSENT,    /* the server does not have the kind */
	BT_LIVE_FAILED,    /* err of bt_live is set */
};

/**
 * One paged list of one kind under way. The caller sets what comes first, starts it and turns the
 * loop until is_over.
 */
struct bt_live_list {
	struct bt_live *live;
	enum bt_kind kind;
	struct bt_str namespace_;     /* "": all */
	struct bt_str field_selector; /* "" */
	struct bt_str at_version;     /* the state to read, where it still exists; "": the newest */
	uint32_t objects_max;         /* more end it: is_cut */

	bool is_over;
	enum bt_live_end end;
	bool is_cut;
	struct berth_error err;             /* of BT_LIVE_FAILED, BT_LIVE_FORBIDDEN */
	struct bt_strbuf version;           /* resource version of the list */
	BT_VEC(struct bt_object *) objects; /* owned */
	size_t object_bytes;

	/* private */
	uint32_t version_index; /* of the kind's API versions */
	uint32_t restarts;
	uint32_t pages;
	struct bt_strbuf resource; /* "pods", "leases.coordination.k8s.io": in messages */
	struct bt_strbuf continue_token;
	struct bt_rest_call *call;
	struct bt_frames frames;
	struct bt_arena arena;
	bool is_open;
	bool is_protobuf;
};

void bt_live_list_start(struct bt_live_list *list);
/** Cancels what is under way, releases what came. Zero memory accepted. */
void bt_live_list_finish(struct bt_live_list *list);
/** The sentence for an answer that is none. Returns its code. */
int bt_live_answer_error(const struct bt_live *live, const char *resource,
	const struct bt_rest_answer *answer, struct berth_error *err);
/** Turn the loop until something came or the server was silent for too long, which is an error. */
BT_MUST_USE int bt_live_wait(struct bt_live *live, struct berth_error *err);

/** A kind that is read, and what it means when it cannot be. */
struct bt_live_kind {
	enum bt_kind kind;
	bool is_needed;
	bool is_optional; /* clusters without it are common, and have none of it */
	const char *without;
};

/** The largest lists first: the others fit in beside them. */
#define BT_LIVE_KIND_COUNT 27
extern const struct bt_live_kind bt_live_kinds[BT_LIVE_KIND_COUNT];
/** The error for a needed kind that the server does not have. */
int bt_live_absent_error(const struct bt_live *live, const char *resource, struct berth_error *err);
/** Warn that a kind is left out, and what that means; nothing of optional kinds that are absent. */
void bt_live_warn_left_out(const struct bt_live *live, const struct bt_live_kind *kind,
	const char *resource, bool is_absent, void (*warn)(void *context, const char *line),
	void *context);
#endif
