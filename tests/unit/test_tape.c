#include "unit.h"
int main(void) { (void)unit_run; return 0; }
