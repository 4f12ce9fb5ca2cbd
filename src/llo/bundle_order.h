// The instructions of a bundle act at once: all read what was there before any writes. Here they are put in an order in
// which running them one after the other does the same.
#pragma once

#include <vector>

#include "llo/slots.h"
#include "llo/step.h"

namespace sapper::llo {

// Readers of a register come before its writer, loads before stores, pops of a queue before pushes; where readers and
// writers form a ring, the old value is copied first. Otherwise the order stays. Quadratic in the bundle.
void order_bundle(std::vector<Step>& steps, std::vector<Access>& accesses, Slots& slots);

}  // namespace sapper::llo
