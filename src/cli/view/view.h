/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_VIEW_H
#define BT_CLI_VIEW_H
/**
 * Inside of "berth view": the history of a cluster (history.c), what the page shows of it as JSON
 * (overview.c), questions that other commands answer (question.c), the web server (view_server.c).
 */
#include "api/resources.h"
#include "base/flags.h"
#include "base/map.h"
#include "cluster/manifests.h"
#include "codec/json.h"
#include "net/http_server.h"

/** --- history: every object of a cluster, at any time of a span --- */

#define BT_HISTORY_NONE UINT32_MAX
/** What every node has; other resources follow as they are met. */
enum bt_history_resource {
	BT_HISTORY_CPU,    /* in thousandths */
	BT_HISTORY_MEMORY, /* in bytes */
	BT_HISTORY_EPHEMERAL_STORAGE,
	BT_HISTORY_PODS,
	BT_HISTORY_RESOURCES_FIXED,
};

/** One object, as it was from a time on until it changed or went. Times: since 1970. */
struct bt_version {
	struct bt_object *object; /* owned; pods rest */
	int64_t from_ns;
	int64_t to_ns; /* INT64_MAX: it is so now */
	uint32_t node; /* of a pod or a Node: index in nodes; BT_HISTORY_NONE: it has none */
	/** of pods */
	uint32_t request; /* index in requests */
	bool is_over;     /* Succeeded or Failed: it takes no room */
	bool is_gated;
	bool is_first; /* no version before it had a node */
	int64_t created_ns;
};

/** Amounts by resource; 0 behind count. */
struct bt_amounts {
	int64_t *items; /* owned */
	uint32_t count;
};

struct bt_history_node {
	struct bt_str name;
	uint32_t version;              /* the newest one; BT_HISTORY_NONE: only pods name it */
	struct bt_amounts allocatable; /* of the newest version */
};

/** All-zero memory: nothing is known yet. */
struct bt_history {
	int64_t from_ns;
	int64_t to_ns;           /* INT64_MAX: it goes on */
	uint64_t revision;       /* counts changes */
	uint64_t nodes_revision; /* the revision in which a node changed last */
	/** Without a history: what the files say, used as they are; NULL: there is a history. */
	const struct bt_manifests *files;

	BT_VEC(struct bt_version) versions; /* by from_ns */
	struct bt_map current;              /* kind, namespace, name -> its version of now */
	BT_VEC(struct bt_history_node) nodes;
	struct bt_map node_names;
	BT_VEC(struct bt_amounts) requests;
	struct bt_map request_map;
	BT_VEC(struct bt_str) resources; /* names */
	BT_VEC(int64_t) rejected_ns;     /* when pods were found unschedulable, in order */
	uint32_t ended_count;            /* versions that are no longer current */
	struct bt_arena names;
};

void bt_history_init(struct bt_history *history, int64_t now_ns);
void bt_history_finish(struct bt_history *history);
/** old_object NULL: it is new; new_object NULL: it is gone. Both are shared, not consumed. */
void bt_history_take(struct bt_history *history, int64_t now_ns, const struct bt_object *old_object,
	struct bt_object *new_object);
/** All objects of files that were read, from the beginning of time; manifests are borrowed. */
void bt_history_take_files(struct bt_history *history, const struct bt_manifests *manifests);
/** What recordings say (docs/recordings.md), from their start to their end; paths are parts of one,
 * in order. Errors name file and line. */
BT_MUST_USE int bt_history_read_recordings(
	struct bt_history *history, const struct bt_arguments *paths, struct berth_error *err);
/** Let go of versions that ended before. */
void bt_history_forget(struct bt_history *history, int64_t before_ns);
/** Index in nodes, also of one that is gone; BT_HISTORY_NONE: there was none. */
uint32_t bt_history_find_node(const struct bt_history *history, struct bt_str name);
/** at_ns within the span, now when it is later. */
bool bt_version_holds(const struct bt_version *version, int64_t at_ns);
/** Everything as of a time; for the source of a command (cli/source.h). */
BT_MUST_USE int bt_history_fill(const struct bt_history *history, int64_t at_ns,
	struct bt_manifests *cluster, struct berth_error *err);

/** --- overview: what the page draws --- */

/** Nodes, their use, and how many pods wait; nodes are left out when known equals
 * nodes_revision and the time is now. */
void bt_overview_write(const struct bt_history *history, int64_t at_ns, uint64_t known_revision,
	struct bt_strbuf *out);
