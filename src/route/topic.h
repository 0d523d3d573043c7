/*
 * What a conversation is about: the words of its commands (and of its answers, where the caller
 * has them), each with a weight for how much it says about the subject.
 */
#pragma once

#include "base/str.h"

struct route_topic;

void route_topic_free(struct route_topic *t);
