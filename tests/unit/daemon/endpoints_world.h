/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_ENDPOINTS_WORLD_H
#define BT_TESTS_UNIT_ENDPOINTS_WORLD_H
/**
 * The HTTPS endpoints, with a scripted API server behind them and clients before them, all on one
 * loop. The API server accepts the token "good" (user alice, group readers), allows alice
 * everything and others nothing, and serves a ConfigMap that the test writes.
 */
#include <check.h>

#include "client/rest.h"
#include "daemon/endpoints.h"
#include "net/certificate.h"
#include "net/http_client.h"
#include "scripted_server.h"

struct endpoints_world {
	/** --- for the test, before endpoints_world_start --- */
	struct bt_daemon_options options;
	struct bt_str paths[2]; /* always-allow paths */
	bool no_delegation;
	bool is_synced;
	bool is_stopping;
	uint32_t review_failures; /* reviews that fail with review_code before one succeeds */
	uint32_t review_code;
	bool reviews_hang;
	uint32_t config_map_code;         /* code of the ConfigMap's answer; not 200: an error */
	struct bt_strbuf config_map_data; /* members of the ConfigMap's data */

	/** --- the world --- */
	struct bt_loop *loop;
	struct scripted_server server;
	struct bt_client_config client_config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_metrics *metrics;
	struct bt_endpoints *endpoints;
	struct berth_error err;   /* error of a start that failed */
	struct bt_strbuf answers; /* answers of the API server, kept while they are sent */
	struct bt_strbuf log;     /* log records as text */
};

/** Sets the default flags; no port is bound yet. */
void endpoints_world_init(struct endpoints_world *world);
/** Starts the endpoints; returns false if the start failed, with the reason in world.err. */
bool endpoints_world_start(struct endpoints_world *world);
void endpoints_world_finish(struct endpoints_world *world);
void endpoints_world_turn(struct endpoints_world *world);
/** Waits until the API server received a request with this text; fails after ten seconds. */
void endpoints_world_await_request(struct endpoints_world *world, const char *text);

/** Makes a certificate and key for a client, signed by ca. organization NULL: none. */
void make_client_pair(const struct bt_certificate_pair *ca, const char *common_name,
	const char *organization, struct bt_certificate_pair *out_pair);

/**
 * One request and its result. Zero memory before the first use; further uses keep pair and headers.
 */
struct caller {
	const struct bt_certificate_pair *pair; /* NULL: no certificate */
	struct bt_http_header headers[4];
	uint32_t header_count;
	const char *method; /* NULL: GET */
	const char *body;

	struct bt_http_client *client;
	struct bt_http_transfer *transfer;
	bool is_done;
	enum bt_http_failure failure;
	uint16_t code;
	struct bt_strbuf answer;
	struct bt_strbuf content_type;
	struct bt_strbuf cache_control;
	struct bt_strbuf no_sniff;
};

void caller_start(struct caller *caller, struct endpoints_world *world, const char *target);
void caller_wait(struct caller *caller, struct endpoints_world *world);
/** Starts the request and waits for its end; returns the body. */
const char *caller_get(struct caller *caller, struct endpoints_world *world, const char *target);
void caller_set_header(struct caller *caller, const char *name, const char *value);
void caller_finish(struct caller *caller);
#endif
