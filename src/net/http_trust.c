/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "net/datum.h"
#include "net/http_client_private.h"
#include "net/http_lookup.h"

#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
/*
 * Maximum time from the verification of the server's certificate to a resumption: a resumed session
 * does not verify the certificate again.
 */
#define TICKET_NS_MAX (3600 * BT_NS_PER_SECOND)
/* Longer texts are not valid host names. */
#define HOST_BYTES_MAX 255
#define NOT_VERIFIED "tls: failed to verify certificate: x509: "

/* Files with the system's roots, in Go's order. */
static const char *const root_files[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

static int set_material(
	struct bt_http_trust *trust, const struct bt_http_client_tls *tls, struct berth_error *err)
{
	gnutls_datum_t ca = bt_datum(tls->ca);
	gnutls_datum_t certificate = bt_datum(tls->certificate);
	gnutls_datum_t key = bt_datum(tls->key);
	if (tls->ca.data != NULL && tls->ca.length != 0 &&
		gnutls_certificate_set_x509_trust_mem(
			trust->credentials, &ca, GNUTLS_X509_FMT_PEM) <= 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"unable to load root certificates: unable to parse bytes as PEM block");
	}
	if (tls->certificate.data == NULL) {
		return 0;
	}
	int code = gnutls_certificate_set_x509_key_mem2(
		trust->credentials, &certificate, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
	if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "tls: private key does not match public key");
	}
	if (code < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"tls: failed to use the client certificate: %s", gnutls_strerror(code));
	}
	return 0;
}

int bt_http_trust_create(const struct bt_http_client_tls *tls, struct bt_http_trust **out_trust,
	struct berth_error *err)
{
	if (tls->ca.data != NULL && tls->insecure) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"specifying a root certificates file with the insecure flag is not "
			"allowed");
	}
	if ((tls->certificate.data != NULL) != (tls->key.data != NULL)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"a client certificate and its key are needed together");
	}
	struct bt_http_trust *trust = BT_NEW(struct bt_http_trust);
	trust->holders = 1;
	trust->is_insecure = tls->insecure;
	trust->needs_system_roots = !tls->insecure && tls->ca.data == NULL;
	if (tls->server_name.data != NULL && tls->server_name.length != 0) {
		trust->server_name = bt_strndup(tls->server_name.data, tls->server_name.length);
	}
	int result = 0;
	if (gnutls_certificate_allocate_credentials(&trust->credentials) != 0 ||
		gnutls_priority_init(&trust->priorities, PRIORITIES, NULL) != 0) {
		result = bt_error_set(err, BERTH_ERR_INTERNAL, "cannot create TLS credentials");
	} else {
		/* as upstream: a configured root is trusted even without CA constraints */
		gnutls_certificate_set_verify_flags(
			trust->credentials, GNUTLS_VERIFY_ALLOW_X509_V1_CA_CRT);
		result = set_material(trust, tls, err);
	}
	if (result != 0) {
		bt_http_trust_release(trust);
		return result;
	}
	*out_trust = trust;
	return 0;
}

void bt_http_trust_release(struct bt_http_trust *trust)
{
	if (--trust->holders != 0) {
		return;
	}
	for (uint32_t i = 0; i < trust->tickets.count; i++) {
		bt_free(trust->tickets.items[i].host);
		gnutls_free(trust->tickets.items[i].session.data);
	}
	bt_vec_finish(&trust->tickets);
	if (trust->credentials != NULL) {
		gnutls_certificate_free_credentials(trust->credentials);
	}
	if (trust->priorities != NULL) {
		gnutls_priority_deinit(trust->priorities);
	}
	bt_free(trust->server_name);
	bt_free(trust);
}

static ssize_t pull_socket(gnutls_transport_ptr_t context, void *data, size_t capacity)
{
	struct bt_http_client_connection *connection = context;
	struct bt_http_intake *intake = connection->intake;
	if (intake == NULL || (intake->length == 0 && !intake->is_end && intake->error == 0)) {
		errno = EAGAIN;
		return -1;
	}
	if (intake->length == 0) {
		errno = intake->error;
		return intake->error != 0 ? -1 : 0;
	}
	size_t length = BT_MIN(intake->length, capacity);
	memcpy(data, intake->data, length);
	intake->data += length;
	intake->length -= length;
	return (ssize_t)length;
}

static ssize_t push_socket(gnutls_transport_ptr_t context, const void *data, size_t length)
{
	const struct bt_http_client_connection *connection = context;
	return send(connection->fd, data, length, MSG_NOSIGNAL);
}

