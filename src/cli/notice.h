/*
 * Desktop notices about turns, when notify.enabled says so and there is a session bus.
 */
#pragma once

#include "assist/assistant.h"
#include "cli/app.h"

/* A turn begins, in a new conversation or in one that goes on. Returns at once. */
void notice_begin(const struct app *app, const struct conv *c);
/* It ended well or failed. */
void notice_end(const struct app *app, const struct assistant_outcome *out);
