/* SPDX-License-Identifier: Apache-2.0 */
#include "net/certificate.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"
#include "net/datum.h"

#define DAY_SECONDS INT64_C(86400)
#define CA_DAYS 3650
#define SERVER_DAYS 365
#define SERIAL_BYTES 16
#define HOUR_SECONDS INT64_C(3600)

void bt_certificate_pair_finish(struct bt_certificate_pair *pair)
{
	bt_strbuf_finish(&pair->certificate);
	bt_strbuf_finish_wiped(&pair->key);
}

static int set_tls_error(struct berth_error *err, const char *what, int code)
{
	return bt_error_set(err, BERTH_ERR_INVALID, "%s: %s", what, gnutls_strerror(code));
}

/** A certificate under construction, or a parsed certificate, with its key. */
struct draft {
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
};

static void draft_finish(struct draft *draft)
{
	if (draft->certificate != NULL) {
		gnutls_x509_crt_deinit(draft->certificate);
	}
	if (draft->key != NULL) {
		gnutls_x509_privkey_deinit(draft->key);
	}
}

static int draft_init(struct draft *draft, struct berth_error *err)
{
	int code = gnutls_x509_crt_init(&draft->certificate);
	if (code == 0) {
		code = gnutls_x509_privkey_init(&draft->key);
	}
	return code == 0 ? 0 : set_tls_error(err, "making a certificate", code);
}

static int draft_read(
	struct draft *draft, const struct bt_certificate_pair *pair, struct berth_error *err)
{
	gnutls_datum_t certificate = bt_datum(bt_strbuf_str(&pair->certificate));
	gnutls_datum_t key = bt_datum(bt_strbuf_str(&pair->key));
	if (pair->certificate.data == NULL || pair->key.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no certificate, or no key");
	}
	int result = draft_init(draft, err);
	if (result != 0) {
		return result;
	}
	int code = gnutls_x509_crt_import(draft->certificate, &certificate, GNUTLS_X509_FMT_PEM);
	if (code != 0) {
		return set_tls_error(err, "reading the certificate", code);
	}
	code = gnutls_x509_privkey_import2(
		draft->key, &key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	return code == 0 ? 0 : set_tls_error(err, "reading the key", code);
}

/** Validity period of a certificate. */
struct span {
	int64_t from_seconds;
	int64_t until_seconds;
};

static int set_serial_and_span(gnutls_x509_crt_t certificate, const struct span *span)
{
	unsigned char serial[SERIAL_BYTES];
	int code = gnutls_x509_crt_set_version(certificate, 3);
	code = code != 0 ? code : gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));
	if (code == 0) {
		serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, not zero */
		code = gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
	}
	code = code != 0
		? code
		: gnutls_x509_crt_set_activation_time(certificate, (time_t)span->from_seconds);
	return code != 0
		? code
		: gnutls_x509_crt_set_expiration_time(certificate, (time_t)span->until_seconds);
}

/** What a certificate may be used for. */
struct usage {
	bool is_ca;
	unsigned int key_usage; /* GNUTLS_KEY_* */
	bool for_clients;
	bool for_servers;
};

