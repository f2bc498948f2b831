/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_CERTIFICATE_H
#define BT_NET_CERTIFICATE_H
/**
 * Creates CAs and server certificates, signs certificate requests, and verifies client
 * certificates. Times are seconds since 1970.
 */
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "codec/message.h"

/** PEM texts, zero-terminated in their buffers. All-zero memory is empty. */
struct bt_certificate_pair {
	struct bt_strbuf certificate;
	struct bt_strbuf key;
};

/** Wipes the key and frees both texts. */
void bt_certificate_pair_finish(struct bt_certificate_pair *pair);
/** Creates a self-signed CA (EC P-256), valid from one day before now to 3650 days after now. */
BT_MUST_USE int bt_certificate_make_ca(const char *common_name, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err);
/**
 * Creates a server pair signed by the CA, valid from one day before now to 365 days after now.
 * names: DNS names and IP addresses for subjectAltName, at least one.
 */
BT_MUST_USE int bt_certificate_make_server(const struct bt_certificate_pair *ca,
	const char *const *names, uint32_t name_count, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err);
/**
 * Creates the pair of a daemon without --tls-cert-file, spec 11 section 4.3. The names are
 * localhost, 127.0.0.1 and address (NULL: no further name). The pair is valid from one hour before
 * now for one year. The certificate of a new CA follows the leaf; the CA's key is discarded.
 */
BT_MUST_USE int bt_certificate_make_serving(const char *address, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err);
/**
 * Checks that the pair parses, that key and certificate match, and that the certificate is valid
 * from now_seconds to until_seconds and names the host (a DNS name or an IP address; NULL: any
 * host). Returns 0 or BERTH_ERR_INVALID.
 */
BT_MUST_USE int bt_certificate_check(const struct bt_certificate_pair *pair, const char *host,
	int64_t now_seconds, int64_t until_seconds, struct berth_error *err);
/** CA certificates that verify client certificates. */
struct bt_certificate_authorities;

/**
 * Parses the CA certificates in a PEM text. BERTH_ERR_INVALID: the text has no certificate, or an
 * unreadable certificate.
 */
BT_MUST_USE int bt_certificate_authorities_create(struct bt_str pem,
	struct bt_certificate_authorities **out_authorities, struct berth_error *err);
/** Frees the CA certificates. NULL accepted. */
void bt_certificate_authorities_destroy(struct bt_certificate_authorities *authorities);

/** Subject of a client certificate. Missing attributes are "". Allocated in the arena. */
struct bt_certificate_subject {
	struct bt_str common_name;
	bt_str_list organizations; /* the O values, in order */
	struct bt_str uid;         /* 1.3.6.1.4.1.57683.2, the user id of Kubernetes */
};

/**
 * Verifies a client's certificate chain, and returns the subject of the leaf. chain: DER, leaf
 * first (bt_http_peer_certificates). Succeeds if the leaf chains to one of the authorities, all
 * certificates are valid at now_seconds, and the leaf allows client authentication; else
 * BERTH_ERR_INVALID with a text such as `x509: certificate signed by unknown authority`.
 */
BT_MUST_USE int bt_certificate_verify_client(const struct bt_certificate_authorities *authorities,
	const struct bt_str *chain, uint32_t count, int64_t now_seconds, struct bt_arena *arena,
	struct bt_certificate_subject *out_subject, struct berth_error *err);

/** Content of a certificate signing request. */
struct bt_certificate_request {
	struct bt_certificate_subject subject;
	uint32_t host_count;  /* DNS names and IP addresses in subjectAltName */
	uint32_t other_count; /* e-mail addresses and URIs in subjectAltName */
};

/**
 * Decodes a PKCS #10 request; the texts of out_request->subject are in the arena.
 * BERTH_ERR_INVALID: the request is unreadable, or is not signed by the key that it contains.
 */
BT_MUST_USE int bt_certificate_request_read(struct bt_str pem, struct bt_arena *arena,
	struct bt_certificate_request *out_request, struct berth_error *err);

struct bt_certificate_terms {
	int64_t from_seconds;
	int64_t until_seconds; /* cut to the end of the CA's validity */
	bool for_clients;
	bool for_servers;
	bool key_encipherment;
};

/**
 * Signs the certificate for a request (PEM), with the request's subject and subjectAltName. Appends
 * the certificate as PEM.
 */
BT_MUST_USE int bt_certificate_sign_request(const struct bt_certificate_pair *ca, struct bt_str pem,
	const struct bt_certificate_terms *terms, struct bt_strbuf *out_certificate,
	struct berth_error *err);

/** Appends count random bytes in hexadecimal. */
BT_MUST_USE int bt_random_hex(uint32_t count, struct bt_strbuf *out, struct berth_error *err);
#endif
