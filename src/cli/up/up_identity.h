/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_UP_IDENTITY_H
#define BT_CLI_UP_IDENTITY_H
/**
 * Who an API server is to its clients: the CA and certificate it shows, the token its owner has,
 * and the kubeconfig that holds all of it. With a data folder they outlive the process.
 */
#include <stdbool.h>
#include <stdint.h>

#include "net/certificate.h"

struct bt_up_identity {
	struct bt_certificate_pair ca;     /* key empty when the certificate was given */
	struct bt_certificate_pair server; /* empty on plain HTTP */
	struct bt_strbuf token;
};

struct bt_up_identity_options {
	bool is_plain;                /* no TLS, no token */
	const char *certificate_path; /* NULL: made, or taken from the data folder */
	const char *key_path;
	const char *data_dir; /* NULL: nothing is kept */
	const char *address;  /* to be named in the certificate */
	int64_t now_seconds;
};

/** Files of the data folder are readable by their owner only. Messages name the file. */
BT_MUST_USE int bt_up_identity_create(const struct bt_up_identity_options *options,
	struct bt_up_identity *out_identity, struct berth_error *err);
void bt_up_identity_finish(struct bt_up_identity *identity);

/** A file for kubectl and client libraries, readable by its owner only; replaced as a whole. */
BT_MUST_USE int bt_up_kubeconfig_write(const struct bt_up_identity *identity, const char *server,
	const char *path, struct berth_error *err);
#endif
