/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_AUTHENTICATION_H
#define BT_DAEMON_AUTHENTICATION_H
/**
 * Who sends a request: a front proxy's word, a client certificate, a token that the API server
 * knows, or nobody in particular. Spec: 11 section 9.2.
 */
#include "daemon/caller.h"
#include "daemon/review.h"
#include "daemon/trust.h"
#include "net/http_server.h"

struct bt_authenticator;

struct bt_authenticator_setup {
	struct bt_loop *loop;
	const struct bt_authentication_options *options; /* borrowed */
	const struct bt_trust *trust;                    /* borrowed */
	struct bt_rest_client *client;                   /* NULL: tokens are not looked at */
	struct bt_metrics *metrics;                      /* NULL: none */
};

/** One question; the caller's memory until done. Zero it before use. */
struct bt_authentication {
	void *context;
	/** false: 401. */
	void (*done)(void *context, bool is_known);
	struct bt_caller *caller; /* filled before done */
	struct bt_arena *arena;   /* of its texts */

	struct bt_authenticator *authenticator; /* private from here */
	struct bt_review_waiter waiter;
	struct bt_strbuf errors; /* of those that could not tell; joined by ", " */
	int64_t begun_ns;
};

BT_MUST_USE int bt_authenticator_create(const struct bt_authenticator_setup *setup,
	struct bt_authenticator **out_authenticator, struct berth_error *err);
/** Questions under way hear nothing any more. NULL accepted. */
void bt_authenticator_destroy(struct bt_authenticator *authenticator);
/** Within the handler of the request. done may be called at once. */
void bt_authenticate(struct bt_authenticator *authenticator,
	const struct bt_http_exchange *exchange, int64_t wall_now_seconds,
	struct bt_authentication *authentication);
/** Harmless when done was called; after each use. */
void bt_authentication_finish(struct bt_authentication *authentication);

/** --- bearer_token.c --- */

enum bt_bearer {
	BT_BEARER_NONE,
	BT_BEARER_TOKEN,
	BT_BEARER_INVALID, /* meant as one, but broken */
};

/** The token of a request; into the arena. */
enum bt_bearer bt_bearer_find(
	const struct bt_http_exchange *exchange, struct bt_arena *arena, struct bt_str *out_token);
#endif
