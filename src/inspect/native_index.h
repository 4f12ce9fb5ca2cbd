// Elements of the arrays inside of a kernel: of which elements of its operands each is made (as tags), and which of
// them feed given elements of its results.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"
#include "inspect/kernel_graph.h"
#include "inspect/native_tags.h"

namespace sapper::inspect {

// A tag an element; null: not known. Nodes whose elements have the same tags share them.
using ElementTags = std::shared_ptr<const std::vector<Tag>>;

struct IndexInput {
  const hlo::Module& kernel;
  const KernelGraph& graph;
  std::span<const hlo::Literal> expected;  // of the nodes
  std::span<const size_t> operand_of;      // of each parameter's number: the operand that the tags count it as
  const eval::Options& evaluation;
};

// Of each node.
[[nodiscard]] std::vector<ElementTags> element_tags(const IndexInput& input, TagTable& tags);

// 1 for each element that matters; empty: none of the node does.
using Relevance = std::vector<uint8_t>;

// Of each node, given those of the roots (in the order of graph.roots).
[[nodiscard]] std::vector<Relevance> relevant_elements(const IndexInput& input, std::span<const Relevance> roots);

}  // namespace sapper::inspect
