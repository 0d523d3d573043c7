/*
 * Ctrl-C and requests to end (SIGINT, SIGTERM, SIGHUP) as a question that long work asks now and
 * then, so that it can keep what it has and leave. The first is answered so; the next one ends the
 * process, as ever.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct interrupt {
	int fd; /* readable when one has come and was not asked for yet; -1: none */
	sigset_t signals, before;
	pthread_t owner;
	atomic_int signo; /* the first; 0: none */
};

/* From now on, for the calling thread and those it starts. A signal that is ignored stays so. */
int interrupt_begin(struct interrupt *i, struct err *reterr) MUST_USE;
/* Whether one has come: its number, or 0. From any thread. Once it has, the next signal ends the
 * process, from the time that the thread which began has asked. */
int interrupt_came(struct interrupt *i);
/* Signals are as they were before. */
void interrupt_end(struct interrupt *i);