/** Sets the usage and signs the certificate; issuer NULL: the certificate signs itself. */
static int sign(const struct draft *draft, const struct draft *issuer, const struct usage *usage)
{
	gnutls_x509_crt_t made = draft->certificate;
	unsigned char id[32];
	size_t id_length = sizeof(id);
	int code = gnutls_x509_crt_set_basic_constraints(made, usage->is_ca, -1);
	code = code != 0 ? code : gnutls_x509_crt_set_key_usage(made, usage->key_usage);
	if (code == 0 && usage->for_clients) {
		code = gnutls_x509_crt_set_key_purpose_oid(made, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	}
	if (code == 0 && usage->for_servers) {
		code = gnutls_x509_crt_set_key_purpose_oid(made, GNUTLS_KP_TLS_WWW_SERVER, 0);
	}
	if (code == 0 && issuer != NULL) {
		code = gnutls_x509_crt_get_subject_key_id(
			issuer->certificate, id, &id_length, NULL);
		code = code != 0 ? code : gnutls_x509_crt_set_authority_key_id(made, id, id_length);
	}
	issuer = issuer != NULL ? issuer : draft;
	return code != 0 ? code
			 : gnutls_x509_crt_sign2(
				   made, issuer->certificate, issuer->key, GNUTLS_DIG_SHA256, 0);
}

/** Inputs of a certificate with a new key. */
struct plan {
	const char *common_name;
	const char *const *names; /* for subjectAltName */
	uint32_t name_count;
	struct span span;
};

/** Makes a server's pair, signed by the CA; ca NULL: makes a CA. */
static int make_pair(const struct bt_certificate_pair *ca, const struct plan *plan,
	struct bt_certificate_pair *out_pair, struct berth_error *err)
{
	static const struct usage of_ca = {.is_ca = true,
		.key_usage = GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN |
			GNUTLS_KEY_DIGITAL_SIGNATURE};
	static const struct usage of_server = {
		.key_usage = GNUTLS_KEY_DIGITAL_SIGNATURE, .for_servers = true};
	struct draft authority BT_CLEANUP(draft_finish) = {NULL, NULL};
	struct draft draft BT_CLEANUP(draft_finish) = {NULL, NULL};
	int result = ca != NULL ? draft_read(&authority, ca, err) : 0;
	result = result != 0 ? result : draft_init(&draft, err);
	if (result != 0) {
		return result;
	}
	gnutls_x509_crt_t made = draft.certificate;
	unsigned char id[32];
	size_t id_length = sizeof(id);
	int code = gnutls_x509_privkey_generate(
		draft.key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	code = code != 0 ? code : set_serial_and_span(made, &plan->span);
	code = code != 0 ? code : gnutls_x509_crt_set_key(made, draft.key);
	code = code != 0 ? code
			 : gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0,
				   plan->common_name, (unsigned int)strlen(plan->common_name));
	code = code != 0 ? code
			 : gnutls_x509_crt_get_key_id(made, GNUTLS_KEYID_USE_SHA1, id, &id_length);
	code = code != 0 ? code : gnutls_x509_crt_set_subject_key_id(made, id, id_length);
	for (uint32_t i = 0; i < plan->name_count && code == 0; i++) {
		const char *name = plan->names[i];
		unsigned char address[16];
		bool is_v4 = inet_pton(AF_INET, name, address) == 1;
		bool is_ip = is_v4 || inet_pton(AF_INET6, name, address) == 1;
		code = is_ip ? gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_IPADDRESS,
				       address, is_v4 ? 4 : 16, GNUTLS_FSAN_APPEND)
			     : gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_DNSNAME, name,
				       (unsigned int)strlen(name), GNUTLS_FSAN_APPEND);
	}
	if (code == 0) {
		code = ca != NULL ? sign(&draft, &authority, &of_server)
				  : sign(&draft, NULL, &of_ca);
	}
	gnutls_datum_t certificate = {NULL, 0};
	gnutls_datum_t key = {NULL, 0};
	code = code != 0 ? code : gnutls_x509_crt_export2(made, GNUTLS_X509_FMT_PEM, &certificate);
	code = code != 0 ? code
			 : gnutls_x509_privkey_export2_pkcs8(
				   draft.key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &key);
	if (code == 0) {
		*out_pair = (struct bt_certificate_pair){0};
		bt_strbuf_append(&out_pair->certificate, certificate.data, certificate.size);
		bt_strbuf_append(&out_pair->key, key.data, key.size);
		gnutls_memset(key.data, 0, key.size);
	}
	gnutls_free(certificate.data);
	gnutls_free(key.data);
	return code == 0 ? 0
			 : set_tls_error(err,
				   ca != NULL ? "making a server certificate"
					      : "making a certificate authority",
				   code);
}

