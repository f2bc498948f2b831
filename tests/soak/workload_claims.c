/* SPDX-License-Identifier: Apache-2.0 */
/** Random requests for devices, and the claims and templates of pods. */
#include "api/resource_claim.h"
#include "soak/world.h"

static uint32_t below(struct bt_sim *sim, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&sim->changes, bound);
}

static bool chance(struct bt_sim *sim, uint32_t percent)
{
	return bt_sim_chance(&sim->changes, percent);
}

/** --- requests --- */

/** Append the members of a request or an alternative; selector NULL: none. */
static void append_exact(struct bt_sim *sim, struct bt_strbuf *out, const char *class_name,
	uint32_t count, const char *selector)
{
	bt_strbuf_printf(out,
		"\"deviceClassName\":\"%s\",\"allocationMode\":\"ExactCount\",\"count\":%u",
		class_name, count);
	if (selector != NULL) {
		bt_strbuf_append_c(out, ",");
		bt_sim_append_selector(out, selector);
	}
	if (chance(sim, 15)) {
		bt_strbuf_append_c(
			out, ",\"tolerations\":[{\"key\":\"worn\",\"operator\":\"Exists\"}]");
	}
}

static void append_request(struct bt_sim *sim, struct bt_strbuf *out, const char *name,
	const char *class_name, uint32_t count, const char *selector)
{
	bt_strbuf_printf(out, "{\"name\":\"%s\",\"exactly\":{", name);
	append_exact(sim, out, class_name, count, selector);
	bt_strbuf_append_c(out, "}}");
}

/** Append a request with two alternatives, the better one first. */
static void append_alternatives(struct bt_sim *sim, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"best\",");
	append_exact(sim, out, "fast-gpu", 1 + below(sim, 2), NULL);
	bt_strbuf_append_c(out, "},{\"name\":\"good\",");
	append_exact(sim, out, "gpu", 1, NULL);
	bt_strbuf_append_c(out, "}]}");
}

static void append_all(struct bt_sim *sim, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"allocationMode\":"
		"\"All\"%s}}",
		chance(sim, 60) ? ",\"adminAccess\":true" : "");
}

static void append_share(struct bt_sim *sim, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "{\"name\":\"r\",\"exactly\":{");
	append_exact(sim, out, "nic", 1, NULL);
	if (chance(sim, 80)) {
		bt_strbuf_printf(out, ",\"capacity\":{\"requests\":{\"bandwidth\":\"%u\"}}",
			1 + below(sim, 3));
	}
	bt_strbuf_append_c(out, "}}");
}

static void append_part(struct bt_sim *sim, struct bt_strbuf *out)
{
	static const char *const selectors[] = {NULL,
		"device.attributes[\"part.example.com\"].size == 1",
		"device.attributes[\"part.example.com\"].size == 2"};
	append_request(sim, out, "r", "part", 1, selectors[below(sim, 3)]);
}

static void append_two(struct bt_sim *sim, struct bt_strbuf *out)
{
	append_request(sim, out, "r", "gpu", 1, NULL);
	bt_strbuf_append_c(out, ",");
	append_request(sim, out, "s", "fast-gpu", 1, NULL);
}

/** Append the spec of a claim, an object with the member "devices". */
static void append_devices(struct bt_sim *sim, struct bt_strbuf *out)
{
	uint32_t what = below(sim, 12);
	bool is_matched = false;
	bt_strbuf_append_c(out, "{\"devices\":{\"requests\":[");
	if (what < 2) {
		append_request(sim, out, "r", "gpu", 1,
			chance(sim, 30) ? "device.attributes[\"gpu.example.com\"].numa == 0"
					: NULL);
	} else if (what < 3) {
		append_request(sim, out, "r", "fast-gpu", 1, NULL);
	} else if (what < 5) {
		append_request(sim, out, "r", "gpu", 2, NULL);
		is_matched = chance(sim, 60);
	} else if (what < 6) {
		append_alternatives(sim, out);
	} else if (what < 7) {
		append_all(sim, out);
	} else if (what < 8) {
		append_two(sim, out);
		is_matched = chance(sim, 40);
	} else if (what < 9 && sim->workload.has_shared_devices) {
		append_share(sim, out);
	} else if (what < 11 && sim->workload.has_parts) {
		append_part(sim, out);
	} else if (sim->workload.has_fabric) {
		append_request(sim, out, "r", "fabric", 1, NULL);
	} else {
		append_request(sim, out, "r", "gpu", 1, NULL);
	}
	bt_strbuf_append_c(out, "]");
	if (is_matched) {
		bt_strbuf_append_c(
			out, ",\"constraints\":[{\"matchAttribute\":\"gpu.example.com/numa\"}]");
	}
	bt_strbuf_append_c(out, "}}");
}

/** --- templates and claims --- */

static struct bt_str template_name(struct bt_sim *sim, const struct bt_sim_app *app, uint32_t entry)
{
	return bt_arena_printf(&sim->scratch, "t%u-%u", app->serial, entry);
}

