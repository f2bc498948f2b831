/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_TRUST_H
#define BT_DAEMON_TRUST_H
/**
 * How client certificates are trusted: CA bundles and the header names of a front proxy, from flags
 * or from ConfigMap kube-system/extension-apiserver-authentication. Changes of the files and of the
 * ConfigMap take effect at run time. Spec: 11 sections 4.4 and 9.2.
 */
#include "base/prng.h"
#include "base/vec.h"
#include "client/file.h"
#include "client/reflector.h"
#include "daemon/endpoints_options.h"
#include "net/certificate.h"

/** The headers and names by which requests of a front proxy are recognized. */
enum bt_trust_list {
	BT_TRUST_USERNAME,
	BT_TRUST_UID,
	BT_TRUST_GROUP,
	BT_TRUST_EXTRA_PREFIX,
	BT_TRUST_ALLOWED_NAMES, /* common names of front proxies; empty: all names are allowed */
	BT_TRUST__LISTS,
};

/** The CA certificates of one source. */
struct bt_trust_bundle {
	const char *flag;
	struct bt_str path; /* "": from the ConfigMap */
	struct bt_client_file_stamp stamp;
	struct bt_strbuf pem;
	/** Parsed `pem`, valid until the loop turns; NULL: no certificates. */
	struct bt_certificate_authorities *authorities;
};

struct bt_trust {
	struct bt_trust_bundle client;      /* CA certificates of clients */
	struct bt_trust_bundle front;       /* CA certificates of front proxies */
	bt_str_list lists[BT_TRUST__LISTS]; /* borrowed from the flags, or in `arena` */
	bool has_changed;                   /* a CA bundle changed; the owner resets the flag */

	const struct bt_endpoints_options *options; /* private from here */
	struct bt_prng prng;
	struct bt_arena arena; /* of `lists` from the ConfigMap */
	bool is_flagged;       /* `lists` and `front` come from flags, not from the ConfigMap */
	struct bt_reflector *reflector; /* of the ConfigMap; NULL: not watched */
	struct bt_rest_call *call;      /* of the first read */
	struct berth_error read_error;
};

/**
 * Read the files that flags name. options: borrowed; without an authentication_client only flags
 * are used. seed: for jitter. Fails with the flag and the file.
 */
BT_MUST_USE int bt_trust_create(const struct bt_endpoints_options *options, uint64_t seed,
	struct bt_trust **out_trust, struct berth_error *err);
/**
 * Read the ConfigMap, turning the loop until the answer arrives, at most ten seconds, or the loop
 * is to stop; then start a watch. Does nothing if flags name both CA files, if there is no client,
 * or with
 * --authentication-skip-lookup. If the read fails, logs warnings and starts the watch all the same;
 * with --authentication-tolerate-lookup-failure=false, returns the error instead.
 */
BT_MUST_USE int bt_trust_read_config_map(struct bt_trust *trust, struct berth_error *err);
/** Read changed files again; is_due: also files that look unchanged. Errors are logged. */
void bt_trust_refresh(struct bt_trust *trust, bool is_due);
void bt_trust_destroy(struct bt_trust *trust);
/** Append all authorities of client certificates, as PEM. */
void bt_trust_write_pem(const struct bt_trust *trust, struct bt_strbuf *out);
#endif
