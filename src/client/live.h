/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_LIVE_H
#define BT_CLIENT_LIVE_H
/**
 * Reading from a live API server, with GET requests only: everything that the engine reads, and the
 * events of a pod. Needs the client (BT_HAVE_DAEMON); bt_source_read (cli/source.h) uses it.
 *
 * Errors are BERTH_ERR_IO or BERTH_ERR_INVALID (the kubeconfig): one sentence that names the server
 * and says what to do. Nothing waits for ever: a server that cannot be reached is given up after 10
 * seconds, one that says nothing after 15 (300 with a credential plugin, which may ask for a
 * login), one that falls silent in the middle after 60, one that asks for a wait of more than 20
 * (Retry-After) at once.
 */
#include "api/object.h"
#include "api/time.h"

struct bt_live;
struct bt_rest_client;

/**
 * kubeconfig "": where kubectl would look (KUBECONFIG, ~/.kube/config, then the files a pod has).
 * context NULL: the current one. Nothing is sent yet. *out_live is owned: release it with
 * bt_live_close.
 */
BT_MUST_USE int bt_live_open(const char *kubeconfig, const char *context, struct bt_live **out_live,
	struct berth_error *err);
/** NULL accepted. */
void bt_live_close(struct bt_live *live);
/** For signals and timers beside. */
struct bt_loop *bt_live_loop(const struct bt_live *live);
/** For other requests to the same server, which may then be changed. */
struct bt_rest_client *bt_live_client(const struct bt_live *live);
/** The server's URL, as the kubeconfig has it; borrowed, safe to print. */
const char *bt_live_server(const struct bt_live *live);
/** The kubeconfig's context; "" in a pod. Borrowed, safe to print. */
const char *bt_live_context(const struct bt_live *live);

struct bt_live_sink {
	void *context;
	/** object is consumed. A result other than 0 ends the reading with it. */
	int (*take)(void *context, struct bt_object *object, struct berth_error *err);
	/** A kind is left out, and what that means; NULL: nobody listens. */
	void (*warn)(void *context, const char *line);
	/** "pods", and how many have come; NULL: nobody listens. */
	void (*progress)(void *context, const char *resource, uint32_t count);
};

/**
 * Every object of the kinds that the engine reads, kind by kind, in the order of the server (by
 * namespace and name); the sink hears of them when all have come. All
 * lists are of one state of the server where it still has that state. Nodes or pods that may not be
 * listed are an error, other kinds are left out.
 */
BT_MUST_USE int bt_live_read(
	struct bt_live *live, const struct bt_live_sink *sink, struct berth_error *err);

/** The same kinds, followed: every object that is there, then every change. */
struct bt_live_watch;

struct bt_live_watch_sink {
	void *context;
	/** As of a reflector (client/reflector.h); objects are borrowed for the call. */
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	/** The watch of this kind was broken for so long. is_list: a new list shows what changed;
	 * its differences are told next. */
	void (*gap)(void *context, enum bt_kind kind, int64_t length_ns, bool is_list);
	void (*warn)(void *context, const char *line);
};

/** *out_watch is owned. live must outlive it. */
BT_MUST_USE struct bt_live_watch *bt_live_watch_create(
	struct bt_live *live, const struct bt_live_watch_sink *sink);
/** NULL accepted. */
void bt_live_watch_destroy(struct bt_live_watch *watch);
/**
 * Turn the loop until all objects of all kinds have come, or *stop is set. Errors and warnings as
 * of bt_live_read; afterwards a server that fails is asked again for ever.
 */
BT_MUST_USE int bt_live_watch_sync(
	struct bt_live_watch *watch, const bool *stop, struct berth_error *err);
/** Every object, kind by kind. */
void bt_live_watch_for_each(struct bt_live_watch *watch,
	void (*visit)(void *context, const struct bt_object *object), void *context);

struct bt_live_event {
	struct bt_str type;    /* "Warning" */
	struct bt_str reason;  /* "FailedScheduling" */
	struct bt_str message; /* of anybody who may write events: to be shown escaped */
	struct bt_str source;  /* who reported it, "default-scheduler"; "" */
	int64_t count;         /* how often it was seen; at least 1 */
	struct bt_time first;
	struct bt_time last;
};

/** Oldest first by `last`. Memory: its arena. */
struct bt_live_events {
	struct bt_arena arena;
	struct bt_live_event *items;
	uint32_t count;
	bool is_cut; /* there are more than BT_LIVE_EVENTS_MAX: these are some of them */
};

#define BT_LIVE_EVENTS_MAX 1000

/** uid "": any pod of that name. *out_events is to be finished also when there are none. */
BT_MUST_USE int bt_live_pod_events(struct bt_live *live, struct bt_str namespace_,
	struct bt_str name, struct bt_str uid, struct bt_live_events *out_events,
	struct berth_error *err);
void bt_live_events_finish(struct bt_live_events *events);
#endif
