;; SPDX-License-Identifier: Apache-2.0 OR MIT
;; What: lists of a program by a compiler that uses libgc, as its program does.
;; Invariant: what it prints is the same in each run.
;; Must not know: which collector it runs on.
(define (tree n) (if (= n 0) '() (cons (tree (- n 1)) (tree (- n 1)))))
(define (size t) (if (pair? t) (+ 1 (size (car t)) (size (cdr t))) 0))
(define (loop i all) (if (= i 0) all (loop (- i 1) (+ all (size (tree 12))))))
(write (loop 100 0)) (newline)
