/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/pod_admission.h"

#include "api/identity.h"
#include "api/object.h"
#include "api/text_template.h"
#include "cluster/load.h"
#include "codec/json_edit.h"
#include "server/quota.h"

void bt_pod_admission_init(struct bt_pod_admission *admission, struct bt_api *api,
	void (*warn)(void *context, const char *line), void *warn_context)
{
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
}

void bt_pod_admission_finish(struct bt_pod_admission *admission)
{
	bt_vec_finish(&admission->list);
	bt_text_set_finish(&admission->missing_classes);
	bt_text_set_finish(&admission->sent);
	bt_arena_finish(&admission->arena);
	bt_arena_finish(&admission->scratch);
	bt_strbuf_finish(&admission->text);
}

/**
 * Sends the pod in admission->text, which has no name, to the API server as a dry run, and adds the
 * admitted spec to the list. is_restored: the pod only gets missing defaults, because another API
 * server has admitted it.
 */
static int send_dry_run(struct bt_pod_admission *admission, const struct bt_pod *pod,
	bool is_restored, struct berth_error *err)
{
	struct bt_arena *scratch = &admission->scratch;
	struct bt_admitted_pod entry = {.answer = BT_STR("")};
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer;
	struct bt_str text = bt_strbuf_str(&admission->text);
	int result =
		bt_json_parse(scratch, bt_str_sub(text, 1, text.length), true, &request.body, err);
	if (result < 0) {
		return result;
	}
	bt_json_set_str(scratch, bt_json_ensure_object(scratch, request.body, "metadata"), "name",
		pod->metadata.name);
	/* Remove a class that does not exist: input files often lack RuntimeClasses. */
	const struct bt_api_resource *classes = bt_resources_builtin(
		bt_api_resources(admission->api), "node.k8s.io", "runtimeclasses");
	struct bt_str class = bt_json_text_at(request.body, "spec.runtimeClassName");
	if (class.length != 0 &&
		bt_store_find(bt_api_store(admission->api), classes->collection, class) == NULL) {
		if (bt_text_set_add(
			    &admission->missing_classes, bt_arena_str(&admission->arena, class)) &&
			admission->warn != NULL) {
			struct bt_strbuf line = {0};
			bt_text_append(&line,
				"RuntimeClass %p is not in the input: pods that name it get no "
				"overhead and no node selector from it",
				class);
			admission->warn(admission->warn_context, bt_strbuf_c(&line));
			bt_strbuf_finish(&line);
		}
		(void)bt_json_remove_c(bt_json_find(request.body, "spec"), "runtimeClassName");
	}
	request.verb = BT_VERB_CREATE;
	request.resource = admission->pods;
	request.namespace_ = pod->metadata.namespace_;
	request.restore = is_restored;
	request.dry_run = true;
	(void)bt_cluster_ensure_namespace(admission->api, request.namespace_, scratch);
	bt_api_perform(admission->api, &request, scratch, &answer);
	if (answer.code >= 300) {
		result = bt_text_error(err, BERTH_ERR_INVALID, "%p", answer.failure.message);
	} else {
		struct bt_strbuf answered = {0};
		struct bt_json_reader reader;
		struct bt_pod *admitted = BT_ARENA_NEW(&admission->arena, struct bt_pod);
		bt_json_format(answer.document, &answered);
		entry.answer = bt_arena_take_strbuf(&admission->arena, &answered);
		bt_json_reader_init(&reader, entry.answer);
		result = bt_message_decode_json(
			&bt_pod_message, &reader, &admission->arena, admitted, err);
		entry.spec = &admitted->spec;
	}
	bt_api_answer_finish(&answer);
	if (result == 0) {
		bt_text_set_append(&admission->sent, bt_arena_str(&admission->arena, text));
		bt_vec_push(&admission->list, entry);
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
	bt_strbuf_append_char(&admission->text, is_restored ? 'r' : 'n');
	bt_json_writer_init(&writer, &admission->text, 0);
	bt_object_encode_json(BT_KIND_POD, &sent, &writer);
	uint32_t found = bt_text_set_find(&admission->sent, bt_strbuf_str(&admission->text));
	if (found == BT_MAP_NONE) {
		found = admission->list.count;
		result = send_dry_run(admission, pod, is_restored, err);
	}
	if (result == 0 && admission->has_quotas && !bt_pod_is_terminal(pod)) {
		struct bt_failure failure = {0};
		struct bt_json_value *tree;
		result = bt_json_parse(
			&admission->scratch, admission->list.items[found].answer, true, &tree, err);
		if (result == 0) {
			bt_json_set_str(&admission->scratch,
				bt_json_ensure_object(&admission->scratch, tree, "metadata"),
				"name", pod->metadata.name);
		}
		if (result == 0 &&
			!bt_quota_take(admission->api, tree, !is_restored, &admission->scratch,
				&failure)) {
			result = bt_text_error(err, BERTH_ERR_STATE, "%p", failure.message);
		}
	}
	if (result == 0) {
		*out_spec = admission->list.items[found].spec;
	}
	bt_arena_reset(&admission->scratch);
	return result;
}
