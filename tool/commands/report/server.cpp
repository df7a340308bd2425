// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: server.hpp.
// Invariant: as there. One thread answers; no exception leaves an answer.
// Must not know: what a document tells.
#include "commands/report/server.hpp"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "commands/report/desk.hpp"
#include "commands/report/question.hpp"
#include "reporting/analysis/first_picture.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/html/page.hpp"

namespace gr::tool {

namespace {

constexpr int kForbidden = 403;
constexpr int kAccepted = 202;
constexpr const char *kHost = "127.0.0.1";

template <auto free>
struct Free {
    template <class Object>
    void operator()(Object *object) const {
        free(object);
    }
};
using Base = std::unique_ptr<event_base, Free<event_base_free>>;
using Http = std::unique_ptr<evhttp, Free<evhttp_free>>;
using Signal = std::unique_ptr<event, Free<event_free>>;

template <class Object>
Object *there(Object *object) {
    if (object == nullptr) throw std::bad_alloc();
    return object;
}

std::string new_token() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw Failure(ExitCode::tool_failure,
                      fmt::format("no random bytes for the token: {}", std::generic_category().message(errno)));
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

struct Reply {
    int code = HTTP_OK;
    const char *type = "text/plain; charset=utf-8";
    std::shared_ptr<const std::string> body;
};

Reply told(int code, const std::string &line) {
    return {code, "text/plain; charset=utf-8", std::make_shared<const std::string>(line + "\n")};
}

class Server {
  public:
    Server(const trace::Trace &trace, const Naming &naming, std::uint16_t port)
        : base_(there(event_base_new())),
          http_(there(evhttp_new(base_.get()))),
          last_(trace.last()),
          token_(new_token()) {
        bind(port);
        page_ = std::make_shared<const std::string>(page_to_serve());
        first_ = std::make_shared<const std::string>(to_json(first_picture(trace)));
        desk_ = std::make_unique<Desk>(trace, naming);
    }

    void run() {
        std::signal(SIGPIPE, SIG_IGN);  // a page that is gone is an error of the write
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
            signals_.emplace_back(there(evsignal_new(base_.get(), number, &Server::on_signal, base_.get())));
            evsignal_add(signals_.back().get(), nullptr);
        }
        print(fmt::format("http://{}/?token={}\n", host_, token_));
        event_base_dispatch(base_.get());
        signals_.clear();  // another ends what is still being made
    }

  private:
    static void on_signal(evutil_socket_t /*number*/, short /*what*/, void *base) {
        event_base_loopbreak(static_cast<event_base *>(base));
    }
    static void on_request(evhttp_request *request, void *self) noexcept {
        Reply reply;
        try {
            reply = static_cast<Server *>(self)->reply_to(request);
        } catch (const std::exception &error) {
            complain(error.what());
            evhttp_send_error(request, HTTP_INTERNAL, nullptr);
            return;
        }
        send(request, reply);
    }
    static void send(evhttp_request *request, const Reply &reply);

    void bind(std::uint16_t port);
    [[nodiscard]] bool is_asked_as_itself(evhttp_request *request) const;
    [[nodiscard]] Reply reply_to(evhttp_request *request);
    [[nodiscard]] Reply document(const Parameters &parameters);

    Base base_;
    Http http_;
    std::vector<Signal> signals_;
    trace::Time last_;
    std::string token_;
    std::string host_;  // with the port
    std::shared_ptr<const std::string> page_;
    std::shared_ptr<const std::string> first_;
    std::unique_ptr<Desk> desk_;
};

void Server::bind(std::uint16_t port) {
    constexpr ev_ssize_t kMostHeaders = 16 << 10;
    constexpr int kSeconds = 30;
    evhttp_set_max_headers_size(http_.get(), kMostHeaders);
    evhttp_set_max_body_size(http_.get(), 0);
    evhttp_set_timeout(http_.get(), kSeconds);
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                                EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                                                EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
    evhttp_set_gencb(http_.get(), &Server::on_request, this);
    evhttp_bound_socket *const bound = evhttp_bind_socket_with_handle(http_.get(), kHost, port);
    if (bound == nullptr) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("cannot listen on port {} of {}: {}; without --port the kernel "
                                  "chooses one",
                                  port, kHost, std::generic_category().message(errno)));
    }
    sockaddr_in address{};
    socklen_t length = sizeof address;
    if (::getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr *>(&address), &length) != 0)
        throw std::system_error(errno, std::generic_category(), "getsockname");
    host_ = fmt::format("{}:{}", kHost, ntohs(address.sin_port));
}

