/* SPDX-License-Identifier: Apache-2.0 */
#include "server/usage.h"

#include "base/duration.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "server/kinds/common.h"
#include "server/write.h"

#define DEFAULT_USAGE "50%"
/** Usage of a container without a request, if the usage is a share of the request. */
#define CPU_NANO_WITHOUT_REQUEST INT64_C(1000000)
#define MEMORY_WITHOUT_REQUEST (INT64_C(8) << 20)
#define AMOUNT_MAX 1e18

/** A parsed usage text: amounts in units (cores, bytes), or shares (0.5: half of the request). */
struct curve {
	double low;
	double high;
	bool is_share;
	int64_t period_ns; /* 0: constant */
};

static bool parse_amount(struct bt_str text, double *out, bool *out_is_share)
{
	struct bt_arena arena = {0};
	struct bt_quantity quantity;

	*out_is_share = text.length != 0 && text.data[text.length - 1] == '%';
	if (*out_is_share) {
		text = bt_str_sub(text, 0, text.length - 1);
	}
	bool is_parsed = bt_quantity_parse(text, &arena, &quantity, NULL) == 0;
	if (is_parsed) {
		int64_t value = bt_quantity_value(&quantity);

		*out = value < INT64_C(1000000000) ? (double)bt_quantity_milli(&quantity) / 1000
						   : (double)value;
		*out = *out_is_share ? *out / 100 : *out;
	}
	bt_arena_finish(&arena);
	return is_parsed && *out >= 0 && *out <= AMOUNT_MAX;
}

static bool parse_curve(struct bt_str text, struct curve *out_curve)
{
	struct curve curve = {.period_ns = 0};
	int64_t dots = bt_str_find(text, BT_STR(".."));
	int64_t slash = bt_str_find_char(text, '/');
	bool is_share;

	if (dots < 0) {
		if (!parse_amount(text, &curve.low, &curve.is_share)) {
			return false;
		}
		curve.high = curve.low;
	} else if (slash < dots ||
		!parse_amount(bt_str_sub(text, 0, (uint32_t)dots), &curve.low, &curve.is_share) ||
		!parse_amount(bt_str_sub(text, (uint32_t)dots + 2, (uint32_t)(slash - dots) - 2),
			&curve.high, &is_share) ||
		is_share != curve.is_share ||
		bt_duration_parse(bt_str_sub(text, (uint32_t)slash + 1, text.length),
			&curve.period_ns, NULL) != 0 ||
		curve.period_ns <= 0) {
		return false;
	}
	*out_curve = curve;
	return true;
}

int bt_usage_check(const char *text, struct berth_error *err)
{
	struct curve curve;

	return parse_curve(bt_str_from(text), &curve)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "\"%s\" is neither an amount (250m), a share of the request (50%%) nor a "
			  "curve (100m..500m/10m)",
			  text);
}

static double level_of(const struct bt_api *api, const struct curve *curve)
{
	if (curve->period_ns == 0) {
		return curve->low;
	}
	double part = (double)(bt_api_now_ns(api) % curve->period_ns) / (double)curve->period_ns;
	return curve->low + (curve->high - curve->low) * (part < 0.5 ? part * 2 : 2 - part * 2);
}

bool bt_usage_level(const struct bt_api *api, struct bt_str text, double *out_level)
{
	struct curve curve;

	if (!parse_curve(text, &curve) || curve.is_share) {
		return false;
	}
	*out_level = level_of(api, &curve);
	return true;
}

bool bt_usage_is_known(const struct bt_json_value *pod)
{
	return bt_str_equal_c(bt_json_text_at(pod, "status.phase"), "Running");
}

/**
 * Returns the usage in units (cores or bytes). Negative: the usage is a share of the request, but
 * the container has no request. `otherwise`: the usage text if the pod's annotation is missing or
 * invalid; NULL: DEFAULT_USAGE.
 */
