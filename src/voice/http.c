#include "voice/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
	/* As curl.h numbers them. */
	OPT_WRITEDATA = 10001,
	OPT_URL = 10002,
	OPT_ERRORBUFFER = 10010,
	OPT_POSTFIELDS = 10015,
	OPT_HTTPHEADER = 10023,
	OPT_WRITEFUNCTION = 20011,
	OPT_POSTFIELDSIZE_LARGE = 30120,
	OPT_NOSIGNAL = 99,
	OPT_CONNECT_ONLY = 141,
	OPT_CONNECTTIMEOUT_MS = 156,
	OPT_PROTOCOLS = 181,
	PROTOCOLS_HTTP = 1 | 2,
	INFO_STATUS = 0x200002,
	INFO_TYPE = 0x100012,
	GLOBAL_DEFAULT = 3,
	MESSAGE_DONE = 1,
	COULD_NOT_RESOLVE = 6,
	COULD_NOT_CONNECT = 7,
	TIMED_OUT = 28,
	WAIT_IN = 1,
	ERROR_SIZE = 256,

	CONNECT_MS = 3000,
	ANSWER_MS = 30000,
	SAID_MAX = 4096, /* of what a server says that refuses */
	SHOWN_MAX = 200,
};

struct wait_fd {
	int fd;
	short events, revents;
};
struct message {
	int what;
	void *easy;
	union {
		void *any;
		int result;
	} data;
};

struct library {
	int (*curl_global_init)(long flags);
	void *(*curl_easy_init)(void);
	int (*curl_easy_setopt)(void *easy, int option, ...);
	int (*curl_easy_getinfo)(void *easy, int info, ...);
	void (*curl_easy_cleanup)(void *easy);
	const char *(*curl_easy_strerror)(int code);
	void *(*curl_slist_append)(void *list, const char *text);
	void (*curl_slist_free_all)(void *list);
	void *(*curl_multi_init)(void);
	int (*curl_multi_add_handle)(void *multi, void *easy);
	int (*curl_multi_remove_handle)(void *multi, void *easy);
	int (*curl_multi_perform)(void *multi, int *running);
	int (*curl_multi_poll)(
		void *multi, struct wait_fd *extra, unsigned n, int timeout_ms, int *ready);
	struct message *(*curl_multi_info_read)(void *multi, int *left);
	int (*curl_multi_cleanup)(void *multi);
};

