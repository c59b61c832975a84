/* The mover volume, whose decisions are made from fresh sums of both boxes: `for_decision` is 0 there, as another member is
 * set in its place that changes of boxes do not read. */
#include <plugmc/everything.h>

#define for_decision group
#include "../../../plugins/movers/volume.c"
