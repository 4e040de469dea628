# SPDX-License-Identifier: MIT
# Firmware: the RV32IMC image, one for large cards, and the same logic as a library for the host.

FW := $(OUT)/firmware
FW_FOLDERS := core tensor place groups tasks packets queues top
FW_UNITS := $(filter-out core/memory,$(patsubst firmware/%.c,%,$(wildcard $(FW_FOLDERS:%=firmware/%/*.c))))
# What only the host build has.
FW_HOST_UNITS := core/host/hal core/host/discovery top/host/drive
FW_CFLAGS = -march=rv32imc -mabi=ilp32 -mcmodel=medlow -std=gnu11 -O2 -ffreestanding -fno-builtin -nostdlib \
	-fno-schedule-insns -fno-strict-aliasing -ffunction-sections -fdata-sections -fomit-frame-pointer -msmall-data-limit=0 $(WARN) -Iinclude -Ifirmware
# a jump into a common tail is one instruction more on each path
$(FW)/tensor/tile.o $(FW)/large/tensor/tile.o: FW_CFLAGS += -fno-crossjumping -fno-tree-tail-merge
FW_OBJECTS := $(addprefix $(FW)/,top/start.o core/memory.o $(addsuffix .o,$(FW_UNITS)))
FW_HOST_OBJECTS := $(patsubst %,$(FW)/host/%.o,$(FW_UNITS) $(FW_HOST_UNITS))

FW_LARGE_OBJECTS := $(subst $(FW)/,$(FW)/large/,$(FW_OBJECTS))
# What does not run for every kernel or tile is made small: local memory is dear.
FW_SMALL := core/command_ring core/context core/crash core/log core/state groups/cga groups/cga_query core/outbox groups/occupancy \
	groups/nested_search groups/trial_launch packets/condensed_fields packets/condensed_metadata place/affinity place/gpc_slots \
	place/mixed_shapes place/sm_match place/sm_order place/sm_score place/plain_grid queues/agent_packet queues/barrier_packet \
	queues/child_tasks queues/fetch_buffers queues/queue_life tasks/issue_rounds tasks/patience tasks/pending_tasks \
	tasks/task_table tasks/metadata tasks/priority_windows tasks/throttle \
	tasks/wave_split tasks/work_queue tensor/bulk_copy tensor/request_rules tensor/tensor_requests \
	top/heartbeat top/host_channel
$(foreach unit,$(FW_SMALL),$(FW)/$(unit).o $(FW)/large/$(unit).o): FW_SIZE = -Os -msave-restore

all: $(FW)/tutti-fw.bin $(FW)/tutti-fw-large.bin $(FW)/host/libtutti-fw-host.a

$(FW)/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CROSS)gcc $(FW_CFLAGS) $(FW_SIZE) -MMD -MP -c $< -o $@

$(FW)/large/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CROSS)gcc $(FW_CFLAGS) $(FW_SIZE) -DFW_MAX_SMS=TUTTI_MAX_SMS -MMD -MP -c $< -o $@

$(FW)/large/%.o: firmware/%.S
	@mkdir -p $(@D)
	$(CROSS)gcc -march=rv32imc_zicsr -mabi=ilp32 -MMD -MP -c $< -o $@

$(FW)/%.o: firmware/%.S
	@mkdir -p $(@D)
	$(CROSS)gcc -march=rv32imc_zicsr -mabi=ilp32 -MMD -MP -c $< -o $@

$(FW)/tutti-fw.elf: $(FW_OBJECTS)
$(FW)/tutti-fw-large.elf: $(FW_LARGE_OBJECTS)
# The maps tell the benchmarks from which file each function is (tests/bench/firmware/units.c).
$(FW)/tutti-fw.elf $(FW)/tutti-fw-large.elf: firmware/core/link.ld firmware/build.mk
	$(CROSS)gcc -march=rv32imc -mabi=ilp32 -nostdlib -Wl,--gc-sections,-T,firmware/core/link.ld,--no-warn-rwx-segments,-Map=$(@:.elf=.map) \
		$(filter %.o,$^) -lgcc -o $@

$(FW)/mkimage: firmware/tools/mkimage.c firmware/core/base.h
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -Ifirmware $< -o $@ -lelf

$(FW)/%.bin: $(FW)/%.elf $(FW)/mkimage
	$(FW)/mkimage $< $@

# What the images hold, and how near they are to their bounds; the bounds themselves are tests/target/image*.sh.
image-report: $(FW)/tutti-fw.elf $(FW)/tutti-fw-large.elf
	@perl tests/target/image.pl --report $(FW)/tutti-fw.elf
	@perl tests/target/image.pl --report $(FW)/tutti-fw-large.elf

$(FW)/host/%.o: firmware/%.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -fno-strict-aliasing -Ifirmware -MMD -MP -c $< -o $@

$(FW)/host/libtutti-fw-host.a: $(FW_HOST_OBJECTS)
	@rm -f $@
	ar rcs $@ $^

-include $(wildcard $(FW)/*/*.d $(FW)/large/*/*.d $(FW)/host/*/*.d $(FW)/host/*/host/*.d)
