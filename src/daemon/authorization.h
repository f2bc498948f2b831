/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_AUTHORIZATION_H
#define BT_DAEMON_AUTHORIZATION_H
/**
 * Authorizes a caller for a path: members of system:masters may do everything, some paths are open
 * to all, and the API server decides about the others. Spec: 11 sections 4.5, 9.3.
 */
#include "daemon/authentication.h"
#include "daemon/options.h"
#include "daemon/review.h"

struct bt_authorizer;

struct bt_authorizer_setup {
	struct bt_loop *loop;
	const struct bt_authorization_options *options; /* borrowed */
	struct bt_rest_client *client;                  /* NULL: no API server to ask */
	struct bt_metrics *metrics;                     /* NULL: none */
};

enum bt_verdict {
	BT_VERDICT_ALLOWED,
	BT_VERDICT_DENIED,
	BT_VERDICT_FAILED, /* the API server gave no answer */
};

/** One authorization; the caller's memory until done. Zero it before use. */
struct bt_authorization {
	void *context;
	/**
	 * text: the reason of a denial or of a failure, "" if there is none; borrowed for the call.
	 */
	void (*done)(void *context, enum bt_verdict verdict, struct bt_str text);
	struct bt_authorizer *authorizer; /* private from here */
	struct bt_review_waiter waiter;
	int64_t begun_ns;
};

/** Checks that each * in --authorization-always-allow-paths ends its item. */
BT_MUST_USE int bt_authorizer_check_paths(const bt_str_list *listed, struct berth_error *err);
/** BERTH_ERR_INVALID: `only trailing * allowed in "/a*b"`. */
BT_MUST_USE int bt_authorizer_create(const struct bt_authorizer_setup *setup,
	struct bt_authorizer **out_authorizer, struct berth_error *err);
/** Authorizations in flight get no callback any more. NULL accepted. */
void bt_authorizer_destroy(struct bt_authorizer *authorizer);
/** verb: the method in lower case. done may be called at once. */
void bt_authorize(struct bt_authorizer *authorizer, const struct bt_caller *caller,
	struct bt_str verb, struct bt_str path, struct bt_arena *arena,
	struct bt_authorization *authorization);
/** No callback comes any more. Harmless after done was called. */
void bt_authorization_cancel(struct bt_authorization *authorization);
#endif
