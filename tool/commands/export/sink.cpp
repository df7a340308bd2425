// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/export/sink.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/whole_file.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

class ToStandardOutput : public Sink {
  public:
    void write(std::string_view bytes) override { print(bytes); }
    void finish() override {}
};

class ToFile : public Sink {
  public:
    explicit ToFile(const std::string &path) : file_(path) {}
    void write(std::string_view bytes) override { file_.write(bytes); }
    void finish() override { file_.finish(); }

  private:
    WholeFile file_;
};

class Gzipped : public Sink {
  public:
    explicit Gzipped(std::unique_ptr<Sink> next) : next_(std::move(next)) {
        constexpr int kGzipWindow = 15 + 16;
        constexpr int kMemoryLevel = 8;
        if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
            Z_OK) {
            throw Failure(ExitCode::tool_failure, "cannot start to compress: out of memory");
        }
    }
    ~Gzipped() override { deflateEnd(&stream_); }
    Gzipped(const Gzipped &) = delete;
    Gzipped &operator=(const Gzipped &) = delete;

    void write(std::string_view bytes) override {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPieceBytes))) {
            run(bytes.substr(0, kPieceBytes), Z_NO_FLUSH);
        }
    }
    void finish() override {
        run({}, Z_FINISH);
        next_->finish();
    }

  private:
    // Until there is room left in the piece that came out, there may be more.
    void run(std::string_view bytes, int flush) {
        // zlib only reads it.
        stream_.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = piece_.data();
            stream_.avail_out = static_cast<uInt>(piece_.size());
            deflate(&stream_, flush);
            next_->write({reinterpret_cast<const char *>(piece_.data()), piece_.size() - stream_.avail_out});
        } while (stream_.avail_out == 0);
    }

    std::unique_ptr<Sink> next_;
    z_stream stream_{};
    std::array<Bytef, kPieceBytes> piece_{};
};

class Zstandard : public Sink {
  public:
    explicit Zstandard(std::unique_ptr<Sink> next)
        : next_(std::move(next)), context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
        if (context_ == nullptr) throw Failure(ExitCode::tool_failure, "cannot start to compress: out of memory");
    }
    void write(std::string_view bytes) override { run(bytes, ZSTD_e_continue); }
    void finish() override {
        run({}, ZSTD_e_end);
        next_->finish();
    }

  private:
    void run(std::string_view bytes, ZSTD_EndDirective directive) {
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        std::size_t left = 0;
        do {
            ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
            left = ZSTD_compressStream2(context_.get(), &out, &in, directive);
            if (ZSTD_isError(left) != 0) throw Failure(ExitCode::tool_failure, ZSTD_getErrorName(left));
            next_->write({piece_.data(), out.pos});
        } while (directive == ZSTD_e_end ? left != 0 : in.pos < in.size);
    }

    std::unique_ptr<Sink> next_;
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
    std::array<char, kPieceBytes> piece_{};
};

}  // namespace

std::unique_ptr<Sink> sink_to(const std::string &path, Compression compression) {
    std::unique_ptr<Sink> sink;
    if (path == "-") {
        sink = std::make_unique<ToStandardOutput>();
    } else {
        sink = std::make_unique<ToFile>(path);
    }
    if (compression == Compression::gzip) return std::make_unique<Gzipped>(std::move(sink));
    if (compression == Compression::zstd) return std::make_unique<Zstandard>(std::move(sink));
    return sink;
}

}  // namespace gr::tool
