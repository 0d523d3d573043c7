/*
 * Linked to every unit test: CASE='test_circle*' in the environment runs only the cases that match.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose_cases(void)
{
	const char *pattern = getenv("CASE");

	if (pattern && *pattern)
		cmocka_set_test_filter(pattern);
}
