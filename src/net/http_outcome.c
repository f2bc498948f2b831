/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "net/http_client_private.h"

#define UNKNOWN_AUTHORITY \
	"tls: failed to verify certificate: x509: certificate signed by unknown authority"

/* What is asked to word a failure. */
struct report {
	const struct bt_http_transfer *transfer;
	CURL *easy;
	struct bt_strbuf *text;
	enum bt_http_failure failure;
};

static long get_long(const struct report *report, CURLINFO info)
{
	long value = 0;
	(void)curl_easy_getinfo(report->easy, info, &value); /* 0 then */
	return value;
}

static const char *get_text(const struct report *report, CURLINFO info)
{
	const char *value = NULL;
	(void)curl_easy_getinfo(report->easy, info, &value); /* "" then */
	return value != NULL ? value : "";
}

/* What libcurl says of the failure. */
static bool says(const struct report *report, const char *words)
{
	return strstr(report->transfer->handle->error, words) != NULL;
}

/* As Go prints them: the C library's words, small. */
static const char *word_errno(int code)
{
	switch (code) {
	case ECONNREFUSED:
		return "connection refused";
	case ECONNRESET:
		return "connection reset by peer";
	case ECONNABORTED:
		return "software caused connection abort";
	case EPIPE:
		return "broken pipe";
	case EHOSTUNREACH:
		return "no route to host";
	case ENETUNREACH:
		return "network is unreachable";
	case ETIMEDOUT:
		return "connection timed out";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case EADDRNOTAVAIL:
		return "cannot assign requested address";
	default:
		return code != 0 ? strerror(code) : "connection failed";
	}
}

/* Whom the connection was for: the proxy, or the URL's host. */
static bool peer_of(const struct report *report, struct bt_http_url *out_url)
{
	const struct bt_http_handle *handle = report->transfer->handle;
	if (handle->proxy != NULL) {
		/* only its scheme is not one that can be split */
		const char *rest = strstr(handle->proxy, "://");
		struct bt_strbuf copy = {0};
		bt_strbuf_printf(&copy, "http%s", rest);
		bool is_url = bt_http_url_split(bt_strbuf_str(&copy), out_url);
		if (is_url) {
			/* the same bytes lie in the proxy's own text, which stays */
			size_t at = (size_t)(out_url->host.data - copy.data) - 4;
			out_url->host.data = rest + at;
		}
		bt_strbuf_finish_wiped(&copy);
		return is_url;
	}
	return bt_http_url_split(
		bt_str_from(report->transfer->text.data + report->transfer->url_at), out_url);
}

static void append_dial(const struct report *report)
{
	struct bt_http_url url = {0};
	const char *ip = get_text(report, CURLINFO_PRIMARY_IP);
	bool is_known = peer_of(report, &url);
	if (report->transfer->handle->proxy != NULL) {
		bt_strbuf_append_c(report->text, "proxyconnect tcp: ");
	}
	bt_strbuf_append_c(report->text, "dial tcp ");
	if (is_known) {
		bt_http_url_append_address(
			report->text, *ip != '\0' ? bt_str_from(ip) : url.host, url.port);
	}
}

static void word_resolve(struct report *report)
{
	struct bt_http_url url = {0};
	bool is_known = peer_of(report, &url);
	report->failure = BT_HTTP_FAILURE_RESOLVE;
	if (report->transfer->handle->proxy != NULL) {
		bt_strbuf_append_c(report->text, "proxyconnect tcp: ");
	}
	bt_strbuf_printf(report->text, "dial tcp: lookup %.*s: no such host",
		is_known ? (int)url.host.length : 0, is_known ? url.host.data : "");
}

static void word_connect(struct report *report)
{
	int code = (int)get_long(report, CURLINFO_OS_ERRNO);
	report->failure = code == ECONNREFUSED ? BT_HTTP_FAILURE_REFUSED : BT_HTTP_FAILURE_OTHER;
	if (report->transfer->handle->proxy != NULL && code == 0) {
		bt_strbuf_append_c(report->text, report->transfer->handle->error);
		return;
	}
	append_dial(report);
	bt_strbuf_printf(report->text, ": connect: %s", word_errno(code));
}

