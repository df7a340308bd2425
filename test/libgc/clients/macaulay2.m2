-- SPDX-License-Identifier: Apache-2.0 OR MIT
-- What: bases of ideals in a system for algebra that uses libgc.
-- Invariant: what it prints is the same in each run.
-- Must not know: which collector it runs on.
R = QQ[x_1..x_6];
I = ideal(x_1^2*x_2-x_3^3, x_2^2*x_4-x_5^3+x_1*x_6^2, x_3*x_4*x_5-x_6^3, x_1*x_2*x_3-x_4*x_5*x_6);
print toString betti gens gb I;
print toString hilbertPolynomial I;
S = ZZ/32003[a..f];
J = ideal random(S^1, S^{-2,-2,-2,-3});
print toString betti res J;
print(#(apply(1..100000, i -> toString i)));
print(2^5000 % 1000003);
print toString dim J;
exit 0
