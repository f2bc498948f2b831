/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/leader_election.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/reflector.h"
#include "codec/json_edit.h"
#include "daemon/elector.h"
#include "net/clock.h"

/** --- the LeaseCandidate of this process --- */

#define CANDIDATE_TYPE "kind: 'LeaseCandidate', apiVersion: 'coordination.k8s.io/v1beta1'"
#define COLLECTION "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates"
#define RENEW_EVERY_NS (300 * BT_NS_PER_SECOND)
#define RETRY_FIRST_NS (5 * BT_NS_PER_MS)
#define RETRY_MAX_NS (1000 * BT_NS_PER_SECOND)

struct bt_lease_candidate {
	struct bt_leader_election_options options;
	struct bt_str identity;
	struct bt_reflector *reflector;
	struct bt_rest_call *call;
	bool is_pinged;      /* the control plane requests a renewal, which was not sent yet */
	int64_t due_ns;      /* when to renew next, on the loop's clock; 0: at once */
	int64_t retry_at_ns; /* when to send again after a failure; 0: no failure */
	int64_t retry_ns;    /* pause after the last failure; 0: no failure */
};

static int64_t wall_now_ns(const struct bt_leader_election_options *options)
{
	return options->wall_now_ns != NULL ? options->wall_now_ns(options->wall_context)
					    : bt_clock_wall_ns();
}

static void candidate_answered(
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
		candidate->retry_ns = BT_MIN(pause_ns, RETRY_MAX_NS);
		candidate->retry_at_ns = now_ns + candidate->retry_ns;
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "error syncing lease candidate: %.*s",
			BT_STR_ARG(answer->message));
	}
	bt_loop_call_at(candidate->options.loop, now_ns);
}

static void send_candidate(struct bt_lease_candidate *candidate, const char *method,
	struct bt_str path, const struct bt_json_value *value)
{
	struct bt_strbuf body = {0};
	struct bt_rest_request request = {
		.method = method,
		.path = path,
		.resource = BT_STR("leasecandidates"),
		.name = candidate->identity,
		.content_type = bt_rest_encode_body(candidate->options.client, value, &body),
		.handler = {.context = candidate, .done = candidate_answered},
	};
	request.body = bt_strbuf_str(&body);
	candidate->call = bt_rest_start(candidate->options.client, &request);
	bt_strbuf_finish(&body);
}

static struct bt_json_value *parse_candidate(const struct bt_object *object, struct bt_arena *arena)
{
	struct bt_json_value *value;
	int result = bt_json_parse(arena, object->json, false, &value, NULL);
	BT_ASSERT(result == 0); /* the reflector has decoded the text */
	return value;
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
	const struct bt_object *object =
		bt_reflector_find(candidate->reflector, BT_STR("kube-system"), candidate->identity);
	if (object == NULL) {
		/*
		 * If due_ns is set, a POST has succeeded, and the watch will report the object. If
		 * the object is deleted, changed() sets due_ns to 0, so that it is created again.
		 */
		if (candidate->due_ns == 0 || candidate->retry_at_ns != 0) {
			const struct bt_versions *versions = candidate->options.versions;
			struct bt_arena arena = {0};
			const struct bt_json_value *value = bt_json_put(&arena, NULL,
				"{" CANDIDATE_TYPE ", metadata: {name: %s, namespace: "
				"'kube-system'}, spec: {leaseName: 'kube-scheduler', renewTime: "
				"%s, binaryVersion: %s, emulationVersion: %s, strategy: "
				"'OldestEmulationVersion'}}",
				candidate->identity,
				bt_micro_time_text(&arena, wall_now_ns(&candidate->options)),
				bt_versions_binary(versions),
				bt_arena_printf(
					&arena, "1.%d.0", versions->release.emulated_minor));
			send_candidate(candidate, "POST", BT_STR(COLLECTION), value);
			bt_arena_finish(&arena);
		}
	} else if (now_ns >= candidate->due_ns || candidate->retry_at_ns != 0 ||
		candidate->is_pinged) {
		struct bt_arena arena = {0};
		struct bt_strbuf path = {0};
		struct bt_json_value *value = parse_candidate(object, &arena);
		bt_strbuf_append_c(&path, COLLECTION "/");
		bt_rest_append_segment(&path, candidate->identity);
		candidate->is_pinged = false;
		bt_json_put(&arena, value, "{" CANDIDATE_TYPE ", spec: {renewTime: %s}}",
			bt_micro_time_text(&arena, wall_now_ns(&candidate->options)));
		send_candidate(candidate, "PUT", bt_strbuf_str(&path), value);
		bt_strbuf_finish(&path);
		bt_arena_finish(&arena);
	}
	return candidate->call != NULL || object == NULL ? INT64_MAX : candidate->due_ns;
}

