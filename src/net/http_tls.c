/* SPDX-License-Identifier: Apache-2.0 */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "net/datum.h"
#include "net/http_server.h"
#include "net/http_server_private.h"

/*
 * Forward secrecy, TLS 1.2 and later. The client's order of groups is used: choosing a group
 * without a key share from the client costs a round trip.
 */
#define DEFAULT_BASE "SECURE128:-VERS-ALL:-RSA"
#define EMPTY_BASE "NONE:+COMP-NULL:+CTYPE-X509:+SIGN-ALL"

/** The IANA name of a cipher suite, and GnuTLS's names of its parts. */
struct suite {
	const char *name;
	const char *key_exchange; /* NULL: a TLS 1.3 suite, which has no key exchange part */
	const char *cipher;
	const char *mac;
	bool is_insecure;
};

static const struct suite suites[] = {
	{"TLS_AES_128_GCM_SHA256", NULL, "AES-128-GCM", "AEAD", false},
	{"TLS_AES_256_GCM_SHA384", NULL, "AES-256-GCM", "AEAD", false},
	{"TLS_CHACHA20_POLY1305_SHA256", NULL, "CHACHA20-POLY1305", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD",
		false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305",
		"AEAD", false},
	{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD", false},
	{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA", "CHACHA20-POLY1305", "AEAD",
		false},
	{"TLS_RSA_WITH_RC4_128_SHA", "RSA", "ARCFOUR-128", "SHA1", true},
	{"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "RSA", "3DES-CBC", "SHA1", true},
	{"TLS_RSA_WITH_AES_128_CBC_SHA", "RSA", "AES-128-CBC", "SHA1", true},
	{"TLS_RSA_WITH_AES_256_CBC_SHA", "RSA", "AES-256-CBC", "SHA1", true},
	{"TLS_RSA_WITH_AES_128_CBC_SHA256", "RSA", "AES-128-CBC", "SHA256", true},
	{"TLS_RSA_WITH_AES_128_GCM_SHA256", "RSA", "AES-128-GCM", "AEAD", true},
	{"TLS_RSA_WITH_AES_256_GCM_SHA384", "RSA", "AES-256-GCM", "AEAD", true},
	{"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", "ECDHE-ECDSA", "ARCFOUR-128", "SHA1", true},
	{"TLS_ECDHE_RSA_WITH_RC4_128_SHA", "ECDHE-RSA", "ARCFOUR-128", "SHA1", true},
	{"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA", "3DES-CBC", "SHA1", true},
	{"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA", "AES-128-CBC", "SHA256", true},
	{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA", "AES-128-CBC", "SHA256", true},
};

/** IANA's registry of supported groups, as far as GnuTLS supports them. */
static const struct {
	int32_t id;
	const char *name;
} groups[] = {
	{23, "SECP256R1"},
	{24, "SECP384R1"},
	{25, "SECP521R1"},
	{29, "X25519"},
	{30, "X448"},
};

static const char *const version_names[] = {
	[BT_TLS_VERSION_10] = "TLS1.0",
	[BT_TLS_VERSION_11] = "TLS1.1",
	[BT_TLS_VERSION_12] = "TLS1.2",
	[BT_TLS_VERSION_13] = "TLS1.3",
};

int bt_tls_version_parse(
	struct bt_str text, enum bt_tls_version *out_version, struct berth_error *err)
{
	static const char *const names[] = {
		[BT_TLS_VERSION_DEFAULT] = "",
		[BT_TLS_VERSION_10] = "VersionTLS10",
		[BT_TLS_VERSION_11] = "VersionTLS11",
		[BT_TLS_VERSION_12] = "VersionTLS12",
		[BT_TLS_VERSION_13] = "VersionTLS13",
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (bt_str_equal_c(text, names[i])) {
			*out_version = (enum bt_tls_version)i;
			return 0;
		}
	}
	return bt_error_set_quoted(err, BERTH_ERR_INVALID, "unknown tls version ", text, "");
}

static const struct suite *find_suite(struct bt_str name)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(suites); i++) {
		if (bt_str_equal_c(name, suites[i].name)) {
			return &suites[i];
		}
	}
	return NULL;
}

bool bt_tls_cipher_suite_is_known(struct bt_str name, bool *out_is_insecure)
{
	const struct suite *suite = find_suite(name);
	if (suite == NULL) {
		return false;
	}
	*out_is_insecure = suite->is_insecure;
	return true;
}

/* Appends ":+<prefix><word>" unless `out` contains that text after offset `start`. */
static void add_word(struct bt_strbuf *out, size_t start, const char *prefix, const char *word)
{
	struct bt_strbuf item = {0};
	bt_strbuf_printf(&item, ":+%s%s", prefix, word);
	struct bt_str so_far = {out->data + start, (uint32_t)(out->length - start)};
	int64_t at = bt_str_find(so_far, bt_strbuf_str(&item));
	uint32_t end = (uint32_t)(at < 0 ? 0 : at) + (uint32_t)item.length;
	if (at < 0 || (end < so_far.length && so_far.data[end] != ':')) {
		bt_strbuf_append_str(out, bt_strbuf_str(&item));
	}
	bt_strbuf_finish(&item);
}

int bt_tls_priorities(
	const struct bt_tls_options *options, struct bt_strbuf *out, struct berth_error *err)
{
	size_t start = out->length;
	bool has_old_suites = options->cipher_suite_count == 0;
	bt_strbuf_append_c(out, options->cipher_suite_count != 0 ? EMPTY_BASE : DEFAULT_BASE);
	if (options->cipher_suite_count != 0) {
		bool has_new = false;
		for (uint32_t i = 0; i < options->cipher_suite_count; i++) {
			const struct suite *suite = find_suite(options->cipher_suites[i]);
			if (suite == NULL) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"Cipher suite %.*s not supported or doesn't exist",
					BT_STR_ARG(options->cipher_suites[i]));
			}
			if (suite->key_exchange != NULL) {
				has_old_suites = true;
				add_word(out, start, "", suite->key_exchange);
			}
			add_word(out, start, "", suite->cipher);
			add_word(out, start, "", suite->mac);
			has_new = has_new || strcmp(suite->mac, "AEAD") == 0;
		}
		if (!has_new) {
			/* TLS 1.3, to which the flag does not apply, still needs ciphers */
			add_word(out, start, "", "AES-128-GCM");
			add_word(out, start, "", "AES-256-GCM");
			add_word(out, start, "", "AEAD");
		}
	}
	enum bt_tls_version min = options->min_version != BT_TLS_VERSION_DEFAULT
		? options->min_version
		: BT_TLS_VERSION_12;
	if (!has_old_suites) {
		min = BT_TLS_VERSION_13;
	}
	for (uint32_t i = BT_TLS_VERSION_13; i >= (uint32_t)min; i--) {
		add_word(out, start, "VERS-", version_names[i]);
	}
	bool has_group = options->curve_count == 0;
	if (!has_group) {
		bt_strbuf_append_c(out, ":-GROUP-ALL");
	} else if (options->cipher_suite_count != 0) {
		bt_strbuf_append_c(out, ":+GROUP-ALL");
	}
	for (uint32_t i = 0; i < options->curve_count; i++) {
		for (size_t k = 0; k < BT_ARRAY_LENGTH(groups); k++) {
			if (groups[k].id == options->curves[i]) {
				add_word(out, start, "GROUP-", groups[k].name);
				has_group = true;
			}
		}
	}
	if (!has_group) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "none of the curve preferences is supported");
	}
	gnutls_priority_t priorities = NULL;
	int code = gnutls_priority_init(&priorities, bt_strbuf_c(out) + start, NULL);
	if (code != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the TLS options cannot be met: %s",
			gnutls_strerror(code));
	}
	gnutls_priority_deinit(priorities);
	return 0;
}

