// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the Python interpreter in this process, if it is CPython of a version whose layout is known: where its frames and
//    its code objects have what a stack needs.
// Invariant: looked for once, among the files with which the program starts. The layouts are those of the versions' own
//    headers; where the interpreter itself tells its layout (3.13), that is taken.
// Must not know: which call asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/ipc/loaded_object.hpp"

namespace gr {

// How to find out which frames of Python belong to one call of the interpreter's evaluation, and where on the C stack
// this call is.
enum class PythonChain : std::uint8_t {
    one_by_one,    // 3.9: each frame has a call of its own, and nothing says where
    marked,        // 3.10: each frame has a call of its own, which keeps a mark on the C stack
    entered,       // 3.11: a call has a mark on the C stack, and its outermost frame says that it is the outermost
    on_the_stack,  // 3.12, 3.13: a call has a frame on the C stack, which is no frame of Python and ends its frames
};

// Offsets in bytes.
struct PythonLayout {
    PythonChain chain;
    std::uint16_t thread_frames;  // of a thread: its innermost frame; 3.11, 3.12: its innermost mark
    std::uint16_t thread_marks;   // 3.10 only
    std::uint16_t mark_frame;     // 3.11, 3.12: the mark's innermost frame
    std::uint16_t mark_previous;
    std::uint16_t frame_previous;
    std::uint16_t frame_code;
    std::uint16_t frame_instruction;  // a pointer; up to 3.10 a number
    std::uint16_t frame_kind;         // a byte: is_entry, owner
    std::uint16_t code_file;
    std::uint16_t code_name;
    std::uint16_t code_first_line;
    std::uint16_t code_lines;         // the table of lines
    std::uint16_t code_instructions;  // the first of them; up to 3.10 none
    std::uint16_t ascii_text;         // of a string: its text, if all is ASCII
    std::uint16_t other_text;
};

// A field of an object of the interpreter.
template <class T>
T field(const void *object, std::size_t offset) {
    T value;
    std::memcpy(&value, static_cast<const char *>(object) + offset, sizeof value);
    return value;
}

class Python {
  public:
    constexpr Python() = default;

    // Called once, before the first stack. Calls the loader.
    void find();
    bool is_found() const { return layout_ != nullptr; }

    unsigned minor() const { return minor_; }
    const PythonLayout &layout() const { return *layout_; }
    // The state of the calling thread, whether or not it holds the interpreter's lock; nullptr: it runs no Python.
    const void *thread() const;
    // Whether the interpreter ends, and may have deleted the states of threads that still run.
    bool is_ending() const { return is_finalizing_() != 0; }
    bool is_code(const void *object) const {
        constexpr std::size_t kTypeOfObject = 8;
        return field<const void *>(object, kTypeOfObject) == code_type_;
    }
    // Whether code belongs to the interpreter, or to its evaluation, as far as that is one piece.
    bool contains(std::uintptr_t code) const { return object_.contains(reinterpret_cast<const void *>(code)); }
    bool evaluates(std::uintptr_t code) const { return code - evaluation_ <= evaluation_bytes_; }

  private:
    bool find_layout();
    void read_own_layout(const void *runtime);

    const PythonLayout *layout_ = nullptr;
    PythonLayout told_{};  // by the interpreter
    unsigned minor_ = 0;
    void *(*current_)() = nullptr;
    void *(*of_thread_)() = nullptr;
    int (*is_finalizing_)() = nullptr;
    const void *code_type_ = nullptr;
    std::uintptr_t evaluation_ = 0;
    std::uintptr_t evaluation_bytes_ = 0;
    platform::LoadedObject object_;
};

inline constinit Python python;

}  // namespace gr
