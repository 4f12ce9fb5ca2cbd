#include "isolate/piece.h"

namespace sapper::isolate {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Elementwise: return "elementwise";
    case Kind::Movement: return "movement";
    case Kind::Indexing: return "indexing";
    case Kind::Reduction: return "reduction";
    case Kind::Ordering: return "ordering";
    case Kind::Random: return "random";
    case Kind::LinearAlgebra: return "linear-algebra";
    case Kind::Matmul: return "matmul";
    case Kind::Convolution: return "convolution";
    case Kind::Custom: return "custom";
    case Kind::Control: return "control";
  }
  return "";
}

}  // namespace sapper::isolate