/*
 * Converts GnuTLS's result to a result as recv and send return it. errno EPROTO: TLS itself failed,
 * with the code in tls_error.
 */
static ssize_t session_result(
	struct bt_http_client_connection *connection, ssize_t code, bool is_read)
{
	if (code >= 0) {
		return code;
	}
	if (gnutls_error_is_fatal((int)code) == 0) {
		errno = EAGAIN;
		return -1;
	}
	if (code == GNUTLS_E_PREMATURE_TERMINATION && is_read) {
		connection->is_truncated = true;
		return 0;
	}
	/* after a failed pull or push, errno is still that of recv or send */
	if ((code != GNUTLS_E_PULL_ERROR && code != GNUTLS_E_PUSH_ERROR) || errno == 0 ||
		errno == EAGAIN) {
		connection->tls_error = (int)code;
		errno = EPROTO;
	}
	return -1;
}

/* The number of received bytes that the session of this level has not read yet. */
static size_t pending(const struct bt_http_client_connection *connection, uint32_t level)
{
	return (connection->intake != NULL ? connection->intake->length : 0) +
		(level == 1 && connection->sessions[0] != NULL
				? gnutls_record_check_pending(connection->sessions[0])
				: 0);
}

/*
 * Returns whether a read ended early and must be repeated: GnuTLS returns after a session ticket or
 * a warning, although more records may be available.
 */
static bool is_interrupted(const struct bt_http_client_connection *connection, uint32_t level,
	ssize_t code, size_t before)
{
	size_t after = pending(connection, level);
	return code < 0 && gnutls_error_is_fatal((int)code) == 0 && after != 0 && after < before;
}

static ssize_t read_session(
	struct bt_http_client_connection *connection, uint32_t level, void *data, size_t capacity)
{
	ssize_t code;
	size_t before;
	do {
		before = pending(connection, level);
		code = gnutls_record_recv(connection->sessions[level], data, capacity);
	} while (is_interrupted(connection, level, code, before));
	return session_result(connection, code, true);
}

static ssize_t pull_proxy(gnutls_transport_ptr_t context, void *data, size_t capacity)
{
	return read_session(context, 0, data, capacity);
}

static ssize_t push_proxy(gnutls_transport_ptr_t context, const void *data, size_t length)
{
	struct bt_http_client_connection *connection = context;
	return session_result(
		connection, gnutls_record_send(connection->sessions[0], data, length), false);
}

ssize_t bt_http_connection_send(
	struct bt_http_client_connection *connection, const void *data, size_t length)
{
	for (int level = 1; level >= 0; level--) {
		if (connection->sessions[level] != NULL) {
			return session_result(connection,
				gnutls_record_send(connection->sessions[level], data, length),
				false);
		}
	}
	return push_socket(connection, data, length);
}

ssize_t bt_http_connection_receive(
	struct bt_http_client_connection *connection, void *data, size_t capacity)
{
	for (uint32_t level = 2; level-- > 0;) {
		if (connection->sessions[level] != NULL) {
			return read_session(connection, level, data, capacity);
		}
	}
	return pull_socket(connection, data, capacity);
}

static struct bt_str host_of(const struct bt_http_client_connection *connection, uint32_t level)
{
	if (level == 0) {
		return connection->proxy->url.host;
	}
	return connection->trust->server_name != NULL ? bt_str_from(connection->trust->server_name)
						      : bt_strbuf_str(&connection->host);
}

static struct bt_http_ticket *find_ticket(const struct bt_http_client_connection *connection)
{
	struct bt_strbuf host = {0};
	struct bt_http_ticket *found = NULL;
	bt_http_url_append_address(&host, bt_strbuf_str(&connection->host), connection->port);
	for (uint32_t i = 0; i < connection->trust->tickets.count && found == NULL; i++) {
		struct bt_http_ticket *ticket = &connection->trust->tickets.items[i];
		found = bt_str_equal_c(bt_strbuf_str(&host), ticket->host) ? ticket : NULL;
	}
	bt_strbuf_finish(&host);
	return found;
}

