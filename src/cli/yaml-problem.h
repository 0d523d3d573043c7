/*
 * libyaml's complaints in words for somebody who writes a configuration, not a parser.
 */
#pragma once

#include "base/str.h"

/* The yaml.h type is kept out of here: problem and context are the parser's texts, either may be
 * NULL; context_line is where what it was reading began, from 1. */
void yaml_problem(struct str *out, const char *problem, const char *context, unsigned context_line);