int bt_certificate_make_ca(const char *common_name, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err)
{
	struct plan plan = {
		.common_name = common_name,
		.span = {now_seconds - DAY_SECONDS, now_seconds + CA_DAYS * DAY_SECONDS},
	};
	return make_pair(NULL, &plan, out_pair, err);
}

int bt_certificate_make_server(const struct bt_certificate_pair *ca, const char *const *names,
	uint32_t name_count, int64_t now_seconds, struct bt_certificate_pair *out_pair,
	struct berth_error *err)
{
	struct plan plan = {
		.common_name = "berth",
		.names = names,
		.name_count = name_count,
		.span = {now_seconds - DAY_SECONDS, now_seconds + SERVER_DAYS * DAY_SECONDS},
	};
	BT_ASSERT(name_count != 0);
	return make_pair(ca, &plan, out_pair, err);
}

int bt_certificate_make_serving(const char *address, int64_t now_seconds,
	struct bt_certificate_pair *out_pair, struct berth_error *err)
{
	const char *names[] = {"localhost", "127.0.0.1", address};
	int64_t from_seconds = now_seconds - HOUR_SECONDS;
	struct bt_certificate_pair ca = {0};
	char common_name[64];
	struct plan plan = {
		.common_name = common_name,
		.span = {from_seconds, from_seconds + SERVER_DAYS * DAY_SECONDS},
	};
	(void)snprintf(common_name, sizeof(common_name), "localhost-ca@%lld", /* fits */
		(long long)now_seconds);
	int result = make_pair(NULL, &plan, &ca, err);
	if (result != 0) {
		return result;
	}
	(void)snprintf(common_name, sizeof(common_name), "localhost@%lld", (long long)now_seconds);
	plan.names = names;
	plan.name_count = address != NULL && strcmp(address, names[1]) != 0 ? 3 : 2;
	result = make_pair(&ca, &plan, out_pair, err);
	if (result == 0) {
		bt_strbuf_append_str(&out_pair->certificate, bt_strbuf_str(&ca.certificate));
	}
	bt_certificate_pair_finish(&ca);
	return result;
}

int bt_certificate_check(const struct bt_certificate_pair *pair, const char *host,
	int64_t now_seconds, int64_t until_seconds, struct berth_error *err)
{
	struct draft draft BT_CLEANUP(draft_finish) = {NULL, NULL};
	unsigned char of_certificate[64];
	unsigned char of_key[64];
	size_t certificate_length = sizeof(of_certificate);
	size_t key_length = sizeof(of_key);
	int result = draft_read(&draft, pair, err);
	if (result != 0) {
		return result;
	}
	int code = gnutls_x509_crt_get_key_id(
		draft.certificate, GNUTLS_KEYID_USE_SHA256, of_certificate, &certificate_length);
	code = code != 0 ? code
			 : gnutls_x509_privkey_get_key_id(
				   draft.key, GNUTLS_KEYID_USE_SHA256, of_key, &key_length);
	if (code != 0) {
		return set_tls_error(err, "reading the certificate", code);
	}
	if (certificate_length != key_length || memcmp(of_certificate, of_key, key_length) != 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "the key does not belong to the certificate");
	}
	if ((int64_t)gnutls_x509_crt_get_activation_time(draft.certificate) > now_seconds) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the certificate is not valid yet");
	}
	if ((int64_t)gnutls_x509_crt_get_expiration_time(draft.certificate) < until_seconds) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the certificate has expired");
	}
	if (host != NULL && gnutls_x509_crt_check_hostname(draft.certificate, host) == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "the certificate does not name %s", host);
	}
	return 0;
}

int bt_random_hex(uint32_t count, struct bt_strbuf *out, struct berth_error *err)
{
	static const char digits[] = "0123456789abcdef";
	for (uint32_t i = 0; i < count; i++) {
		unsigned char byte = 0;
		int code = gnutls_rnd(GNUTLS_RND_KEY, &byte, 1);
		if (code != 0) {
			return set_tls_error(err, "getting random bytes", code);
		}
		bt_strbuf_append_char(out, digits[byte >> 4]);
		bt_strbuf_append_char(out, digits[byte & 15]);
	}
	return 0;
}

