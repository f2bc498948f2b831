/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/lease_candidate.h"

#include "api/time.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/reflector.h"
#include "codec/json_edit.h"

#define COLLECTION "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates"
#define RENEW_EVERY_NS (300 * BT_NS_PER_SECOND)
#define RETRY_FIRST_NS (5 * BT_NS_PER_MS)
#define RETRY_MAX_NS (1000 * BT_NS_PER_SECOND)

struct bt_lease_candidate {
	struct bt_lease_candidate_options options;
	struct bt_arena arena; /* of the texts in options */
	struct bt_reflector *reflector;
	struct bt_rest_call *call;
	struct bt_json_item *renewed; /* replaced by the last PUT; shared, or NULL */
	int64_t due_ns;               /* the next renewal, on the loop's clock */
	int64_t retry_at_ns;          /* 0: no failure to wait for */
	int64_t retry_ns;             /* the last pause after a failure; 0: no request failed */
};

static struct bt_time time_at(const struct bt_json_value *value, const char *path)
{
	struct bt_time time = {0};
	struct bt_str text = bt_json_text_at(value, path);
	if (text.length == 0 || bt_time_parse(text, &time, NULL) < 0) {
		return (struct bt_time){0};
	}
	return time;
}

static bool is_pinged(const struct bt_json_item *item)
{
	struct bt_time pinged = time_at(item->document, "spec.pingTime");
	struct bt_time renewed = time_at(item->document, "spec.renewTime");
	return bt_time_compare(&pinged, &renewed) > 0;
}

static struct bt_str now_text(struct bt_lease_candidate *candidate, struct bt_arena *arena)
{
	return bt_micro_time_text(
		arena, candidate->options.wall_now_ns(candidate->options.wall_context));
}

static void done(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_lease_candidate *candidate = context;
	int64_t now_ns = bt_loop_now_ns(candidate->options.loop);
	candidate->call = NULL;
	if (answer->class_ == BT_REST_OK) {
		candidate->due_ns = now_ns + RENEW_EVERY_NS;
		candidate->retry_ns = 0;
		candidate->retry_at_ns = 0;
	} else {
		int64_t pause_ns =
			candidate->retry_ns == 0 ? RETRY_FIRST_NS : candidate->retry_ns * 2;
		candidate->retry_ns = pause_ns < RETRY_MAX_NS ? pause_ns : RETRY_MAX_NS;
		candidate->retry_at_ns = now_ns + candidate->retry_ns;
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "error syncing lease candidate: %.*s",
			BT_STR_ARG(answer->message));
	}
	bt_loop_call_at(candidate->options.loop, now_ns);
}

static void send(struct bt_lease_candidate *candidate, const char *method, struct bt_str path,
	const struct bt_json_value *value)
{
	struct bt_strbuf body = {0};
	struct bt_rest_request request = {
		.method = method,
		.path = path,
		.resource = BT_STR("leasecandidates"),
		.name = candidate->options.identity,
		.content_type = bt_rest_encode_body(candidate->options.client, value, &body),
		.handler = {.context = candidate, .done = done},
	};
	request.body = bt_strbuf_str(&body);
	candidate->call = bt_rest_start(candidate->options.client, &request);
	bt_strbuf_finish(&body);
}

static void release_renewed(struct bt_lease_candidate *candidate)
{
	bt_json_item_release(candidate->renewed);
	candidate->renewed = NULL;
}