static void word_timeout(struct report *report)
{
	const struct bt_http_transfer *transfer = report->transfer;
	report->failure = BT_HTTP_FAILURE_TIMEOUT;
	/* libcurl counts in milliseconds */
	if (transfer->deadline_ns != INT64_MAX &&
		bt_loop_now_ns(transfer->client->loop) + 2 * BT_NS_PER_MS >=
			transfer->deadline_ns) {
		bt_strbuf_append_c(report->text,
			transfer->is_answered
				? "context deadline exceeded (Client.Timeout or context "
				  "cancellation while reading body)"
				: "context deadline exceeded (Client.Timeout exceeded while "
				  "awaiting headers)");
		return;
	}
	if (says(report, "SSL")) {
		bt_strbuf_append_c(report->text, "net/http: TLS handshake timeout");
		return;
	}
	append_dial(report);
	bt_strbuf_append_c(report->text, ": i/o timeout");
}

static void word_end(struct report *report)
{
	report->failure = BT_HTTP_FAILURE_RESET;
	bt_strbuf_append_c(report->text, report->transfer->is_answered ? "unexpected EOF" : "EOF");
}

/* The connection broke while something was read or written. */
static void word_broken(struct report *report, const char *what)
{
	int code = (int)get_long(report, CURLINFO_OS_ERRNO);
	if (says(report, "chunked-encoding")) {
		report->failure = BT_HTTP_FAILURE_OTHER;
		bt_strbuf_append_c(report->text, "malformed chunked encoding");
		return;
	}
	if (says(report, "CONNECT")) {
		report->failure = BT_HTTP_FAILURE_OTHER;
		bt_strbuf_append_c(report->text, report->transfer->handle->error);
		return;
	}
	if (says(report, "non-properly terminated") || says(report, "outstanding read data")) {
		word_end(report);
		return;
	}
	report->failure = BT_HTTP_FAILURE_RESET;
	/* "read tcp 10.0.0.1:40000->10.0.0.2:443" */
	const char *local = get_text(report, CURLINFO_LOCAL_IP);
	const char *remote = get_text(report, CURLINFO_PRIMARY_IP);
	bt_strbuf_printf(report->text, "%s tcp ", what);
	if (*local != '\0' && *remote != '\0') {
		bt_http_url_append_address(report->text, bt_str_from(local),
			(uint16_t)get_long(report, CURLINFO_LOCAL_PORT));
		bt_strbuf_append_c(report->text, "->");
		bt_http_url_append_address(report->text, bt_str_from(remote),
			(uint16_t)get_long(report, CURLINFO_PRIMARY_PORT));
	}
	bt_strbuf_printf(report->text, ": %s: ", what);
	if (code == 0 && says(report, "Broken pipe")) {
		code = EPIPE;
	}
	bt_strbuf_append_c(report->text, word_errno(code != 0 ? code : ECONNRESET));
}

static void word_handshake(struct report *report)
{
	int code = (int)get_long(report, CURLINFO_OS_ERRNO);
	if (code == ECONNRESET || says(report, "Error in the pull function") ||
		says(report, "reset by peer")) {
		word_broken(report, "read");
		return;
	}
	if (says(report, "non-properly terminated")) {
		word_end(report);
		return;
	}
	report->failure = BT_HTTP_FAILURE_TLS;
	if (says(report, "unexpected TLS packet")) {
		bt_strbuf_append_c(report->text, "http: server gave HTTP response to HTTPS client");
		return;
	}
	bt_strbuf_printf(report->text, "tls: %s", report->transfer->handle->error);
}

