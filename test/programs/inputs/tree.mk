# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the makefile of a tree of modules: what each needs is worked out here, by functions and pattern rules.
# Invariant: everything is out of date and nothing is built, for it is run with -n; TREE comes from outside.
# Must not know: the allocator.
MODULES := $(patsubst $(TREE)/%/module.mk,%,$(sort $(wildcard $(TREE)/*/module.mk)))
CFLAGS := -O2 -g -Wall -Wextra

all: programs

include $(MODULES:%=$(TREE)/%/module.mk)

# A module's own needs, and those of what it needs; modules need only earlier ones.
closure = $(sort $(1) $(foreach need,$($(1)_NEEDS),$(call closure,$(need))))

define module
$(1)_OBJECTS := $$($(1)_SOURCES:%.c=build/$(1)/%.o)
$(1)_CLOSURE := $$(call closure,$(1))
$(1)_INCLUDES := $$(addprefix -I$$(TREE)/,$$($(1)_CLOSURE))
build/lib$(1).a: $$($(1)_OBJECTS)
	$$(AR) rcs $$@ $$^
build/$(1)/%.o: $$(TREE)/$(1)/%.c | build/$(1)
	$$(CC) $$(CFLAGS) $$($(1)_DEFINES) $$($(1)_INCLUDES) -c $$< -o $$@
build/program-$(1): build/$(1)/main.o $$($(1)_CLOSURE:%=build/lib%.a)
	$$(CC) $$(CFLAGS) $$(filter %.o,$$^) $$(patsubst build/lib%.a,-l%,$$(filter %.a,$$^)) -o $$@
build/$(1):
	mkdir -p $$@
-include $$($(1)_SOURCES:%.c=$$(TREE)/$(1)/%.d)
endef

$(foreach name,$(MODULES),$(eval $(call module,$(name))))

programs: $(MODULES:%=build/program-%)

.PHONY: all programs
