/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http_lookup.h"
#include "net/http_server_private.h"

_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
	"ports lie at the same place");

/* takes_v4: dual-stack, an IPv6 socket that also accepts IPv4. */
static int try_listen(const struct bt_http_server_options *options,
	const union bt_http_address *address, bool takes_v4, int *out_fd, const char **out_call)
{
	int on = 1;
	int v6_only = takes_v4 ? 0 : 1;
	bool is_v6 = address->any.sa_family == AF_INET6;
	*out_call = "socket";
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		return errno;
	}
	/* errors are ignored: if an option that matters is missing, bind fails */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (options->share_port) {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	}
	if (is_v6 && options->both_families) {
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
	}
	*out_call = "bind";
	int result = bind(fd, &address->any, is_v6 ? sizeof(address->v6) : sizeof(address->v4));
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

int bt_http_listen(const struct bt_http_server_options *options, int *out_fd, uint16_t *out_port,
	struct berth_error *err)
{
	union bt_http_address v4 = {
		.v4 = {.sin_family = AF_INET, .sin_port = htons(options->port)}};
	union bt_http_address v6 = {
		.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(options->port)}};
	const char *call = "";
	bool is_v4 = inet_pton(AF_INET, options->address, &v4.v4.sin_addr) == 1;
	if (!is_v4 && inet_pton(AF_INET6, options->address, &v6.v6.sin6_addr) != 1) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "\"%s\" is not an IP address", options->address);
	}
	if (!is_v4 && IN6_IS_ADDR_V4MAPPED(&v6.v6.sin6_addr)) {
		is_v4 = true; /* an IPv6 socket without IPv4 cannot listen on such an address */
		memcpy(&v4.v4.sin_addr, v6.v6.sin6_addr.s6_addr + 12, sizeof(v4.v4.sin_addr));
	}
	bool is_any = is_v4 ? v4.v4.sin_addr.s_addr == htonl(INADDR_ANY)
			    : IN6_IS_ADDR_UNSPECIFIED(&v6.v6.sin6_addr);
	bool takes_v4 = options->both_families && is_any;
	int code = try_listen(options, is_v4 && !takes_v4 ? &v4 : &v6, takes_v4, out_fd, &call);
	if (code != 0 && takes_v4 && code != EADDRINUSE && code != EACCES) {
		/* the machine has no IPv6: listen on IPv4 only */
		v4.v4.sin_addr.s_addr = htonl(INADDR_ANY);
		code = try_listen(options, &v4, false, out_fd, &call);
	}
	if (code == 0) {
		union bt_http_address own = {0};
		socklen_t length = sizeof(own);
		*out_port =
			getsockname(*out_fd, &own.any, &length) == 0 ? ntohs(own.v4.sin_port) : 0;
		return 0;
	}
	/* Error text as Go words it: "listen tcp 0.0.0.0:10259: bind: address already in use". */
	struct bt_strbuf words = {0};
	bt_strbuf_append_errno(&words, code);
	int result = bt_error_set(err, BERTH_ERR_IO,
		is_v4 ? "listen tcp %s:%u: %s: %s" : "listen tcp [%s]:%u: %s: %s", options->address,
		(unsigned int)options->port, call, bt_strbuf_c(&words));
	bt_strbuf_finish(&words);
	return result;
}

void bt_http_peer_address(const struct bt_http_exchange *exchange, struct bt_strbuf *out)
{
	union bt_http_address peer = {0};
	socklen_t length = sizeof(peer);
	char text[INET6_ADDRSTRLEN];
	if (getpeername(bt_http_socket_of(exchange->handle), &peer.any, &length) != 0) {
		return;
	}
	bool is_v4 = peer.any.sa_family == AF_INET;
	const void *address = is_v4 ? (const void *)&peer.v4.sin_addr : &peer.v6.sin6_addr;
	if (!is_v4 && IN6_IS_ADDR_V4MAPPED(&peer.v6.sin6_addr)) {
		is_v4 = true;
		address = peer.v6.sin6_addr.s6_addr + 12;
	}
	bt_strbuf_append_c(out, inet_ntop(is_v4 ? AF_INET : AF_INET6, address, text, sizeof(text)));
}
