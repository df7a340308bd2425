# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a day of git: fast-import, clone, aggressive collection, fsck, log, blame, diff.
# Invariant: prints what the repository holds, never where or how it is packed.
# Must not know: the allocator.
set -e
git init --quiet --bare --initial-branch=main origin.git
git -C origin.git fast-import --quiet
git clone --quiet origin.git copy 2>&1
cd copy
git gc --quiet --aggressive
git fsck --full --strict --no-progress
git log --stat | sha256sum
git log -p -S value --oneline | sha256sum
git blame file-1.txt | sha256sum
git diff HEAD~60 HEAD | sha256sum
git rev-list --objects --all | git cat-file --batch-check='%(objectname) %(objecttype) %(objectsize) %(rest)' | sort | sha256sum
git checkout --quiet -b side HEAD~20
echo changed > file-0.txt
git commit --quiet --all --message "side"
git merge --quiet --no-edit --strategy-option=ours main
git rev-parse HEAD
git status --short
