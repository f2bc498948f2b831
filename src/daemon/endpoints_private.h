/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ENDPOINTS_PRIVATE_H
#define BT_DAEMON_ENDPOINTS_PRIVATE_H
/** Shared by endpoints.c (life) and endpoints_serve.c (requests). */
#include "daemon/authentication.h"
#include "daemon/authorization.h"
#include "daemon/endpoints.h"
#include "daemon/pages.h"
#include "daemon/serving_tls.h"
#include "net/clock.h"

/** Requests that wait for the API server's word on their sender at most. */
#define BT_ENDPOINTS_WAITING_MAX 512

struct bt_endpoints {
	struct bt_endpoints_options options;
	struct bt_serving_tls *serving;
	struct bt_trust *trust;
	struct bt_authenticator *authenticator;
	struct bt_authorizer *authorizer;
	struct bt_pages *pages;
	struct bt_http_server *server;
	char *host;      /* owned: what to bind to */
	char *listening; /* owned: "[::]:10259", in log lines */
	uint32_t waiting;
	bool certificates_changed; /* the server must be told */
	int64_t check_ns;
	int64_t read_ns;
};

/** The handler of the HTTP server; context: the endpoints. */
struct bt_http_handler bt_endpoints_handler(struct bt_endpoints *endpoints);
#endif
