/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/event.h"
#include "base/nanoseconds.h"
#include "base/printable.h"
#include "client/live_private.h"

#define CONNECT_TIMEOUT_NS (10 * BT_NS_PER_SECOND)
/** Maximum silence before the first answer, and later between two parts. */
#define FIRST_SILENCE_NS (15 * BT_NS_PER_SECOND)
#define SILENCE_NS (60 * BT_NS_PER_SECOND)
/** Maximum silence while a credential plugin may ask the user to log in. */
#define LOGIN_SILENCE_NS (300 * BT_NS_PER_SECOND)
/** A longer Retry-After is an error. */
#define WAIT_MAX_NS (20 * BT_NS_PER_SECOND)
/** Limit for a server's text in error messages. */
#define MESSAGE_BYTES_MAX 300

/** --- connection --- */

static bool may_wait(void *context, int64_t wait_ns)
{
	struct bt_live *live = context;
	live->has_answered = true;
	if (wait_ns > WAIT_MAX_NS) {
		live->long_wait_ns = wait_ns;
		return false;
	}
	live->last_data_ns = bt_loop_now_ns(live->loop) + wait_ns;
	return true;
}

int bt_live_open(const char *kubeconfig, const char *context, struct bt_live **out_live,
	struct berth_error *err)
{
	struct bt_live *live = BT_NEW(struct bt_live);
	struct bt_client_config_input input = {.kubeconfig = kubeconfig};
	int result = bt_client_config_load_context(&input, context, &live->config, err);
	if (result == 0) {
		bt_printable_append(&live->server, live->config.cluster.server);
		bt_printable_append(&live->context, live->config.context);
		result = bt_loop_create(&live->loop, err);
	}
	if (result == 0) {
		struct bt_transport_options transport = {.loop = live->loop,
			.config = &live->config,
			.connect_timeout_ns = CONNECT_TIMEOUT_NS};
		result = bt_transport_create(&transport, &live->transport, err);
		if (result < 0) {
			(void)bt_error_wrap(
				err, result, "kubeconfig: cluster %s", bt_strbuf_c(&live->server));
		}
	}
	if (result == 0) {
		struct bt_rest_options options = {
			.transport = live->transport,
			.loop = live->loop,
			.user_agent = "berth/" BT_VERSION,
			.accept_content_types = BT_STR(BT_MEDIA_PROTOBUF "," BT_MEDIA_JSON),
			.qps = -1,
			.may_wait = may_wait,
			.may_wait_context = live,
		};
		result = bt_rest_client_create(&options, &live->client, err);
	}
	if (result < 0) {
		bt_live_close(live);
		return result;
	}
	live->last_data_ns = bt_loop_now_ns(live->loop);
	*out_live = live;
	return 0;
}

void bt_live_close(struct bt_live *live)
{
	if (live == NULL) {
		return;
	}
	bt_rest_client_destroy(live->client);
	bt_transport_destroy(live->transport);
	bt_loop_destroy(live->loop);
	bt_client_config_finish(&live->config);
	bt_strbuf_finish(&live->server);
	bt_strbuf_finish(&live->context);
	bt_free(live);
}

struct bt_loop *bt_live_loop(const struct bt_live *live)
{
	return live->loop;
}

struct bt_rest_client *bt_live_client(const struct bt_live *live)
{
	return live->client;
}

const char *bt_live_server(const struct bt_live *live)
{
	return bt_strbuf_c(&live->server);
}

const char *bt_live_context(const struct bt_live *live)
{
	return bt_strbuf_c(&live->context);
}

int bt_live_wait(struct bt_live *live, struct berth_error *err)
{
	int64_t silent_ns = bt_loop_now_ns(live->loop) - live->last_data_ns;
	int64_t first_ns = live->config.user.exec != NULL ? LOGIN_SILENCE_NS : FIRST_SILENCE_NS;
	int64_t left_ns = (live->has_answered ? SILENCE_NS : first_ns) - silent_ns;
	if (left_ns <= 0) {
		return bt_error_set(err, BERTH_ERR_IO,
			"the API server %s does not answer: no data for %lld seconds; is it "
			"overloaded, or does a proxy or firewall drop the connection?",
			bt_live_server(live), (long long)(silent_ns / BT_NS_PER_SECOND));
	}
	return bt_loop_turn(live->loop, left_ns, err);
}

/** --- errors --- */

