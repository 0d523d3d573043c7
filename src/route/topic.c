#include "route/topic.h"

#include <stdlib.h>

void route_topic_free(struct route_topic *t)
{
	free(t);
}