/* Maximum number of certificates in a client's chain; longer chains are refused. */
#define CHAIN_MAX 16
#define OID_UID "1.3.6.1.4.1.57683.2"
/* ASN.1 tags of string types. */
#define TAG_UTF8 12
#define TAG_PRINTABLE 19
#define TAG_IA5 22

struct bt_certificate_authorities {
	gnutls_x509_trust_list_t list;
};

int bt_certificate_authorities_create(struct bt_str pem,
	struct bt_certificate_authorities **out_authorities, struct berth_error *err)
{
	gnutls_x509_crt_t *certificates = NULL;
	unsigned int count = 0;
	gnutls_datum_t text = bt_datum(pem);
	int code =
		gnutls_x509_crt_list_import2(&certificates, &count, &text, GNUTLS_X509_FMT_PEM, 0);
	if (pem.length == 0 || code < 0 || count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"data does not contain any valid RSA or ECDSA certificates");
	}
	struct bt_certificate_authorities *authorities = BT_NEW(struct bt_certificate_authorities);
	code = gnutls_x509_trust_list_init(&authorities->list, count);
	for (unsigned int i = 0; i < count; i++) {
		/*
		 * The list owns the certificates that it accepts. Free the certificates that the
		 * list does not own: duplicates, or all if the list could not be created.
		 */
		if (code < 0 ||
			gnutls_x509_trust_list_add_cas(authorities->list, &certificates[i], 1, 0) !=
				1) {
			gnutls_x509_crt_deinit(certificates[i]);
		}
	}
	gnutls_free(certificates);
	if (code < 0) {
		bt_free(authorities);
		return bt_error_set(err, BERTH_ERR_INTERNAL, "making a list of authorities: %s",
			gnutls_strerror(code));
	}
	*out_authorities = authorities;
	return 0;
}

void bt_certificate_authorities_destroy(struct bt_certificate_authorities *authorities)
{
	if (authorities != NULL) {
		gnutls_x509_trust_list_deinit(authorities->list, 1);
		bt_free(authorities);
	}
}

/** Parsed certificates of a chain. */
struct chain {
	gnutls_x509_crt_t items[CHAIN_MAX];
	unsigned int count;
};

static void chain_finish(struct chain *chain)
{
	for (unsigned int i = 0; i < chain->count; i++) {
		gnutls_x509_crt_deinit(chain->items[i]);
	}
}

static bool is_valid_at(gnutls_x509_crt_t certificate, int64_t now_seconds)
{
	int64_t from = (int64_t)gnutls_x509_crt_get_activation_time(certificate);
	int64_t until = (int64_t)gnutls_x509_crt_get_expiration_time(certificate);
	return from >= 0 && from <= now_seconds && until >= now_seconds;
}

/* Compares without the terminating zero byte, which GnuTLS counts in the size. */
static bool has_oid(const gnutls_x509_ava_st *part, const char *oid)
{
	size_t length = strnlen((const char *)part->oid.data, part->oid.size);
	return length == strlen(oid) && memcmp(part->oid.data, oid, length) == 0;
}

