// The options of commands that read or write a campaign's store (docs/store.md).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sapper::cli {

struct StoreOptions {
  std::string store = "sapper.db";
  std::string campaign;
};

inline void add_store_option(CLI::App& command, StoreOptions& options) {
  command
      .add_option("--store", options.store,
                  "Where campaigns are kept: an SQLite file, or postgresql://USER@HOST/DATABASE")
      ->capture_default_str();
}

}  // namespace sapper::cli
