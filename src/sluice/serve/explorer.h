// The explorer: models behind an HTTP interface (docs/http.md) and the page that shows them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sluice/infer/loaded_model.h"
#include "sluice/serve/server.h"

namespace sluice::serve {

struct ExplorerOptions {
  std::vector<std::filesystem::path> models;
  ModelOptions model = {};
  ServerOptions server = {};
  QueueLimits queue = {};
  std::string token = {};  // that every request needs; empty: none, or one that is made if others can connect
  bool read_only = false;
  size_t cache_bytes = 0;  // of views that are kept; 0: as the machine allows
};

struct ExplorerState;

class Explorer {
 public:
  // Listens from now on. The engine must outlive it.
  Explorer(Engine& engine, const ExplorerOptions& options);
  ~Explorer();

  uint16_t port() const;

  // What to open in a browser, with the token if there is one.
  std::string address() const;

  // Until `stop`, asked a few times a second, says so.
  void run(const std::function<bool()>& stop);

 private:
  Answer answer(const HttpRequest& request);

  std::unique_ptr<ExplorerState> state_;
  std::string host_, token_;
  std::unique_ptr<Server> server_;
};

}  // namespace sluice::serve