static struct bt_certificate_subject read_subject(gnutls_x509_dn_t name, struct bt_arena *arena)
{
	struct bt_certificate_subject subject = {.common_name = BT_STR(""), .uid = BT_STR("")};
	BT_VEC(struct bt_str) organizations = {0};
	gnutls_x509_ava_st part;
	for (int rdn = 0; gnutls_x509_dn_get_rdn_ava(name, rdn, 0, &part) == 0; rdn++) {
		for (int i = 0; gnutls_x509_dn_get_rdn_ava(name, rdn, i, &part) == 0; i++) {
			/*
			 * UTF-8 and the one-byte string types are accepted; other string types are
			 * not used in practice.
			 */
			if (part.value.size == 0 ||
				(part.value_tag != TAG_UTF8 && part.value_tag != TAG_PRINTABLE &&
					part.value_tag != TAG_IA5) ||
				memchr(part.value.data, '\0', part.value.size) != NULL) {
				continue;
			}
			struct bt_str text = bt_arena_str(arena,
				(struct bt_str){(const char *)part.value.data, part.value.size});
			/* If common name or uid occurs several times, the last value counts. */
			if (has_oid(&part, GNUTLS_OID_X520_COMMON_NAME)) {
				subject.common_name = text;
			} else if (has_oid(&part, OID_UID)) {
				subject.uid = text;
			} else if (has_oid(&part, GNUTLS_OID_X520_ORGANIZATION_NAME)) {
				bt_vec_push(&organizations, text);
			}
		}
	}
	subject.organizations.items = bt_arena_copy_array(
		arena, organizations.items, organizations.count, 0, sizeof(struct bt_str));
	subject.organizations.count = organizations.count;
	bt_vec_finish(&organizations);
	return subject;
}

int bt_certificate_verify_client(const struct bt_certificate_authorities *authorities,
	const struct bt_str *chain, uint32_t count, int64_t now_seconds, struct bt_arena *arena,
	struct bt_certificate_subject *out_subject, struct berth_error *err)
{
	struct chain read BT_CLEANUP(chain_finish) = {.count = 0};
	if (count == 0 || count > CHAIN_MAX) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "x509: no certificate, or too many of them");
	}
	for (uint32_t i = 0; i < count; i++) {
		gnutls_datum_t bytes = bt_datum(chain[i]);
		int code = gnutls_x509_crt_init(&read.items[i]);
		if (code == 0) {
			read.count = i + 1;
			code = gnutls_x509_crt_import(read.items[i], &bytes, GNUTLS_X509_FMT_DER);
		}
		if (code != 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"x509: malformed certificate: %s", gnutls_strerror(code));
		}
	}
	unsigned int status = 0;
	char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
	gnutls_typed_vdata_st data = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose};
	/* validity times are checked below, against now_seconds */
	int code = gnutls_x509_trust_list_verify_crt2(authorities->list, read.items, read.count,
		&data, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status, NULL);
	if (code != 0 || status != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s",
			code == 0 && (status & GNUTLS_CERT_PURPOSE_MISMATCH) != 0
				? "x509: certificate specifies an incompatible key usage"
				: "x509: certificate signed by unknown authority");
	}
	bool is_valid = true;
	gnutls_x509_crt_t root = NULL;
	for (unsigned int i = 0; i < read.count; i++) {
		is_valid = is_valid && is_valid_at(read.items[i], now_seconds);
	}
	if (gnutls_x509_trust_list_get_issuer(
		    authorities->list, read.items[read.count - 1], &root, 0) == 0) {
		is_valid = is_valid && is_valid_at(root, now_seconds);
	}
	if (!is_valid) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"x509: certificate has expired or is not yet valid");
	}
	gnutls_x509_dn_t name = NULL;
	code = gnutls_x509_crt_get_subject(read.items[0], &name);
	if (code != 0) {
		return set_tls_error(err, "reading the subject", code);
	}
	*out_subject = read_subject(name, arena);
	return 0;
}

static void request_finish(gnutls_x509_crq_t *request)
{
	if (*request != NULL) {
		gnutls_x509_crq_deinit(*request);
	}
}

static int read_request(struct bt_str pem, gnutls_x509_crq_t *out_request, struct berth_error *err)
{
	gnutls_datum_t text = bt_datum(pem);
	int code = gnutls_x509_crq_init(out_request);
	code = code != 0 ? code : gnutls_x509_crq_import(*out_request, &text, GNUTLS_X509_FMT_PEM);
	code = code != 0 ? code : gnutls_x509_crq_verify(*out_request, 0);
	return code == 0 ? 0 : set_tls_error(err, "reading the certificate request", code);
}

