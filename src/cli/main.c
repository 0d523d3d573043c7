#include <stdio.h>

int main(void)
{
	puts("faden " FADEN_VERSION);
	return 0;
}
