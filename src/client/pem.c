/* SPDX-License-Identifier: Apache-2.0 */
#include "client/pem.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "base/strbuf.h"

#define CANNOT_LOAD "unable to load root certificates: "
static const struct bt_str begin_mark = BT_STR_INIT("-----BEGIN ");
static const struct bt_str begin_certificate = BT_STR_INIT("-----BEGIN CERTIFICATE-----");

static gnutls_datum_t datum_of(struct bt_str text)
{
	/* The library takes it as const in all that is called here. */
	return (gnutls_datum_t){(unsigned char *)text.data, text.length};
}

int bt_client_pem_check_roots(struct bt_str pem, struct berth_error *err)
{
	gnutls_datum_t data = datum_of(pem);
	gnutls_x509_crt_t *certificates = NULL;
	unsigned int count = 0;
	int result;

	if (bt_str_find(pem, begin_mark) < 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, CANNOT_LOAD "unable to parse bytes as PEM block");
	}
	if (bt_str_find(pem, begin_certificate) < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			CANNOT_LOAD "no valid certificate authority data seen");
	}
	result = gnutls_x509_crt_list_import2(&certificates, &count, &data, GNUTLS_X509_FMT_PEM, 0);
	if (result < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			CANNOT_LOAD "failed to parse certificate: %s", gnutls_strerror(result));
	}
	for (unsigned int i = 0; i < count; i++) {
		gnutls_x509_crt_deinit(certificates[i]);
	}
	gnutls_free(certificates);
	return 0;
}

int bt_client_pem_check_pair(struct bt_str certificate, struct bt_str key, struct berth_error *err)
{
	gnutls_certificate_credentials_t credentials;
	gnutls_datum_t certificate_data = datum_of(certificate);
	gnutls_datum_t key_data = datum_of(key);
	int result;

	if (bt_str_find(certificate, begin_mark) < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"tls: failed to find any PEM data in certificate input");
	}
	if (bt_str_find(key, begin_mark) < 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "tls: failed to find any PEM data in key input");
	}
	result = gnutls_certificate_allocate_credentials(&credentials);
	if (result < 0) {
		return bt_error_set(err, BERTH_ERR_INTERNAL, "%s", gnutls_strerror(result));
	}
	result = gnutls_certificate_set_x509_key_mem(
		credentials, &certificate_data, &key_data, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(credentials);
	if (result == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "tls: private key does not match public key");
	}
	return result < 0 ? bt_error_set(err, BERTH_ERR_INVALID, "tls: %s", gnutls_strerror(result))
			  : 0;
}
