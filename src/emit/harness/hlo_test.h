// A harness for tests of compilers behind the PJRT C API: compiles a module with a plugin, runs it, and compares each
// element of its results with what the reference says, within what a legal implementation may deviate there.
// Needs GoogleTest and pjrt_c_api.h; the environment variable PJRT_PLUGIN names the plugin's library.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "pjrt_c_api.h"

namespace hlo_test {

constexpr long double inf = std::numeric_limits<long double>::infinity();
constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();

// An element type as it lies in memory: integers (is_float false), or a binary floating-point format. A complex number
// is two elements.
struct Type {
  PJRT_Buffer_Type type;
  int bytes;
  int bits;
  bool is_signed;
  bool is_float;
  int parts;
  int exponent_bits, mantissa_bits, bias;
  enum Specials { ieee, finite_with_nan, unsigned_zero, finite, powers } specials;
};

// Elements by their bit patterns, row-major; of complex numbers the two parts in turn.
struct Argument {
  Type type;
  std::vector<int64_t> dimensions;
  std::vector<uint64_t> bits;
};

// An infinite tolerance: anything may be there.
struct Result {
  Type type;
  std::vector<int64_t> dimensions;
  std::vector<long double> expected;
  std::vector<long double> tolerance;  // of each element; one: of all
};

struct Program {
  const unsigned char* module;  // serialized HloModuleProto
  size_t module_size;
  const unsigned char* options;  // serialized CompileOptionsProto
  size_t options_size;
  const char* flags;  // that the compiler reads when it starts (XLA_FLAGS)
};

inline long double decode(const Type& type, uint64_t bits) {
  if (!type.is_float) {
    if (!type.is_signed) return static_cast<long double>(bits);
    const int unused = 64 - type.bits;
    return static_cast<long double>(static_cast<int64_t>(bits << unused) >> unused);
  }
  const uint64_t mantissa = bits & ((uint64_t{1} << type.mantissa_bits) - 1);
  const uint64_t largest = (uint64_t{1} << type.exponent_bits) - 1;
  const uint64_t exponent = (bits >> type.mantissa_bits) & largest;
  const bool negative = type.is_signed && ((bits >> (type.bits - 1)) & 1) != 0;
  const long double sign = negative ? -1 : 1;
  const bool all_ones = exponent == largest && mantissa == (uint64_t{1} << type.mantissa_bits) - 1;
  if (type.specials == Type::ieee && exponent == largest) return mantissa == 0 ? sign * inf : nan;
  if (type.specials == Type::finite_with_nan && all_ones) return nan;
  if (type.specials == Type::unsigned_zero && negative && exponent == 0 && mantissa == 0) return nan;
  if (type.specials == Type::powers) return all_ones ? nan : std::ldexp(1.0L, static_cast<int>(exponent) - type.bias);
  if (exponent == 0) return sign * std::ldexp(static_cast<long double>(mantissa), 1 - type.bias - type.mantissa_bits);
  return sign * std::ldexp(static_cast<long double>(mantissa | (uint64_t{1} << type.mantissa_bits)),
                           static_cast<int>(exponent) - type.bias - type.mantissa_bits);
}

// A plugin with a client on its first device.
class Plugin {
 public:
  explicit Plugin(const char* flags) {
    const char* const path = std::getenv("PJRT_PLUGIN");
    if (path == nullptr) throw std::runtime_error("set PJRT_PLUGIN to the library of a PJRT plugin");
    if (*flags != 0) setenv("XLA_FLAGS", flags, 1);
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto get = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
    if (get == nullptr) throw std::runtime_error(std::string(path) + " is no PJRT plugin");
    api_ = get();
    auto initialize = args<PJRT_Plugin_Initialize_Args>();
    check(api_->PJRT_Plugin_Initialize(&initialize));
    auto create = args<PJRT_Client_Create_Args>();
    check(api_->PJRT_Client_Create(&create));
    client_ = create.client;
    auto devices = args<PJRT_Client_AddressableDevices_Args>();
    devices.client = client_;
    check(api_->PJRT_Client_AddressableDevices(&devices));
    if (devices.num_addressable_devices == 0) throw std::runtime_error("the plugin has no device");
    device_ = devices.addressable_devices[0];
  }

  // The bytes of each result.
  std::vector<std::vector<unsigned char>> run(const Program& program, const std::vector<Argument>& arguments,
                                              const std::vector<Result>& results) {
    PJRT_LoadedExecutable* const executable = compile(program);
    std::vector<PJRT_Buffer*> inputs;
    for (const Argument& argument : arguments) inputs.push_back(to_device(argument));
    std::vector<PJRT_Buffer*> outputs(results.size());
    PJRT_Buffer* const* input_list = inputs.data();
    PJRT_Buffer** output_list = outputs.data();
    PJRT_Event* done = nullptr;
    auto options = args<PJRT_ExecuteOptions>();
    auto execute = args<PJRT_LoadedExecutable_Execute_Args>();
    execute.executable = executable;
    execute.options = &options;
    execute.argument_lists = &input_list;
    execute.num_devices = 1;
    execute.num_args = inputs.size();
    execute.output_lists = &output_list;
    execute.device_complete_events = &done;
    check(api_->PJRT_LoadedExecutable_Execute(&execute));
    await(done);
    std::vector<std::vector<unsigned char>> bytes;
    for (size_t k = 0; k < results.size(); ++k) bytes.push_back(to_host(outputs[k], results[k]));
    return bytes;
  }

 private:
  template <class Args>
  static Args args() {
    Args made;
    std::memset(&made, 0, sizeof made);
    made.struct_size = sizeof made;
    return made;
  }

