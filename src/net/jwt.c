/* SPDX-License-Identifier: Apache-2.0 */
#include "net/jwt.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "net/datum.h"

/** Bytes of a coordinate, and of each half of a signature. */
#define NUMBER_BYTES 32
/** Longer tokens are refused. */
#define TOKEN_BYTES_MAX 16384

struct bt_jwt_key {
	gnutls_x509_privkey_t key;
	gnutls_privkey_t signer;
	gnutls_pubkey_t verifier;
	struct bt_strbuf id;
	struct bt_strbuf x;
	struct bt_strbuf y;
};

static int set_key_error(struct berth_error *err, int code)
{
	return bt_error_set(
		err, BERTH_ERR_INVALID, "a key to sign tokens with: %s", gnutls_strerror(code));
}

/** Converts a number to exactly 32 bytes: adds or drops leading zeros. false: does not fit. */
static bool fix_number(const gnutls_datum_t *number, unsigned char *out)
{
	const unsigned char *bytes = number->data;
	size_t size = number->size;
	while (size > NUMBER_BYTES && *bytes == 0) {
		bytes++;
		size--;
	}
	if (size > NUMBER_BYTES) {
		return false;
	}
	memset(out, 0, NUMBER_BYTES - size);
	memcpy(out + NUMBER_BYTES - size, bytes, size);
	return true;
}

static void append_number(struct bt_strbuf *out, const gnutls_datum_t *number)
{
	unsigned char bytes[NUMBER_BYTES] = {0};
	(void)fix_number(number, bytes); /* cannot fail: coordinates of P-256 fit */
	bt_base64_url_encode((struct bt_str){(const char *)bytes, NUMBER_BYTES}, out);
}

