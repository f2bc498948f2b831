/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_VIEW_H
#define BT_CLI_VIEW_H
/**
 * Internals of "berth view": the history of a cluster (history.c), the JSON from which the page
 * shows the cluster (overview.c), questions that other commands answer (question.c), and the web
 * server (view_server.c).
 */
#include "api/resources.h"
#include "base/flags.h"
#include "base/map.h"
#include "base/text_set.h"
#include "cluster/manifests.h"
#include "codec/json.h"
#include "net/http_server.h"

struct bt_live_watch;
struct bt_loop;
struct bt_question;
struct bt_rest_client;
struct bt_view_call;
struct bt_view_change;

/** --- history: all objects of a cluster over a span of time --- */

#define BT_HISTORY_NONE UINT32_MAX
/** Resources of every node; further resources are appended when first seen. */
enum bt_history_resource {
	BT_HISTORY_CPU,    /* in millicores */
	BT_HISTORY_MEMORY, /* in bytes */
	BT_HISTORY_EPHEMERAL_STORAGE,
	BT_HISTORY_PODS,
	BT_HISTORY_RESOURCES_FIXED,
};

/** An object between two of its changes. Times are nanoseconds since 1970. */
struct bt_version {
	struct bt_object *object; /* owned; a packable reference if it is a pod */
	int64_t from_ns;
	int64_t to_ns;    /* INT64_MAX: until now */
	uint32_t node;    /* index in node_names, for a pod or a Node; BT_HISTORY_NONE: none */
	uint32_t amounts; /* index in amounts: requests of a pod, allocatable of a Node */
	/** for pods */
	bool is_over; /* finished, or deleted before it had a node: neither runs nor waits */
	bool is_gated;
	bool is_first; /* the first version with a node */
	int64_t created_ns;
};

/** Amounts by index of the resource; the amounts of indexes from count on are 0. */
struct bt_amounts {
	int64_t *items; /* owned */
	uint32_t count;
};

/** All-zero memory is an empty history. */
struct bt_history {
	int64_t from_ns;
	int64_t to_ns;           /* INT64_MAX: live, ends now */
	int64_t latest_ns;       /* time of the last change; no later change is before it */
	uint64_t revision;       /* counts changes */
	uint64_t nodes_revision; /* revision of the last change of a node */
	/**
	 * The objects of files, if the history has a single point in time; NULL: the history has
	 * changes.
	 */
	const struct bt_manifests *files;

	BT_VEC(struct bt_version) versions; /* sorted by from_ns */
	struct bt_map current;              /* kind, namespace, name -> current version */
	struct bt_text_set node_names;      /* of Nodes, and of nodes that only pods name */
	BT_VEC(struct bt_amounts) amounts;
	struct bt_map amounts_map;
	struct bt_text_set resources; /* names by index */
	BT_VEC(int64_t) rejected_ns;  /* sorted times when pods were found unschedulable */
	uint32_t ended_count;         /* versions that are no longer current */
	struct bt_arena names;
};

void bt_history_init(struct bt_history *history, int64_t now_ns);
void bt_history_finish(struct bt_history *history);
/**
 * Record a change. old_object NULL: the object is added; new_object NULL: it is deleted. The caller
 * keeps its references to the objects.
 */
void bt_history_take(struct bt_history *history, int64_t now_ns, const struct bt_object *old_object,
	struct bt_object *new_object);
/**
 * Add all objects of files, and make the history a single point in time. manifests: borrowed; its
 * pods that have a node get the defaults of the API server. Errors name file, document and pod.
 */
BT_MUST_USE int bt_history_take_files(
	struct bt_history *history, struct bt_manifests *manifests, struct berth_error *err);
/**
 * Read recordings (docs/recordings.md) from start to end; paths are parts of one recording, in
 * order. Errors name file and line.
 */
BT_MUST_USE int bt_history_read_recordings(
	struct bt_history *history, const struct bt_arguments *paths, struct berth_error *err);
/**
 * Begin the history at before_ns. Versions that ended before this time are released once many
 * versions have ended.
 */
void bt_history_remove_before(struct bt_history *history, int64_t before_ns);
/** Index in node_names, also of a deleted node; BT_HISTORY_NONE: no node ever had this name. */
uint32_t bt_history_find_node(const struct bt_history *history, struct bt_str name);
/** Whether the version is valid at at_ns; a time in the future counts as now. */
bool bt_version_holds(const struct bt_version *version, int64_t at_ns);
/** Add all objects as they were at at_ns to a cluster, for bt_source_provide. */
BT_MUST_USE int bt_history_fill(const struct bt_history *history, int64_t at_ns,
	struct bt_manifests *cluster, struct berth_error *err);

/** --- overview: JSON for the page --- */