  void check(PJRT_Error* error) const {
    if (error == nullptr) return;
    auto message = args<PJRT_Error_Message_Args>();
    message.error = error;
    api_->PJRT_Error_Message(&message);
    const std::string text(message.message, message.message_size);
    auto destroy = args<PJRT_Error_Destroy_Args>();
    destroy.error = error;
    api_->PJRT_Error_Destroy(&destroy);
    throw std::runtime_error(text);
  }

  void await(PJRT_Event* event) const {
    if (event == nullptr) return;
    auto wait = args<PJRT_Event_Await_Args>();
    wait.event = event;
    check(api_->PJRT_Event_Await(&wait));
    auto destroy = args<PJRT_Event_Destroy_Args>();
    destroy.event = event;
    check(api_->PJRT_Event_Destroy(&destroy));
  }

  PJRT_LoadedExecutable* compile(const Program& program) const {
    std::string code(reinterpret_cast<const char*>(program.module), program.module_size);
    auto source = args<PJRT_Program>();
    source.code = code.data();
    source.code_size = code.size();
    source.format = "hlo";
    source.format_size = 3;
    auto compile = args<PJRT_Client_Compile_Args>();
    compile.client = client_;
    compile.program = &source;
    compile.compile_options = reinterpret_cast<const char*>(program.options);
    compile.compile_options_size = program.options_size;
    check(api_->PJRT_Client_Compile(&compile));
    return compile.executable;
  }

  PJRT_Buffer* to_device(const Argument& argument) const {
    std::vector<unsigned char> bytes;
    for (const uint64_t bits : argument.bits)
      for (int b = 0; b < argument.type.bytes; ++b) bytes.push_back(static_cast<unsigned char>(bits >> (8 * b)));
    auto copy = args<PJRT_Client_BufferFromHostBuffer_Args>();
    copy.client = client_;
    copy.device = device_;
    copy.data = bytes.data();
    copy.type = argument.type.type;
    copy.dims = argument.dimensions.data();
    copy.num_dims = argument.dimensions.size();
    copy.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
    check(api_->PJRT_Client_BufferFromHostBuffer(&copy));
    await(copy.done_with_host_buffer);
    return copy.buffer;
  }

  std::vector<unsigned char> to_host(PJRT_Buffer* buffer, const Result& result) const {
    std::vector<int64_t> minor_to_major;
    for (size_t d = result.dimensions.size(); d-- > 0;) minor_to_major.push_back(static_cast<int64_t>(d));
    auto layout = args<PJRT_Buffer_MemoryLayout>();
    layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    layout.tiled = args<PJRT_Buffer_MemoryLayout_Tiled>();
    layout.tiled.minor_to_major = minor_to_major.data();
    layout.tiled.minor_to_major_size = minor_to_major.size();
    auto copy = args<PJRT_Buffer_ToHostBuffer_Args>();
    copy.src = buffer;
    copy.host_layout = &layout;
    check(api_->PJRT_Buffer_ToHostBuffer(&copy));  // the size
    std::vector<unsigned char> bytes(std::max(copy.dst_size, result.expected.size() * result.type.bytes));
    copy.dst = bytes.data();
    check(api_->PJRT_Buffer_ToHostBuffer(&copy));
    await(copy.event);
    return bytes;
  }

  const PJRT_Api* api_ = nullptr;
  PJRT_Client* client_ = nullptr;
  PJRT_Device* device_ = nullptr;
};

inline long double element(const Type& type, const std::vector<unsigned char>& bytes, size_t i) {
  uint64_t bits = 0;
  for (int b = 0; b < type.bytes; ++b) bits |= static_cast<uint64_t>(bytes[i * type.bytes + b]) << (8 * b);
  return decode(type, type.bits < 64 ? bits & ((uint64_t{1} << type.bits) - 1) : bits);
}

// As near as a legal implementation is. Both parts of a complex number are compared at once.
inline bool agrees(const Result& result, const std::vector<unsigned char>& bytes, size_t first, size_t number) {
  const long double tolerance = result.tolerance[result.tolerance.size() == 1 ? 0 : number];
  if (tolerance == inf) return true;
  long double squares = 0;
  for (int part = 0; part < result.type.parts; ++part) {
    const long double got = element(result.type, bytes, first + part);
    const long double expected = result.expected[first + part];
    if (got == expected || (std::isnan(got) && std::isnan(expected))) continue;
    squares += (got - expected) * (got - expected);  // NaN where one is
  }
  return std::sqrt(squares) <= tolerance;
}

// Runs the program, and compares every element.
inline void expect_agrees(const Program& program, const std::vector<Argument>& arguments,
                          const std::vector<Result>& results) {
  static Plugin* plugin = nullptr;  // never freed: not every plugin can be closed
  std::vector<std::vector<unsigned char>> outputs;
  try {
    if (plugin == nullptr) plugin = new Plugin(program.flags);
    outputs = plugin->run(program, arguments, results);
  } catch (const std::exception& error) {
    FAIL() << error.what();
  }
  for (size_t k = 0; k < results.size(); ++k) {
    const Result& result = results[k];
    size_t wrong = 0;
    std::ostringstream first_wrong;
    const size_t count = result.expected.size() / result.type.parts;
    for (size_t i = 0; i < count; ++i) {
      const size_t first = i * result.type.parts;
      if (agrees(result, outputs[k], first, i)) continue;
      if (wrong++ > 0) continue;
      first_wrong << "element " << i << " (row-major) is";
      for (int part = 0; part < result.type.parts; ++part)
        first_wrong << " " << element(result.type, outputs[k], first + part);
      first_wrong << ", expected";
      for (int part = 0; part < result.type.parts; ++part) first_wrong << " " << result.expected[first + part];
    }
    EXPECT_EQ(wrong, 0u) << "of " << count << " elements of result " << k << ": " << first_wrong.str();
  }
}

}  // namespace hlo_test