int bt_certificate_request_read(struct bt_str pem, struct bt_arena *arena,
	struct bt_certificate_request *out_request, struct berth_error *err)
{
	gnutls_x509_crq_t request BT_CLEANUP(request_finish) = NULL;
	struct draft draft BT_CLEANUP(draft_finish) = {NULL, NULL};
	gnutls_x509_dn_t name = NULL;
	int result = read_request(pem, &request, err);
	if (result != 0) {
		return result;
	}
	/* GnuTLS lists subject attributes of certificates only: make a certificate from the
	 * request. */
	result = draft_init(&draft, err);
	if (result != 0) {
		return result;
	}
	int code = gnutls_x509_crt_set_crq(draft.certificate, request);
	code = code != 0 ? code : gnutls_x509_crt_get_subject(draft.certificate, &name);
	if (code != 0) {
		return set_tls_error(err, "reading the subject", code);
	}
	*out_request = (struct bt_certificate_request){.subject = read_subject(name, arena)};
	for (unsigned int i = 0;; i++) {
		char value[1024];
		size_t length = sizeof(value);
		unsigned int type = 0;
		code = gnutls_x509_crq_get_subject_alt_name(
			request, i, value, &length, &type, NULL);
		if (code < 0 && code != GNUTLS_E_SHORT_MEMORY_BUFFER) {
			return 0;
		}
		if (code == GNUTLS_SAN_DNSNAME || code == GNUTLS_SAN_IPADDRESS) {
			out_request->host_count++;
		} else {
			out_request->other_count++;
		}
	}
}

int bt_certificate_sign_request(const struct bt_certificate_pair *ca, struct bt_str pem,
	const struct bt_certificate_terms *terms, struct bt_strbuf *out_certificate,
	struct berth_error *err)
{
	static const char alt_names[] = "2.5.29.17";
	struct draft authority BT_CLEANUP(draft_finish) = {NULL, NULL};
	struct draft draft BT_CLEANUP(draft_finish) = {NULL, NULL};
	gnutls_x509_crq_t request BT_CLEANUP(request_finish) = NULL;
	const struct usage usage = {
		.key_usage = GNUTLS_KEY_DIGITAL_SIGNATURE |
			(terms->key_encipherment ? GNUTLS_KEY_KEY_ENCIPHERMENT : 0u),
		.for_clients = terms->for_clients,
		.for_servers = terms->for_servers,
	};
	size_t names_length = 0;
	int result = draft_read(&authority, ca, err);
	result = result != 0 ? result : read_request(pem, &request, err);
	result = result != 0 ? result : draft_init(&draft, err);
	if (result != 0) {
		return result;
	}
	int64_t until = (int64_t)gnutls_x509_crt_get_expiration_time(authority.certificate);
	struct span span = {
		terms->from_seconds, terms->until_seconds < until ? terms->until_seconds : until};
	gnutls_x509_crt_t made = draft.certificate;
	int code = set_serial_and_span(made, &span);
	code = code != 0 ? code : gnutls_x509_crt_set_crq(made, request);
	if (code == 0 &&
		gnutls_x509_crq_get_extension_by_oid(request, alt_names, 0, NULL, &names_length,
			NULL) != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) {
		code = gnutls_x509_crt_set_crq_extension_by_oid(made, request, alt_names, 0);
	}
	code = code != 0 ? code : sign(&draft, &authority, &usage);
	gnutls_datum_t text = {NULL, 0};
	code = code != 0 ? code : gnutls_x509_crt_export2(made, GNUTLS_X509_FMT_PEM, &text);
	if (code == 0) {
		bt_strbuf_append(out_certificate, text.data, text.size);
	}
	gnutls_free(text.data);
	return code == 0 ? 0 : set_tls_error(err, "signing the certificate", code);
}
