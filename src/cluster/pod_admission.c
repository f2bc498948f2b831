/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/pod_admission.h"

#include "api/identity.h"
#include "api/object.h"
#include "base/map.h"
#include "base/printable.h"
#include "base/text_set.h"
#include "base/vec.h"
#include "cluster/load.h"
#include "codec/json_edit.h"
#include "server/quota.h"

/** An admitted spec, found by the text that was sent to the API server. */
struct admitted {
	struct bt_str sent;
	struct bt_str answer; /* the admitted pod as JSON, which quotas count */
	const struct bt_pod_spec *spec;
	bool is_restored;
};

struct bt_pod_admission {
	struct bt_api *api;
	const struct bt_api_resource *pods;
	bool has_quotas;
	bool has_policies; /* mutating policies exist, which may read all metadata of a pod */
	BT_VEC(struct admitted) list;
	struct bt_map by_text;
	struct bt_arena arena; /* texts and specs of list */
	struct bt_arena scratch;
	struct bt_strbuf text;
	void (*warn)(void *context, const char *line);
	void *warn_context;
	struct bt_text_set missing_classes;
};

struct bt_pod_admission *bt_pod_admission_create(
	struct bt_api *api, void (*warn)(void *context, const char *line), void *warn_context)
{
	struct bt_pod_admission *admission = BT_NEW(struct bt_pod_admission);
	struct bt_resources *resources = bt_api_resources(api);
	const struct bt_api_resource *quotas =
		bt_resources_builtin(resources, "", "resourcequotas");
	const struct bt_api_resource *policies = bt_resources_builtin(
		resources, "admissionregistration.k8s.io", "mutatingadmissionpolicies");
	*admission = (struct bt_pod_admission){
		.api = api,
		.pods = bt_resources_builtin(resources, "", "pods"),
		.warn = warn,
		.warn_context = warn_context,
		.has_quotas = bt_store_count(bt_api_store(api), quotas->collection) != 0,
		.has_policies = bt_store_count(bt_api_store(api), policies->collection) != 0,
	};
	return admission;
}

void bt_pod_admission_destroy(struct bt_pod_admission *admission)
{
	if (admission != NULL) {
		bt_vec_finish(&admission->list);
		bt_text_set_finish(&admission->missing_classes);
		bt_map_finish(&admission->by_text);
		bt_arena_finish(&admission->arena);
		bt_arena_finish(&admission->scratch);
		bt_strbuf_finish(&admission->text);
		bt_free(admission);
	}
}

bool bt_pod_admission_has_quotas(const struct bt_pod_admission *admission)
{
	return admission->has_quotas;
}

size_t bt_pod_admission_bytes(const struct bt_pod_admission *admission)
{
	return admission->arena.total_bytes;
}

static struct admitted *find(const struct bt_pod_admission *admission, bool is_restored)
{
	struct bt_str text = bt_strbuf_str(&admission->text);
	uint64_t hash = bt_str_hash(text);
	BT_MAP_EACH (&admission->by_text, hash, index) {
		struct admitted *entry = &admission->list.items[index];
		if (entry->is_restored == is_restored && bt_str_equal(entry->sent, text)) {
			return entry;
		}
	}
	return NULL;
}

static int set_refusal_error(int code, struct bt_str message, struct berth_error *err)
{
	struct bt_strbuf shown = {0};
	bt_printable_append(&shown, message);
	return bt_error_take(err, code, &shown);
}

/**
 * Removes a runtimeClassName whose RuntimeClass does not exist: input files often lack
 * RuntimeClasses.
 */
static void remove_missing_class(struct bt_pod_admission *admission, struct bt_json_value *pod)
{
	const struct bt_api_resource *classes = bt_resources_builtin(
		bt_api_resources(admission->api), "node.k8s.io", "runtimeclasses");
	struct bt_str name = bt_json_text_at(pod, "spec.runtimeClassName");
	if (name.length == 0 ||
		bt_store_find(bt_api_store(admission->api), classes->collection, name) != NULL) {
		return;
	}
	if (bt_text_set_add(&admission->missing_classes, bt_arena_str(&admission->arena, name)) &&
		admission->warn != NULL) {
		struct bt_strbuf line = {0};
		bt_strbuf_append_c(&line, "RuntimeClass ");
		bt_printable_append(&line, name);
		bt_strbuf_append_c(&line,
			" is not in the input: pods that name it get no overhead and no node "
			"selector from it");
		admission->warn(admission->warn_context, bt_strbuf_c(&line));
		bt_strbuf_finish(&line);
	}
	(void)bt_json_remove_c(bt_json_find(pod, "spec"), "runtimeClassName");
}

