/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_UP_IDENTITY_H
#define BT_CLI_UP_IDENTITY_H
/**
 * Identity of an API server: its CA, its certificate, the admin's token, and a kubeconfig that
 * contains them. With a data folder the identity survives restarts.
 */
#include <stdbool.h>
#include <stdint.h>

#include "cli/listen.h"
#include "net/certificate.h"

struct bt_up_identity {
	struct bt_certificate_pair ca;     /* its key is empty if the user gave a certificate */
	struct bt_certificate_pair server; /* empty on plain HTTP */
	struct bt_strbuf token;
};

struct bt_up_identity_options {
	bool is_plain; /* no TLS, no token */
	/**
	 * The files of the certificate, by default that of the data folder, else a new one; and the
	 * address to name in a new certificate.
	 */
	const struct bt_listen *listen;
	const char *data_dir; /* NULL: nothing is stored */
	int64_t now_seconds;
};

/**
 * Read or create the identity. Files in the data folder are readable by their owner only. Messages
 * name the file.
 */
BT_MUST_USE int bt_up_identity_create(const struct bt_up_identity_options *options,
	struct bt_up_identity *out_identity, struct berth_error *err);
void bt_up_identity_finish(struct bt_up_identity *identity);

/**
 * Write a kubeconfig for kubectl and client libraries, readable by its owner only; replaces the
 * file atomically.
 */
BT_MUST_USE int bt_up_kubeconfig_write(const struct bt_up_identity *identity, const char *server,
	const char *path, struct berth_error *err);
#endif