static void changed(void *context, struct bt_object *old_object BT_UNUSED,
	struct bt_object *new_object, bool is_stale BT_UNUSED)
{
	struct bt_lease_candidate *candidate = context;
	candidate->is_pinged = false;
	if (new_object == NULL) {
		candidate->due_ns = 0; /* deleted: create the object again */
	} else {
		struct bt_arena arena = {0};
		const struct bt_json_value *value = parse_candidate(new_object, &arena);
		struct bt_time pinged = bt_time_or_zero(bt_json_text_at(value, "spec.pingTime"));
		struct bt_time renewed = bt_time_or_zero(bt_json_text_at(value, "spec.renewTime"));
		candidate->is_pinged = bt_time_compare(&pinged, &renewed) > 0;
		bt_arena_finish(&arena);
	}
	bt_loop_call_at(candidate->options.loop, bt_loop_now_ns(candidate->options.loop));
}

static void synced(void *context)
{
	struct bt_lease_candidate *candidate = context;
	bt_loop_call_at(candidate->options.loop, bt_loop_now_ns(candidate->options.loop));
}

struct bt_lease_candidate *bt_lease_candidate_create(
	const struct bt_leader_election_options *options)
{
	struct bt_lease_candidate *candidate = bt_calloc(1, sizeof(*candidate));
	struct bt_strbuf selector = {0};
	candidate->options = *options;
	candidate->identity = bt_str_from(options->identity);
	bt_strbuf_append_c(&selector, "metadata.name=");
	bt_strbuf_append_str(&selector, candidate->identity);
	struct bt_reflector_options reflector = {
		.client = options->client,
		.loop = options->loop,
		.prng = options->prng,
		.decode_json = bt_object_decode_metadata,
		.path = BT_STR(COLLECTION),
		.field_selector = bt_strbuf_str(&selector),
		.type_name = "*v1beta1.LeaseCandidate",
		.name = "leasecandidates",
		.streaming = options->streaming,
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
	bt_free(candidate);
}

/** --- the Lease --- */

#define HOST_NAME_BYTES_MAX 256
/* The name of the lease in the metrics. */
#define LEASE_LABEL BT_STR("kube-scheduler")

struct bt_leader_election {
	struct bt_leader_election_options options;
	char *identity;        /* owned, like all texts here */
	struct bt_strbuf lock; /* "namespace/name" */
	struct bt_elector elector;
	struct bt_rest_call *call;
	enum bt_elector_action requested; /* the last action that sent a request */
	struct bt_arena lease_arena;
	struct bt_json_value *lease; /* the Lease in the last answer; NULL: no answer yet */
	struct bt_metric_cell *status;
	struct bt_metric *slow_paths;
	struct bt_lease_candidate *candidate;
	bool has_reported_stop;
};

static struct bt_elector_time now_of(const struct bt_leader_election *election)
{
	return (struct bt_elector_time){
		bt_clock_boot_ns(), wall_now_ns(&election->options) / BT_NS_PER_US};
}

static void call_soon(const struct bt_leader_election *election)
{
	bt_loop_call_at(election->options.loop, bt_loop_now_ns(election->options.loop));
}

static void handle_answer(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_leader_election *election = context;
	struct bt_elector_time now = now_of(election);
	struct bt_lease_record record = {.transitions = 0};
	struct berth_error err = BERTH_ERROR_INIT;
	enum bt_elector_result result = BT_ELECTOR_FAILED;
	election->call = NULL;
	if (answer->class_ == BT_REST_OK) {
		struct bt_arena scratch = {0};
		struct bt_json_value *value;
		int code = bt_rest_decode_body(answer, &scratch, &value, &err);
		/*
		 * Refuse other objects: their holder would read as empty, and this process would
		 * take a lease that another process holds.
		 */
		if (code == 0 && !bt_str_equal_c(bt_json_find_str(value, "kind"), "Lease")) {
			code = bt_error_set(&err, BERTH_ERR_INVALID, "the answer is not a Lease");
		}
		if (code == 0) {
			/* Check a copy: the check drops fields that the schema does not have. */
			code = bt_schema_normalise(
				bt_schema_find(BT_STR("coordination.k8s.io/v1"), BT_STR("Lease")),
				bt_json_clone(&scratch, value, false), false, NULL, &scratch, NULL,
				&err);
		}
		if (code == 0) {
			bt_arena_reset(&election->lease_arena);
			election->lease = bt_json_clone(&election->lease_arena, value, true);
			bt_lease_record_read(election->lease, &record);
			result = BT_ELECTOR_OK;
		}
		bt_arena_finish(&scratch);
		/* A write counts as failed if the answer shows another holder. */
		if (result == BT_ELECTOR_OK && election->requested != BT_ELECTOR_GET &&
			!bt_str_equal(record.holder, election->elector.proposal.holder)) {
			result = BT_ELECTOR_FAILED;
			(void)bt_error_set(
				&err, BERTH_ERR_STATE, "the answer names another holder");
		}
	} else if (answer->class_ == BT_REST_NOT_FOUND && election->requested == BT_ELECTOR_GET) {
		result = BT_ELECTOR_NOT_FOUND;
	} else {
		(void)bt_rest_answer_error(answer, &err);
	}
	bt_elector_answer(&election->elector, result, &record, berth_error_message(&err), &now);
	berth_error_finish(&err);
	call_soon(election);
}

/**
 * Sends the request of the order. POST: creates a Lease with the order's record as its spec. PUT:
 * sends the Lease of the last answer with the record as its spec; the other members of that Lease
 * stay as they are.
 */
static void send(struct bt_leader_election *election, const struct bt_elector_order *order)
{
	const struct bt_config_leader_election *config = election->options.config;
	bool creates = order->action == BT_ELECTOR_CREATE;
	struct bt_arena arena = {0};
	struct bt_strbuf path = {0};
	struct bt_strbuf body = {0};
	struct bt_rest_request request = {
		.method = creates ? "POST" : "PUT",
		.resource = BT_STR("leases"),
		.name = config->resource_name,
		.handler = {.context = election, .done = handle_answer},
	};
	bt_strbuf_append_c(&path, "/apis/coordination.k8s.io/v1");
	bt_rest_append_object(&path, config->resource_namespace, BT_STR("leases"),
		creates ? BT_STR("") : config->resource_name);
	request.path = bt_strbuf_str(&path);
	if (order->action == BT_ELECTOR_GET) {
		request.method = "GET";
	} else {
		struct bt_json_value *lease = bt_json_put(&arena,
			creates ? NULL : bt_json_clone(&arena, election->lease, false),
			"{kind: 'Lease', apiVersion: 'coordination.k8s.io/v1'}");
		if (creates) {
			bt_json_put(&arena, lease, "{metadata: {name: %s, namespace: %s}}",
				config->resource_name, config->resource_namespace);
		}
		bt_json_set_value(
			&arena, lease, "spec", bt_lease_record_write(&order->record, &arena));
		request.content_type = bt_rest_encode_body(election->options.client, lease, &body);
		request.body = bt_strbuf_str(&body);
	}
	election->call = bt_rest_start(election->options.client, &request);
	bt_strbuf_finish(&path);
	bt_strbuf_finish(&body);
	bt_arena_finish(&arena);
}

static void report_event(struct bt_leader_election *election, const char *what)
{
	const struct bt_leader_election_handler *handler = &election->options.handler;
	const struct bt_config_leader_election *config = election->options.config;
	struct bt_object_meta meta = {
		.name = config->resource_name,
		.namespace_ = config->resource_namespace,
		.uid = bt_json_text_at(election->lease, "metadata.uid"),
		.resource_version = bt_json_text_at(election->lease, "metadata.resourceVersion"),
	};
	struct bt_strbuf message = {0};
	bt_strbuf_printf(&message, "%s %s", election->identity, what);
	if (handler->event != NULL) {
		handler->event(handler->context, &meta, bt_strbuf_str(&message));
	}
	bt_strbuf_finish(&message);
}

static int64_t run_elector(void *context, int64_t now_ns)
{
	struct bt_leader_election *election = context;
	const struct bt_leader_election_handler *handler = &election->options.handler;
	for (;;) {
		struct bt_elector_time now = now_of(election);
		struct bt_elector_order order;
		bt_elector_next(&election->elector, &now, &order);
		if (order.abandon && election->call != NULL) {
			bt_rest_cancel(election->call);
			election->call = NULL;
		}
		if (order.slow_path && election->slow_paths != NULL) {
			const struct bt_str label = LEASE_LABEL;
			bt_metric_add(bt_metric_cell(election->slow_paths, &label), 1);
		}
		if (order.transition != BT_ELECTOR_NO_TRANSITION && election->status != NULL) {
			bt_metric_set(
				election->status, order.transition == BT_ELECTOR_LEADS ? 1 : 0);
		}
		if (order.transition == BT_ELECTOR_LEADS) {
			report_event(election, "became leader");
			handler->started(handler->context);
		}
		switch (order.action) {
		case BT_ELECTOR_GET:
		case BT_ELECTOR_CREATE:
		case BT_ELECTOR_UPDATE:
			election->requested = order.action;
			send(election, &order);
			break;
		case BT_ELECTOR_OVER:
			if (!election->has_reported_stop) {
				bool led = election->elector.was_leading;
				election->has_reported_stop = true;
				if (led) {
					report_event(election, "stopped leading");
				}
				handler->stopped(handler->context, led, election->elector.lost);
			}
			return INT64_MAX;
		case BT_ELECTOR_WAIT:
			break;
		}
		if (order.action == BT_ELECTOR_WAIT &&
			order.transition == BT_ELECTOR_NO_TRANSITION) {
			return order.until_ns == INT64_MAX
				? INT64_MAX
				: now_ns + (order.until_ns - now.steady_ns);
		}
	}
}

/** Check leaderElection.resourceLock: spec 11 section 8.1. */
static int check_lock(struct bt_str lock, struct berth_error *err)
{
	static const struct {
		const char *name;
		const char *message;
	} removed[] = {
		{"endpoints", "endpoints lock is removed, migrate to leases"},
		{"configmaps", "configmaps lock is removed, migrate to leases"},
		{"endpointsleases", "endpointsleases lock is removed, migrate to leases"},
		/* Upstream's text has "migrated", not "migrate": spec 11 section 8.1. */
		{"configmapsleases", "configmapsleases lock is removed, migrated to leases"},
	};
	if (bt_str_equal_c(lock, "leases")) {
		return 0;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(removed); i++) {
		if (bt_str_equal_c(lock, removed[i].name)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"couldn't create resource lock: %s", removed[i].message);
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"couldn't create resource lock: Invalid lock-type %.*s", BT_STR_ARG(lock));
}

int bt_leader_election_create(const struct bt_leader_election_options *options,
	struct bt_leader_election **out_election, struct berth_error *err)
{
	const struct bt_config_leader_election *config = options->config;
	int result = check_lock(config->resource_lock, err);
	if (result == 0) {
		/* Check the durations: spec 11 section 8.2. */
		const char *message = NULL;
		if (config->lease_duration_ns <= config->renew_deadline_ns) {
			message = "leaseDuration must be greater than renewDeadline";
		} else if ((double)config->renew_deadline_ns <=
			1.2 * (double)config->retry_period_ns) {
			message = "renewDeadline must be greater than retryPeriod*JitterFactor";
		} else if (config->lease_duration_ns < 1) {
			message = "leaseDuration must be greater than zero";
		} else if (config->renew_deadline_ns < 1) {
			message = "renewDeadline must be greater than zero";
		} else if (config->retry_period_ns < 1) {
			message = "retryPeriod must be greater than zero";
		}
		result = message == NULL ? 0
					 : bt_error_set(err, BERTH_ERR_INVALID,
						   "couldn't create leader elector: %s", message);
	}
	if (result < 0) {
		return result;
	}
	struct bt_leader_election *election = bt_calloc(1, sizeof(*election));
	election->options = *options;
	election->identity = bt_strndup(options->identity, strlen(options->identity));
	election->options.identity = election->identity;
	bt_strbuf_append_str(&election->lock, config->resource_namespace);
	bt_strbuf_append_char(&election->lock, '/');
	bt_strbuf_append_str(&election->lock, config->resource_name);
	static const struct bt_metric_description status = {
		.name = "leader_election_master_status",
		.help = "Gauge of if the reporting system is master of the relevant lease, 0 "
			"indicates backup, 1 indicates master. 'name' is the string used to "
			"identify the lease. Please make sure to group by name.",
		.type = BT_METRIC_GAUGE,
		.stability = BT_METRIC_ALPHA,
		.labels = {"name"},
	};
	static const struct bt_metric_description slow_paths = {
		.name = "leader_election_slowpath_total",
		.help = "Total number of slow path exercised in renewing leader leases. 'name' "
			"is the string used to identify the lease. Please make sure to group by "
			"name.",
		.type = BT_METRIC_COUNTER,
		.stability = BT_METRIC_ALPHA,
		.labels = {"name"},
	};
	const struct bt_str label = LEASE_LABEL;
	struct bt_metrics *metrics = election->options.metrics;
	if (metrics != NULL) {
		election->status = bt_metric_cell(bt_metrics_register(metrics, &status), &label);
		bt_metric_set(election->status, 0); /* the metric exists from the start on */
		election->slow_paths = bt_metrics_register(metrics, &slow_paths);
	}
	struct bt_elector_options elector = {
		.identity = bt_str_from(election->identity),
		.lock = bt_strbuf_str(&election->lock),
		.lease_duration_ns = config->lease_duration_ns,
		.renew_deadline_ns = config->renew_deadline_ns,
		.retry_period_ns = config->retry_period_ns,
		.coordinated = options->coordinated,
		.prng = options->prng,
	};
	bt_elector_init(&election->elector, &elector);
	bt_loop_add_worker(options->loop, run_elector, election);
	*out_election = election;
	return 0;
}

void bt_leader_election_destroy(struct bt_leader_election *election)
{
	if (election == NULL) {
		return;
	}
	if (election->call != NULL) {
		bt_rest_cancel(election->call);
	}
	bt_lease_candidate_destroy(election->candidate);
	bt_loop_remove_worker(election->options.loop, election);
	bt_elector_finish(&election->elector);
	bt_arena_finish(&election->lease_arena);
	bt_strbuf_finish(&election->lock);
	bt_free(election->identity);
	bt_free(election);
}

void bt_leader_election_start(struct bt_leader_election *election)
{
	if (election->options.coordinated && election->candidate == NULL) {
		election->candidate = bt_lease_candidate_create(&election->options);
	}
	bt_elector_start(&election->elector);
	call_soon(election);
}

void bt_leader_election_stop(struct bt_leader_election *election)
{
	bt_elector_stop(&election->elector);
	call_soon(election);
}

bool bt_leader_election_may_act(const struct bt_leader_election *election)
{
	return bt_elector_may_act(&election->elector, bt_clock_boot_ns());
}

int bt_leader_election_make_identity(struct bt_strbuf *out, struct berth_error *err)
{
	char host[HOST_NAME_BYTES_MAX] = "";
	uint64_t random[2];
	if (gethostname(host, sizeof(host) - 1) != 0) {
		return bt_error_set(err, BERTH_ERR_IO, "host name: %s", strerror(errno));
	}
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		return bt_error_set(err, BERTH_ERR_IO, "random identity: %s", strerror(errno));
	}
	bt_strbuf_printf(out, "%s_", host);
	bt_strbuf_append_uuid(out, random[0], random[1]);
	return 0;
}
