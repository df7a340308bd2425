# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: lists, sets and strings in an evaluator that uses libgc.
# Invariant: what it prints is the same in each run.
# Must not know: which collector it runs on.
let fold = f: z: l: builtins.foldl' f z l;
 range = n: builtins.genList (x: x) n;
 t = n: if n == 0 then null else { l = t (n - 1); r = t (n - 1); name = "n" + toString n; };
 size = x: if x == null then 0 else 1 + size x.l + size x.r;
 big = builtins.listToAttrs (map (i: { name = "k" + toString i; value = range 20; }) (range 20000));
in {
 a = fold (x: y: x + y) 0 (range 300000);
 b = size (t 17);
 c = builtins.length (builtins.attrNames big);
 d = builtins.hashString "sha256" (builtins.toJSON big);
 e = builtins.stringLength (builtins.concatStringsSep "," (map toString (range 100000)));
 f = fold (x: i: x + size (t 10)) 0 (range 100);
}