/** One node with its pods; false: there is none of that name then. */
bool bt_overview_write_node(
	const struct bt_history *history, struct bt_str name, int64_t at_ns, struct bt_strbuf *out);
/** Names that have the text in them: of pods, workloads and nodes, or of workloads without an owner
 * alone; at most so many. */
void bt_overview_write_search(const struct bt_history *history, struct bt_str text,
	bool only_workloads, int64_t at_ns, uint32_t limit, struct bt_strbuf *out);
/** Numbers over the whole span, in so many steps: pods that wait and run, decisions, how long bound
 * pods had waited (median and 99th percentile, in seconds), use by resource. */
void bt_overview_write_samples(const struct bt_history *history, int64_t from_ns, int64_t to_ns,
	uint32_t steps, struct bt_strbuf *out);

/** --- questions: other commands, asked in a child process --- */

struct bt_questions;

struct bt_questions_options {
	struct bt_loop *loop;             /* borrowed */
	const struct bt_history *history; /* borrowed */
	/** Added to every command line; borrowed. */
	const char *const *flags;
	uint32_t flag_count;
	/** Only shown: where a person would read the cluster from. */
	const char *const *source_flags;
	uint32_t source_flag_count;
};

BT_MUST_USE struct bt_questions *bt_questions_create(const struct bt_questions_options *options);
/** Ends children that are at work, without an answer. NULL accepted. */
void bt_questions_destroy(struct bt_questions *questions);

/** answer: JSON, consumed; left empty. problem: why there is none, or NULL. */
typedef void bt_question_answered(void *context, struct bt_strbuf *answer, const char *problem);

/**
 * request: {"arguments": ["explain", "shop/web"], "at": 1700000000000, "files": [{"flag": "--with",
 * "text": "..."}]}; at: milliseconds, absent: now. The answer is {"exitStatus", "output": what -o
 * json prints, "messages": standard error, "commandLine"}. Only commands and flags that read are
 * asked. *out_number is for bt_question_cancel, and set before the answer comes.
 * BERTH_ERR_TOO_LARGE: too many wait; others: what is wrong with the request.
 */
BT_MUST_USE int bt_question_ask(struct bt_questions *questions, struct bt_str request,
	bt_question_answered *answered, void *context, uint32_t *out_number,
	struct berth_error *err);
void bt_question_cancel(struct bt_questions *questions, uint32_t number);

/** --- changes: requests to the API server that somebody asks for on the page --- */

struct bt_view_changes;
struct bt_view_change;
struct bt_rest_client;

/** Both are borrowed. */
BT_MUST_USE struct bt_view_changes *bt_view_changes_create(
	struct bt_rest_client *client, const struct bt_history *history);
/** Those under way are cancelled. NULL accepted. */
void bt_view_changes_destroy(struct bt_view_changes *changes);
/**
 * request: {"type": "cordon|uncordon|drain", "node"}, {"type": "scale", "kind", "namespace",
 * "name", "replicas"} or {"type": "apply", "text": manifests}. The answer, {"results": [{"object",
 * "ok", "message"}]}, comes later, and with it the change ends. NULL: err says what is wrong.
 */
BT_MUST_USE struct bt_view_change *bt_view_change_start(struct bt_view_changes *changes,
	struct bt_str request, bt_question_answered *answered, void *context,
	struct berth_error *err);
/** No answer comes; a request that was sent may still be done. */
void bt_view_change_cancel(struct bt_view_change *change);

/** --- the web server --- */

struct bt_view_server;

struct bt_view_server_options {
	struct bt_loop *loop; /* borrowed */
	const struct bt_history *history;
	struct bt_questions *questions;
	struct bt_view_changes *changes; /* NULL: the page may only look */
	const char *address;
	uint16_t port;               /* 0: any */
	const char *certificate_pem; /* NULL: plain HTTP */
	const char *key_pem;
	const char *token;  /* borrowed */
	const char *source; /* what is looked at, for the page's title; borrowed */
	const char *state;  /* how it comes: "live", "from files", "a recording" */
};

BT_MUST_USE int bt_view_server_create(const struct bt_view_server_options *options,
	struct bt_view_server **out_server, struct berth_error *err);
/** NULL accepted. */
void bt_view_server_destroy(struct bt_view_server *server);
uint16_t bt_view_server_port(const struct bt_view_server *server);
#endif
