// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>

#include "platform/loader.hpp"

namespace gr {
namespace {

constexpr unsigned kFirstMinor = 9;

constexpr std::array kLayouts = {
    PythonLayout{.chain = PythonChain::one_by_one,
                 .thread_frames = 24,
                 .thread_marks = 0,
                 .mark_frame = 0,
                 .mark_previous = 0,
                 .frame_previous = 24,
                 .frame_code = 32,
                 .frame_instruction = 104,
                 .frame_kind = 0,
                 .code_file = 104,
                 .code_name = 112,
                 .code_first_line = 40,
                 .code_lines = 120,
                 .code_instructions = 0,
                 .ascii_text = 48,
                 .other_text = 72},
    PythonLayout{.chain = PythonChain::marked,
                 .thread_frames = 24,
                 .thread_marks = 48,
                 .mark_frame = 0,
                 .mark_previous = 8,
                 .frame_previous = 24,
                 .frame_code = 32,
                 .frame_instruction = 96,
                 .frame_kind = 0,
                 .code_file = 104,
                 .code_name = 112,
                 .code_first_line = 40,
                 .code_lines = 120,
                 .code_instructions = 0,
                 .ascii_text = 48,
                 .other_text = 72},
    PythonLayout{.chain = PythonChain::entered,
                 .thread_frames = 56,
                 .thread_marks = 0,
                 .mark_frame = 8,
                 .mark_previous = 16,
                 .frame_previous = 48,
                 .frame_code = 32,
                 .frame_instruction = 56,
                 .frame_kind = 68,
                 .code_file = 112,
                 .code_name = 128,
                 .code_first_line = 72,
                 .code_lines = 136,
                 .code_instructions = 184,
                 .ascii_text = 48,
                 .other_text = 72},
    PythonLayout{.chain = PythonChain::on_the_stack,
                 .thread_frames = 56,
                 .thread_marks = 0,
                 .mark_frame = 0,
                 .mark_previous = 8,
                 .frame_previous = 8,
                 .frame_code = 0,
                 .frame_instruction = 56,
                 .frame_kind = 70,
                 .code_file = 112,
                 .code_name = 128,
                 .code_first_line = 68,
                 .code_lines = 136,
                 .code_instructions = 192,
                 .ascii_text = 40,
                 .other_text = 56},
    PythonLayout{.chain = PythonChain::on_the_stack,
                 .thread_frames = 72,
                 .thread_marks = 0,
                 .mark_frame = 0,
                 .mark_previous = 0,
                 .frame_previous = 8,
                 .frame_code = 0,
                 .frame_instruction = 56,
                 .frame_kind = 70,
                 .code_file = 112,
                 .code_name = 128,
                 .code_first_line = 68,
                 .code_lines = 136,
                 .code_instructions = 200,
                 .ascii_text = 40,
                 .other_text = 56},
};
constexpr unsigned kTellsOwnLayout = 13;

// The words at the start of the runtime of 3.13.
enum : unsigned {
    kFreeThreaded = 2,
    kThreadFrame = 23,
    kFramePrevious = 29,
    kFrameCode = 30,
    kFrameInstruction = 31,
    kFrameOwner = 33,
    kCodeFile = 35,
    kCodeName = 37,
    kCodeLines = 38,
    kCodeFirstLine = 39,
    kCodeInstructions = 43,
};

template <class Function>
void look(Function *&out, const char *name) {
    out = reinterpret_cast<Function *>(platform::visible_symbol(name));
}

// "3.10.13 (main, ...": versions before 3.11 tell it in words only.
unsigned minor_of(const char *version) {
    if (std::strncmp(version, "3.", 2) != 0) return 0;
    unsigned minor = 0;
    for (const char *at = version + 2; *at >= '0' && *at <= '9'; ++at)
        minor = minor * 10 + static_cast<unsigned>(*at - '0');
    return minor;
}

std::size_t bytes_of_function(const void *function) {
    Dl_info info{};
    void *symbol = nullptr;
    if (dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return 0;
    return static_cast<const ElfW(Sym) *>(symbol)->st_size;
}

}  // namespace

void Python::find() {
    const void *const evaluation = platform::visible_symbol("_PyEval_EvalFrameDefault");
    if (evaluation == nullptr) return;
    code_type_ = platform::visible_symbol("PyCode_Type");
    look(of_thread_, "PyGILState_GetThisThreadState");
    look(is_finalizing_, "_Py_IsFinalizing");
    if (is_finalizing_ == nullptr) look(is_finalizing_, "Py_IsFinalizing");
    if (code_type_ == nullptr || of_thread_ == nullptr || is_finalizing_ == nullptr || !find_layout()) return;
    object_ = platform::LoadedObject(evaluation);
    evaluation_ = reinterpret_cast<std::uintptr_t>(evaluation);
    evaluation_bytes_ = bytes_of_function(evaluation);
}

// A build with free threads has objects of another layout. Only 3.13 says so in its layout.
bool Python::find_layout() {
    if (const void *const version = platform::visible_symbol("Py_Version")) {
        constexpr unsigned kMinorShift = 16;
        minor_ = static_cast<unsigned>(field<unsigned long>(version, 0) >> kMinorShift) & 0xff;
    } else {
        const char *(*text)() = nullptr;
        look(text, "Py_GetVersion");
        minor_ = text == nullptr ? 0 : minor_of(text());
    }
    if (minor_ - kFirstMinor >= kLayouts.size()) return false;
    // Before 3.12 the current state may be another thread's.
    if (minor_ == 12) look(current_, "_PyThreadState_UncheckedGet");
    if (minor_ >= 13) look(current_, "PyThreadState_GetUnchecked");
    layout_ = &kLayouts[minor_ - kFirstMinor];
    if (minor_ < kTellsOwnLayout) return true;
    const void *const runtime = platform::visible_symbol("_PyRuntime");
    if (runtime == nullptr || std::memcmp(runtime, "xdebugpy", 8) != 0 ||
        field<std::uint64_t>(runtime, kFreeThreaded * sizeof(std::uint64_t)) != 0) {
        layout_ = nullptr;
        return false;
    }
    read_own_layout(runtime);
    return true;
}

void Python::read_own_layout(const void *runtime) {
    const auto word = [&](unsigned number) {
        return static_cast<std::uint16_t>(field<std::uint64_t>(runtime, number * sizeof(std::uint64_t)));
    };
    told_ = *layout_;
    told_.thread_frames = word(kThreadFrame);
    told_.frame_previous = word(kFramePrevious);
    told_.frame_code = word(kFrameCode);
    told_.frame_instruction = word(kFrameInstruction);
    told_.frame_kind = word(kFrameOwner);
    told_.code_file = word(kCodeFile);
    told_.code_name = word(kCodeName);
    told_.code_lines = word(kCodeLines);
    told_.code_first_line = word(kCodeFirstLine);
    told_.code_instructions = word(kCodeInstructions);
    layout_ = &told_;
}

const void *Python::thread() const {
    if (current_ != nullptr) {
        if (const void *const current = current_()) return current;
    }
    return of_thread_();
}

}  // namespace gr
