% SPDX-License-Identifier: Apache-2.0 OR MIT
% What: a score, and lists in its language; guile 2.2 inside uses libgc.
% Invariant: what it prints is the same in each run.
% Must not know: which collector it runs on.
\version "2.24.0"
#(define (tree n) (if (zero? n) '() (cons (tree (1- n)) (tree (1- n)))))
#(for-each (lambda (i) (tree 12)) (iota 30))
music = { \repeat unfold 120 { c'4 d'8 e' f'4 <g' b' d''>4 | a'16 b' c'' d'' e''8( f'') g''4-. r4 | } }
\score { << \new Staff \music \new Staff { \clef bass \transpose c' c \music } >> \layout {} \midi {} }
