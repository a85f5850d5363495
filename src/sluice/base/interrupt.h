// Ctrl-C, SIGTERM and SIGUSR1: a wish to stop, which long work looks at where it can stop cleanly. Signals
// belong to the whole process, so this is global; a program that embeds the library and never calls
// watch_interrupts() keeps its own handlers and is never interrupted from here.
#pragma once

namespace sluice {

// From now on the first signal is noted, and the second ends the process at once with exit code 130.
void watch_interrupts();

bool is_interrupted();

// Throws an Error of kind Interrupted if a signal was noted: on the way out, temporary files are removed.
void throw_if_interrupted();

}  // namespace sluice