static int64_t renew_candidate(void *context, int64_t now_ns)
{
	struct bt_lease_candidate *candidate = context;
	if (candidate->call != NULL || !bt_reflector_is_synced(candidate->reflector)) {
		return INT64_MAX;
	}
	if (now_ns < candidate->retry_at_ns) {
		return candidate->retry_at_ns;
	}
	struct bt_json_item *item = bt_reflector_find(
		candidate->reflector, BT_STR("kube-system"), candidate->options.identity);
	if (item == NULL) {
		/*
		 * If the POST succeeded, the watch will bring the copy; if the object was deleted,
		 * changed() sets due_ns to 0 and it is made again.
		 */
		if (candidate->due_ns == 0 || candidate->retry_at_ns != 0) {
			const struct bt_lease_candidate_options *options = &candidate->options;
			struct bt_arena arena = {0};
			struct bt_json_value *value = bt_json_new(&arena, BT_JSON_OBJECT);
			bt_json_set_c(&arena, value, "kind", "LeaseCandidate");
			bt_json_set_c(&arena, value, "apiVersion", "coordination.k8s.io/v1beta1");
			struct bt_json_value *metadata =
				bt_json_ensure_object(&arena, value, "metadata");
			bt_json_set_str(&arena, metadata, "name", options->identity);
			bt_json_set_c(&arena, metadata, "namespace", "kube-system");
			struct bt_json_value *spec = bt_json_ensure_object(&arena, value, "spec");
			bt_json_set_c(&arena, spec, "leaseName", "kube-scheduler");
			bt_json_set_str(&arena, spec, "renewTime", now_text(candidate, &arena));
			bt_json_set_str(&arena, spec, "binaryVersion", options->binary_version);
			bt_json_set_str(
				&arena, spec, "emulationVersion", options->emulation_version);
			bt_json_set_c(&arena, spec, "strategy", "OldestEmulationVersion");
			send(candidate, "POST", BT_STR(COLLECTION), value);
			bt_arena_finish(&arena);
		}
	} else if (now_ns >= candidate->due_ns || candidate->retry_at_ns != 0 ||
		(item != candidate->renewed && is_pinged(item))) {
		struct bt_arena arena = {0};
		struct bt_strbuf path = {0};
		struct bt_json_value *value = bt_json_clone(&arena, item->document, false);
		bt_strbuf_append_c(&path, COLLECTION "/");
		bt_rest_append_segment(&path, candidate->options.identity);
		release_renewed(candidate);
		candidate->renewed = bt_json_item_share(item);
		bt_json_set_c(&arena, value, "kind", "LeaseCandidate");
		bt_json_set_c(&arena, value, "apiVersion", "coordination.k8s.io/v1beta1");
		bt_json_set_str(&arena, bt_json_ensure_object(&arena, value, "spec"), "renewTime",
			now_text(candidate, &arena));
		send(candidate, "PUT", bt_strbuf_str(&path), value);
		bt_strbuf_finish(&path);
		bt_arena_finish(&arena);
	}
	return candidate->call != NULL || item == NULL ? INT64_MAX : candidate->due_ns;
}

static void changed(
	void *context, void *old_item BT_UNUSED, void *new_item, bool is_stale BT_UNUSED)
{
	struct bt_lease_candidate *candidate = context;
	if (new_item == NULL) {
		candidate->due_ns = 0; /* deleted: make it again */
	}
	bt_loop_call_at(candidate->options.loop, bt_loop_now_ns(candidate->options.loop));
}

static void synced(void *context)
{
	struct bt_lease_candidate *candidate = context;
	bt_loop_call_at(candidate->options.loop, bt_loop_now_ns(candidate->options.loop));
}

struct bt_lease_candidate *bt_lease_candidate_create(
	const struct bt_lease_candidate_options *options)
{
	struct bt_lease_candidate *candidate = bt_calloc(1, sizeof(*candidate));
	struct bt_strbuf selector = {0};
	candidate->options = *options;
	candidate->options.identity = bt_arena_str(&candidate->arena, options->identity);
	candidate->options.binary_version =
		bt_arena_str(&candidate->arena, options->binary_version);
	candidate->options.emulation_version =
		bt_arena_str(&candidate->arena, options->emulation_version);
	bt_strbuf_append_c(&selector, "metadata.name=");
	bt_strbuf_append_str(&selector, options->identity);
	struct bt_reflector_options reflector = {
		.client = options->client,
		.loop = options->loop,
		.prng = options->prng,
		.codec = &bt_reflector_json_codec,
		.path = BT_STR(COLLECTION),
		.field_selector = bt_strbuf_str(&selector),
		.type_name = "*v1beta1.LeaseCandidate",
		.name = "leasecandidates",
		.streaming = true,
		.sink = {.context = candidate, .changed = changed, .synced = synced},
	};
	candidate->reflector = bt_reflector_create(&reflector);
	bt_strbuf_finish(&selector);
	bt_loop_add_worker(options->loop, renew_candidate, candidate);
	return candidate;
}

void bt_lease_candidate_destroy(struct bt_lease_candidate *candidate)
{
	if (candidate == NULL) {
		return;
	}
	if (candidate->call != NULL) {
		bt_rest_cancel(candidate->call);
	}
	bt_loop_remove_worker(candidate->options.loop, candidate);
	bt_reflector_destroy(candidate->reflector);
	release_renewed(candidate);
	bt_arena_finish(&candidate->arena);
	bt_free(candidate);
}
