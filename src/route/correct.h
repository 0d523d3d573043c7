/*
 * Corrections of the router by words: "no, new conversation", "nein, die andere", "go back to the
 * one about the login page".
 *
 * The whole utterance must be one (names of conversations aside), so that "no, the other button"
 * stays a command. "No, the other one" may still answer a question of the agent: ask only right
 * after a turn whose routing was told to the user.
 */
#pragma once

#include "base/str.h"

enum route_correction {
	CORRECT_NONE,
	CORRECT_NEW, /* it should have begun a conversation */
	CORRECT_OTHER, /* it belongs to another one: the second best, or the one before */
	CORRECT_ABOUT, /* it belongs to the one about … */
};

/* *ret_about (may be NULL) is a slice of text, set for CORRECT_ABOUT only. */
enum route_correction route_correct(struct sv text, struct sv *ret_about);
