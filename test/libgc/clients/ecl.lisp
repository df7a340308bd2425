;; SPDX-License-Identifier: Apache-2.0 OR MIT
;; What: lists, structures, objects, tables, bignums, strings, threads in a Lisp that uses libgc.
;; Invariant: what it prints is the same in each run.
;; Must not know: which collector it runs on.
(defun tree (n) (if (= n 0) nil (cons (tree (1- n)) (tree (1- n)))))
(defun count-tree (x) (if (consp x) (+ 1 (count-tree (car x)) (count-tree (cdr x))) 0))
(defstruct item name number next)
(defclass node () ((left :initarg :left :accessor left) (right :initarg :right :accessor right)))
(defun nodes (n) (if (= n 0) nil (make-instance 'node :left (nodes (1- n)) :right (nodes (1- n)))))
(defun nsize (x) (if x (+ 1 (nsize (left x)) (nsize (right x))) 0))
(let ((kept (tree 16)) (table (make-hash-table :test 'equal)) (sum 0))
  (dotimes (i 40) (incf sum (count-tree (tree 14))))
  (format t "~a ~a~%" sum (count-tree kept))
  (dotimes (i 100000)
    (let ((key (format nil "key-~a" (mod (* i 7919) 20011))))
      (setf (gethash key table)
            (let ((before (gethash key table)))
              (make-item :name key :number (+ i (if before (item-number before) 0)) :next before)))))
  (format t "~a~%" (hash-table-count table))
  (let ((all nil)) (maphash (lambda (k v) (push (cons k (item-number v)) all)) table)
    (setf all (sort all #'string< :key #'car))
    (format t "~s~%" (subseq all 0 20))
    (format t "~a~%" (reduce #'+ (mapcar #'cdr all)))))
(format t "~a~%" (nsize (nodes 14)))
(let ((f 1)) (loop for i from 1 to 2000 do (setf f (* f i)))
  (format t "~a ~a~%" (mod f (1- (expt 2 127))) (length (format nil "~a" f))))
(let ((s (make-string-output-stream))) (dotimes (i 50000) (format s "~r " i))
  (format t "~a~%" (length (get-output-stream-string s))))
(let ((w (make-hash-table :weakness :key))) (dotimes (i 10000) (setf (gethash (list i) w) i))
  (si:gc t)
  (format t "~a~%" (< (hash-table-count w) 10001)))
#+threads
(let* ((results (make-array 6))
       (threads (loop for i below 6
                      collect (let ((i i))
                                (mp:process-run-function "worker"
                                  (lambda () (setf (aref results i) (count-tree (tree (+ 12 (mod i 3)))))))))))
  (mapc #'mp:process-join threads)
  (format t "~a~%" results))