bool bt_http_trust_begin(struct bt_http_client_connection *connection, uint32_t level)
{
	struct bt_http_trust *trust = connection->trust;
	gnutls_session_t session = NULL;
	gnutls_datum_t protocol = {(unsigned char *)"http/1.1", 8};
	struct bt_str host = host_of(connection, level);
	if (trust->needs_system_roots) {
		const char *file = getenv("SSL_CERT_FILE");
		for (size_t i = 0;
			i < BT_ARRAY_LENGTH(root_files) && (file == NULL || *file == '\0'); i++) {
			file = access(root_files[i], R_OK) == 0 ? root_files[i] : NULL;
		}
		trust->needs_system_roots = false;
		/* best effort: without roots every handshake fails with an error */
		(void)(file == NULL ? 0
				    : gnutls_certificate_set_x509_trust_file(
					      trust->credentials, file, GNUTLS_X509_FMT_PEM));
	}
	if (gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_FORCE_CLIENT_CERT) !=
		0) {
		return false;
	}
	/* these calls fail only if memory runs out */
	(void)gnutls_priority_set(session, trust->priorities);
	(void)gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, trust->credentials);
	(void)gnutls_alpn_set_protocols(session, &protocol, 1, 0);
	struct bt_http_addresses addresses = {0};
	bool is_address = !bt_str_equal_without_case(host, BT_STR("localhost")) &&
		bt_http_lookup_literal(host, &addresses);
	bt_vec_finish(&addresses.list);
	if (!is_address) {
		(void)gnutls_server_name_set(session, GNUTLS_NAME_DNS, host.data, host.length);
	}
	const struct bt_http_ticket *ticket = level == 1 ? find_ticket(connection) : NULL;
	if (ticket != NULL &&
		bt_loop_now_ns(connection->client->loop) - ticket->kept_ns < TICKET_NS_MAX) {
		(void)gnutls_session_set_data(session, ticket->session.data, ticket->session.size);
	}
	bool is_inner = level == 1 && connection->sessions[0] != NULL;
	gnutls_transport_set_ptr(session, connection);
	gnutls_transport_set_pull_function(session, is_inner ? pull_proxy : pull_socket);
	gnutls_transport_set_push_function(session, is_inner ? push_proxy : push_socket);
	connection->sessions[level] = session;
	return true;
}

static void fail_connection(
	struct bt_http_client_connection *connection, const char *what, const char *detail)
{
	bt_http_transfer_fail(connection->transfer, BT_HTTP_FAILURE_TLS, "%s%s", what, detail);
	bt_http_connection_close(connection);
}

/*
 * Whether a subjectAltName of the server's certificate names the host. GnuTLS's own check takes the
 * common name if there is no DNS name, and stops at a name that is longer than any host.
 */
static bool names_host(gnutls_session_t session, struct bt_str host)
{
	unsigned int count = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
	gnutls_x509_crt_t leaf;
	struct bt_http_ip address;
	bool is_v4 = false;
	bool is_ip = bt_http_parse_ip(host, &address, &is_v4);
	bool found = false;
	int type = 0;
	if (count == 0 || gnutls_x509_crt_init(&leaf) != 0) {
		return false;
	}
	host.length -= bt_str_has_suffix(host, BT_STR(".")) ? 1 : 0;
	if (gnutls_x509_crt_import(leaf, &chain[0], GNUTLS_X509_FMT_DER) != 0) {
		type = -1;
	}
	for (unsigned int i = 0; type >= 0 && !found; i++) {
		char name[HOST_BYTES_MAX + 1];
		size_t length = sizeof(name);
		type = gnutls_x509_crt_get_subject_alt_name(leaf, i, name, &length, NULL);
		if (type == GNUTLS_E_SHORT_MEMORY_BUFFER) {
			type = 0;
		} else if (type == GNUTLS_SAN_DNSNAME && !is_ip) {
			struct bt_str given = {name, (uint32_t)length};
			struct bt_str rest = host;
			if (bt_str_has_prefix(given, BT_STR("*."))) { /* any first label */
				int64_t dot = bt_str_find_char(host, '.');
				given = bt_str_sub(given, 1, BT_STR_MAX);
				rest = bt_str_sub(
					host, dot > 0 ? (uint32_t)dot : host.length, BT_STR_MAX);
			}
			found = rest.length != 0 && bt_str_equal_without_case(given, rest);
		} else if (type == GNUTLS_SAN_IPADDRESS && is_ip) {
			found = (length == 16 && memcmp(name, address.bytes, 16) == 0) ||
				(length == 4 && is_v4 && memcmp(name, address.bytes + 12, 4) == 0);
		}
	}
	gnutls_x509_crt_deinit(leaf);
	return found;
}