static int unreachable(const struct bt_live *live, const struct bt_rest_answer *answer,
	const char *message, struct berth_error *err)
{
	const char *server = bt_live_server(live);
	switch (answer->failure) {
	case BT_HTTP_FAILURE_REFUSED:
		return bt_error_set(err, BERTH_ERR_IO,
			"cannot reach the API server %s: connection refused; is it running, and "
			"does the kubeconfig's context (--context) name this server?",
			server);
	case BT_HTTP_FAILURE_RESOLVE:
		return bt_error_set(err, BERTH_ERR_IO,
			"cannot reach the API server %s: its name is not known here; check the "
			"kubeconfig's server, or the VPN",
			server);
	case BT_HTTP_FAILURE_TLS:
		return bt_error_set(err, BERTH_ERR_IO,
			"the API server %s is not trusted: %s; check certificate-authority and "
			"the client certificate in the kubeconfig",
			server, message);
	case BT_HTTP_FAILURE_TIMEOUT:
		return bt_error_set(err, BERTH_ERR_IO,
			"cannot reach the API server %s: no connection within 10 seconds; check "
			"the kubeconfig's server, the network, the VPN",
			server);
	case BT_HTTP_FAILURE_RESET:
		return bt_error_set(err, BERTH_ERR_IO,
			"the API server %s closes connections without an answer; is it an HTTPS "
			"server, and is it healthy?",
			server);
	case BT_HTTP_FAILURE_NONE:
	case BT_HTTP_FAILURE_OTHER:
		break;
	}
	return bt_error_set(
		err, BERTH_ERR_IO, "cannot read from the API server %s: %s", server, message);
}

int bt_live_answer_error(const struct bt_live *live, const char *resource,
	const struct bt_rest_answer *answer, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	const char *server = bt_live_server(live);
	struct bt_str reason = answer->message;
	int result;
	/* Remove upstream's prefix `Get "https://...": ` from an error of the HTTP client. */
	const struct bt_str end = BT_STR("\": ");
	int64_t at = bt_str_has_prefix(reason, BT_STR("Get \"")) ? bt_str_find(reason, end) : -1;
	reason = at < 0 ? reason : bt_str_sub(reason, (uint32_t)at + end.length, reason.length);
	bt_printable_append(&text, bt_str_sub(reason, 0, MESSAGE_BYTES_MAX));
	const char *message = bt_strbuf_c(&text);
	if (answer->class_ == BT_REST_TRANSPORT) {
		result = unreachable(live, answer, message, err);
	} else if (answer->class_ == BT_REST_UNAUTHORIZED) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s does not accept the kubeconfig's credentials (401 "
			"Unauthorized): they may have expired, log in again",
			server);
	} else if (answer->class_ == BT_REST_FORBIDDEN) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s does not allow you to list %s: %s; ask for the right "
			"to list %s",
			server, resource, message, resource);
	} else if (live->long_wait_ns != 0 && answer->code != 0) {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s is too busy to list %s: try again in %lld seconds, as "
			"it "
			"asks for (HTTP %u)",
			server, resource, (long long)(live->long_wait_ns / BT_NS_PER_SECOND),
			answer->code);
	} else {
		result = bt_error_set(err, BERTH_ERR_IO,
			"the API server %s did not list %s: %s (HTTP %u)", server, resource,
			message, answer->code);
	}
	bt_strbuf_finish(&text);
	return result;
}

/*
 * All kinds are read at one state of the server: the resource version of the first page of nodes.
 */

/** Concurrent list requests; each streamed response occupies a connection. */
#define LISTS_AT_ONCE 4

const struct bt_live_kind bt_live_kinds[BT_LIVE_KIND_COUNT] = {
	{BT_KIND_NODE, true, false, ""},
	{BT_KIND_POD, true, false, ""},
	{BT_KIND_NAMESPACE, false, false,
		"affinity terms with a namespaceSelector are decided as if namespaces had no "
		"labels"},
	{BT_KIND_SERVICE, false, false, "pods of services are not spread by default constraints"},
	{BT_KIND_REPLICATION_CONTROLLER, false, false,
		"their pods are not spread by default constraints"},
	{BT_KIND_REPLICA_SET, false, false, "their pods are not spread by default constraints"},
	{BT_KIND_STATEFUL_SET, false, false, "their pods are not spread by default constraints"},
	{BT_KIND_DEPLOYMENT, false, false, "they cannot be named or scaled"},
	{BT_KIND_DAEMON_SET, false, false, "they cannot be named or scaled"},
	{BT_KIND_JOB, false, false, "they cannot be named or scaled"},
	{BT_KIND_CRON_JOB, false, false, "they cannot be named"},
	{BT_KIND_PERSISTENT_VOLUME, false, false,
		"pods with bound claims are decided as if their volumes did not exist"},
	{BT_KIND_PERSISTENT_VOLUME_CLAIM, false, false,
		"pods with claims stay pending: their claims are not found"},
	{BT_KIND_STORAGE_CLASS, false, false,
		"unbound claims are decided as if their classes did not exist"},
	{BT_KIND_CSI_NODE, false, false, "limits of attached volumes are not respected"},
	{BT_KIND_CSI_DRIVER, false, false, "storage capacity is not respected"},
	{BT_KIND_CSI_STORAGE_CAPACITY, false, false,
		"volumes that are to be made with capacity tracking find no room"},
	{BT_KIND_VOLUME_ATTACHMENT, false, false,
		"attached volumes without a running pod do not count towards limits"},
	{BT_KIND_POD_DISRUPTION_BUDGET, false, false, "preemption and drains ignore them"},
	{BT_KIND_PRIORITY_CLASS, false, false,
		"new pods cannot name one; pods of the cluster keep their priority"},
	{BT_KIND_RESOURCE_CLAIM, false, true, "pods with resource claims stay pending"},
	{BT_KIND_RESOURCE_CLAIM_TEMPLATE, false, true, "pods with resource claims stay pending"},
	{BT_KIND_RESOURCE_SLICE, false, true, "no devices are known"},
	{BT_KIND_DEVICE_CLASS, false, true, "pods with resource claims stay pending"},
	{BT_KIND_DEVICE_TAINT_RULE, false, true, "taints that they give to devices are not known"},
	{BT_KIND_POD_GROUP, false, true, "pods of groups stay pending"},
	{BT_KIND_WORKLOAD, false, true, "pods of workloads are decided one by one"},
};

