#include "ui/notify.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* The few functions of libnotify that are needed, as its header declares them. */
struct library {
	int (*init)(const char *app);
	void *(*create)(const char *summary, const char *body, const char *icon);
	int (*show)(void *notification, void **error);
	void (*uninit)(void);
};

/* A function pointer cannot be cast from void * in ISO C; its bytes can be copied. */
static bool find(void *handle, const char *name, void *ret_function)
{
	void *symbol = dlsym(handle, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool load(struct library *lib)
{
	void *handle = dlopen("libnotify.so.4", RTLD_NOW);

	return handle && find(handle, "notify_init", &lib->init) &&
		find(handle, "notify_notification_new", &lib->create) &&
		find(handle, "notify_notification_show", &lib->show) &&
		find(handle, "notify_uninit", &lib->uninit);
}

int notify_show(const char *title, const char *body, struct err *reterr)
{
	struct library lib;

	if (!load(&lib))
		return err_set(reterr, ERR_NOTFOUND, "libnotify is not installed");
	if (!lib.init("faden"))
		return err_set(reterr, ERR_NOTFOUND, "no notification service");
	void *notification = lib.create(title, body, NULL);
	int shown = notification ? lib.show(notification, NULL) : 0;
	lib.uninit();
	return shown ? 0 : err_set(reterr, ERR_NOTFOUND, "no notification service");
}
