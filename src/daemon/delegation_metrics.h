/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_DELEGATION_METRICS_H
#define BT_DAEMON_DELEGATION_METRICS_H
/** What is counted about callers of the endpoints. Spec: 11 section 10.6. */
#include "metrics/metrics.h"

extern const struct bt_metric_description bt_authentication_attempts;  /* {result} */
extern const struct bt_metric_description bt_authentication_duration;  /* {result} */
extern const struct bt_metric_description bt_authenticated_requests;   /* {username} */
extern const struct bt_metric_description bt_authorization_attempts;   /* {result} */
extern const struct bt_metric_description bt_authorization_duration;   /* {result} */
extern const struct bt_metric_description bt_delegated_authn_total;    /* {code} */
extern const struct bt_metric_description bt_delegated_authn_duration; /* {code} */
extern const struct bt_metric_description bt_delegated_authz_total;    /* {code} */
extern const struct bt_metric_description bt_delegated_authz_duration; /* {code} */
#endif
