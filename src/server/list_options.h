/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_LIST_OPTIONS_H
#define BT_SERVER_LIST_OPTIONS_H
/**
 * Parsed query parameters of lists and watches, and continue tokens. Spec: 14 sections 14 and 15,
 * 13 sections 10 to 12.
 */
#include "server/list.h"

enum bt_rv_match {
	BT_RV_MATCH_NONE,
	BT_RV_MATCH_NOT_OLDER_THAN,
	BT_RV_MATCH_EXACT,
};

struct bt_list_options {
	int64_t limit; /* 0: none */
	bool has_rv;   /* resourceVersion is given and not "" */
	uint64_t rv;
	enum bt_rv_match match;
	int64_t timeout_seconds; /* 0: none */
	bool allow_bookmarks;
	bool has_send_initial; /* sendInitialEvents was given */
	bool send_initial;
};

/** Parses and checks the parameters. false: sets *out_failure. */
bool bt_list_options_parse(const struct bt_list_parameters *parameters, bool is_watch,
	struct bt_list_options *out_options, struct bt_arena *arena,
	struct bt_failure *out_failure);

/**
 * A page begins after the key `start`, in the state at `rv`. `start` lacks the prefix of the list's
 * keys. `rv` -1: the current state.
 */
struct bt_list_token {
	int64_t rv;
	struct bt_str start;
};

/** Returns a continue token: base64 of {"v":"meta.k8s.io/v1","rv":222,"start":"a1\u0000"}. */
struct bt_str bt_list_token_write(const struct bt_list_token *token, struct bt_arena *arena);
/** Decodes a continue token. false: the text is not a valid token, and *out_failure is set. */
bool bt_list_token_read(struct bt_str text, struct bt_list_token *out_token, struct bt_arena *arena,
	struct bt_failure *out_failure);
/**
 * Fails with 410, because the state at the token's RV is no longer stored. The failure contains a
 * new token that continues in the current state.
 */
bool bt_fail_token_expired(
	struct bt_failure *out, struct bt_arena *arena, const struct bt_list_token *token);
#endif
