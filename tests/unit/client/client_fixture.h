/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLIENT_CLIENT_FIXTURE_H
#define BT_TESTS_UNIT_CLIENT_CLIENT_FIXTURE_H
/**
 * A TLS server on loopback with answers that the test defines, and a transport and a rest client
 * that run on the same loop. Log lines are collected.
 */
#include <check.h>

#include "client/rest.h"
#include "client/transport_private.h"
#include "net/certificate.h"
#include "net/http_server.h"

#define FIXTURE_REQUESTS_MAX 512

struct fixture_request {
	struct bt_strbuf line; /* "GET /path?query" */
	struct bt_strbuf authorization;
	struct bt_strbuf accept;
	struct bt_strbuf content_type;
	struct bt_strbuf user_agent;
	struct bt_strbuf impersonate; /* "Name=value;" in the order received */
	struct bt_strbuf body;
	int64_t at_ns;
};

struct fixture_answer {
	uint16_t code;
	const char *content_type; /* NULL: application/json */
	const char *body;
	size_t body_length;      /* 0: length of the string */
	const char *retry_after; /* NULL: none */
	const char *warning;     /* NULL: none */
	bool later;              /* the test answers later */
};

struct fixture {
	struct bt_loop *loop;
	struct bt_http_server *server;
	struct bt_certificate_pair ca;
	struct bt_certificate_pair certificate;
	struct bt_client_config config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_metrics *metrics;
	const struct fixture_answer *answers; /* one for each request; the last answer repeats */
	uint32_t answer_count;
	struct fixture_request requests[FIXTURE_REQUESTS_MAX];
	uint32_t request_count;
	struct bt_http_exchange *kept;
	char folder[64];
};

/** The result of a call. */
struct fixture_result {
	uint32_t done_count;
	struct bt_rest_answer answer; /* texts are copied to the buffers */
	struct bt_strbuf message;
	struct bt_strbuf body;
	struct bt_strbuf reason;
	bool opened;
	struct bt_strbuf data;
};

/** Starts the server; is_tls false: plain HTTP. */
void fixture_start(struct fixture *fixture, bool is_tls);
/**
 * Makes the transport. cluster and user: additional members of the kubeconfig's cluster and user in
 * flow style, such as ", token: t"; "" for none.
 */
void fixture_connect(struct fixture *fixture, const char *cluster, const char *user);
/** Making the transport must fail with this message. */
void fixture_expect_refused(
	struct fixture *fixture, const char *cluster, const char *user, const char *message);
/** Makes a client with user agent "test" and the options (NULL: JSON, no rate limit). */
void fixture_make_client(struct fixture *fixture, const struct bt_rest_options *options);
void fixture_finish(struct fixture *fixture);

struct bt_rest_call *fixture_call(struct fixture *fixture, const char *method, const char *path,
	const char *body, struct fixture_result *result);
struct bt_rest_call *fixture_watch(
	struct fixture *fixture, const char *path, struct fixture_result *result);
void fixture_result_finish(struct fixture_result *result);
/** Runs the loop until *counter equals value; fails after twenty seconds. */
void fixture_wait(struct fixture *fixture, const uint32_t *counter, uint32_t value);
void fixture_turns(struct fixture *fixture, uint32_t count);
/** Writes a file in the fixture's folder; returns the path, which the caller frees. */
char *fixture_write(struct fixture *fixture, const char *name, const char *content);
void fixture_expect(const struct bt_strbuf *text, const char *expected);
/** Counts how often the text occurs in the log lines since the start. */
uint32_t fixture_log_count(const char *text);
#endif
