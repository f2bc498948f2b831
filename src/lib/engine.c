/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/engine.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "dra/dra.h"
#include "lib/convert.h"
#include "lib/registry.h"

static int post(void *context, const struct bt_extender_request *request, struct bt_arena *arena,
	struct bt_extender_response *out_response, struct berth_error *err)
{
	const struct berth_extender_transport *transport = context;
	const struct bt_config_extender *config = request->config;
	struct berth_extender_tls tls = {0};
	struct berth_extender_response response = {0};

	if (config->tls_config != NULL) {
		tls = (struct berth_extender_tls){
			.insecure = config->tls_config->insecure,
			.server_name = config->tls_config->server_name,
			.cert_file = config->tls_config->cert_file,
			.key_file = config->tls_config->key_file,
			.ca_file = config->tls_config->ca_file,
			.cert_data = config->tls_config->cert_data,
			.key_data = config->tls_config->key_data,
			.ca_data = config->tls_config->ca_data,
		};
	}
	struct berth_extender_request outside = {
		.url = request->url,
		.body = request->body,
		.timeout_ns = request->timeout_ns,
		.enable_https = config->enable_https,
		.tls = config->tls_config != NULL ? &tls : NULL,
	};
	int result = transport->post(
		transport->context, &outside, berth_arena_of(arena), &response, err);

	*out_response = (struct bt_extender_response){response.status, response.body};
	return result;
}

/**
 * Logs an extender's error that does not fail the cycle, because the extender is ignorable or
 * upstream only logs the error.
 */
static void log_ignored(void *context, const struct bt_config_extender *config, const char *message,
	int verbosity, struct bt_str error)
{
	const struct berth_engine *engine = context;
	struct bt_strbuf line = {0};

	if (engine->log != NULL) {
		bt_strbuf_printf(&line, "%s extender=\"%.*s\" err=\"%.*s\"", message,
			BT_STR_ARG(config->url_prefix), BT_STR_ARG(error));
		engine->log(engine->log_context, verbosity, bt_strbuf_str(&line));
		bt_strbuf_finish(&line);
	}
}

