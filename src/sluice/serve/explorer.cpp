#include "sluice/serve/explorer.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/system.h"
#include "sluice/serve/access.h"
#include "sluice/serve/assets.h"
#include "sluice/serve/explorer_state.h"

namespace sluice::serve {
namespace {

struct Route {
  std::string_view method, path;
  Answer (*answer)(ExplorerState&, const HttpRequest&);
};

constexpr Route kRoutes[] = {
    {"GET", "/health", answer_health},
    {"GET", "/metrics", answer_metrics},
    {"GET", "/api/v1/about", answer_about},
    {"GET", "/api/v1/models", answer_models},
    {"GET", "/api/v1/prompts", answer_prompts},
    {"GET", "/api/v1/backcopy", answer_backcopy},
    {"GET", "/api/v1/examples", answer_examples},
    {"GET", "/api/v1/queue", answer_queue},
    {"POST", "/api/v1/tokenize", answer_tokenize},
    {"POST", "/api/v1/view", answer_view},
    {"POST", "/api/v1/next", answer_next},
    {"POST", "/api/v1/map", answer_map},
    {"POST", "/api/v1/grid", answer_grid},
    {"POST", "/api/v1/compare", answer_compare},
    {"POST", "/api/v1/lens", answer_lens},
    {"POST", "/api/v1/rank", answer_rank},
    {"POST", "/api/v1/generate", answer_generate},
    {"GET", "/v1/models", answer_completion_models},
    {"POST", "/v1/completions", answer_completion},
};

// A view of 1,024 tokens through a model of 1.7B parameters takes 240 MB, its layers 64 MB each.
constexpr size_t kMaxCacheBytes = size_t{1} << 30;

size_t cache_bytes_of(const ExplorerOptions& options) {
  if (options.cache_bytes != 0) return options.cache_bytes;
  return std::min(kMaxCacheBytes, static_cast<size_t>(system_memory().available) / 4);
}

std::string token_of(const ExplorerOptions& options) {
  if (!options.token.empty() || is_loopback(options.server.host)) return options.token;
  return random_token();
}

// HEAD is a GET whose body is not sent.
std::string_view method_of(const HttpRequest& request) {
  return request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
}

[[noreturn]] void refuse_method(std::string_view allowed) {
  throw HttpError(405, fmt::format("only {} here", allowed));
}

}  // namespace

Explorer::Explorer(Engine& engine, const ExplorerOptions& options)
    : state_(new ExplorerState{.engine = engine,
                               .shelf = ModelShelf(engine, options.models, options.model),
                               .views = ViewStore(cache_bytes_of(options)),
                               .queue = FairQueue(options.queue),
                               .read_only = options.read_only,
                               .http = options.server.connection.http}),
      host_(options.server.host),
      token_(token_of(options)),
      server_(std::make_unique<Server>(
          options.server, [this](const HttpRequest& request) { return answer(request); }, state_->queue,
          state_->metrics)) {}

Explorer::~Explorer() = default;

uint16_t Explorer::port() const {
  return server_->port();
}

std::string Explorer::address() const {
  const bool anywhere = host_ == "0.0.0.0" || host_ == "::";
  const bool brackets = host_.find(':') != std::string::npos && !anywhere;
  const std::string host = anywhere ? "localhost" : brackets ? fmt::format("[{}]", host_) : host_;
  return fmt::format("http://{}:{}/{}", host, port(),
                     token_.empty() ? "" : "?token=" + percent_encoded(token_));
}

void Explorer::run(const std::function<bool()>& stop) {
  server_->run(stop);
}

Answer Explorer::answer(const HttpRequest& request) {
  const AccessRules rules{.host = host_, .port = port(), .token = token_};
  if (std::optional<HttpResponse> exchange = token_exchange(request, rules)) return *exchange;
  check_access(request, rules);
  const auto* route = std::ranges::find(kRoutes, request.path, &Route::path);
  if (route != std::end(kRoutes)) {
    if (route->method != method_of(request)) refuse_method(route->method);
    return route->answer(*state_, request);
  }
  const Asset* asset = find_asset(request.path);
  if (asset == nullptr) throw HttpError(404, "there is nothing here");
  if (method_of(request) != "GET") refuse_method("GET");
  // What a page links to is beside it: "/story/" would look for it one folder below.
  if (request.path.size() > 1 && request.path.ends_with('/'))
    return HttpResponse{.status = 303,
                        .type = "text/plain; charset=utf-8",
                        .headers = {{"Location", request.path.substr(0, request.path.size() - 1)}}};
  return asset_response(*asset, request);
}

}  // namespace sluice::serve
