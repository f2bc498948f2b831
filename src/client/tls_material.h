/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_TLS_MATERIAL_H
#define BT_CLIENT_TLS_MATERIAL_H
/**
 * Certificates, key and CA bundle of a connection, and when their files are looked at again. Spec:
 * 13 section 6.4. Times are the loop's.
 */
#include "client/config.h"
#include "client/file.h"
#include "net/http_client.h"

/** What a change asks of the connections. */
enum bt_tls_change {
	BT_TLS_SAME,
	BT_TLS_NEW_CONNECTIONS, /* new ones use it, idle ones end */
	BT_TLS_CUT,             /* all end */
};

struct bt_tls_material {
	const struct bt_client_config *config; /* borrowed */
	struct bt_strbuf ca;
	struct bt_strbuf certificate;
	struct bt_strbuf key;
	bool has_ca; /* also when it is empty: then nothing is trusted */
	bool has_pair;
	bool pair_is_watched; /* both parts come from files */
	struct bt_client_file_stamp certificate_stamp;
	struct bt_client_file_stamp key_stamp;
	bool pair_changed;             /* since the periodic check */
	struct berth_error pair_error; /* there never was a usable pair */
	int64_t pair_asked_ns;         /* last look at the stamps */
	int64_t pair_check_ns;         /* the next periodic check */
	int64_t pair_backoff_ns;
	int64_t ca_asked_ns;
};

/** Read everything. Errors are those that are fatal at start. */
BT_MUST_USE int bt_tls_material_load(struct bt_tls_material *material,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err);
/** A request starts, and may make a connection. */
enum bt_tls_change bt_tls_material_ask(struct bt_tls_material *material, int64_t now_ns);
/** The periodic check, when it is due; *out_next_ns is when it is due again. */
enum bt_tls_change bt_tls_material_check(
	struct bt_tls_material *material, int64_t now_ns, int64_t *out_next_ns);
/** The pair of a credential plugin. true: it is another one. */
bool bt_tls_material_set_pair(
	struct bt_tls_material *material, struct bt_str certificate, struct bt_str key);
/** Borrowed until the next change. */
struct bt_http_client_tls bt_tls_material_view(const struct bt_tls_material *material);
void bt_tls_material_finish(struct bt_tls_material *material);
#endif
