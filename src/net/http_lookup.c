/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "net/http_proxy.h"

/*
 * Bytes of the stack of a lookup thread. The name service modules of the C library run on this
 * stack, too.
 */
#define STACK_BYTES 262144
#define HOST_BYTES_MAX 255

/* Shared by the loop's thread and the lookup thread; the last holder frees the lookup. */
struct bt_http_lookup {
	atomic_int holders;
	int event_fd;
	struct addrinfo *found; /* written by the thread before it signals event_fd */
	char host[HOST_BYTES_MAX + 1];
	/* The fields below are used by the loop's thread only. */
	struct bt_loop *loop;
	struct bt_loop_source *source;
	void (*ready)(void *context, struct bt_http_lookup *lookup,
		const struct bt_http_addresses *addresses);
	void *context;
};

static void release(struct bt_http_lookup *lookup)
{
	if (atomic_fetch_sub(&lookup->holders, 1) != 1) {
		return;
	}
	if (lookup->found != NULL) {
		freeaddrinfo(lookup->found);
	}
	(void)close(lookup->event_fd); /* no data to lose */
	bt_free(lookup);
}

static void append_found(const struct addrinfo *found, struct bt_http_addresses *out)
{
	for (const struct addrinfo *item = found; item != NULL; item = item->ai_next) {
		union bt_http_address address = {0};
		if (item->ai_addrlen <= sizeof(address)) {
			memcpy(&address, item->ai_addr, item->ai_addrlen);
			bt_vec_push(&out->list, address);
		}
	}
}

bool bt_http_lookup_literal(struct bt_str host, struct bt_http_addresses *out)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *found = NULL;
	char text[HOST_BYTES_MAX + 1];
	if (bt_str_equal_without_case(host, BT_STR("localhost"))) {
		return bt_http_lookup_literal(BT_STR("127.0.0.1"), out) &&
			bt_http_lookup_literal(BT_STR("::1"), out);
	}
	if (host.length > HOST_BYTES_MAX) {
		return false;
	}
	memcpy(text, host.data, host.length);
	text[host.length] = '\0';
	if (getaddrinfo(text, NULL, &hints, &found) != 0) {
		return false;
	}
	append_found(found, out);
	freeaddrinfo(found);
	return true;
}

static void *resolve_host(void *argument)
{
	struct bt_http_lookup *lookup = argument;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	uint64_t one = 1;
	if (getaddrinfo(lookup->host, NULL, &hints, &lookup->found) != 0) {
		lookup->found = NULL;
	}
	if (write(lookup->event_fd, &one, sizeof(one)) != (ssize_t)sizeof(one)) {
		bt_panic("an eventfd refuses its first write");
	}
	release(lookup);
	return NULL;
}

struct bt_str bt_http_lookup_host(const struct bt_http_lookup *lookup)
{
	return bt_str_from(lookup->host);
}

static void on_event(void *context)
{
	struct bt_http_lookup *lookup = context;
	struct bt_http_addresses addresses = {0};
	/* `ready` may run nested loop turns, which must not report the event again. */
	bt_loop_remove_fd(lookup->loop, lookup->source);
	lookup->source = NULL;
	append_found(lookup->found, &addresses);
	lookup->ready(lookup->context, lookup, &addresses);
	bt_vec_finish(&addresses.list);
	bt_http_lookup_cancel(lookup);
}

void bt_http_lookup_cancel(struct bt_http_lookup *lookup)
{
	bt_loop_remove_fd(lookup->loop, lookup->source);
	release(lookup);
}

struct bt_http_lookup *bt_http_lookup_start(struct bt_loop *loop, struct bt_str host,
	void (*ready)(void *context, struct bt_http_lookup *lookup,
		const struct bt_http_addresses *addresses),
	void *context)
{
	struct bt_http_lookup *lookup = BT_NEW(struct bt_http_lookup);
	lookup->loop = loop;
	lookup->ready = ready;
	lookup->context = context;
	memcpy(lookup->host, host.data, host.length);
	atomic_init(&lookup->holders, 1);
	lookup->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lookup->event_fd < 0) {
		bt_free(lookup);
		return NULL;
	}
	if (bt_loop_add_fd(loop, lookup->event_fd, on_event, lookup, &lookup->source, NULL) != 0) {
		release(lookup);
		return NULL;
	}
	/* Start the thread with all signals blocked, because the loop's thread handles them. */
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	int code = pthread_attr_init(&attributes);
	atomic_fetch_add(&lookup->holders, 1);
	if (code == 0) {
		(void)sigfillset(&all); /* none of these calls can fail with valid arguments */
		(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
		(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		(void)pthread_sigmask(SIG_SETMASK, &all, &before);
		code = pthread_create(&thread, &attributes, resolve_host, lookup);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
		(void)pthread_attr_destroy(&attributes);
	}
	if (code != 0) {
		atomic_fetch_sub(&lookup->holders, 1);
		bt_http_lookup_cancel(lookup);
		return NULL;
	}
	return lookup;
}

void bt_http_address_append(const union bt_http_address *address, struct bt_strbuf *out)
{
	char host[INET6_ADDRSTRLEN + 32]; /* room for a scope id */
	if (getnameinfo(&address->any, sizeof(*address), host, sizeof(host), NULL, 0,
		    NI_NUMERICHOST) == 0) {
		/* the port has the same offset in both address types */
		bt_http_url_append_address(out, bt_str_from(host), ntohs(address->v6.sin6_port));
	}
}
