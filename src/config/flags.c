/* SPDX-License-Identifier: Apache-2.0 */
#include "config/document.h"
#include "config/load.h"

static void override_str(struct bt_str *field, struct bt_str flag, struct bt_arena *arena)
{
	if (flag.data != NULL) {
		*field = bt_arena_str(arena, flag);
	}
}

static void override_i64(int64_t *field, struct bt_opt_i64 flag)
{
	if (flag.present) {
		*field = flag.value;
	}
}

void bt_config_apply_election_flags(struct bt_config *config, const struct bt_config_flags *flags)
{
	struct bt_config_leader_election *election = &config->document.leader_election;
	if (flags->leader_elect.present) {
		election->leader_elect = flags->leader_elect.value;
	}
	override_i64(&election->lease_duration_ns, flags->lease_duration_ns);
	override_i64(&election->renew_deadline_ns, flags->renew_deadline_ns);
	override_i64(&election->retry_period_ns, flags->retry_period_ns);
	override_str(&election->resource_lock, flags->resource_lock, &config->arena);
	override_str(&election->resource_name, flags->resource_name, &config->arena);
	override_str(&election->resource_namespace, flags->resource_namespace, &config->arena);
}

struct bt_config *bt_config_create_from_flags(
	const struct bt_gates *gates, const struct bt_config_flags *flags)
{
	struct bt_config *config = bt_config_create_default(gates);

	struct bt_config_document *document = &config->document;
	if (flags->profiling.present) {
		document->enable_profiling = flags->profiling.value;
	}
	if (flags->contention_profiling.present) {
		document->enable_contention_profiling.value = flags->contention_profiling.value;
	}
	override_str(&document->client_connection.kubeconfig, flags->kubeconfig, &config->arena);
	override_str(&document->client_connection.content_type, flags->kube_api_content_type,
		&config->arena);
	if (flags->kube_api_qps_given) {
		document->client_connection.qps = flags->kube_api_qps;
	}
	if (flags->kube_api_burst.present) {
		document->client_connection.burst = flags->kube_api_burst.value;
	}
	bt_config_apply_election_flags(config, flags);
	return config;
}
