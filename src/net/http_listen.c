/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http_server_private.h"

struct endpoint {
	struct sockaddr_storage address;
	socklen_t length;
	bool is_v6;
	bool takes_v4; /* dual-stack: an IPv6 socket that also accepts IPv4 */
};

static void fill_v6(struct endpoint *endpoint, const struct in6_addr *address, uint16_t port)
{
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *address};
	memcpy(&endpoint->address, &v6, sizeof(v6));
	endpoint->length = sizeof(v6);
	endpoint->is_v6 = true;
}

static void fill_v4(struct endpoint *endpoint, const struct in_addr *address, uint16_t port)
{
	struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = *address};
	memcpy(&endpoint->address, &v4, sizeof(v4));
	endpoint->length = sizeof(v4);
	endpoint->is_v6 = false;
	endpoint->takes_v4 = false;
}

static int try_listen(const struct bt_http_server_options *options, const struct endpoint *endpoint,
	int *out_fd, const char **out_call)
{
	int on = 1;
	int v6_only = endpoint->takes_v4 ? 0 : 1;
	*out_call = "socket";
	int fd = socket(endpoint->is_v6 ? AF_INET6 : AF_INET,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return errno;
	}
	/* errors are ignored: if an option that matters is missing, bind fails */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (options->share_port) {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	}
	if (endpoint->is_v6 && options->both_families) {
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
	}
	*out_call = "bind";
	int result = bind(fd, (const void *)&endpoint->address, endpoint->length);
	if (result == 0) {
		*out_call = "listen";
		result = listen(fd, SOMAXCONN);
	}
	if (result != 0) {
		int code = errno;
		(void)close(fd); /* no data to lose */
		return code;
	}
	*out_fd = fd;
	return 0;
}

int bt_http_listen(
	const struct bt_http_server_options *options, int *out_fd, struct berth_error *err)
{
	struct in_addr v4 = {0};
	struct in6_addr v6 = IN6ADDR_ANY_INIT;
	struct endpoint endpoint = {0};
	const char *call = "";
	bool is_v4 = inet_pton(AF_INET, options->address, &v4) == 1;
	if (!is_v4 && inet_pton(AF_INET6, options->address, &v6) != 1) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "\"%s\" is not an IP address", options->address);
	}
	bool is_any = is_v4 ? v4.s_addr == htonl(INADDR_ANY) : IN6_IS_ADDR_UNSPECIFIED(&v6);
	endpoint.takes_v4 = options->both_families && is_any;
	if (is_v4 && !endpoint.takes_v4) {
		fill_v4(&endpoint, &v4, options->port);
	} else {
		fill_v6(&endpoint, &v6, options->port);
	}
	int code = try_listen(options, &endpoint, out_fd, &call);
	if (code != 0 && endpoint.takes_v4 && code != EADDRINUSE && code != EACCES) {
		/* the machine has no IPv6: listen on IPv4 only */
		v4.s_addr = htonl(INADDR_ANY);
		fill_v4(&endpoint, &v4, options->port);
		code = try_listen(options, &endpoint, out_fd, &call);
	}
	if (code == 0) {
		return 0;
	}
	/* Error text as Go words it: "listen tcp 0.0.0.0:10259: bind: address already in use". */
	char words[128];
	(void)snprintf(words, sizeof(words), "%s", strerror(code)); /* truncation is acceptable */
	words[0] = (char)tolower((unsigned char)words[0]);
	return bt_error_set(err, BERTH_ERR_IO,
		is_v4 ? "listen tcp %s:%u: %s: %s" : "listen tcp [%s]:%u: %s: %s", options->address,
		(unsigned int)options->port, call, words);
}

uint16_t bt_http_port_of(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	struct sockaddr_in v4;
	_Static_assert(
		offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
		"ports lie at the same place");
	if (getsockname(fd, (void *)&address, &length) != 0) {
		return 0;
	}
	memcpy(&v4, &address, sizeof(v4));
	return ntohs(v4.sin_port);
}

void bt_http_append_peer(int fd, struct bt_strbuf *out)
{
	struct sockaddr_storage storage = {0};
	socklen_t length = sizeof(storage);
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	if (getpeername(fd, (void *)&storage, &length) != 0) {
		return;
	}
	memcpy(&v4, &storage, sizeof(v4));
	memcpy(&v6, &storage, sizeof(v6));
	bool is_v4 = storage.ss_family == AF_INET;
	const void *address = is_v4 ? (const void *)&v4.sin_addr : &v6.sin6_addr;
	if (!is_v4 && IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
		is_v4 = true;
		address = v6.sin6_addr.s6_addr + 12;
	}
	bt_strbuf_append_c(out, inet_ntop(is_v4 ? AF_INET : AF_INET6, address, text, sizeof(text)));
}