/**
 * Sends admission->text, the pod without its name, to the API server as a dry run, and adds the
 * admitted spec to the list. is_restored: the pod only gets missing defaults, because another API
 * server has admitted it.
 */
static int send_dry_run(struct bt_pod_admission *admission, const struct bt_pod *pod,
	bool is_restored, struct berth_error *err)
{
	struct bt_arena *scratch = &admission->scratch;
	struct admitted entry = {.is_restored = is_restored, .answer = BT_STR("")};
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer;
	int result =
		bt_json_parse(scratch, bt_strbuf_str(&admission->text), true, &request.body, err);
	if (result < 0) {
		return result;
	}
	bt_json_set_str(scratch, bt_json_ensure_object(scratch, request.body, "metadata"), "name",
		pod->metadata.name);
	remove_missing_class(admission, request.body);
	request.verb = BT_VERB_CREATE;
	request.resource = admission->pods;
	request.namespace_ = pod->metadata.namespace_;
	request.restore = is_restored;
	request.dry_run = true;
	(void)bt_cluster_ensure_namespace(admission->api, request.namespace_, scratch);
	bt_api_perform(admission->api, &request, scratch, &answer);
	if (answer.code >= 300) {
		result = set_refusal_error(BERTH_ERR_INVALID, answer.failure.message, err);
	} else {
		struct bt_strbuf text = {0};
		struct bt_json_reader reader;
		struct bt_pod *admitted = BT_ARENA_NEW(&admission->arena, struct bt_pod);
		bt_json_format(answer.document, &text);
		struct bt_str kept = bt_arena_take_strbuf(&admission->arena, &text);
		bt_json_reader_init(&reader, kept);
		result = bt_message_decode_json(
			&bt_pod_message, &reader, &admission->arena, admitted, err);
		entry.spec = &admitted->spec;
		entry.answer = kept;
	}
	bt_api_answer_finish(&answer);
	if (result == 0) {
		entry.sent = bt_arena_str(&admission->arena, bt_strbuf_str(&admission->text));
		bt_vec_push(&admission->list, entry);
		bt_map_insert(
			&admission->by_text, bt_str_hash(entry.sent), admission->list.count - 1);
	}
	return result;
}

int bt_pod_admission_admit(struct bt_pod_admission *admission, const struct bt_pod *pod,
	bool is_from_cluster, const struct bt_pod_spec **out_spec, struct berth_error *err)
{
	struct bt_pod sent = {.spec = pod->spec};
	struct bt_json_writer writer;
	int result = 0;
	bool is_restored = is_from_cluster || pod->spec.priority.present ||
		pod->spec.overhead.count != 0 || pod->spec.node_name.length != 0;
	sent.metadata.namespace_ = pod->metadata.namespace_;
	sent.spec.node_name = BT_STR("");
	if (admission->has_policies) {
		sent.metadata = pod->metadata;
	} else if (pod->spec.affinity != NULL || pod->spec.topology_spread_constraints.count != 0) {
		/*
		 * Send the labels, because admission merges matchLabelKeys with the pod's labels.
		 */
		sent.metadata.labels = pod->metadata.labels;
	}
	bt_strbuf_reset(&admission->text);
	bt_json_writer_init(&writer, &admission->text, 0);
	bt_object_encode_json(BT_KIND_POD, &sent, &writer);
	struct admitted *entry = find(admission, is_restored);
	if (entry == NULL) {
		result = send_dry_run(admission, pod, is_restored, err);
		entry = result == 0 ? find(admission, is_restored) : NULL;
	}
	if (result == 0 && admission->has_quotas && !bt_pod_is_terminal(pod)) {
		struct bt_failure failure = {0};
		struct bt_json_value *tree;
		result = bt_json_parse(&admission->scratch, entry->answer, true, &tree, err);
		if (result == 0) {
			bt_json_set_str(&admission->scratch,
				bt_json_ensure_object(&admission->scratch, tree, "metadata"),
				"name", pod->metadata.name);
		}
		if (result == 0 &&
			!bt_quota_take(admission->api, tree, !is_restored, &admission->scratch,
				&failure)) {
			result = set_refusal_error(BERTH_ERR_STATE, failure.message, err);
		}
	}
	if (result == 0) {
		*out_spec = entry->spec;
	}
	bt_arena_reset(&admission->scratch);
	return result;
}
