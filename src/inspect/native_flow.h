// How the lanes of x86 instructions flow: which bytes of what is written come from which bytes of what is read. A table
// of the instructions that move lanes or change their width; all others work lane by lane.
#pragma once

#include <cstdint>

#include "target/x86.h"

namespace sapper::inspect {

enum class Flow : uint8_t {
  None,         // nothing of interest is written
  Lanes,        // byte i from byte i of each operand
  Scalar,       // the same, the lowest element only
  Broadcast,    // every element from the lowest one
  Resize,       // element i from element i, of another width
  Blend,        // element i from rm where bit i of the immediate is set, else from the third operand
  Shuffle,      // elements move: found again by their bits
  Extract,      // part `immediate` of the vector
  Insert,       // the third operand with part `immediate` replaced
  ShiftBytes,   // within 16 bytes each
  CompareMask,  // bit i of a mask from element i
  TestMask,     // the same, of one vector's sign bits
  SpreadMask,   // element i from bit i of a mask
  Masks,        // bit i from bit i of each operand
  General,      // general registers: one value each
  Compare,      // general or the lowest elements: flags alone
  FromFlags,    // setcc: the flags
  WithFlags,    // cmov: both operands and the flags
};

enum class Place : uint8_t { None, Reg, Rm, Third };

struct FlowForm {
  Flow flow = Flow::None;
  Place to = Place::None;
  bool reads_old = false;  // what was in the written register counts, too
  bool reads_reg = false;  // besides Rm and Third; false where reg is what is written
  bool reads_third = false;
  int width = 0;  // of an element: Blend, Broadcast, Shuffle, masks; of a part: Extract, Insert; of the source: Resize
  int to_width = 0;    // Resize: of an element of the result
  int mask_width = 4;  // bytes for each bit of the mask
};

[[nodiscard]] FlowForm flow_of(const target::X86Instruction& instruction);

}  // namespace sapper::inspect
