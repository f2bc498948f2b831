/* SPDX-License-Identifier: Apache-2.0 */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "base/alloc.h"
#include "net/certificate.h"

/* What a client may show; more is not looked at. */
#define CHAIN_MAX 16
#define OID_UID "1.3.6.1.4.1.57683.2"
/* Of ASN.1's kinds of texts. */
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
	gnutls_datum_t text = {(unsigned char *)pem.data, pem.length};
	int code =
		gnutls_x509_crt_list_import2(&certificates, &count, &text, GNUTLS_X509_FMT_PEM, 0);
	if (pem.length == 0 || code < 0 || count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"data does not contain any valid RSA or ECDSA certificates");
	}
	struct bt_certificate_authorities *authorities = BT_NEW(struct bt_certificate_authorities);
	code = gnutls_x509_trust_list_init(&authorities->list, count);
	for (unsigned int i = 0; i < count; i++) {
		/* the list owns what it takes; a copy of one that it has goes at once */
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

/** Certificates that were read. */
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

static int chain_read(
	struct chain *chain, const struct bt_str *der, uint32_t count, struct berth_error *err)
{
	if (count == 0 || count > CHAIN_MAX) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "x509: no certificate, or too many of them");
	}
	for (uint32_t i = 0; i < count; i++) {
		gnutls_datum_t bytes = {(unsigned char *)der[i].data, der[i].length};
		int code = gnutls_x509_crt_init(&chain->items[i]);
		if (code == 0) {
			chain->count = i + 1;
			code = gnutls_x509_crt_import(chain->items[i], &bytes, GNUTLS_X509_FMT_DER);
		}
		if (code != 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"x509: malformed certificate: %s", gnutls_strerror(code));
		}
	}
	return 0;
}

static bool is_valid_at(gnutls_x509_crt_t certificate, int64_t now_seconds)
{
	int64_t from = (int64_t)gnutls_x509_crt_get_activation_time(certificate);
	int64_t until = (int64_t)gnutls_x509_crt_get_expiration_time(certificate);
	return from >= 0 && from <= now_seconds && until >= now_seconds;
}

static int check_chain(const struct bt_certificate_authorities *authorities, struct chain *chain,
	struct berth_error *err)
{
	unsigned int status = 0;
	char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
	gnutls_typed_vdata_st data = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose};
	/* times are checked against the caller's clock */
	int code = gnutls_x509_trust_list_verify_crt2(authorities->list, chain->items, chain->count,
		&data, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status, NULL);
	if (code == 0 && status == 0) {
		return 0;
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "%s",
		code == 0 && (status & GNUTLS_CERT_PURPOSE_MISMATCH) != 0
			? "x509: certificate specifies an incompatible key usage"
			: "x509: certificate signed by unknown authority");
}

/** What is wanted of a subject. */
struct reading {
	struct bt_arena *arena;
	struct bt_certificate_subject subject;
	uint32_t organizations_max;
};

/* GnuTLS counts the zero byte behind the text. */
static bool has_oid(const gnutls_x509_ava_st *part, const char *oid)
{
	size_t length = strnlen((const char *)part->oid.data, part->oid.size);
	return length == strlen(oid) && memcmp(part->oid.data, oid, length) == 0;
}

static struct bt_str copy_text(struct reading *reading, const gnutls_x509_ava_st *part)
{
	char *copy = bt_arena_alloc_bytes(reading->arena, part->value.size + 1U);
	memcpy(copy, part->value.data, part->value.size);
	copy[part->value.size] = '\0';
	struct bt_str text = {copy, part->value.size};
	return text;
}

static void take_part(struct reading *reading, const gnutls_x509_ava_st *part)
{
	struct bt_certificate_subject *subject = &reading->subject;
	/* Texts of one byte a character, or UTF-8; nobody uses the others. */
	if (part->value.size == 0 ||
		!((part->value_tag == TAG_UTF8 || part->value_tag == TAG_PRINTABLE ||
			  part->value_tag == TAG_IA5) &&
			memchr(part->value.data, '\0', part->value.size) == NULL)) {
		return;
	}
	/* the last one counts where there should be one */
	if (has_oid(part, GNUTLS_OID_X520_COMMON_NAME)) {
		subject->common_name = copy_text(reading, part);
	} else if (has_oid(part, OID_UID)) {
		subject->uid = copy_text(reading, part);
	} else if (has_oid(part, GNUTLS_OID_X520_ORGANIZATION_NAME) &&
		subject->organizations.count < reading->organizations_max) {
		subject->organizations.items[subject->organizations.count++] =
			copy_text(reading, part);
	}
}

/* Every part of the subject; reading NULL: they are only counted. */
static uint32_t walk_subject(gnutls_x509_crt_t certificate, struct reading *reading)
{
	gnutls_x509_dn_t subject = NULL;
	gnutls_x509_ava_st part;
	uint32_t count = 0;
	if (gnutls_x509_crt_get_subject(certificate, &subject) != 0) {
		return 0;
	}
	for (int rdn = 0; gnutls_x509_dn_get_rdn_ava(subject, rdn, 0, &part) == 0; rdn++) {
		for (int i = 0; gnutls_x509_dn_get_rdn_ava(subject, rdn, i, &part) == 0; i++) {
			count++;
			if (reading != NULL) {
				take_part(reading, &part);
			}
		}
	}
	return count;
}

int bt_certificate_verify_client(const struct bt_certificate_authorities *authorities,
	const struct bt_str *chain, uint32_t count, int64_t now_seconds, struct bt_arena *arena,
	struct bt_certificate_subject *out_subject, struct berth_error *err)
{
	struct chain read BT_CLEANUP(chain_finish) = {.count = 0};
	int result = chain_read(&read, chain, count, err);
	if (result == 0) {
		result = check_chain(authorities, &read, err);
	}
	if (result == 0) {
		bool is_valid = true;
		gnutls_x509_crt_t root = NULL;
		for (unsigned int i = 0; i < read.count; i++) {
			is_valid = is_valid && is_valid_at(read.items[i], now_seconds);
		}
		if (gnutls_x509_trust_list_get_issuer(
			    authorities->list, read.items[read.count - 1], &root, 0) == 0) {
			is_valid = is_valid && is_valid_at(root, now_seconds);
		}
		result = is_valid ? 0
				  : bt_error_set(err, BERTH_ERR_INVALID,
					    "x509: certificate has expired or is not yet valid");
	}
	if (result == 0) {
		gnutls_x509_crt_t certificate = read.items[0];
		struct reading reading = {
			.arena = arena,
			.subject = {.common_name = BT_STR(""), .uid = BT_STR("")},
			.organizations_max = walk_subject(certificate, NULL),
		};
		reading.subject.organizations.items = bt_arena_alloc(
			arena, (reading.organizations_max + 1) * sizeof(struct bt_str));
		(void)walk_subject(certificate, &reading); /* their number is known */
		*out_subject = reading.subject;
	}
	return result;
}