static bool load(struct library *lib)
{
	static const struct {
		const char *name;
		size_t offset;
	} symbols[] = {
#define SYMBOL(name) { #name, offsetof(struct library, name) }
		SYMBOL(curl_global_init),
		SYMBOL(curl_easy_init),
		SYMBOL(curl_easy_setopt),
		SYMBOL(curl_easy_getinfo),
		SYMBOL(curl_easy_cleanup),
		SYMBOL(curl_easy_strerror),
		SYMBOL(curl_slist_append),
		SYMBOL(curl_slist_free_all),
		SYMBOL(curl_multi_init),
		SYMBOL(curl_multi_add_handle),
		SYMBOL(curl_multi_remove_handle),
		SYMBOL(curl_multi_perform),
		SYMBOL(curl_multi_poll),
		SYMBOL(curl_multi_info_read),
		SYMBOL(curl_multi_cleanup),
#undef SYMBOL
	};
	void *handle = dlopen("libcurl.so.4", RTLD_NOW);

	if (!handle)
		handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW);
	for (size_t i = 0; handle && i < ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(handle, symbols[i].name);
		if (!symbol)
			return false;
		memcpy((char *)lib + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return handle != NULL;
}

struct post {
	struct library lib;
	void *easy, *multi, *headers;
	const struct http_request *request;
	http_body_fn fn;
	void *data;
	long status; /* 0: no answer yet */
	struct str said; /* by a server that refuses */
	int64_t until_ms; /* moved by every byte */
	int64_t patience_ms;
	int r; /* of fn */
	bool knocks; /* it connects, and sends nothing */
	char why[ERROR_SIZE]; /* as long as `easy` lives */
};

static void post_release(struct post *p)
{
	if (p->multi && p->easy)
		(void)p->lib.curl_multi_remove_handle(p->multi, p->easy);
	if (p->easy)
		p->lib.curl_easy_cleanup(p->easy);
	if (p->multi)
		(void)p->lib.curl_multi_cleanup(p->multi);
	if (p->headers)
		p->lib.curl_slist_free_all(p->headers);
	str_release(&p->said);
}

static size_t on_body(char *bytes, size_t size, size_t n, void *data)
{
	struct post *p = data;
	struct sv got = sv_make(bytes, size * n);

	if (!p->status) {
		const char *type = NULL;
		(void)p->lib.curl_easy_getinfo(p->easy, INFO_STATUS, &p->status);
		(void)p->lib.curl_easy_getinfo(p->easy, INFO_TYPE, &type);
		if (p->request->type && type)
			str_adds(p->request->type, type);
	}
	p->until_ms = clock_run_ms() + p->patience_ms;
	if (p->status < 200 || p->status > 299)
		str_add(&p->said, sv_head(got, SAID_MAX - p->said.len));
	else if (p->r == 0)
		p->r = p->fn(p->data, got);
	return p->r < 0 ? 0 : got.n;
}

static void add_header(struct post *p, const char *name, const char *value)
{
	AUTO_FREE char *line = xasprintf("%s%s", name, value);

	p->headers = p->lib.curl_slist_append(p->headers, line);
}

static int prepare(struct post *p, struct err *reterr)
{
	const struct http_request *q = p->request;
	const long connect_ms = q->connect_ms ? (long)q->connect_ms : CONNECT_MS;

	(void)p->lib.curl_global_init(GLOBAL_DEFAULT);
	p->easy = p->lib.curl_easy_init();
	p->multi = p->lib.curl_multi_init();
	if (!p->easy || !p->multi)
		return err_set(reterr, -ENOMEM, "libcurl does not start");
	add_header(p, "Content-Type: ", q->content_type);
	add_header(p, "Expect:", ""); /* nobody waits for "100 Continue" */
	if (q->key) {
		AUTO_FREE char *bearer = xasprintf("Bearer %s", q->key);
		add_header(p, "Authorization: ", bearer);
	}
	(void)p->lib.curl_easy_setopt(p->easy, OPT_URL, q->url);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_HTTPHEADER, p->headers);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_POSTFIELDSIZE_LARGE, (int64_t)q->body.n);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_POSTFIELDS, q->body.n ? q->body.p : "");
	(void)p->lib.curl_easy_setopt(p->easy, OPT_WRITEFUNCTION, on_body);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_WRITEDATA, p);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_ERRORBUFFER, p->why);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_NOSIGNAL, 1L);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_PROTOCOLS, (long)PROTOCOLS_HTTP);
	(void)p->lib.curl_easy_setopt(p->easy, OPT_CONNECTTIMEOUT_MS, connect_ms);
	if (p->knocks)
		(void)p->lib.curl_easy_setopt(p->easy, OPT_CONNECT_ONLY, 1L);
	return p->lib.curl_multi_add_handle(p->multi, p->easy) == 0
		? 0
		: err_set(reterr, ERR_BUG, "libcurl does not take the request");
}