// A name that somebody had point here is not this host's.
bool Server::is_asked_as_itself(evhttp_request *request) const {
    const char *const host = evhttp_find_header(evhttp_request_get_input_headers(request), "Host");
    if (host == nullptr) return false;
    return host == host_ || host == "localhost" + host_.substr(std::strlen(kHost));
}

Reply Server::reply_to(evhttp_request *request) {
    if (!is_asked_as_itself(request)) return told(kForbidden, "The request names another host than this server.");
    const evhttp_uri *const uri = evhttp_request_get_evhttp_uri(request);
    const char *const query = uri != nullptr ? evhttp_uri_get_query(uri) : nullptr;
    const char *const path = uri != nullptr ? evhttp_uri_get_path(uri) : nullptr;
    Parameters parameters;
    evkeyvalq pairs{};
    if (query != nullptr && evhttp_parse_query_str(query, &pairs) == 0) {
        for (const evkeyval *pair = pairs.tqh_first; pair != nullptr; pair = pair->next.tqe_next)
            parameters.emplace(pair->key, pair->value);
        evhttp_clear_headers(&pairs);
    }
    if (!is_same_secret(parameters["token"], token_))
        return told(kForbidden, "The token is wrong: open the address that granary report --serve printed.");
    if (evhttp_request_get_command(request) != EVHTTP_REQ_GET) return told(HTTP_BADMETHOD, "Only GET is supported.");
    const std::string_view place = path != nullptr ? path : "";
    if (place == "/") return {HTTP_OK, "text/html; charset=utf-8", page_};
    if (place == "/first") return {HTTP_OK, "application/json", first_};
    if (place == "/document") return document(parameters);
    return told(HTTP_NOTFOUND, "There is no such page.");
}

Reply Server::document(const Parameters &parameters) {
    const auto reader = parameters.find("page");
    if (reader == parameters.end() || !is_reader(reader->second))
        return told(HTTP_BADREQUEST, "The parameter page must consist of small letters and digits.");
    const Asked asked = asked_for(parameters, last_);
    if (!asked.is_valid) return told(HTTP_BADREQUEST, "There is no such window of time in the trace.");
    const Desk::Answer answer = desk_->ask(reader->second, asked.window);
    if (answer.document) return {HTTP_OK, "application/json", answer.document};
    if (!answer.failure.empty()) return told(HTTP_INTERNAL, answer.failure);
    return {kAccepted, "application/json",
            std::make_shared<const std::string>(fmt::format("{{\"done\":{:.3f}}}", answer.done))};
}

void Server::send(evhttp_request *request, const Reply &reply) {
    evkeyvalq *const headers = evhttp_request_get_output_headers(request);
    const auto add = [&](const char *name, const char *value) { evhttp_add_header(headers, name, value); };
    add("Content-Type", reply.type);
    add("Cache-Control", "no-store");
    add("X-Content-Type-Options", "nosniff");
    add("X-Frame-Options", "DENY");
    add("Referrer-Policy", "no-referrer");
    add("Cross-Origin-Resource-Policy", "same-origin");
    if (reply.code == HTTP_BADMETHOD) add("Allow", "GET");
    // The bytes stay where they are until they are sent.
    auto *const body = new std::shared_ptr<const std::string>(reply.body);
    const auto forget = [](const void * /*bytes*/, std::size_t /*size*/, void *owner) {
        delete static_cast<std::shared_ptr<const std::string> *>(owner);
    };
    evbuffer *const buffer = evhttp_request_get_output_buffer(request);
    if (evbuffer_add_reference(buffer, (*body)->data(), (*body)->size(), forget, body) != 0) {
        delete body;
        evhttp_send_error(request, HTTP_INTERNAL, nullptr);
        return;
    }
    evhttp_send_reply(request, reply.code, nullptr, nullptr);
}

}  // namespace

void serve(const trace::Trace &trace, const Naming &naming, std::uint16_t port) { Server(trace, naming, port).run(); }

}  // namespace gr::tool
