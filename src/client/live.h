/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_LIVE_H
#define BT_CLIENT_LIVE_H
/**
 * Reads from a live API server: all objects the engine needs, and the events of a pod. The
 * functions of this header send only GET requests. Used by bt_source_read (cli/source.h).
 *
 * Errors are BERTH_ERR_IO, and BERTH_ERR_INVALID for an invalid kubeconfig. The message is one
 * sentence that names the server and says what to do. All waits are bounded: 10 seconds to connect,
 * 15 without any answer (300 with a credential plugin, which may ask for a login), 60 of silence
 * within a response; a request whose answer has a Retry-After above 20 seconds fails immediately.
 */
#include "api/object.h"
#include "api/time.h"

struct bt_live;
struct bt_rest_client;

/**
 * Prepares a connection; sends nothing yet. kubeconfig "": found as kubectl does (KUBECONFIG,
 * ~/.kube/config, then the in-cluster files). context NULL: the current context. *out_live is
 * owned: release it with bt_live_close.
 */
BT_MUST_USE int bt_live_open(const char *kubeconfig, const char *context, struct bt_live **out_live,
	struct berth_error *err);
/** NULL accepted. */
void bt_live_close(struct bt_live *live);
/** Returns the connection's loop, for further signals and timers. */
struct bt_loop *bt_live_loop(const struct bt_live *live);
/** Returns the client for other requests to the same server, including writes. */
struct bt_rest_client *bt_live_client(const struct bt_live *live);
/** Returns the server's URL as in the kubeconfig; borrowed, safe to print. */
const char *bt_live_server(const struct bt_live *live);
/** Returns the kubeconfig's context; "" in a pod. Borrowed, safe to print. */
const char *bt_live_context(const struct bt_live *live);

struct bt_live_sink {
	void *context;
	/** Takes ownership of object. A result other than 0 ends bt_live_read, which returns it. */
	int (*take)(void *context, struct bt_object *object, struct berth_error *err);
	/**
	 * Called if a kind is left out, with a line that names the kind and the consequence. May be
	 * NULL.
	 */
	void (*warn)(void *context, const char *line);
	/** Called with a resource ("pods") and the number of objects read so far. May be NULL. */
	void (*progress)(void *context, const char *resource, uint32_t count);
};

/**
 * Lists all objects of the kinds that the engine reads, kind by kind, in the server's order (by
 * namespace and name); the sink gets them after all lists are complete. All lists are read at one
 * resource version as long as the server still has it. If the user may not list nodes or pods, the
 * read fails. Any other kind that the user may not list, or that the server does not serve, is left
 * out with a warning. There is no warning if the server does not serve a kind that many clusters
 * lack.
 */
BT_MUST_USE int bt_live_read(
	struct bt_live *live, const struct bt_live_sink *sink, struct berth_error *err);

/** Watches the kinds of bt_live_read: reports all existing objects, then every change. */
struct bt_live_watch;

struct bt_live_watch_sink {
	void *context;
	/**
	 * Like `changed` of a reflector's sink (client/reflector.h), but without is_stale. Objects
	 * are borrowed for the call.
	 */
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	/**
	 * The watch of this kind was broken for length_ns. is_list: a new list was needed, and its
	 * differences are reported next.
	 */
	void (*gap)(void *context, enum bt_kind kind, int64_t length_ns, bool is_list);
	void (*warn)(void *context, const char *line);
};

/** Starts to watch all kinds. The caller owns the result; live must outlive it. */
BT_MUST_USE struct bt_live_watch *bt_live_watch_create(
	struct bt_live *live, const struct bt_live_watch_sink *sink);
/** NULL accepted. */
void bt_live_watch_destroy(struct bt_live_watch *watch);
/**
 * Runs the loop until all objects of all kinds were reported, or *stop is set. Errors and warnings
 * as in bt_live_read. After this function has returned, failing requests are retried without limit.
 */
BT_MUST_USE int bt_live_watch_sync(
	struct bt_live_watch *watch, const bool *stop, struct berth_error *err);
/** Returns whether requests fail and none is being answered: the objects may be out of date. */
bool bt_live_watch_is_lost(const struct bt_live_watch *watch);
/** Visits every object, kind by kind. */
void bt_live_watch_for_each(struct bt_live_watch *watch,
	void (*visit)(void *context, const struct bt_object *object), void *context);

struct bt_live_event {
	struct bt_str type;    /* "Warning" */
	struct bt_str reason;  /* "FailedScheduling" */
	struct bt_str message; /* any event writer's text: escape it for output */
	struct bt_str source;  /* reporting component, "default-scheduler"; or "" */
	int64_t count;         /* number of occurrences; at least 1 */
	struct bt_time first;
	struct bt_time last;
};

/** Sorted by `last`, oldest first. All memory belongs to `arena`. */
struct bt_live_events {
	struct bt_arena arena;
	struct bt_live_event *items;
	uint32_t count;
	bool is_cut; /* there are more than BT_LIVE_EVENTS_MAX events */
};

#define BT_LIVE_EVENTS_MAX 1000

/**
 * Reads the events of a pod. uid "": the events of every pod with this name. *out_events must be
 * finished even after an error.
 */
BT_MUST_USE int bt_live_pod_events(struct bt_live *live, struct bt_str namespace_,
	struct bt_str name, struct bt_str uid, struct bt_live_events *out_events,
	struct berth_error *err);
#endif
