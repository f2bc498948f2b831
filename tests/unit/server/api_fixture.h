/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_API_FIXTURE_H
#define BT_TESTS_UNIT_SERVER_API_FIXTURE_H
/** An API over an empty store in memory, and requests to it as JSON text. */
#include "server/api.h"

struct api_fixture {
	struct bt_store *store;
	struct bt_api *api;
	struct bt_arena arena;
	int64_t now_ns;
	/** Options of the next request; each request resets them. */
	struct bt_api_request request;
	struct bt_api_answer answer;        /* of the last request */
	const struct bt_json_value *result; /* object, document or Status of the answer */
	uint64_t rv_before;                 /* the store's RV before the last request */
};

void api_fixture_init(struct api_fixture *fixture);
void api_fixture_finish(struct api_fixture *fixture);

/**
 * Sends a request and returns its code. resource: "pods", "deployments.apps/scale",
 * "events.events.k8s.io"; key: "ns/name", "ns/" for a create, "name" for cluster scope; body: JSON
 * with ' in place of ", or NULL.
 */
uint16_t api_do(struct api_fixture *fixture, enum bt_verb verb, const char *resource,
	const char *key, const char *body);
uint16_t api_get(struct api_fixture *fixture, const char *resource, const char *key);
uint16_t api_create(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body);
uint16_t api_update(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body);
uint16_t api_patch(struct api_fixture *fixture, enum bt_patch_type type, const char *resource,
	const char *key, const char *body);
uint16_t api_delete(struct api_fixture *fixture, const char *resource, const char *key);
/** Creates a plain pod default/<name>; node NULL: not bound. */
void api_create_pod(struct api_fixture *fixture, const char *name, const char *node);

/** Returns the text at the path of the last answer, zero-terminated; "" if absent. */
const char *api_text(const struct api_fixture *fixture, const char *dotted_path);
int64_t api_int(const struct api_fixture *fixture, const char *dotted_path);
/** Returns the "message" of a Status. */
const char *api_message(const struct api_fixture *fixture);
/** Returns JSON text of a part of the last answer, with ' in place of "; "" if absent. */
const char *api_json(struct api_fixture *fixture, const char *dotted_path);
/** Returns the number of store commits that the last request made. */
uint64_t api_commits(const struct api_fixture *fixture);
#endif
