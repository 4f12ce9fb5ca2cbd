// What a Store holds.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "store/connection.h"
#include "store/store.h"

namespace sapper::store {

struct Store::State {
  std::mutex mutex;  // held by every call that uses the connection
  std::unique_ptr<Connection> connection;
};

// An error that names the campaigns there are when `name` is none of them.
[[nodiscard]] Result<Campaign> find_campaign(Connection& connection, const std::string& name);

}  // namespace sapper::store