static void word_certificate(struct report *report)
{
	long status = get_long(report, CURLINFO_SSL_VERIFYRESULT);
	report->failure = BT_HTTP_FAILURE_TLS;
	if (says(report, "does not match")) {
		struct bt_http_url url = {0};
		const char *name = report->transfer->handle->pool->server_name;
		if (name == NULL && peer_of(report, &url)) {
			bt_strbuf_printf(report->text,
				"tls: failed to verify certificate: x509: certificate is not valid "
				"for %.*s",
				BT_STR_ARG(url.host));
			return;
		}
		bt_strbuf_printf(report->text,
			"tls: failed to verify certificate: x509: certificate is not valid for %s",
			name != NULL ? name : "the host");
		return;
	}
	if ((status & (GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED)) != 0 ||
		says(report, "expired") || says(report, "activated")) {
		bt_strbuf_append_c(report->text,
			"tls: failed to verify certificate: x509: certificate has expired or is "
			"not yet valid");
		return;
	}
	bt_strbuf_append_c(report->text, UNKNOWN_AUTHORITY);
}

static void word_other(struct report *report)
{
	const char *error = report->transfer->handle->error;
	report->failure = BT_HTTP_FAILURE_OTHER;
	if (report->transfer->is_too_large) {
		bt_strbuf_printf(report->text, "the response is larger than %llu bytes",
			(unsigned long long)report->transfer->body_bytes_max);
		return;
	}
	if (says(report, "HTTP/0.9") || says(report, "status line")) {
		bt_strbuf_append_c(report->text,
			"net/http: HTTP/1.x transport connection broken: malformed HTTP response");
		return;
	}
	bt_strbuf_append_c(report->text, *error != '\0' ? error : "the request failed");
}

static void word(struct report *report, CURLcode code)
{
	if (report->transfer->is_cut) {
		report->failure = BT_HTTP_FAILURE_RESET;
		bt_strbuf_append_c(report->text, "use of closed network connection");
		return;
	}
	if (report->transfer->is_silent) {
		report->failure = BT_HTTP_FAILURE_TIMEOUT;
		bt_strbuf_append_c(report->text, "the server has fallen silent");
		return;
	}
	if (report->transfer->is_lost || code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE) {
		word_end(report);
		return;
	}
	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		word_resolve(report);
		return;
	case CURLE_COULDNT_CONNECT:
		word_connect(report);
		return;
	case CURLE_OPERATION_TIMEDOUT:
		word_timeout(report);
		return;
	case CURLE_SEND_ERROR:
		word_broken(report, "write");
		return;
	case CURLE_RECV_ERROR:
		word_broken(report, "read");
		return;
	case CURLE_SSL_CONNECT_ERROR:
		word_handshake(report);
		return;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		word_certificate(report);
		return;
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
		report->failure = BT_HTTP_FAILURE_TLS;
		bt_strbuf_printf(report->text, "tls: %s", report->transfer->handle->error);
		return;
	case CURLE_TOO_MANY_REDIRECTS:
		report->failure = BT_HTTP_FAILURE_OTHER;
		bt_strbuf_append_c(report->text, "stopped after 10 redirects");
		return;
	default:
		word_other(report);
	}
}

/* Neither the wait for a connection nor its handshakes count. */
static int64_t latency_ns_of(CURL *easy)
{
	curl_off_t written_us = 0;
	curl_off_t answered_us = 0;
	/* known */
	(void)curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &written_us);
	(void)curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &answered_us);
	return answered_us > written_us ? (answered_us - written_us) * 1000 : 0;
}

void bt_http_outcome_of(const struct bt_http_transfer *transfer, CURLcode code,
	struct bt_strbuf *text, struct bt_http_outcome *out_outcome)
{
	struct report report = {.transfer = transfer, .easy = transfer->handle->easy, .text = text};
	struct bt_http_outcome outcome = {.answered = transfer->is_answered};
	outcome.sent = transfer->has_begun &&
		get_long(&report, CURLINFO_REQUEST_SIZE) > transfer->size_before;
	outcome.code = transfer->is_answered ? transfer->code : 0;
	outcome.latency_ns = transfer->is_answered ? latency_ns_of(report.easy) : 0;
	outcome.body = bt_strbuf_str(&transfer->answer);
	if (code != CURLE_OK || transfer->is_cut || transfer->is_silent) {
		word(&report, code);
	} else if (!transfer->is_answered) {
		word_end(&report);
	}
	outcome.failure = report.failure;
	outcome.message = bt_strbuf_c(text);
	*out_outcome = outcome;
}
