/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_AUTHENTICATION_H
#define BT_DAEMON_AUTHENTICATION_H
/**
 * Authenticates the sender of a request (by the headers of a front proxy, a client certificate, a
 * token that the API server reviews, or as anonymous), and authorizes the sender for a path. Spec:
 * 11 section 9.2.
 */
#include "base/vec.h"
#include "codec/json.h"
#include "daemon/options.h"
#include "daemon/review.h"
#include "daemon/trust.h"
#include "net/http_server.h"

struct bt_caller_extra {
	struct bt_str key;
	struct bt_str value;
};

/**
 * The sender of a request. Texts are literals or live in the arena of the request. Zeroed memory:
 * an unknown sender.
 */
struct bt_caller {
	struct bt_str name;
	struct bt_str uid;
	BT_VEC(struct bt_str) groups;
	BT_VEC(struct bt_caller_extra) extra; /* one element per value, equal keys adjacent */
};

void bt_caller_finish(struct bt_caller *caller);

struct bt_access_rules;

struct bt_access_setup {
	struct bt_loop *loop;
	const struct bt_authentication_options *authentication; /* borrowed */
	const struct bt_authorization_options *authorization;   /* borrowed */
	const struct bt_trust *trust;                           /* borrowed */
	struct bt_rest_client *authentication_client;           /* NULL: tokens are ignored */
	struct bt_rest_client *authorization_client;            /* NULL: callers are denied */
	struct bt_metrics *metrics;
};

/**
 * Create the checks of callers. Fails if bt_access_check_paths does, or if the system has no random
 * numbers.
 */
BT_MUST_USE int bt_access_rules_create(const struct bt_access_setup *setup,
	struct bt_access_rules **out_access, struct berth_error *err);
/** Destroy the checks. done of checks in flight is not called. NULL accepted. */
void bt_access_rules_destroy(struct bt_access_rules *access);
/**
 * Check --authorization-always-allow-paths: a * must be the last character of its path. Returns 0
 * or BERTH_ERR_INVALID: `only trailing * allowed in "/a*b"`.
 */
BT_MUST_USE int bt_access_check_paths(const bt_str_list *listed, struct berth_error *err);

/** One authentication. Zero it before use; it must live until bt_authentication_finish. */
struct bt_authentication {
	void *context;
	/** is_known false: authentication failed, and the request must be answered with 401. */
	void (*done)(void *context, bool is_known);
	struct bt_caller *caller; /* the user zeroes *caller; filled before done is called */
	struct bt_arena *arena;   /* for the texts of caller */

	struct bt_access_rules *access; /* private from here */
	struct bt_review_waiter waiter;
	struct bt_strbuf errors; /* errors of the methods that failed, joined by ", " */
	int64_t begun_ns;
};

/**
 * Start an authentication; call it within the handler of the request. done may be called before
 * this function returns.
 */
void bt_authenticate(struct bt_access_rules *access, const struct bt_http_exchange *exchange,
	int64_t wall_now_seconds, struct bt_authentication *authentication);
/**
 * Free the memory of the authentication; needed after each use. Cancels the authentication if done
 * was not called yet.
 */
void bt_authentication_finish(struct bt_authentication *authentication);

/**
 * --- authorization of a caller for a path: members of system:masters may do everything, some paths
 * are open to all, and the API server decides about the rest. Spec: 11 sections 4.5, 9.3. ---
 */

enum bt_verdict {
	BT_VERDICT_ALLOWED,
	BT_VERDICT_DENIED,
	BT_VERDICT_FAILED, /* the API server gave no answer */
};

/** One authorization. Zero it before use; it must live until done or bt_review_cancel. */
struct bt_authorization {
	void *context;
	/**
	 * text: the reason of a denial or of a failure, "" if there is no reason; borrowed for the
	 * call.
	 */
	void (*done)(void *context, enum bt_verdict verdict, struct bt_str text);
	struct bt_review_waiter waiter; /* bt_review_cancel: done is not called any more */
	struct bt_access_rules *access; /* private from here */
	int64_t begun_ns;
};

/**
 * Start an authorization. verb: the method in lower case. arena: of the request, for the review's
 * spec. done may be called before this function returns.
 */
void bt_authorize(struct bt_access_rules *access, const struct bt_caller *caller,
	struct bt_str verb, struct bt_str path, struct bt_arena *arena,
	struct bt_authorization *authorization);
#endif
