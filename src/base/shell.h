// Words of a command that a person is told to run.
#pragma once

#include <string>

namespace sapper {

// As a shell reads it as one word: quoted, where it has to be.
[[nodiscard]] std::string shell_quoted(const std::string& word);

}  // namespace sapper
