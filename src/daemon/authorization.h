/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_AUTHORIZATION_H
#define BT_DAEMON_AUTHORIZATION_H
/**
 * May this caller ask for this path? Masters may, everybody may ask for some paths, and the API
 * server knows about the rest. Spec: 11 sections 4.5, 9.3.
 */
#include "daemon/authentication.h"
#include "daemon/options.h"
#include "daemon/review.h"

struct bt_authorizer;

struct bt_authorizer_setup {
	struct bt_loop *loop;
	const struct bt_authorization_options *options; /* borrowed */
	struct bt_rest_client *client;                  /* NULL: nobody to ask */
	struct bt_metrics *metrics;                     /* NULL: none */
};

enum bt_verdict {
	BT_VERDICT_ALLOWED,
	BT_VERDICT_DENIED,
	BT_VERDICT_FAILED, /* the API server gave no answer */
};

/** One question; the caller's memory until done. Zero it before use. */
struct bt_authorization {
	void *context;
	/** text: the reason of a denial or of a failure, "" without; borrowed for the call. */
	void (*done)(void *context, enum bt_verdict verdict, struct bt_str text);
	struct bt_authorizer *authorizer; /* private from here */
	struct bt_review_waiter waiter;
	int64_t begun_ns;
};

/** Only the last letter of --authorization-always-allow-paths' items may be a star. */
BT_MUST_USE int bt_authorizer_check_paths(const bt_str_list *listed, struct berth_error *err);
/** BERTH_ERR_INVALID: `only trailing * allowed in "/a*b"`. */
BT_MUST_USE int bt_authorizer_create(const struct bt_authorizer_setup *setup,
	struct bt_authorizer **out_authorizer, struct berth_error *err);
/** Questions under way hear nothing any more. NULL accepted. */
void bt_authorizer_destroy(struct bt_authorizer *authorizer);
/** verb: the method in lower case. done may be called at once. */
void bt_authorize(struct bt_authorizer *authorizer, const struct bt_caller *caller,
	struct bt_str verb, struct bt_str path, struct bt_arena *arena,
	struct bt_authorization *authorization);
/** Harmless when done was called. */
void bt_authorization_cancel(struct bt_authorization *authorization);
#endif