struct reading {
	struct bt_live *live;
	const struct bt_live_sink *sink;
	struct bt_live_list lists[BT_LIVE_KIND_COUNT];
	uint32_t started;
	struct bt_strbuf version;                     /* resource version of the first list */
	uint32_t reported_counts[BT_LIVE_KIND_COUNT]; /* numbers of objects last reported */
};

/**
 * Starts further lists. The first list runs alone until its version is known, because the other
 * lists use that version. Returns false if all lists are over.
 */
static bool start_more(struct reading *reading)
{
	uint32_t running = 0;
	for (uint32_t i = 0; i < reading->started; i++) {
		running += !reading->lists[i].is_over;
	}
	if (reading->version.length == 0) {
		bt_strbuf_append_str(&reading->version, bt_strbuf_str(&reading->lists[0].version));
	}
	bool may_start =
		reading->started == 0 || reading->version.length != 0 || reading->lists[0].is_over;
	while (may_start && running < LISTS_AT_ONCE && reading->started < BT_LIVE_KIND_COUNT) {
		struct bt_live_list *list = &reading->lists[reading->started];
		list->live = reading->live;
		list->kind = bt_live_kinds[reading->started].kind;
		list->objects_max = BT_OBJECTS_READ_MAX + 1;
		if (reading->started != 0) {
			list->at_version = bt_strbuf_str(&reading->version);
		}
		reading->started++;
		bt_live_list_start(list);
		running++;
		may_start = reading->started > 1;
	}
	return running != 0;
}

void bt_live_warn_left_out(const struct bt_live *live, const struct bt_live_kind *kind,
	const char *resource, bool is_absent, void (*warn)(void *context, const char *line),
	void *context)
{
	struct bt_strbuf line = {0};
	if (warn == NULL || (is_absent && kind->is_optional)) {
		return;
	}
	bt_strbuf_printf(&line, "%s: %s %s: left out, %s", bt_live_server(live), resource,
		is_absent ? "are not served" : "may not be listed", kind->without);
	warn(context, bt_strbuf_c(&line));
	bt_strbuf_finish(&line);
}

int bt_live_absent_error(const struct bt_live *live, const char *resource, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO,
		"the API server %s has no %s: is it a Kubernetes API server?", bt_live_server(live),
		resource);
}

