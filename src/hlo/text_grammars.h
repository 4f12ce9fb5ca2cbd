// The attributes whose text is more than a plain field of the wire (text_plain_fields.h): each with its own grammar.
#pragma once

#include "hlo/text_attributes.h"

namespace sapper::hlo::attribute {

// Fields of Instruction, and what names computations and other instructions (text_program_grammars.cc).
extern const AttributeGrammar dimensions;
extern const AttributeGrammar iota_dimension;
extern const AttributeGrammar inferred_dimension;
extern const AttributeGrammar index;
extern const AttributeGrammar metadata;
extern const AttributeGrammar literal;
extern const AttributeGrammar to_apply;
extern const AttributeGrammar calls;
extern const AttributeGrammar body;
extern const AttributeGrammar condition;
extern const AttributeGrammar select;
extern const AttributeGrammar scatter;
extern const AttributeGrammar called_computations;
extern const AttributeGrammar only_called_computation;
extern const AttributeGrammar true_computation;
extern const AttributeGrammar false_computation;
extern const AttributeGrammar branch_computations;
extern const AttributeGrammar control_predecessors;

// Fields of the wire (text_wire_grammars.cc).
extern const AttributeGrammar direction;
extern const AttributeGrammar kind;
extern const AttributeGrammar comparison_type;
extern const AttributeGrammar comparison_order;
extern const AttributeGrammar window;
extern const AttributeGrammar dim_labels;
extern const AttributeGrammar padding;
extern const AttributeGrammar slice;
extern const AttributeGrammar replica_groups;
extern const AttributeGrammar source_target_pairs;
extern const AttributeGrammar permute_slice_sizes;
extern const AttributeGrammar output_to_operand_aliasing;
extern const AttributeGrammar operand_layout_constraints;
extern const AttributeGrammar outfeed_shape;
extern const AttributeGrammar domain;
extern const AttributeGrammar result_accuracy;
extern const AttributeGrammar sparsity_config;
extern const AttributeGrammar block_scaling_config;
extern const AttributeGrammar is_associative;
extern const AttributeGrammar mode;
extern const AttributeGrammar sharding;
extern const AttributeGrammar frontend_attributes;
extern const AttributeGrammar statistics;
extern const AttributeGrammar origin;
extern const AttributeGrammar backend_config;

}  // namespace sapper::hlo::attribute
