# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: an awk program that adjusts paragraphs: refilled to a width, indented, both margins straight.
# Invariant: every word of the input is printed once and in order; variables `width` and `indent` come from outside.
# Must not know: the allocator.
BEGIN { margin = sprintf("%" indent "s", "") }

NF == 0 { end_paragraph(); next }

{
    for (i = 1; i <= NF; i++) {
        if (count > 0 && used + 1 + length($i) > width) {
            print margin adjusted()
            start_line()
        }
        line[++count] = $i
        used += length($i) + (count > 1)
    }
}

END { end_paragraph() }

# The line's words with blanks between them so that it is just as wide as it should be.
function adjusted(    gaps, missing, blanks, text, i) {
    gaps = count - 1
    missing = width - used
    text = line[1]
    for (i = 2; i <= count; i++) {
        blanks = 1 + int(missing * (i - 1) / gaps) - int(missing * (i - 2) / gaps)
        text = text sprintf("%" blanks "s", "") line[i]
    }
    return text
}

function start_line() {
    delete line
    count = used = 0
}

# The last line of a paragraph is left as it is.
function end_paragraph(    text, i) {
    if (count == 0) return
    text = line[1]
    for (i = 2; i <= count; i++) text = text " " line[i]
    print margin text "\n"
    start_line()
}