static bool verify(struct bt_http_client_connection *connection, uint32_t level)
{
	gnutls_session_t session = connection->sessions[level];
	unsigned int status = 0;
	struct bt_strbuf name = {0};
	if (connection->trust->is_insecure || gnutls_session_is_resumed(session) != 0) {
		return true;
	}
	bt_strbuf_append_str(&name, host_of(connection, level));
	connection->verified_ns = bt_loop_now_ns(connection->client->loop);
	char purpose[] = GNUTLS_KP_TLS_WWW_SERVER;
	gnutls_typed_vdata_st data[] = {
		{.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose},
	};
	int code = gnutls_certificate_verify_peers(session, data, BT_ARRAY_LENGTH(data), &status);
	if (code == 0 && status == 0 && !names_host(session, bt_strbuf_str(&name))) {
		status = GNUTLS_CERT_UNEXPECTED_OWNER | GNUTLS_CERT_INVALID;
	}
	if (code != 0 || status != 0) {
		const unsigned int expired = GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED;
		const unsigned int others =
			~((unsigned int)GNUTLS_CERT_UNEXPECTED_OWNER | GNUTLS_CERT_INVALID);
		if (code == 0 && (status & expired) != 0) {
			fail_connection(connection, NOT_VERIFIED,
				"certificate has expired or is not yet valid");
		} else if (code == 0 && (status & GNUTLS_CERT_PURPOSE_MISMATCH) != 0) {
			fail_connection(connection, NOT_VERIFIED,
				"certificate specifies an incompatible key usage");
		} else if (code == 0 && (status & others) == 0) {
			fail_connection(connection, NOT_VERIFIED "certificate is not valid for ",
				bt_strbuf_c(&name));
		} else {
			fail_connection(connection, NOT_VERIFIED,
				"certificate signed by unknown authority");
		}
	}
	bt_strbuf_finish(&name);
	return code == 0 && status == 0;
}

int bt_http_trust_handshake(struct bt_http_client_connection *connection, uint32_t level)
{
	gnutls_session_t session = connection->sessions[level];
	const struct bt_http_intake *intake = connection->intake;
	if (intake != NULL && intake->length >= 5 && memcmp(intake->data, "HTTP/", 5) == 0 &&
		connection->sessions[0] == NULL) {
		connection->speaks_http = true;
	}
	int code;
	size_t before;
	do {
		before = pending(connection, level);
		errno = 0;
		code = gnutls_handshake(session);
	} while (is_interrupted(connection, level, code, before));
	if (code == 0) {
		return verify(connection, level) ? 1 : -1;
	}
	if (gnutls_error_is_fatal(code) == 0) {
		return 0;
	}
	if (connection->speaks_http) {
		fail_connection(connection, "http: server gave HTTP response to HTTPS client", "");
		return -1;
	}
	/* a server may just close the connection if it refuses the client certificate */
	if (session_result(connection, code, true) == 0 || errno != EPROTO) {
		connection->write_error = connection->is_truncated ? 0 : errno;
		bt_http_connection_handle_loss(connection);
		return -1;
	}
	if (code == GNUTLS_E_FATAL_ALERT_RECEIVED) {
		const char *alert = gnutls_alert_get_name(gnutls_alert_get(session));
		fail_connection(connection, "remote error: tls: ", alert != NULL ? alert : "alert");
	} else {
		fail_connection(connection, "tls: ", gnutls_strerror(code));
	}
	return -1;
}

void bt_http_trust_keep_ticket(struct bt_http_client_connection *connection)
{
	gnutls_session_t session = connection->sessions[1];
	gnutls_datum_t data = {NULL, 0};
	/* gnutls_session_get_data2 would wait for a ticket that has not arrived */
	if (session == NULL ||
		(gnutls_protocol_get_version(session) == GNUTLS_TLS1_3 &&
			(gnutls_session_get_flags(session) & GNUTLS_SFLAGS_SESSION_TICKET) == 0) ||
		gnutls_session_get_data2(session, &data) != 0) {
		return;
	}
	struct bt_http_ticket *ticket = find_ticket(connection);
	if (ticket == NULL) {
		struct bt_strbuf host = {0};
		bt_http_url_append_address(
			&host, bt_strbuf_str(&connection->host), connection->port);
		struct bt_http_ticket fresh = {.host = bt_strbuf_steal(&host)};
		bt_vec_push(&connection->trust->tickets, fresh);
		ticket = &connection->trust->tickets.items[connection->trust->tickets.count - 1];
	}
	gnutls_free(ticket->session.data);
	ticket->session = data;
	if (gnutls_session_is_resumed(session) == 0) {
		ticket->kept_ns = connection->verified_ns;
	}
}
