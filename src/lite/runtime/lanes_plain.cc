// Lanes on what every processor of the family has.
#define MYCEL_LANES_NAME kPlainLanes
#define MYCEL_LANES_TEXT "plain"
#include "lite/runtime/lanes.inc"
