/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_LIST_H
#define BT_SERVER_LIST_H
/**
 * Lists of a collection, in pages or whole, and the deletion of whole collections. A list is a
 * stream: it writes objects as the client reads. All objects are from the state at one RV, even if
 * the store changes meanwhile. Spec: 14 sections 13.7 and 14, 13 section 10.
 *
 * What the HTTP front does:
 *
 *         rv = bt_list_future_rv(api, &parameters, false);
 *         if (rv != 0) bt_watchers_await(..), and continue in its callback;
 *         if (!bt_list_open(..., &list, &failure)) answer the failure;
 *         if it is a deletion, call bt_list_delete once per turn until it returns false;
 *         if (bt_list_gather(list, 256 KiB)) answer the bytes of bt_list_take at once;
 *         else answer the stream {list, bt_list_read, bt_list_finish}.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/http_server.h"
#include "server/api.h"
#include "server/encode.h"
#include "server/selection.h"

struct bt_watchers;

/**
 * Decoded query parameters of lists and watches, borrowed for the call. A parameter that was not
 * given is absent (data NULL).
 */
struct bt_list_parameters {
	struct bt_str label_selector;
	struct bt_str field_selector;
	struct bt_str limit;
	struct bt_str continue_token; /* "continue" */
	struct bt_str resource_version;
	struct bt_str resource_version_match;
	struct bt_str timeout_seconds;
	struct bt_str allow_watch_bookmarks;
	struct bt_str send_initial_events;
};

/**
 * Returns whether a boolean parameter is true. As in Go's decoding, every text but "", "0" and
 * "false" is true.
 */
bool bt_parameter_is_true(struct bt_str text);

struct bt_list_request {
	struct bt_api *api;
	struct bt_watchers *watchers; /* wakes lists that paused for other work */
	const struct bt_api_resource *resource;
	struct bt_str namespace_; /* "": all namespaces, or cluster scope */
	struct bt_encoding encoding;
	struct bt_list_parameters parameters;
	/**
	 * Called when a read that answered BT_HTTP_STREAM_WAIT can continue (see
	 * bt_http_stream_resume). The function must not call lists or watches.
	 */
	void (*wake)(void *context);
	void *wake_context;
	/**
	 * deletecollection: bt_list_delete deletes each selected object with a copy of this
	 * request, in which it sets verb, resource, namespace_ and name. Borrowed until
	 * bt_list_delete returns false. The items of the list are then the deleted objects. NULL:
	 * no deletion.
	 */
	const struct bt_api_request *deletion;
};

struct bt_list;

/**
 * If a list or watch asks for an RV that the store has not reached yet, returns that RV; 0: no need
 * to wait. Wait up to 3 seconds for the RV, then open the list or watch in any case: the answer is
 * 504 if the RV is still in the future.
 */
uint64_t bt_list_future_rv(
	const struct bt_api *api, const struct bt_list_parameters *parameters, bool is_watch);
/** Like bt_list_future_rv, for a get with the parameter resourceVersion. */
uint64_t bt_get_future_rv(const struct bt_api *api, struct bt_str resource_version);
/** Checks resourceVersion of a get. false: it is not a number, and *out_failure is set. */
bool bt_get_check_rv(
	struct bt_str resource_version, struct bt_arena *arena, struct bt_failure *out_failure);
/** Fails with 504 `Timeout: Too large resource version: 999999, current: 225`. */
bool bt_fail_future_rv(
	struct bt_failure *out, struct bt_arena *arena, uint64_t rv, uint64_t current);

/**
 * Opens the list. false: sets *out_failure (texts in arena). bt_media_content_type gives the
 * content type.
 */
bool bt_list_open(const struct bt_list_request *request, struct bt_arena *arena,
	struct bt_list **out_list, struct bt_failure *out_failure);
/**
 * deletecollection: deletes some objects. Returns true if it must be called again, after other
 * work. Returns false if all objects are deleted, or on a failure, which sets *out_failure; its
 * texts live as long as the list. The caller must first set out_failure->code to 0.
 */
bool bt_list_delete(struct bt_list *list, struct bt_failure *out_failure);
/**
 * Encodes the beginning of the list before the first read: about bytes_max bytes, or less if that
 * takes too long. true: the list is complete.
 */
bool bt_list_gather(struct bt_list *list, size_t bytes_max);
/**
 * Hands over the gathered bytes and ends the list. Call this only after bt_list_gather returned
 * true.
 */
void bt_list_take(struct bt_list *list, struct bt_strbuf *out);
/** --- struct bt_http_stream --- */
int64_t bt_list_read(void *list, char *buffer, size_t capacity);
void bt_list_finish(void *list);

/** --- list_options.c: parsed parameters of lists and watches, and continue tokens --- */

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