/**
 * Write the nodes, their use, and the numbers of running, pending and gated pods. known_revision:
 * the nodes_revision of the nodes that the page has; if it is current, the nodes are left out. Pass
 * 0 unless at_ns is now, because the nodes of an earlier time may differ.
 */
void bt_overview_write(const struct bt_history *history, int64_t at_ns, uint64_t known_revision,
	struct bt_strbuf *out);
/** Write one node with its pods. Returns false if no node had that name at at_ns. */
bool bt_overview_write_node(
	const struct bt_history *history, struct bt_str name, int64_t at_ns, struct bt_strbuf *out);
/**
 * Write at most `limit` objects whose names contain the text. only_workloads true: workloads
 * without a controller; false: pods, workloads and nodes.
 */
void bt_overview_write_search(const struct bt_history *history, struct bt_str text,
	bool only_workloads, int64_t at_ns, uint32_t limit, struct bt_strbuf *out);
/**
 * Write charts of the time from from_ns to to_ns in the given number of steps: pending and running
 * pods, decisions, waiting times of bound pods (median and 99th percentile, in seconds), and use by
 * resource.
 */
void bt_overview_write_samples(const struct bt_history *history, int64_t from_ns, int64_t to_ns,
	uint32_t steps, struct bt_strbuf *out);

/** --- the page --- */

/** All-zero memory is a page without questions, changes and server. */
struct bt_view_page {
	struct bt_loop *loop;
	struct bt_history history;

	struct bt_arguments flags; /* added to the command line of every question */
	/**
	 * Source flags to show in command lines: the real source of the cluster, which the child
	 * processes do not read.
	 */
	struct bt_arguments source_flags;
	bool is_recording; /* commands cannot read the source, so no command lines are shown */
	BT_VEC(struct bt_question *) questions; /* in order of arrival; the first ones run */
	uint32_t last_question;                 /* number of the latest question */

	struct bt_rest_client *client; /* for changes; NULL: the page is read-only */
	BT_VEC(struct bt_view_change *) changes;

	const char *address;
	uint16_t port;               /* 0: any free port */
	const char *certificate_pem; /* NULL: plain HTTP */
	const char *key_pem;
	const char *token;
	struct bt_strbuf source; /* source of the cluster, for the page's title */
	const char *state; /* kind of source: "live", "from files", "a recording", "a replay" */
	struct bt_live_watch *watch; /* NULL: the cluster is not live */
	struct bt_http_server *http;
	struct bt_strbuf cookie; /* name of the cookie */
	BT_VEC(struct bt_view_call *) streams;
};

/** --- questions: commands that run in a child process --- */

/**
 * Receives an answer. answer: JSON, which the callee takes, so that *answer is empty afterwards;
 * NULL if there is a problem. problem: why there is no answer; NULL: there is an answer.
 */
typedef void bt_question_answered(void *context, struct bt_strbuf *answer, const char *problem);

/**
 * Start a question. request: {"arguments": ["explain", "shop/web"], "at": 1700000000000, "files":
 * [{"flag": "--with", "text": "..."}]}; at: milliseconds, absent: now. The answer is {"exitStatus",
 * "output": the output of -o json, "messages": standard error, "commandLine": absent for an earlier
 * time or a recording, which the command cannot read}. Only read-only commands and flags are
 * allowed. *out_number is for bt_question_cancel, and is set before the answer comes.
 * BERTH_ERR_TOO_LARGE: too many questions wait; other errors describe the request's fault.
 */
BT_MUST_USE int bt_question_start(struct bt_view_page *view, struct bt_str request,
	bt_question_answered *answered, void *context, uint32_t *out_number,
	struct berth_error *err);
/** Suppress the answer, and end the question. An unknown number is ignored. */
void bt_question_cancel(struct bt_view_page *view, uint32_t number);
/** Kills running children without calling back. */
void bt_questions_finish(struct bt_view_page *view);

/** --- changes: requests to the API server, made by users on the page --- */

/**
 * Start a change. request: {"type": "cordon|uncordon|drain", "node"}, {"type": "scale", "kind",
 * "namespace", "name", "replicas"} or {"type": "apply", "text": manifests}. The answer, {"results":
 * [{"object", "ok", "message"}]}, comes later and ends the change. Returns NULL with err for a
 * malformed request.
 */
BT_MUST_USE struct bt_view_change *bt_view_change_start(struct bt_view_page *view,
	struct bt_str request, bt_question_answered *answered, void *context,
	struct berth_error *err);
/** Suppress the answer; a request that was sent may still take effect. */
void bt_view_change_cancel(struct bt_view_change *change);
/** Cancels running changes. */
void bt_view_changes_finish(struct bt_view_page *view);

/** --- the web server --- */

/** Listens at view->address and view->port. */
BT_MUST_USE int bt_view_server_start(struct bt_view_page *view, struct berth_error *err);
/** Does nothing if the server was not started. */
void bt_view_server_finish(struct bt_view_page *view);
#endif
