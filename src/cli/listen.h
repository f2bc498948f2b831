/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_LISTEN_H
#define BT_CLI_LISTEN_H
/** The flags of a command's server, and the URL at which clients reach the server. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

struct bt_listen {
	const char *text;             /* --listen */
	const char *certificate_path; /* --tls-cert-file; NULL: not given */
	const char *key_path;         /* --tls-private-key-file */
	/* Parsed from the text. */
	char address[64]; /* "127.0.0.1", "::1", "0.0.0.0" */
	uint16_t port;
};

/**
 * Parse "127.0.0.1:6443", "[::1]:6443", "localhost:6443", ":6443" (every IPv4 address) or
 * "127.0.0.1" (default_port), and check that both files are given or none. BERTH_ERR_INVALID: the
 * message names the flag.
 */
BT_MUST_USE int bt_listen_check(
	struct bt_listen *listen, uint16_t default_port, struct berth_error *err);
bool bt_listen_is_loopback(const struct bt_listen *listen);
/**
 * Append "https://127.0.0.1:6443" (is_plain: "http://..."); shows loopback if the server listens on
 * every address. port: the port that the server is bound to, because listen->port may be 0.
 */
void bt_listen_append_url(
	const struct bt_listen *listen, bool is_plain, uint16_t port, struct bt_strbuf *out);
#endif