static double measure(const struct bt_api *api, const struct bt_json_value *pod,
	const struct bt_json_value *container, const char *resource, const char *annotation,
	const char *otherwise)
{
	const struct bt_json_value *annotations = bt_json_object_at(pod, "metadata.annotations");
	const struct bt_json_value *said = bt_json_find(annotations, annotation);
	const struct bt_json_value *requests = bt_json_object_at(container, "resources.requests");
	uint32_t container_count = bt_json_array_at(pod, "spec.containers")->count;
	struct curve curve;
	double request;
	bool is_share;

	if (said == NULL || !parse_curve(said->text, &curve)) {
		/* This text is valid: options are checked when they are parsed. */
		(void)parse_curve(
			bt_str_from(otherwise != NULL ? otherwise : DEFAULT_USAGE), &curve);
	}
	double level = level_of(api, &curve);
	if (!curve.is_share) {
		return level / (container_count != 0 ? container_count : 1);
	}
	return parse_amount(bt_json_text_at(requests, resource), &request, &is_share)
		? level * request
		: -1;
}

struct bt_usage bt_usage_of_container(const struct bt_api *api, const struct bt_json_value *pod,
	const struct bt_json_value *container)
{
	const struct bt_api_options *options = bt_api_options(api);
	double cpu =
		measure(api, pod, container, "cpu", BT_ANNOTATION_CPU_USAGE, options->cpu_usage);
	double memory = measure(
		api, pod, container, "memory", BT_ANNOTATION_MEMORY_USAGE, options->memory_usage);

	return (struct bt_usage){
		.cpu_nano = cpu < 0 ? CPU_NANO_WITHOUT_REQUEST
			: cpu < 9e9 ? (int64_t)(cpu * 1e9)
				    : INT64_MAX,
		.memory_bytes = memory < 0 ? MEMORY_WITHOUT_REQUEST : (int64_t)memory,
	};
}

/* --- nodes --- */

static struct bt_node_sum *find_node(struct bt_node_usage *usage, uint64_t hash)
{
	BT_MAP_EACH (&usage->by_name, hash, index) {
		return &usage->nodes.items[index];
	}
	return NULL;
}

static void add_pod(struct bt_api *api, const struct bt_json_value *pod)
{
	struct bt_node_usage *usage = &api->node_usage;
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.containers");
	struct bt_node_sum fresh = {
		.name_hash = bt_str_hash(bt_json_text_at(pod, "spec.nodeName"))};
	struct bt_node_sum *sum = find_node(usage, fresh.name_hash);

	if (sum == NULL) {
		bt_map_insert(&usage->by_name, fresh.name_hash, usage->nodes.count);
		bt_vec_push(&usage->nodes, fresh);
		sum = &usage->nodes.items[usage->nodes.count - 1];
	}
	for (uint32_t i = 0; i < containers->count; i++) {
		struct bt_usage more = bt_usage_of_container(api, pod, containers->elements[i]);

		/* Users may write amounts whose sum overflows. */
		if (more.cpu_nano <= INT64_MAX - sum->cpu_nano) {
			sum->cpu_nano += more.cpu_nano;
		}
		if (more.memory_bytes <= INT64_MAX - sum->memory_bytes) {
			sum->memory_bytes += more.memory_bytes;
		}
	}
}

struct bt_usage bt_usage_of_node(struct bt_api *api, struct bt_str name)
{
	struct bt_node_usage *usage = &api->node_usage;
	int64_t now_ns = bt_api_now_ns(api);

	if (usage->taken_ns == 0 ||
		now_ns - usage->taken_ns >= BT_USAGE_WINDOW_SECONDS * BT_NS_PER_SECOND) {
		struct bt_arena scratch = {0};
		bt_vec_finish(&usage->nodes);
		bt_map_finish(&usage->by_name);
		*usage = (struct bt_node_usage){.taken_ns = now_ns};
		BT_STORE_EACH (stored, bt_api_store(api), api->pods->collection, BT_STR("")) {
			const struct bt_json_value *pod = bt_api_parse_stored(stored, &scratch);

			if (bt_usage_is_known(pod)) {
				add_pod(api, pod);
			}
			bt_arena_reset(&scratch);
		}
		bt_arena_finish(&scratch);
	}
	const struct bt_node_sum *sum = find_node(usage, bt_str_hash(name));
	return sum != NULL ? (struct bt_usage){sum->cpu_nano, sum->memory_bytes}
			   : (struct bt_usage){0};
}
