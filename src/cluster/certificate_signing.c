/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signs approved CertificateSigningRequests of Kubernetes' built-in signers. Spec: 14b section 6.9.
 */
#include "base/nanoseconds.h"
#include "cluster/tree.h"
#include "codec/base64.h"
#include "net/certificate.h"
#include "server/condition.h"

/** The default of kube-controller-manager's --cluster-signing-duration: one year. */
#define DURATION_SECONDS INT64_C(31536000)
/** Certificates are valid from some minutes ago, because clients' clocks may be slow. */
#define BACKDATE_SECONDS 300

static void observe(BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (hub->options.root_ca_key != NULL && observed->type != BT_CHANGE_DELETED) {
		bt_hub_enqueue(hub, observed->key);
	}
}

/** Returns why the signer must refuse the request, or NULL if the signer may sign the request. */
static const char *find_fault(const struct bt_certificate_request *request,
	const struct bt_json_value *usages, bool is_client, bool is_kubelet)
{
	const bt_str_list *organizations = &request->subject.organizations;
	struct bt_str purpose = is_client ? BT_STR("client auth") : BT_STR("server auth");
	bool is_allowed = bt_json_has_text(usages, purpose);
	for (uint32_t i = 0; i < usages->count && is_allowed; i++) {
		struct bt_str usage = usages->elements[i]->text;
		is_allowed = bt_str_equal(usage, purpose) ||
			bt_str_equal_c(usage, "digital signature") ||
			bt_str_equal_c(usage, "key encipherment");
	}
	if (!is_allowed) {
		return is_client ? "usages must be \"client auth\", and no more than \"digital "
				   "signature\" and \"key encipherment\" besides"
				 : "usages must be \"server auth\", and no more than \"digital "
				   "signature\" and \"key encipherment\" besides";
	}
	if (!is_kubelet) {
		return NULL;
	}
	if (!bt_json_has_text(usages, BT_STR("digital signature"))) {
		return "usages must have \"digital signature\"";
	}
	if (organizations->count != 1 || !bt_str_equal_c(organizations->items[0], "system:nodes")) {
		return "subject organization is not system:nodes";
	}
	if (!bt_str_has_prefix(request->subject.common_name, BT_STR("system:node:"))) {
		return "subject common name does not begin with system:node:";
	}
	if (request->other_count != 0) {
		return "email and URI subjectAltNames are not allowed";
	}
	if (is_client && request->host_count != 0) {
		return "DNS and IP subjectAltNames are not allowed";
	}
	if (!is_client && request->host_count == 0) {
		return "DNS or IP subjectAltName is required";
	}
	return NULL;
}

/** Sets condition Failed, which is final because the spec of a request cannot change. */
static bool write_failure(struct bt_sync *sync, const char *text)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *conditions =
		bt_json_put(arena, bt_tree_copy_array(arena, sync->object, "status.conditions"),
			"[{type: 'Failed', status: 'True', reason: 'SignerValidationFailure', "
			"message: %c}]",
			text);

	return bt_sync_patch_status(sync, bt_json_put(arena, NULL, "{conditions: %v}", conditions));
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *spec = bt_json_object_at(sync->object, "spec");
	const struct bt_json_value *conditions =
		bt_json_array_at(sync->object, "status.conditions");
	const struct bt_json_value *usages = bt_json_array_at(spec, "usages");
	struct bt_str signer = bt_json_text_at(spec, "signerName");
	bool is_serving = bt_str_equal_c(signer, "kubernetes.io/kubelet-serving");
	bool is_kubelet =
		is_serving || bt_str_equal_c(signer, "kubernetes.io/kube-apiserver-client-kubelet");
	struct bt_certificate_request request;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str pem;
	if ((!is_kubelet && !bt_str_equal_c(signer, "kubernetes.io/kube-apiserver-client")) ||
		bt_condition_find(conditions, "Approved") == NULL ||
		bt_condition_find(conditions, "Denied") != NULL ||
		bt_condition_find(conditions, "Failed") != NULL ||
		bt_json_text_at(sync->object, "status.certificate").length != 0) {
		return true;
	}
	if (bt_base64_decode(bt_json_text_at(spec, "request"), arena, &pem, &err) < 0 ||
		bt_certificate_request_read(pem, arena, &request, &err) < 0) {
		bool done = write_failure(
			sync, bt_arena_str(arena, bt_str_from(berth_error_message(&err))).data);
		berth_error_finish(&err);
		return done;
	}
	const char *fault = find_fault(&request, usages, !is_serving, is_kubelet);
	if (fault != NULL) {
		return write_failure(sync, fault);
	}
	int64_t now_seconds = bt_api_now_ns(sync->hub->api) / BT_NS_PER_SECOND;
	int64_t seconds = bt_json_int64_at(spec, "expirationSeconds", DURATION_SECONDS);
	struct bt_certificate_pair ca = {.certificate = {.data = (char *)sync->hub->options.root_ca,
						 .length = strlen(sync->hub->options.root_ca)},
		.key = {.data = (char *)sync->hub->options.root_ca_key,
			.length = strlen(sync->hub->options.root_ca_key)}};
	struct bt_certificate_terms terms = {
		.from_seconds = now_seconds - BACKDATE_SECONDS,
		.until_seconds = now_seconds + BT_MIN(seconds, DURATION_SECONDS),
		.for_clients = !is_serving,
		.for_servers = is_serving,
		.key_encipherment = bt_json_has_text(usages, BT_STR("key encipherment")),
	};
	struct bt_strbuf certificate = {0};
	struct bt_strbuf encoded = {0};
	bool done;
	if (bt_certificate_sign_request(&ca, pem, &terms, &certificate, &err) < 0) {
		done = write_failure(
			sync, bt_arena_str(arena, bt_str_from(berth_error_message(&err))).data);
		berth_error_finish(&err);
	} else {
		bt_base64_encode(bt_strbuf_str(&certificate), &encoded);
		done = bt_sync_patch_status(sync,
			bt_json_put(arena, NULL, "{certificate: %s}", bt_strbuf_str(&encoded)));
	}
	bt_strbuf_finish(&certificate);
	bt_strbuf_finish(&encoded);
	return done;
}

const struct bt_controller_ops bt_certificate_signing_ops = {
	.watches = BT_WATCH(BT_HUB_SIGNING_REQUESTS),
	.object = BT_HUB_SIGNING_REQUESTS,
	.observe = observe,
	.sync = sync,
};
