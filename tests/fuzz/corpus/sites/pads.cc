// Landing pads around an event: built with g++ -O2 -shared -fPIC -s.
#include <sys/sdt.h>
void other();
int guarded(int n)
{
	try { DTRACE_PROBE1(pads, before, n); other(); DTRACE_PROBE1(pads, behind, n); }
	catch (int i) { DTRACE_PROBE1(pads, caught, i); return i; }
	return 0;
}
