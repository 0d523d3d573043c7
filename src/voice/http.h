/*
 * One POST to an engine that speaks HTTP, by libcurl, which is opened at run time. It blocks: for a
 * thread of its own.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct http_request {
	const char *url; /* http or https, whole */
	const char *key; /* sent as bearer; NULL: none. Never logged, never in a message */
	const char *content_type;
	struct sv body;
	int64_t connect_ms; /* 0: 3 s */
	int64_t timeout_ms; /* until the first byte of the answer, and between two; 0: 30 s */
	int cancel_fd; /* readable: ERR_CANCELLED; -1: none */
	struct str *type; /* gets the type of the answer before its first byte; NULL: not wanted */
};
/* The next bytes of an answer of status 200 to 299. Negative ends it, and is returned. */
typedef int (*http_body_fn)(void *data, struct sv bytes);

/*
 * ERR_NOTFOUND: libcurl is not installed. -ETIMEDOUT, -ECONNREFUSED and other -errno: no answer.
 * Any other status is ERR_AGENT, with what the server says (scrubbed and cut). Redirections are not
 * followed: the key would go with them.
 */
int http_post(const struct http_request *request, http_body_fn fn, void *data,
	struct err *reterr) MUST_USE;
/* Whether a server takes a connection, within some seconds; nothing is sent. Errors as above. */
int http_knock(const char *url, struct err *reterr) MUST_USE;
/* Appends base (with or without a '/' at its end, with or without "/v1") and "/v1" + path. */
void http_url(struct str *out, const char *base, const char *path);