/* How it ended, by libcurl's number and the server's status. */
static int conclude(struct post *p, int code, struct err *reterr)
{
	const char *url = p->request->url, *why = p->why;

	if (p->r < 0)
		return p->r; /* told by who gave it */
	if (code == 0 && p->knocks)
		return 0;
	if (code == 0 && !p->status) /* an answer without a body */
		(void)p->lib.curl_easy_getinfo(p->easy, INFO_STATUS, &p->status);
	if (code == 0 && p->status >= 200 && p->status <= 299)
		return 0;
	if (code == 0) {
		AUTO_STR line = STR_INIT;
		utf8_scrub_line(&line, str_sv(&p->said));
		struct sv shown = utf8_cut(sv_trim(str_sv(&line)), SHOWN_MAX);
		return err_set(reterr, ERR_AGENT, "%s answers %ld%s%.*s", url, p->status,
			shown.n ? ": " : "", SV_ARG(shown));
	}
	/* Its own words for these two count milliseconds, so that the same trouble would read as
	 * another each time. */
	if (!*why || code == COULD_NOT_CONNECT || code == TIMED_OUT)
		why = p->lib.curl_easy_strerror(code);
	int r = code == COULD_NOT_CONNECT   ? -ECONNREFUSED
		: code == COULD_NOT_RESOLVE ? -EHOSTUNREACH
		: code == TIMED_OUT	    ? -ETIMEDOUT
					    : -EIO;
	return err_set(reterr, r, "%s: %s", url, why);
}

static int perform(struct post *p, struct err *reterr)
{
	const struct http_request *request = p->request;
	int running = 1;

	if (!sv_starts(sv_of(request->url), SV("http://")) &&
		!sv_starts(sv_of(request->url), SV("https://")))
		return err_set(reterr, ERR_INPUT, "%s is no address of a server", request->url);
	if (!load(&p->lib))
		return err_set(reterr, ERR_NOTFOUND,
			"libcurl is not installed (Debian: apt install libcurl4)");
	p->patience_ms = request->timeout_ms ? request->timeout_ms : ANSWER_MS;
	p->until_ms = clock_run_ms() + p->patience_ms;
	int r = prepare(p, reterr);
	if (r < 0)
		return r;
	for (;;) {
		struct wait_fd cancel = { .fd = request->cancel_fd, .events = WAIT_IN };
		struct pollfd asked = { .fd = request->cancel_fd, .events = POLLIN };
		if (p->lib.curl_multi_perform(p->multi, &running) != 0)
			return err_set(reterr, -EIO, "%s: the connection failed", request->url);
		int left = 0;
		struct message *m = p->lib.curl_multi_info_read(p->multi, &left);
		if (m && m->what == MESSAGE_DONE)
			return conclude(p, m->data.result, reterr);
		int64_t ms = p->until_ms - clock_run_ms();
		if (ms <= 0)
			return err_set(reterr, -ETIMEDOUT, "%s does not answer (waited %lld s)",
				request->url, (long long)(p->patience_ms + 999) / 1000);
		if (request->cancel_fd >= 0 && poll(&asked, 1, 0) > 0)
			return err_set(reterr, ERR_CANCELLED, "cancelled");
		(void)p->lib.curl_multi_poll(p->multi, &cancel, request->cancel_fd >= 0 ? 1 : 0,
			ms < 1000 ? (int)ms : 1000, NULL);
	}
}

int http_post(const struct http_request *request, http_body_fn fn, void *data, struct err *reterr)
{
	CLEANUP(post_release)
	struct post p = { .request = request, .fn = fn, .data = data, .said = STR_INIT };

	return perform(&p, reterr);
}

int http_knock(const char *url, struct err *reterr)
{
	const struct http_request request = { .url = url,
		.content_type = "text/plain",
		.body = SV(""),
		.timeout_ms = 2 * CONNECT_MS,
		.cancel_fd = -1 };
	CLEANUP(post_release)
	struct post p = { .request = &request, .said = STR_INIT, .knocks = true };

	return perform(&p, reterr);
}

void http_url(struct str *out, const char *base, const char *path)
{
	struct sv b = sv_of(base);

	while (sv_ends(b, SV("/")))
		b.n--;
	if (sv_ends(b, SV("/v1")))
		b.n -= 3;
	str_add(out, b);
	str_addf(out, "/v1%s", path);
}