int bt_jwt_key_create(struct bt_str pem, struct bt_jwt_key **out_key, struct berth_error *err)
{
	struct bt_jwt_key *key = BT_NEW(struct bt_jwt_key);
	int code = gnutls_x509_privkey_init(&key->key);
	if (code == 0 && pem.length == 0) {
		code = gnutls_x509_privkey_generate(key->key, GNUTLS_PK_ECDSA,
			GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	} else if (code == 0) {
		gnutls_datum_t text = bt_datum(pem);
		code = gnutls_x509_privkey_import2(
			key->key, &text, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	}
	code = code != 0 ? code : gnutls_privkey_init(&key->signer);
	code = code != 0 ? code : gnutls_privkey_import_x509(key->signer, key->key, 0);
	code = code != 0 ? code : gnutls_pubkey_init(&key->verifier);
	code = code != 0 ? code : gnutls_pubkey_import_privkey(key->verifier, key->signer, 0, 0);
	/* Set the coordinates, and the key id to the hash of the public key. */
	gnutls_ecc_curve_t curve;
	gnutls_datum_t x = {NULL, 0};
	gnutls_datum_t y = {NULL, 0};
	unsigned char id[64];
	size_t id_bytes = sizeof(id);
	code = code != 0 ? code : gnutls_pubkey_export_ecc_raw(key->verifier, &curve, &x, &y);
	if (code == 0 && curve != GNUTLS_ECC_CURVE_SECP256R1) {
		code = GNUTLS_E_ECC_UNSUPPORTED_CURVE;
	}
	if (code == 0) {
		append_number(&key->x, &x);
		append_number(&key->y, &y);
		code = gnutls_pubkey_get_key_id(
			key->verifier, GNUTLS_KEYID_USE_SHA256, id, &id_bytes);
	}
	gnutls_free(x.data);
	gnutls_free(y.data);
	if (code == 0) {
		bt_base64_url_encode(
			(struct bt_str){(const char *)id, (uint32_t)id_bytes}, &key->id);
	} else {
		bt_jwt_key_destroy(key);
		return set_key_error(err, code);
	}
	*out_key = key;
	return 0;
}

void bt_jwt_key_destroy(struct bt_jwt_key *key)
{
	if (key == NULL) {
		return;
	}
	gnutls_pubkey_deinit(key->verifier);
	gnutls_privkey_deinit(key->signer);
	gnutls_x509_privkey_deinit(key->key);
	bt_strbuf_finish(&key->id);
	bt_strbuf_finish(&key->x);
	bt_strbuf_finish(&key->y);
	bt_free(key);
}

int bt_jwt_key_write(const struct bt_jwt_key *key, struct bt_strbuf *out, struct berth_error *err)
{
	gnutls_datum_t text = {NULL, 0};
	int code = gnutls_x509_privkey_export2_pkcs8(
		key->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &text);
	if (code != 0) {
		return set_key_error(err, code);
	}
	bt_strbuf_append(out, text.data, text.size);
	gnutls_memset(text.data, 0, text.size);
	gnutls_free(text.data);
	return 0;
}

struct bt_jwt_public bt_jwt_key_public(const struct bt_jwt_key *key)
{
	return (struct bt_jwt_public){
		bt_strbuf_str(&key->id), bt_strbuf_str(&key->x), bt_strbuf_str(&key->y)};
}

int bt_jwt_sign(const struct bt_jwt_key *key, struct bt_str payload, struct bt_strbuf *out,
	struct berth_error *err)
{
	unsigned char numbers[2 * NUMBER_BYTES];
	struct bt_strbuf header = {0};
	size_t start = out->length;
	bt_strbuf_printf(&header, "{\"alg\":\"ES256\",\"kid\":\"%s\"}", bt_strbuf_c(&key->id));
	bt_base64_url_encode(bt_strbuf_str(&header), out);
	bt_strbuf_finish(&header);
	bt_strbuf_append_char(out, '.');
	bt_base64_url_encode(payload, out);
	gnutls_datum_t data = {
		(unsigned char *)out->data + start, (unsigned int)(out->length - start)};
	gnutls_datum_t signature = {NULL, 0};
	gnutls_datum_t r = {NULL, 0};
	gnutls_datum_t s = {NULL, 0};
	int code = gnutls_privkey_sign_data2(
		key->signer, GNUTLS_SIGN_ECDSA_SHA256, 0, &data, &signature);
	code = code != 0 ? code : gnutls_decode_rs_value(&signature, &r, &s);
	if (code == 0 && !(fix_number(&r, numbers) && fix_number(&s, numbers + NUMBER_BYTES))) {
		code = GNUTLS_E_INTERNAL_ERROR;
	}
	gnutls_free(signature.data);
	gnutls_free(r.data);
	gnutls_free(s.data);
	if (code != 0) {
		return set_key_error(err, code);
	}
	bt_strbuf_append_char(out, '.');
	bt_base64_url_encode((struct bt_str){(const char *)numbers, sizeof(numbers)}, out);
	return 0;
}

bool bt_jwt_verify(const struct bt_jwt_key *key, struct bt_str token, struct bt_arena *arena,
	struct bt_str *out_payload)
{
	struct bt_str parts[3];
	struct bt_str rest = token;
	struct bt_json_value *header;
	if (token.length > TOKEN_BYTES_MAX) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		struct bt_str part = bt_str_cut(&rest, '.');
		if (!bt_base64_url_decode(part, arena, &parts[i]) ||
			(rest.data == NULL) != (i == 2)) {
			return false;
		}
	}
	if (bt_json_parse(arena, parts[0], true, &header, NULL) != 0 ||
		!bt_str_equal_c(bt_json_find_str(header, "alg"), "ES256") ||
		parts[2].length != 2 * NUMBER_BYTES) {
		return false;
	}
	unsigned char *numbers = (unsigned char *)(uintptr_t)parts[2].data;
	gnutls_datum_t r = {numbers, NUMBER_BYTES};
	gnutls_datum_t s = {numbers + NUMBER_BYTES, NUMBER_BYTES};
	gnutls_datum_t signature = {NULL, 0};
	gnutls_datum_t data =
		bt_datum(bt_str_sub(token, 0, (uint32_t)bt_str_find_last_char(token, '.')));
	int code = gnutls_encode_rs_value(&signature, &r, &s);
	if (code == 0) {
		code = gnutls_pubkey_verify_data2(
			key->verifier, GNUTLS_SIGN_ECDSA_SHA256, 0, &data, &signature);
	}
	gnutls_free(signature.data);
	if (code < 0) {
		return false;
	}
	*out_payload = parts[1];
	return true;
}
