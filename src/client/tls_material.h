/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_TLS_MATERIAL_H
#define BT_CLIENT_TLS_MATERIAL_H
/**
 * Certificate, key and CA bundle of a connection, and when their files are checked for changes.
 * Spec: 13 section 6.4. Times are the loop's.
 */
#include "client/config.h"
#include "client/file.h"
#include "net/http_client.h"

/** Effect of a change on the connections. */
enum bt_tls_change {
	BT_TLS_SAME,
	BT_TLS_NEW_CONNECTIONS, /* close idle connections; new ones use the change */
	BT_TLS_CUT,             /* close all connections */
};

struct bt_tls_material {
	const struct bt_client_config *config; /* borrowed */
	struct bt_strbuf ca;
	struct bt_strbuf certificate;
	struct bt_strbuf key;
	bool has_ca; /* set also with an empty CA: no server is trusted */
	bool has_pair;
	bool pair_is_watched; /* both are read from files */
	struct bt_client_file_stamp certificate_stamp;
	struct bt_client_file_stamp key_stamp;
	bool pair_changed;             /* changed since the periodic check */
	struct berth_error pair_error; /* set until the first usable pair */
	int64_t pair_refreshed_ns;     /* last check of the file stamps */
	int64_t pair_check_ns;         /* time of the next periodic check */
	int64_t pair_backoff_ns;
	int64_t ca_refreshed_ns;
};

/** Reads all files. Fails only with errors that are fatal at start. */
BT_MUST_USE int bt_tls_material_load(struct bt_tls_material *material,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err);
/** Call before a request that may open a connection: checks the files. */
enum bt_tls_change bt_tls_material_refresh(struct bt_tls_material *material, int64_t now_ns);
/** Does the periodic check if it is due; *out_next_ns is the time of the next one. */
enum bt_tls_change bt_tls_material_check(
	struct bt_tls_material *material, int64_t now_ns, int64_t *out_next_ns);
/** Sets the pair of a credential plugin. Returns true if it changed. */
bool bt_tls_material_set_pair(
	struct bt_tls_material *material, struct bt_str certificate, struct bt_str key);
/** Borrowed until the next change. */
struct bt_http_client_tls bt_tls_material_view(const struct bt_tls_material *material);
void bt_tls_material_finish(struct bt_tls_material *material);
#endif