/* Longer names are not valid host names. */
#define NAME_BYTES_MAX 256

void bt_http_tls_set_free(struct bt_http_tls_set *set)
{
	if (set == NULL) {
		return;
	}
	for (uint32_t i = 0; i < set->pair_count; i++) {
		struct bt_http_tls_pair *pair = &set->pairs[i];
		if (pair->credentials != NULL) {
			gnutls_certificate_free_credentials(pair->credentials);
		}
		if (pair->leaf != NULL) {
			gnutls_x509_crt_deinit(pair->leaf);
		}
		bt_strbuf_finish(&pair->names);
	}
	bt_free(set->pairs);
	bt_free(set);
}

static int fill_pair(struct bt_http_tls_pair *pair, const struct bt_http_sni_pair *source,
	const char *client_ca_pem, struct berth_error *err)
{
	if (source->certificate_pem == NULL || source->key_pem == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"tls: a certificate and its key are needed together");
	}
	gnutls_datum_t certificate = bt_datum(bt_str_from(source->certificate_pem));
	gnutls_datum_t key = bt_datum(bt_str_from(source->key_pem));
	int code = gnutls_certificate_allocate_credentials(&pair->credentials);
	code = code != 0 ? code
			 : gnutls_certificate_set_x509_key_mem2(pair->credentials, &certificate,
				   &key, GNUTLS_X509_FMT_PEM, NULL, 0);
	code = code < 0 ? code : gnutls_x509_crt_init(&pair->leaf);
	code = code < 0 ? code
			: gnutls_x509_crt_import(pair->leaf, &certificate, GNUTLS_X509_FMT_PEM);
	if (code < 0) {
		switch (code) {
		case GNUTLS_E_CERTIFICATE_KEY_MISMATCH:
			return bt_error_set(err, BERTH_ERR_INVALID,
				"tls: private key does not match public key");
		case GNUTLS_E_BASE64_UNEXPECTED_HEADER_ERROR:
		case GNUTLS_E_NO_CERTIFICATE_FOUND:
			return bt_error_set(err, BERTH_ERR_INVALID,
				"tls: failed to find any PEM data in certificate or key input");
		default:
			return bt_error_set(err, BERTH_ERR_INVALID,
				"tls: failed to use the serving certificate: %s",
				gnutls_strerror(code));
		}
	}
	(void)gnutls_certificate_set_known_dh_params(/* cannot fail: known parameters */
		pair->credentials, GNUTLS_SEC_PARAM_MEDIUM);
	if (client_ca_pem != NULL) {
		gnutls_datum_t ca = bt_datum(bt_str_from(client_ca_pem));
		code = gnutls_certificate_set_x509_trust_mem(
			pair->credentials, &ca, GNUTLS_X509_FMT_PEM);
		if (code < 0) {
			return bt_error_set(err, BERTH_ERR_INVALID, "reading the client CA: %s",
				gnutls_strerror(code));
		}
	}
	for (uint32_t i = 0; i < source->name_count; i++) {
		bt_strbuf_append_str(&pair->names, source->names[i]);
		bt_strbuf_append_char(&pair->names, '\0');
	}
	return 0;
}