#define SAME_POLICY(name) \
	_Static_assert((int)BERTH_TIE_##name == (int)BT_TIE_##name, "one list of policies")
SAME_POLICY(HEAP);
SAME_POLICY(FIRST_BY_NAME);
SAME_POLICY(RANDOM);

static uint32_t find_failure(const struct berth_engine *engine, struct bt_str key)
{
	uint64_t hash = bt_str_hash(key);

	BT_MAP_EACH (&engine->notes.map, hash, id) {
		if (bt_str_equal_c(key, engine->notes.items[id].key)) {
			return id;
		}
	}
	return UINT32_MAX;
}

/** Writes "namespace/name" into the empty buffer, and returns the text in the buffer. */
static struct bt_str key_of(struct bt_strbuf *buffer, struct bt_str namespace_, struct bt_str name)
{
	bt_strbuf_printf(buffer, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
	return bt_strbuf_str(buffer);
}

static void remove_failure(
	struct berth_engine *engine, struct bt_str namespace_, struct bt_str name)
{
	struct bt_strbuf buffer = {0};
	struct bt_str key = key_of(&buffer, namespace_, name);
	uint32_t id = find_failure(engine, key);

	if (id != UINT32_MAX) {
		bt_hash_table_remove(&engine->notes, bt_str_hash(key), id);
		bt_free(engine->notes.items[id].key);
		bt_free(engine->notes.items[id].message);
		engine->notes.items[id] = (struct bt_failure_note){NULL, NULL};
	}
	bt_strbuf_finish(&buffer);
}

int berth_engine_create(struct berth_config *config, const struct berth_engine_options *given,
	struct berth_engine **out_engine, struct berth_error *err)
{
	struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;

	bt_lib_read_options(&options, sizeof(options), given);
	struct bt_engine_options inside = {
		.tie_policy = (enum bt_tie_policy)options.tie_policy,
		.seed = options.seed,
		.verify = options.verify,
		.percentage_of_nodes_to_score = options.percentage_of_nodes_to_score,
		.extra_plugins = options.registry != NULL ? &options.registry->inside : NULL,
	};
	struct berth_engine *engine = BT_NEW(struct berth_engine);

	bt_requests_init(&engine->requests, options.warn, options.warn_context);
	bt_object_store_init(&engine->nodes);
	engine->log = options.log;
	engine->log_context = options.log_context;
	if (options.extender_transport != NULL) {
		engine->transport = *options.extender_transport;
		engine->poster =
			(struct bt_extender_poster){.post = post, .context = &engine->transport};
		engine->extender_factory = bt_extender_poster_factory(&engine->poster);
		engine->extender_observer =
			(struct bt_extender_observer){.ignored = log_ignored, .context = engine};
		inside.extenders = &engine->extender_factory;
		inside.extender_observer = &engine->extender_observer;
	}
	int result = bt_scheduler_create(
		bt_config_of(config), &inside, &engine->requests.writer, &engine->scheduler, err);
	if (result < 0) {
		berth_engine_destroy(engine);
		return result;
	}
	engine->requests.scheduler = engine->scheduler;
	const struct bt_extenders *extenders = &bt_scheduler_engine(engine->scheduler)->extenders;

	for (uint32_t i = 0; i < extenders->count; i++) {
		struct berth_extender extender = {extenders, i};

		bt_vec_push(&engine->extenders, extender);
	}
	*out_engine = engine;
	return BERTH_OK;
}

void berth_engine_destroy(struct berth_engine *engine)
{
	if (engine == NULL) {
		return;
	}
	bt_scheduler_destroy(engine->scheduler);
	bt_requests_finish(&engine->requests);
	bt_vec_finish(&engine->extenders);
	bt_object_store_finish(&engine->nodes);
	for (uint32_t i = 0; i < engine->notes.count; i++) {
		bt_free(engine->notes.items[i].key);
		bt_free(engine->notes.items[i].message);
	}
	bt_hash_table_finish(&engine->notes);
	bt_free(engine);
}

/**
 * Returns the stored version of the object with the same kind, namespace and name; NULL if no
 * version is stored. The result is borrowed until the engine gets the next version of the object.
 */
static struct bt_object *find_known(
	const struct berth_engine *engine, const struct bt_object *object)
{
	const struct bt_object_meta *meta = object->meta;

	if (object->kind == BT_KIND_POD) {
		return bt_scheduler_find_pod(engine->scheduler, meta->namespace_, meta->name);
	}
	if (object->kind == BT_KIND_NODE) {
		return bt_object_store_find_object(
			&engine->nodes, BT_KIND_NODE, BT_STR(""), meta->name);
	}
	return bt_object_store_find_object(&bt_scheduler_engine(engine->scheduler)->state->objects,
		object->kind, meta->namespace_, meta->name);
}

/**
 * Deletes the claim that the scheduler made for the extended resources of a pod that has left. No
 * API server has the claim (it has no resourceVersion), so no watch tells of its deletion.
 */
static int delete_special_claim(struct berth_engine *engine, const struct bt_object_meta *pod,
	int64_t now_ns, struct berth_error *err)
{
	const struct bt_dra *dra = bt_scheduler_engine(engine->scheduler)->state->dra;
	struct bt_object *claim =
		dra != NULL ? bt_claim_cache_find_special(&dra->claims, pod->name, pod->uid) : NULL;

	if (claim == NULL || claim->meta->resource_version.length != 0) {
		return BERTH_OK;
	}
	claim = bt_object_share(claim);
	int result = bt_scheduler_observe(engine->scheduler, claim, NULL, now_ns, err);

	bt_object_release(claim);
	return result;
}

int berth_engine_put(struct berth_engine *engine, struct berth_object *outside, int64_t now_ns,
	struct berth_error *err)
{
	struct bt_object *object = bt_object_of(outside);
	struct bt_object *known = find_known(engine, object);

	known = known != NULL ? bt_object_share(known) : NULL;
	int result = bt_scheduler_observe(engine->scheduler, known, object, now_ns, err);
	if (object->kind == BT_KIND_NODE) {
		bt_object_store_put(&engine->nodes, bt_object_share(object));
	}
	if (object->kind == BT_KIND_POD) {
		const struct bt_object *kept = find_known(engine, object);

		if (kept == NULL) {
			remove_failure(engine, object->meta->namespace_, object->meta->name);
		}
		if (result == BERTH_OK && known != NULL &&
			(kept == NULL || !bt_str_equal(kept->meta->uid, known->meta->uid))) {
			result = delete_special_claim(engine, known->meta, now_ns, err);
		}
	}
	bt_object_release(known);
	return result;
}

int berth_engine_delete(struct berth_engine *engine, const struct berth_object *outside,
	int64_t now_ns, struct berth_error *err)
{
	struct bt_object *known = find_known(engine, bt_const_object_of(outside));

	if (known == NULL) {
		return BERTH_OK;
	}
	known = bt_object_share(known);
	int result = bt_scheduler_observe(engine->scheduler, known, NULL, now_ns, err);

	if (known->kind == BT_KIND_NODE) {
		(void)bt_object_store_delete(
			&engine->nodes, BT_KIND_NODE, BT_STR(""), known->meta->name);
	} else if (known->kind == BT_KIND_POD) {
		remove_failure(engine, known->meta->namespace_, known->meta->name);
		if (result == BERTH_OK) {
			result = delete_special_claim(engine, known->meta, now_ns, err);
		}
	}
	bt_object_release(known);
	return result;
}

bool berth_engine_step(
	struct berth_engine *engine, int64_t now_ns, struct berth_decision *out_decision)
{
	static const enum berth_decision_outcome outcomes[] = {
		[BT_ATTEMPT_SKIPPED] = BERTH_DECISION_SKIPPED,
		[BT_ATTEMPT_BOUND] = BERTH_DECISION_BOUND,
		[BT_ATTEMPT_WAITING] = BERTH_DECISION_WAITING,
		[BT_ATTEMPT_FAILED] = BERTH_DECISION_FAILED,
	};
	struct bt_attempt attempt;

	(void)bt_scheduler_step(engine->scheduler, now_ns, &attempt);
	if (attempt.outcome == BT_ATTEMPT_IDLE) {
		return false;
	}
	if (attempt.outcome == BT_ATTEMPT_FAILED) {
		remove_failure(engine, attempt.namespace_, attempt.name);
		/* After the pod was removed, no later event would remove the note. */
		if (bt_scheduler_find_pod(engine->scheduler, attempt.namespace_, attempt.name) !=
			NULL) {
			struct bt_strbuf buffer = {0};
			struct bt_str key = key_of(&buffer, attempt.namespace_, attempt.name);
			struct bt_failure_note note = {bt_strndup(key.data, key.length),
				bt_strndup(attempt.message.data, attempt.message.length)};
			uint32_t id;
			bt_hash_table_add(&engine->notes, bt_str_hash(key), note, id);
			bt_strbuf_finish(&buffer);
		}
		if (attempt.has_waited) {
			bt_requests_abandon(&engine->requests, attempt.uid);
		}
	} else if (attempt.outcome == BT_ATTEMPT_BOUND) {
		remove_failure(engine, attempt.namespace_, attempt.name);
	}
	if (out_decision != NULL) {
		*out_decision = (struct berth_decision){
			.outcome = outcomes[attempt.outcome],
			.pod_namespace = attempt.namespace_,
			.pod_name = attempt.name,
			.node_name = attempt.node_name,
			.reason = attempt.reason,
			.message = attempt.message,
		};
	}
	return true;
}

int64_t berth_engine_next_deadline_ns(const struct berth_engine *engine)
{
	return bt_scheduler_next_step_ns(engine->scheduler);
}

const char *berth_pod_place_string(enum berth_pod_place place)
{
	switch (place) {
	case BERTH_PLACE_UNKNOWN:
		return "unknown";
	case BERTH_PLACE_ACTIVE:
		return "active";
	case BERTH_PLACE_BACKOFF:
		return "backoff";
	case BERTH_PLACE_UNSCHEDULABLE:
		return "unschedulable";
	case BERTH_PLACE_GATED:
		return "gated";
	case BERTH_PLACE_BINDING:
		return "binding";
	case BERTH_PLACE_BOUND:
		return "bound";
	}
	return "";
}

static enum berth_pod_place place_of(const struct bt_queue_entry *entry)
{
	switch (entry->place) {
	case BT_QUEUE_ACTIVE:
		return BERTH_PLACE_ACTIVE;
	case BT_QUEUE_BACKOFF:
	case BT_QUEUE_ERROR_BACKOFF:
		return BERTH_PLACE_BACKOFF;
	case BT_QUEUE_UNSCHEDULABLE:
		return bt_queue_entry_is_gated(entry) ? BERTH_PLACE_GATED
						      : BERTH_PLACE_UNSCHEDULABLE;
	case BT_QUEUE_OUT:
		break;
	}
	return BERTH_PLACE_UNKNOWN;
}

void berth_engine_pod_wait(struct berth_engine *engine, struct berth_str pod_namespace,
	struct berth_str pod_name, struct berth_arena *outside, struct berth_pod_wait *out_wait)
{
	struct bt_arena *arena = bt_arena_of(outside);
	const struct bt_object *pod =
		bt_scheduler_find_pod(engine->scheduler, pod_namespace, pod_name);
	const struct bt_queue_entry *entry =
		bt_queue_find(bt_scheduler_queue(engine->scheduler), pod_namespace, pod_name);
	struct bt_strbuf buffer = {0};
	uint32_t note = find_failure(engine, key_of(&buffer, pod_namespace, pod_name));

	bt_strbuf_finish(&buffer);
	*out_wait = (struct berth_pod_wait){
		.timestamp_ns = BERTH_TIME_UNSET, .backoff_until_ns = BERTH_TIME_UNSET};
	if (entry != NULL) {
		const struct bt_queue *queue = bt_scheduler_queue(engine->scheduler);

		out_wait->place = place_of(entry);
		out_wait->attempts = entry->attempts;
		out_wait->timestamp_ns = entry->timestamp_ns;
		if (out_wait->place == BERTH_PLACE_BACKOFF) {
			(void)bt_queue_backoff_until(queue, entry, &out_wait->backoff_until_ns);
		}
		if (out_wait->place == BERTH_PLACE_GATED) {
			out_wait->gated_by = bt_arena_str(arena,
				bt_queue_rejector_name(
					queue, entry->profile, entry->gating_plugin));
		}
		struct bt_rejectors set = bt_queue_entry_rejectors(entry);
		struct berth_str *names =
			BT_ARENA_NEW_ARRAY(arena, struct berth_str, BT_REJECTOR__COUNT);
		uint32_t count = 0;

		for (uint32_t i = 0; entry->profile != BT_QUEUE_NONE && i < BT_REJECTOR__COUNT;
			i++) {
			if (bt_rejectors_has(&set, i)) {
				names[count++] = bt_arena_str(
					arena, bt_queue_rejector_name(queue, entry->profile, i));
			}
		}
		out_wait->rejected_by = names;
		out_wait->rejected_by_count = count;
	} else if (pod != NULL) {
		/*
		 * The pod is known but not queued. It is bound, or it is assumed on a node and its
		 * binding runs, or it belongs to another scheduler.
		 */
		const struct bt_state *state = bt_scheduler_engine(engine->scheduler)->state;
		uint32_t id = bt_state_find_pod(state, pod->meta->uid);

		if (id != BT_POD_NONE) {
			const struct bt_pod_record *record = bt_state_pod_at(state, id);

			out_wait->place = record->assumed ? BERTH_PLACE_BINDING : BERTH_PLACE_BOUND;
			out_wait->node_name = bt_arena_str(
				arena, bt_node_table_name(&state->nodes, record->node));
		}
	}
	out_wait->message = note == UINT32_MAX
		? BT_STR("")
		: bt_arena_str(arena, bt_str_from(engine->notes.items[note].message));
}

/** Context of visit_entry. */
struct walk {
	berth_queued_pod_visit_fn visit;
	void *context;
	bool ended;
};

static bool visit_entry(void *context, const struct bt_queue_entry *entry)
{
	struct walk *walk = context;
	struct berth_queued_pod pod = {
		.pod = berth_const_pod_info_of(&entry->pod),
		.timestamp_ns = entry->timestamp_ns,
		.attempts = entry->attempts,
		.initial_attempt_timestamp_ns = entry->initial_attempt_ns,
	};

	walk->ended = !walk->visit(walk->context, &pod, place_of(entry));
	return !walk->ended;
}

void berth_engine_for_each_queued(
	const struct berth_engine *engine, berth_queued_pod_visit_fn visit, void *context)
{
	struct bt_queue *queue = bt_scheduler_queue(engine->scheduler);
	struct walk walk = {visit, context, false};

	for (int place = 0; place < BT_QUEUE__PLACES && !walk.ended; place++) {
		bt_queue_for_each(queue, (enum bt_queue_place)place, visit_entry, &walk);
	}
}

uint32_t berth_engine_queued_count(const struct berth_engine *engine, enum berth_pod_place place)
{
	const struct bt_queue *queue = bt_scheduler_queue(engine->scheduler);

	switch (place) {
	case BERTH_PLACE_ACTIVE:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_ACTIVE);
	case BERTH_PLACE_BACKOFF:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_BACKOFF);
	case BERTH_PLACE_UNSCHEDULABLE:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_UNSCHEDULABLE);
	case BERTH_PLACE_GATED:
		return bt_queue_pending(queue, BT_QUEUE_GAUGE_GATED);
	case BERTH_PLACE_UNKNOWN:
	case BERTH_PLACE_BINDING:
	case BERTH_PLACE_BOUND:
		break;
	}
	return 0;
}

uint32_t berth_engine_node_count(const struct berth_engine *engine)
{
	return bt_object_store_count(&engine->nodes, BT_KIND_NODE);
}

const struct berth_node_info *berth_engine_node_info(
	struct berth_engine *engine, struct berth_str node_name, struct berth_arena *arena)
{
	const struct bt_state *state = bt_scheduler_engine(engine->scheduler)->state;
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);

	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].has_node) {
		return NULL;
	}
	struct bt_node_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_node_info);
	bt_node_info_init(info, state, slot);
	return berth_const_node_info_of(info);
}
