# SPDX-License-Identifier: MIT
#
# model.mk - libfiber's scheduler on more CPUs than there are (bench/model/main.c)
#
# make bench-model [WORK=tree,server,...] [SEED=1]    a table, and docs/pictures/model-*.svg where all works are run

MODEL_NOT := libfiber/os/posix/clock.c libfiber/os/linux/futex.c libfiber/base/tls.c libfiber/poll/choose.c \
	$(filter-out %/sample.c %/objects.c,$(wildcard libfiber/service/*.c))
MODEL_LIB := $(filter-out $(MODEL_NOT),$(LIB_SRC))
MODEL_SEEN := $(wildcard bench/model/works/*.c) bench/libfiber/tree.c \
	$(filter-out %/table.c,$(wildcard bench/libfiber/shared/*.c))
MODEL_INC := -I. -Ibench/model/seams \
	$(filter-out -Ilibfiber/context/announce/% -Ilibfiber/runtime/carriers/threads -Ilibfiber/core/sole/%,$(LIB_INC)) \
	-Ilibfiber/core/sole/none
MODEL_OBJ := $(MODEL_LIB:libfiber/%=$(BUILD)/obj/model/lib/%.o) $(MODEL_SEEN:%.c=$(BUILD)/obj/model/%.o) \
	$(patsubst %.c,$(BUILD)/obj/model/%.o,$(wildcard bench/model/*.c)) \
	$(BUILD)/obj/libfiber-test/memory/tsan.o $(BUILD)/obj/libfiber-test/memory/atomics.o
MODEL_PLAIN := $(foreach f,memcpy memmove memset,--redefine-sym $(f)=fib_model_$(f))
MODEL_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,fib_os_cpu fib_os_cpus fib_os_yield clock_gettime fib_steal \
	fib_idle_search fib_idle_found fib_idle_sleep)
# The program alone is compiled so; it is not linked with ThreadSanitizer.
MODEL_WATCHED := -fsanitize=thread -Wno-tsan --param tsan-instrument-func-entry-exit=0

# The calls that the compiler makes before each access are those of the model, so its own sanitizer cannot be another.
MODELLED := $(if $(SAN),,yes)

.PHONY: bench-model
bench-model: $(BUILD)/bench/model $(BUILD)/bench/libfiber
	@python3 -B bench/model/run.py --program $(BUILD)/bench/model $(if $(WORK),--work $(WORK)) --seed $(SEED) \
		--pictures docs/pictures --machine $(BUILD)/bench/libfiber

$(BUILD)/obj/model/lib/%.o: libfiber/%
	$(call say,$(if $(filter %.S,$<),AS,CC),$(call compiled,model))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(MODEL_INC) $(CFLAGS) $(if $(filter %.c,$<),$(MODEL_WATCHED)) -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(MODEL_PLAIN) $@
$(MODEL_SEEN:%.c=$(BUILD)/obj/model/%.o): $(BUILD)/obj/model/%.o: %.c
	$(call say,CC,$(call compiled,model))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(MODEL_INC) $(CFLAGS) $(MODEL_WATCHED) -MMD -MP -c -o $@ $<
	$(Q)$(OBJCOPY) $(MODEL_PLAIN) $@
$(BUILD)/obj/model/%.o: %.c
	$(call say,CC,$(call compiled,model))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(MODEL_INC) -Ilibfiber-test $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/obj/model/lib/core/note.S.o: CPPFLAGS += -I$(BUILD)/gdb
$(BUILD)/obj/model/lib/core/note.S.o: $(GDB_SCRIPT)
$(BUILD)/bench/model: $(MODEL_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -no-pie $(MODEL_WRAP) -o $@ $^ $(LIB_LIBS) -lm
