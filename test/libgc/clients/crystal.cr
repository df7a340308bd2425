# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: objects, tables, strings and fibers of a compiler and its program, which both use libgc.
# Invariant: what it prints is the same in each run.
# Must not know: which collector it runs on.
class Node; property l : Node?; property r : Node?; property s : String
 def initialize(@l, @r, @s); end
 def size : Int32; 1 + (@l.try(&.size) || 0) + (@r.try(&.size) || 0); end
end
def tree(n : Int32) : Node?; n == 0 ? nil : Node.new(tree(n-1), tree(n-1), "n#{n}"); end
kept = tree(15)
sum = 0
100.times { sum += tree(11).not_nil!.size }
puts sum, kept.not_nil!.size
h = Hash(String, Array(Int32)).new
50000.times { |i| (h["k#{i % 7001}"] ||= [] of Int32) << i }
puts h.size, h.values.sum(&.size)
ch = Channel(Int32).new
20.times { |i| spawn { t = tree(8 + i % 4); GC.collect if i % 5 == 0; Fiber.yield; ch.send t.not_nil!.size } }
puts 20.times.map { ch.receive }.to_a.sum
s = String.build { |io| 100000.times { |i| io << i << ',' } }
puts s.bytesize, s.split(',').size