static void append_claim_name(
	const struct bt_sim_app *app, uint32_t entry, struct bt_str pod, struct bt_strbuf *out)
{
	if (app->claims[entry].source == BT_SIM_CLAIM_SHARED) {
		bt_strbuf_printf(out, "s%u-%u", app->serial, entry);
	} else {
		bt_strbuf_printf(out, "d%u-%.*s", entry, BT_STR_ARG(pod));
	}
}

static void create_template(struct bt_sim *sim, const struct bt_sim_app *app, uint32_t entry)
{
	struct bt_strbuf *json = &sim->workload.json;
	struct bt_str name = template_name(sim, app, entry);
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaimTemplate\","
		"\"metadata\":{\"namespace\":\"%.*s\",\"name\":\"%.*s\"},\"spec\":{\"spec\":%.*s}}",
		BT_STR_ARG(app->namespace_), BT_STR_ARG(name),
		BT_STR_ARG(app->claims[entry].devices));
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
}

void bt_sim_design_claims(struct bt_sim *sim, struct bt_sim_app *app)
{
	if (!sim->workload.has_devices || !chance(sim, 55)) {
		return;
	}
	app->claim_count = chance(sim, 75) ? 1 : BT_SIM_APP_CLAIMS_MAX;
	for (uint32_t i = 0; i < app->claim_count; i++) {
		static const enum bt_sim_claim_source sources[] = {BT_SIM_CLAIM_OF_TEMPLATE,
			BT_SIM_CLAIM_OF_TEMPLATE, BT_SIM_CLAIM_OWN, BT_SIM_CLAIM_SHARED,
			BT_SIM_CLAIM_SHARED};
		static const char *const names[] = {"of a template", "own", "shared"};
		struct bt_strbuf devices = {0};
		append_devices(sim, &devices);
		app->claims[i].source = sources[below(sim, BT_ARRAY_LENGTH(sources))];
		app->claims[i].devices = bt_arena_str(&sim->texts, bt_strbuf_str(&devices));
		bt_strbuf_finish(&devices);
		bt_sim_log(sim, "app a%u: claim %u, %s: %.*s", app->serial, i,
			names[app->claims[i].source], BT_STR_ARG(app->claims[i].devices));
		if (app->claims[i].source == BT_SIM_CLAIM_OF_TEMPLATE) {
			create_template(sim, app, i);
		}
	}
}

void bt_sim_create_claims(struct bt_sim *sim, const struct bt_sim_app *app, struct bt_str pod)
{
	for (uint32_t i = 0; i < app->claim_count; i++) {
		struct bt_strbuf name = {0};
		struct bt_strbuf *json = &sim->workload.json;
		append_claim_name(app, i, pod, &name);
		if (app->claims[i].source != BT_SIM_CLAIM_OF_TEMPLATE &&
			bt_sim_store_find(&sim->store, BT_KIND_RESOURCE_CLAIM, app->namespace_,
				bt_strbuf_str(&name)) == NULL) {
			bt_strbuf_reset(json);
			bt_strbuf_printf(json,
				"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\","
				"\"metadata\":{\"namespace\":\"%.*s\",\"name\":\"%s\"},\"spec\":"
				"%.*s}",
				BT_STR_ARG(app->namespace_), bt_strbuf_c(&name),
				BT_STR_ARG(app->claims[i].devices));
			bt_sim_store_create(&sim->store, bt_strbuf_str(json));
		}
		bt_strbuf_finish(&name);
	}
}

void bt_sim_append_claims(const struct bt_sim_app *app, struct bt_str pod, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < app->claim_count; i++) {
		bt_strbuf_printf(
			out, "%s{\"name\":\"e%u\",", i == 0 ? ",\"resourceClaims\":[" : ",", i);
		if (app->claims[i].source == BT_SIM_CLAIM_OF_TEMPLATE) {
			bt_strbuf_printf(
				out, "\"resourceClaimTemplateName\":\"t%u-%u\"}", app->serial, i);
		} else {
			bt_strbuf_append_c(out, "\"resourceClaimName\":\"");
			append_claim_name(app, i, pod, out);
			bt_strbuf_append_c(out, "\"}");
		}
	}
	if (app->claim_count != 0) {
		bt_strbuf_append_c(out, "]");
	}
}

void bt_sim_delete_templates(struct bt_sim *sim, const struct bt_sim_app *app)
{
	for (uint32_t i = 0; i < app->claim_count; i++) {
		/* Only claims from templates have a template; for others the deletion fails. */
		(void)bt_sim_store_delete(&sim->store, BT_KIND_RESOURCE_CLAIM_TEMPLATE,
			app->namespace_, template_name(sim, app, i));
	}
}

void bt_sim_delete_device_claim(struct bt_sim *sim)
{
	struct bt_object *claim =
		bt_sim_store_pick(&sim->store, BT_KIND_RESOURCE_CLAIM, &sim->changes);
	if (claim != NULL) {
		struct bt_str namespace_ = bt_arena_str(&sim->scratch, claim->meta->namespace_);
		struct bt_str name = bt_arena_str(&sim->scratch, claim->meta->name);
		bt_sim_log(sim, "claim %.*s is deleted", BT_STR_ARG(name));
		/* It exists: it was just picked. */
		(void)bt_sim_store_delete(&sim->store, BT_KIND_RESOURCE_CLAIM, namespace_, name);
	}
}