int bt_live_read(struct bt_live *live, const struct bt_live_sink *sink, struct berth_error *err)
{
	struct reading *reading = BT_NEW(struct reading);
	reading->live = live;
	reading->sink = sink;
	int result = 0;
	live->last_data_ns = bt_loop_now_ns(live->loop);
	while (result == 0 && start_more(reading)) {
		result = bt_live_wait(live, err);
		if (result == 0) {
			/* Reports the progress of one list that has grown. */
			for (uint32_t i = 0; i < reading->started && sink->progress != NULL; i++) {
				const struct bt_live_list *list = &reading->lists[i];
				if (!list->is_over &&
					list->objects.count != reading->reported_counts[i]) {
					reading->reported_counts[i] = list->objects.count;
					sink->progress(sink->context,
						bt_kind_info(list->kind)->resource,
						list->objects.count);
					break;
				}
			}
		}
		/* Stop if a list failed, or a needed kind is forbidden or absent. */
		for (uint32_t i = 0; i < reading->started && result == 0; i++) {
			struct bt_live_list *list = &reading->lists[i];
			if (list->end == BT_LIVE_FAILED ||
				(list->end == BT_LIVE_FORBIDDEN && bt_live_kinds[i].is_needed)) {
				result = bt_error_move(err, &list->err);
			} else if (list->end == BT_LIVE_ABSENT && bt_live_kinds[i].is_needed) {
				result = bt_live_absent_error(
					live, bt_strbuf_c(&list->resource), err);
			}
		}
	}
	for (uint32_t i = 0; i < BT_LIVE_KIND_COUNT && result == 0; i++) {
		struct bt_live_list *list = &reading->lists[i];
		if (list->end != BT_LIVE_COMPLETE) {
			bt_live_warn_left_out(reading->live, &bt_live_kinds[i],
				bt_strbuf_c(&list->resource), list->end == BT_LIVE_ABSENT,
				reading->sink->warn, reading->sink->context);
		}
		for (uint32_t k = 0; k < list->objects.count; k++) {
			struct bt_object *object = list->objects.items[k];
			if (result == 0) {
				result = reading->sink->take(reading->sink->context, object, err);
			} else {
				bt_object_release(object);
			}
		}
		list->objects.count = 0; /* consumed */
	}
	for (uint32_t i = 0; i < reading->started; i++) {
		bt_live_list_finish(&reading->lists[i]);
	}
	bt_strbuf_finish(&reading->version);
	bt_free(reading);
	return result;
}

/* Events of one pod. */

static struct bt_time last_of(const struct bt_core_event *event)
{
	const struct bt_time *times[] = {
		event->series != NULL ? &event->series->last_observed_time : NULL,
		&event->last_timestamp, &event->event_time, &event->first_timestamp};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(times); i++) {
		if (times[i] != NULL && times[i]->set) {
			return *times[i];
		}
	}
	return event->metadata.creation_timestamp;
}

BT_COMPARE(compare_events, struct bt_live_event,
	BT_ORDER_BY(bt_time_compare(&a->last, &b->last), bt_str_compare(a->reason, b->reason),
		bt_str_compare(a->message, b->message)))

int bt_live_pod_events(struct bt_live *live, struct bt_str namespace_, struct bt_str name,
	struct bt_str uid, struct bt_live_events *out_events, struct berth_error *err)
{
	struct bt_strbuf selector = {0};
	bt_strbuf_printf(&selector,
		"involvedObject.kind=Pod,involvedObject.name=%.*s,involvedObject.namespace=%.*s",
		BT_STR_ARG(name), BT_STR_ARG(namespace_));
	if (uid.length != 0) {
		bt_strbuf_printf(&selector, ",involvedObject.uid=%.*s", BT_STR_ARG(uid));
	}
	struct bt_live_list list = {
		.live = live,
		.kind = BT_KIND_CORE_EVENT,
		.namespace_ = namespace_,
		.field_selector = bt_strbuf_str(&selector),
		.objects_max = BT_LIVE_EVENTS_MAX,
		.err = BERTH_ERROR_INIT,
	};
	*out_events = (struct bt_live_events){0};
	bt_arena_init(&out_events->arena, 0);
	int result = 0;
	live->last_data_ns = bt_loop_now_ns(live->loop);
	bt_live_list_start(&list);
	while (result == 0 && !list.is_over) {
		result = bt_live_wait(live, err);
	}
	if (result == 0 && list.err.code != 0) {
		result = bt_error_move(err, &list.err);
	}
	if (result == 0) {
		out_events->items = BT_ARENA_NEW_ARRAY(
			&out_events->arena, struct bt_live_event, list.objects.count);
		out_events->count = list.objects.count;
		out_events->is_cut = list.is_cut;
		for (uint32_t i = 0; i < out_events->count; i++) {
			const struct bt_core_event *event =
				bt_object_value(list.objects.items[i], BT_KIND_CORE_EVENT);
			struct bt_arena *arena = &out_events->arena;
			int64_t count = event->series != NULL ? event->series->count : event->count;
			struct bt_str source = event->reporting_component.length != 0
				? event->reporting_component
				: event->source.component;
			out_events->items[i] = (struct bt_live_event){
				.type = bt_arena_str(arena, event->type),
				.reason = bt_arena_str(arena, event->reason),
				.message = bt_arena_str(arena, event->message),
				.source = bt_arena_str(arena, source),
				.count = count > 1 ? count : 1,
				.first = event->first_timestamp.set ? event->first_timestamp
					: event->event_time.set
					? event->event_time
					: event->metadata.creation_timestamp,
				.last = last_of(event),
			};
		}
		if (out_events->count > 1) {
			qsort(out_events->items, out_events->count, sizeof(out_events->items[0]),
				compare_events);
		}
	}
	bt_live_list_finish(&list);
	bt_strbuf_finish(&selector);
	return result;
}
