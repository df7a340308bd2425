# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the parts that run a real program under a chosen malloc; used by the tests, the comparison and the demo.
# Invariant: standard library only.
# Must not know: which programs there are.
