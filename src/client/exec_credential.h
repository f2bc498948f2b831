/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_EXEC_CREDENTIAL_H
#define BT_CLIENT_EXEC_CREDENTIAL_H
/** What a credential plugin is told and what it answers. Spec: 13 section 6.5. */
#include "client/config.h"

/** Memory: its arena, and that is wiped. */
struct bt_exec_credential {
	struct bt_arena arena;
	struct bt_str token;       /* "": none */
	struct bt_str certificate; /* PEM; data NULL: no pair */
	struct bt_str key;
	bool expires;
	int64_t expiry_ns; /* since 1970 */
};

/** `exec plugin: invalid apiVersion "<v>"` */
BT_MUST_USE int bt_exec_check_version(const struct bt_client_exec *exec, struct berth_error *err);
/** ca: the bundle in use, or "". Appends one JSON object and a newline. */
void bt_exec_write_info(const struct bt_client_config *config, struct bt_str ca, bool interactive,
	struct bt_strbuf *out);
/** Standard output of a run that succeeded. No secret appears in an error. */
BT_MUST_USE int bt_exec_credential_read(struct bt_str output, struct bt_str api_version,
	struct bt_exec_credential *out_credential, struct berth_error *err);
void bt_exec_credential_finish(struct bt_exec_credential *credential);
#endif