int bt_http_tls_set_create(const struct bt_http_certificates *certificates,
	const char *client_ca_pem, struct bt_http_tls_set **out_set, struct berth_error *err)
{
	struct bt_http_tls_set *set = BT_NEW(struct bt_http_tls_set);
	struct bt_http_sni_pair fallback = {
		.certificate_pem = certificates->certificate_pem, .key_pem = certificates->key_pem};
	set->pair_count = certificates->sni_count + 1;
	set->pairs = BT_NEW_ARRAY(struct bt_http_tls_pair, set->pair_count);
	int result = fill_pair(&set->pairs[0], &fallback, client_ca_pem, err);
	for (uint32_t i = 0; i < certificates->sni_count && result == 0; i++) {
		result = fill_pair(&set->pairs[i + 1], &certificates->sni[i], client_ca_pem, err);
	}
	if (result != 0) {
		bt_http_tls_set_free(set);
		return result;
	}
	*out_set = set;
	return 0;
}

static bool has_name(const struct bt_http_tls_pair *pair, const char *name)
{
	if (pair->names.length == 0) {
		return gnutls_x509_crt_check_hostname(pair->leaf, name) != 0;
	}
	for (size_t at = 0; at < pair->names.length; at += strlen(pair->names.data + at) + 1) {
		const char *pattern = pair->names.data + at;
		const char *dot = strchr(name, '.');
		/* The "*" of "*.example.org" matches one label. */
		if (strncmp(pattern, "*.", 2) == 0
				? dot != NULL && dot != name && strcasecmp(dot, pattern + 1) == 0
				: strcasecmp(pattern, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Selects the certificate after the ClientHello, by its SNI name. */
static int choose_pair(gnutls_session_t session)
{
	const struct bt_http_tls_set *set = gnutls_db_get_ptr(session);
	char name[NAME_BYTES_MAX + 1];
	size_t length = NAME_BYTES_MAX;
	unsigned int type = 0;
	if (gnutls_server_name_get(session, name, &length, &type, 0) != 0 ||
		type != GNUTLS_NAME_DNS) {
		return 0;
	}
	name[length < NAME_BYTES_MAX ? length : NAME_BYTES_MAX] = '\0';
	for (uint32_t i = 1; i < set->pair_count; i++) {
		if (has_name(&set->pairs[i], name)) {
			return gnutls_credentials_set(
				session, GNUTLS_CRD_CERTIFICATE, set->pairs[i].credentials);
		}
	}
	return 0;
}

/** Returns the connection's TLS session; NULL without TLS. */
static gnutls_session_t http_session_of(struct MHD_Connection *handle)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handle, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info != NULL ? (gnutls_session_t)info->tls_session : NULL;
}

void bt_http_tls_begin(struct bt_http_server *server, struct bt_http_connection *connection)
{
	gnutls_session_t session = http_session_of(connection->handle);
	struct bt_http_tls_set *set = server->tls_sets;
	if (session == NULL || set == NULL) {
		return;
	}
	connection->tls_set = set;
	set->connection_count++;
	/* fails only if memory runs out, which is fatal */
	(void)gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, set->pairs[0].credentials);
	if (set->pair_count > 1) {
		gnutls_db_set_ptr(session, set);
		gnutls_handshake_set_post_client_hello_function(session, choose_pair);
	}
	if (server->requests_certificate) {
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
	} else if (server->ticket_key.data != NULL) {
		/* best effort: without session resumption clients are only slower */
		(void)gnutls_session_ticket_enable_server(session, &server->ticket_key);
	}
}

int bt_http_server_set_certificates(struct bt_http_server *server,
	const struct bt_http_certificates *certificates, const char *client_ca_pem,
	struct berth_error *err)
{
	struct bt_http_tls_set *set = NULL;
	BT_ASSERT(server->tls_sets != NULL);
	int result = bt_http_tls_set_create(certificates, client_ca_pem, &set, err);
	if (result != 0) {
		return result;
	}
	/* Free replaced sets without open connections. */
	struct bt_http_tls_set **link = &server->tls_sets->next;
	while (*link != NULL) {
		struct bt_http_tls_set *old = *link;
		if (old->connection_count == 0) {
			*link = old->next;
			bt_http_tls_set_free(old);
		} else {
			link = &old->next;
		}
	}
	set->next = server->tls_sets;
	server->tls_sets = set;
	return 0;
}

uint32_t bt_http_peer_certificates(
	const struct bt_http_exchange *exchange, struct bt_str *out_chain, uint32_t capacity)
{
	gnutls_session_t session = http_session_of(exchange->handle);
	unsigned int count = 0;
	if (session == NULL) {
		return 0;
	}
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
	count = chain == NULL ? 0 : count;
	count = BT_MIN(count, capacity);
	for (uint32_t i = 0; i < count; i++) {
		out_chain[i].data = (const char *)chain[i].data;
		out_chain[i].length = chain[i].size;
	}
	return count;
}

void bt_http_tls_cork(struct bt_http_exchange *exchange)
{
	gnutls_session_t session = http_session_of(exchange->handle);
	int fd = bt_http_socket_of(exchange->handle);
	int unsent = -1;
	/*
	 * Cork only if the send buffer is empty. Otherwise the record may not fit into the buffer,
	 * and bt_http_tls_uncork cannot send the rest of a record later.
	 */
	if (session != NULL && ioctl(fd, TIOCOUTQ, &unsent) == 0 && unsent == 0) {
		gnutls_record_cork(session);
		exchange->corked = true;
	}
}

void bt_http_tls_uncork(struct bt_http_exchange *exchange)
{
	int fd = bt_http_socket_of(exchange->handle);
	int off = 0;
	if (!exchange->corked) {
		return;
	}
	exchange->corked = false;
	/*
	 * libmicrohttpd uncorks the socket too early, before GnuTLS writes the record. Uncork the
	 * socket again, or the kernel would hold the record back.
	 */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
	if (gnutls_record_uncork(http_session_of(exchange->handle), 0) < 0) {
		(void)shutdown(fd, SHUT_RDWR); /* best effort */
	}
}
