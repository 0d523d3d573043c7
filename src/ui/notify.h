/*
 * A notice on the desktop, through libnotify where it is installed. The library is loaded at the
 * call, so that nothing depends on it.
 */
#pragma once

#include "base/err.h"

/* Shows it and returns when the notification service has it; that may take seconds where the
 * service hangs, so call it in a process of its own. ERR_NOTFOUND: no libnotify here. */
int notify_show(const char *title, const char *body, struct err *reterr) MUST_USE;
