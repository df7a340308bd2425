# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: packages that refer to each other, eight layers over them, and trees that die at once, for an evaluator that uses libgc.
# Invariant: what is printed is the same in each run; it takes some seconds and several collections.
# Must not know: which collector it runs on.
let
  inherit (builtins) foldl' genList listToAttrs attrNames attrValues mapAttrs length concatLists concatStringsSep hashString toJSON elemAt sort lessThan stringLength substring toString filter map;
  range = n: genList (i: i) n;
  fix = f: let x = f x; in x;
  extend = base: overlays: fix (foldl' (f: overlay: self: let super = f self; in super // overlay self super) base overlays);
  package = i: self: {
    name = "package-${toString i}";
    version = "${toString (i / 100)}.${toString (i - i / 10 * 10)}";
    inputs = if i == 0 then [ ] else map (k: self."p${toString ((i * 7919 + k * 104729) - (i * 7919 + k * 104729) / i * i)}") (range 4);
    meta = { license = "free"; position = i; description = "the number ${toString i} of a set that refers to itself"; };
    weight = 1 + foldl' (sum: input: sum + (input.weight - input.weight / 997 * 997)) 0 (self."p${toString i}".inputs);
    hash = hashString "sha256" (concatStringsSep ":" ([ (toString i) ] ++ map (input: input.hash) (self."p${toString i}".inputs)));
  };
  base = self: listToAttrs (map (i: { name = "p${toString i}"; value = package i self; }) (range 16000));
  overlay = k: self: super: mapAttrs (name: value: value // { generation = k; meta = value.meta // { overlay = k; }; }) super;
  packages = extend base (map overlay (range 8));
  tree = n: if n == 0 then null else { left = tree (n - 1); right = tree (n - 1); value = n; };
  size = t: if t == null then 0 else 1 + size t.left + size t.right;
in {
  weights = foldl' (sum: p: sum + p.weight - (sum + p.weight) / 1000003 * 1000003) 0 (attrValues packages);
  hashes = hashString "sha256" (concatStringsSep "," (map (p: p.hash) (attrValues packages)));
  generations = foldl' (sum: p: sum + p.generation + p.meta.overlay) 0 (attrValues packages);
  sorted = hashString "sha256" (toJSON (sort (a: b: lessThan (substring 0 12 a.hash) (substring 0 12 b.hash)) (map (p: { inherit (p) name version hash meta; }) (attrValues packages))));
  trees = foldl' (sum: i: sum + size (tree (10 + i - i / 4 * 4))) 0 (range 1500);
  text = stringLength (concatStringsSep "\n" (map toJSON (map (p: removeAttrs p [ "inputs" ]) (attrValues packages))));
}
