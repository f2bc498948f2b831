/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/functions.h"
#include "cel/text.h"

/* Functions of semantic versions. Spec: 12b section 9.8. */

/** semver(text[, is_normalised]) */
static int parse(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *arguments,
	uint32_t count, struct bt_cel_semver *out, struct berth_error *err)
{
	return bt_cel_semver_parse(
		arguments[0].text, count > 1 && arguments[1].boolean, evaluation->arena, out, err);
}

struct bt_cel_value bt_cel_fn_semver(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_value result = {.kind = BT_CEL_SEMVER};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_semver *version;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	version = bt_cel_alloc(evaluation, 1, sizeof(*version));
	if (version == NULL) {
		return evaluation->stop;
	}
	if (parse(evaluation, arguments, count, version, &err) != 0) {
		return bt_cel_fail_error(evaluation, &err);
	}
	result.semver = version;
	return result;
}

struct bt_cel_value bt_cel_fn_is_semver(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_semver version;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return bt_cel_bool(parse(evaluation, arguments, count, &version, NULL) == 0);
}

/** Numbers beyond int wrap, as upstream's conversion does. */
static struct bt_cel_value number(struct bt_cel_evaluation *evaluation, uint64_t value)
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_int((int64_t)value) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_semver_major(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return number(evaluation, arguments[0].semver->major);
}

struct bt_cel_value bt_cel_fn_semver_minor(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return number(evaluation, arguments[0].semver->minor);
}

struct bt_cel_value bt_cel_fn_semver_patch(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return number(evaluation, arguments[0].semver->patch);
}

static bool compare(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *arguments, int *out_order)
{
	*out_order = bt_cel_semver_compare(arguments[0].semver, arguments[1].semver);
	return bt_cel_charge_work(evaluation, arguments[0].semver->prerelease.length) &&
		bt_cel_charge(evaluation, 1);
}

struct bt_cel_value bt_cel_fn_semver_is_greater_than(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	int order;

	return compare(evaluation, arguments, &order) ? bt_cel_bool(order > 0) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_semver_is_less_than(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	int order;

	return compare(evaluation, arguments, &order) ? bt_cel_bool(order < 0) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_semver_compare_to(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	int order;

	return compare(evaluation, arguments, &order) ? bt_cel_int(order) : evaluation->stop;
}
