/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ACCESS_H
#define BT_DAEMON_ACCESS_H
/**
 * Authenticates the sender of a request (by the headers of a front proxy, a client certificate, a
 * token that the API server reviews, or as anonymous), and authorizes the sender for a path. Spec:
 * 11 section 9.2.
 */
#include "base/vec.h"
#include "codec/json.h"
#include "daemon/endpoints_options.h"
#include "daemon/review.h"
#include "daemon/trust.h"
#include "net/http_server.h"

/**
 * The sender of a request. Texts are literals or live in the arena of the request. Zeroed memory:
 * an unknown sender.
 */
struct bt_caller {
	struct bt_str name;
	struct bt_str uid;
	BT_VEC(struct bt_str) groups;
	BT_VEC(struct bt_str_pair) extra; /* one element per value, equal keys adjacent */
};

struct bt_access_rules;

/**
 * Create the checks of callers. options and trust are borrowed. Fails if bt_access_check_paths
 * does, or if the system has no random numbers.
 */
BT_MUST_USE int bt_access_rules_create(const struct bt_endpoints_options *options,
	const struct bt_trust *trust, struct bt_access_rules **out_access, struct berth_error *err);
/** Destroy the checks. The callbacks `done` of checks in flight are not called. NULL accepted. */
void bt_access_rules_destroy(struct bt_access_rules *access);
/**
 * Check --authorization-always-allow-paths: a * must be the last character of its path. Returns 0
 * or BERTH_ERR_INVALID: `only trailing * allowed in "/a*b"`.
 */
BT_MUST_USE int bt_access_check_paths(const bt_str_list *listed, struct berth_error *err);

enum bt_verdict {
	BT_VERDICT_ALLOWED,
	BT_VERDICT_DENIED,
	BT_VERDICT_FAILED,  /* the API server gave no answer */
	BT_VERDICT_UNKNOWN, /* authentication failed: answer the request with 401 */
};

/** The check of one request. Zero it before use; it must live until bt_access_check_finish. */
struct bt_access_check {
	void *context;
	/**
	 * text: the reason of a denial or of a failure, "" if there is no reason; borrowed for the
	 * call.
	 */
	void (*done)(void *context, enum bt_verdict verdict, struct bt_str text);
	struct bt_str verb; /* the method in lower case; borrowed, like path */
	struct bt_str path;
	struct bt_arena *arena;  /* of the request, for the texts of caller */
	struct bt_caller caller; /* set before done is called */

	struct bt_access_rules *access; /* private from here */
	struct bt_review_waiter waiter;
	struct bt_strbuf errors; /* errors of the methods that failed, joined by ", " */
	int64_t begun_ns;
};

/**
 * Authenticate the sender and authorize it for verb and path: members of system:masters may do
 * everything, some paths are open to all, and the API server decides about the rest (spec 11
 * sections 4.5, 9.3). Call it within the handler of the request. done may be called before this
 * function returns.
 */
void bt_access_check(struct bt_access_rules *access, const struct bt_http_exchange *exchange,
	int64_t wall_now_seconds, struct bt_access_check *check);
/** Free the memory of the check; needed after each use. done is not called any more. */
void bt_access_check_finish(struct bt_access_check *check);
#endif
