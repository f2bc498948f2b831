/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REST_H
#define BT_CLIENT_REST_H
/**
 * Requests to an API server with the behaviour of upstream's REST client: rate limit, retries,
 * timeouts, media types, errors as Status. Spec: 13 sections 7.4, 7.5, 8.1, 8.2, 9; 11b sections
 * 4.2 to 4.4. Several clients, each with its own limiter, share one transport. Single-threaded:
 * used on the loop's thread only.
 */
#include "api/meta.h"
#include "client/transport.h"
#include "codec/json.h"
#include "schema/schema.h"

/** Spec 13 section 9.3. */
enum bt_rest_class {
	BT_REST_OK,
	BT_REST_TRANSPORT, /* no response: see `failure` */
	BT_REST_BAD_REQUEST,
	BT_REST_UNAUTHORIZED,
	BT_REST_FORBIDDEN,
	BT_REST_NOT_FOUND,
	BT_REST_METHOD_NOT_ALLOWED,
	BT_REST_NOT_ACCEPTABLE,
	BT_REST_UNSUPPORTED_MEDIA_TYPE,
	BT_REST_ALREADY_EXISTS,
	BT_REST_CONFLICT,
	BT_REST_GONE,
	BT_REST_EXPIRED,
	BT_REST_TOO_LARGE,
	BT_REST_INVALID,
	BT_REST_TOO_MANY_REQUESTS,
	BT_REST_INTERNAL_ERROR,
	BT_REST_SERVER_TIMEOUT,
	BT_REST_SERVICE_UNAVAILABLE,
	BT_REST_TIMEOUT,
	BT_REST_OTHER,
};

/** Result of a call. Borrowed for the callback. */
struct bt_rest_answer {
	enum bt_rest_class class_;
	enum bt_http_failure failure; /* set with BT_REST_TRANSPORT */
	bool sent;                    /* the server may have processed the request */
	uint16_t code;                /* 0: no response */
	struct bt_str content_type;
	struct bt_str body;
	/** Error text as upstream reports it. "" without an error. */
	struct bt_str message;
	struct bt_str reason;            /* reason of the Status, or "" */
	struct bt_str continue_token;    /* metadata.continue of the Status, or "" */
	bool too_large_resource_version; /* a 504 whose cause or message says that the requested
	                                    version is too large */
};

/** Media types, spec 13 section 8.2. */
#define BT_MEDIA_JSON "application/json"
#define BT_MEDIA_PROTOBUF "application/vnd.kubernetes.protobuf"
#define BT_MEDIA_STRATEGIC_PATCH "application/strategic-merge-patch+json"

struct bt_rest_client;

struct bt_rest_options {
	struct bt_transport *transport; /* borrowed */
	struct bt_loop *loop;
	const char *user_agent;
	struct bt_str content_type;         /* of request bodies; "": application/json */
	struct bt_str accept_content_types; /* "": the content type, then anything */
	float qps;                          /* <= 0: no limit */
	int32_t burst;
	int64_t timeout_ns; /* of all requests except watches; 0: none; also sent as ?timeout= */
	struct bt_metrics *metrics; /* rest_client_*; NULL: none */
	/**
	 * Called if the server requests a retry after this wait (Retry-After); false: the call ends
	 * with the server's answer. NULL: always retry.
	 */
	bool (*may_wait)(void *context, int64_t wait_ns);
	void *may_wait_context;
};

/** Copies the options. BERTH_ERR_INVALID: `burst is required to be greater than 0 when ...`. */
BT_MUST_USE int bt_rest_client_create(const struct bt_rest_options *options,
	struct bt_rest_client **out_client, struct berth_error *err);
/** Cancels running calls. Must not be called within a call's callback. NULL accepted. */
void bt_rest_client_destroy(struct bt_rest_client *client);

struct bt_rest_call;

struct bt_rest_handler {
	void *context;
	/**
	 * For watches and other streams: called at the start of a successful answer, whose bytes
	 * follow in `data`. NULL: the body is collected. content_type: of the response.
	 */
	void (*opened)(void *context, struct bt_rest_call *call, struct bt_str content_type);
	void (*data)(void *context, struct bt_rest_call *call, struct bt_str bytes);
	/**
	 * Called exactly once unless the call is cancelled; the call is freed afterwards. A stream
	 * that ended normally has BT_REST_OK.
	 */
	void (*done)(void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer);
};

struct bt_rest_request {
	const char *method;
	struct bt_str path;
	struct bt_str query;
	/**
	 * Resource ("pods", "leases.coordination.k8s.io") and name ("web") for generic messages.
	 * May be "".
	 */
	struct bt_str resource;
	struct bt_str name;
	struct bt_str content_type; /* of the body; "": the client's content type; unused without a
	                               body */
	struct bt_str accept;       /* "": the client's accepted types */
	struct bt_str body;
	bool is_watch; /* not rate-limited, and without a timeout */
	struct bt_rest_handler handler;
	/**
	 * Called with the handler's context before each write of the request's bytes, which may be
	 * long after bt_rest_start: the call waits for the limiter and for a connection. false:
	 * nothing more is written, and the call ends with BT_REST_TRANSPORT. NULL: always send.
	 */
	bool (*may_send)(void *context);
};

/** Copies the request; callbacks never run within this function. */
BT_MUST_USE struct bt_rest_call *bt_rest_start(
	struct bt_rest_client *client, const struct bt_rest_request *request);
/** Cancels the call; no callback follows. No effect within its `done`. */
void bt_rest_cancel(struct bt_rest_call *call);

/** Returns true if the client's content type is protobuf. */
bool bt_rest_writes_protobuf(const struct bt_rest_client *client);
/** Appends text as a path segment: percent-encoded, without a slash before it. */
void bt_rest_append_segment(struct bt_strbuf *out, struct bt_str text);
/**
 * Appends the path of an object below the path of its API: "/namespaces/shop/deployments/web".
 * namespace_ "": cluster-scoped, or all namespaces; name "": the collection.
 */
void bt_rest_append_object(struct bt_strbuf *out, struct bt_str namespace_, struct bt_str resource,
	struct bt_str name);
/** Appends a form-encoded query parameter. */
void bt_rest_append_query(struct bt_strbuf *out, const char *name, struct bt_str value);
/**
 * Encodes an object as protobuf if the client's content type is protobuf and the schema has the
 * kind, else as JSON. value has apiVersion and kind. Appends to out and returns the content type
 * used.
 */
struct bt_str bt_rest_encode_body(const struct bt_rest_client *client,
	const struct bt_json_value *value, struct bt_strbuf *out);
/** Parses a response body of either media type into a JSON tree. Texts borrow the body. */
BT_MUST_USE int bt_rest_decode_body(const struct bt_rest_answer *answer, struct bt_arena *arena,
	struct bt_json_value **out_value, struct berth_error *err);
/**
 * Converts the answer to an error: BERTH_ERR_NOT_FOUND, BERTH_ERR_EXISTS, BERTH_ERR_STATE
 * (conflict), BERTH_ERR_IO (no response), else BERTH_ERR_INTERNAL with the answer's text; 0 for
 * BT_REST_OK.
 */
int bt_rest_answer_error(const struct bt_rest_answer *answer, struct berth_error *err);
#endif
