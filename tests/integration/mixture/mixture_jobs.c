/* SPDX-License-Identifier: MIT */
#include "mixture.h"

#define MEMORY_BYTES (16u << 20)
#define ITEMS_MOST   60u
#define FILL_BYTES   20000u

static struct tutti_executable *tasks, *groups;
static char *memory;
static size_t memory_used;

void mixture_open(const char *topology)
{
	rig = topology ? rig_topology(topology) : rig_open(NULL);
	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tests/integration/kernels/task.tco"), &tasks, NULL), 0);
	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tests/integration/kernels/cga.tco"), &groups, NULL), 0);
	mixture.sms = tutti_device_discovery(rig->device)->sms;
	memory = rig_alloc(rig, MEMORY_BYTES);
}

void mixture_close(void)
{
	tutti_executable_destroy(tasks);
	tutti_executable_destroy(groups);
	rig_close(rig);
}

struct tutti_kernel mixture_kernel(const char *name)
{
	struct tutti_kernel kernel;

	if (tutti_executable_kernel(tasks, name, &kernel) && tutti_executable_kernel(groups, name, &kernel))
		return rig_kernel(rig, name);
	return kernel;
}

void memory_begin(void)
{
	memset(memory, 0, memory_used);
	memory_used = 0;
}

void *memory_take(size_t bytes)
{
	void *at = memory + memory_used;

	memory_used += (bytes + 63) & ~(size_t)63;
	assert_true(memory_used <= MEMORY_BYTES);
	return at;
}

static __attribute__((format(printf, 2, 3))) void fail_job(const struct job *job, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fail_msg("seed %llu, job %u in queue %u: %s", (unsigned long long)mixture.seed, (unsigned)(job - mixture.job),
		 job->queue, text);
}

/* A part has to have been done @job->times over, if the job was not stopped; never more often. */
static void part(const struct job *job, const char *what, unsigned number, uint64_t done)
{
	if (done > job->times || (job->state == JOB_MUST && done != job->times))
		fail_job(job, "%s %u was done %llu times instead of %s%u", what, number, (unsigned long long)done,
			 job->state == JOB_MUST ? "" : "at most ", job->times);
}

/* ---- attributes ---- */

/* Attributes that a kind of job may have. Jobs with CGAs get no mask, as it might leave no room for a whole CGA. */
enum { MAY_AFFINITY = 1, MAY_SEQUENCE = 2, MAY_THROTTLE = 4, MAY_ALL = 7 };

static void draw_affinity(struct tutti_task_attributes *a)
{
	static uint32_t mask[TUTTI_MAX_SMS / 32];
	unsigned some = draw(mixture.sms);

	memset(mask, 0, sizeof(mask));
	mask[some / 32] |= 1u << some % 32;
	for (unsigned i = 0; i < mixture.sms; i++)
		if (chance(2))
			mask[i / 32] |= 1u << i % 32;
	a->affinity = mask;
	a->affinity_words = (mixture.sms + 31) / 32;
	met(F_AFFINITY);
}

static struct tutti_task_attributes draw_attributes(unsigned may)
{
	struct tutti_task_attributes a = { 0 };

	if (chance(2)) {
		a.priority = (uint8_t)(1 + draw(10));
		met(F_PRIORITY);
	}
	if (chance(4)) {
		a.head = true;
		met(F_HEAD);
	}
	if (chance(4)) {
		a.quota = 1 + draw(8);
		met(F_QUOTA);
	}
	if (may & MAY_AFFINITY && chance(4))
		draw_affinity(&a);
	if (may & MAY_SEQUENCE && chance(6)) {
		a.sequence = true;
		met(F_SEQUENCE);
	} else if (may & MAY_THROTTLE && chance(8)) {
		a.throttle_sms = 1 + draw(2);
		met(F_THROTTLE);
	}
	return a;
}

static void make_task(struct job *job, const struct tutti_task_attributes *a)
{
	assert_int_equal(tutti_task_create(rig->device, a, &job->task), 0);
}

/* Attributes for half of the jobs; queues that are not extended take none. */
static void maybe_task(struct job *job, unsigned may)
{
	struct tutti_task_attributes a;

	if (!job->queue || chance(2))
		return;
	a = draw_attributes(may);
	make_task(job, &a);
}

/* ---- launches ---- */

static struct tutti_launch make_launch(struct job *job, const struct tutti_kernel *kernel, uint32_t ctas, uint16_t workgroup)
{
	job->barrier = chance(3);
	if (job->barrier)
		met(F_BARRIER);
	return (struct tutti_launch){ .kernel = kernel, .grid = { ctas * workgroup }, .workgroup = { workgroup },
				      .kernarg = job->args, .signal = job->signal, .barrier = job->barrier,
				      .acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM,
				      .tmd = job->task ? tutti_task_tmd(job->task) : NULL };
}

static void launch(struct job *job, const char *name, uint32_t ctas, uint16_t workgroup)
{
	struct tutti_kernel kernel = mixture_kernel(name);
	struct tutti_launch l = make_launch(job, &kernel, ctas, workgroup);

	job->ctas = ctas;
	job->name = name;
	if (job->task)
		assert_int_equal(tutti_task_dispatch(mixture.queue[job->queue], &l, job->task), 0);
	else
		assert_int_equal(tutti_dispatch(mixture.queue[job->queue], &l), 0);
}

/* ---- grids ---- */

static void *make_log(struct job *job, uint32_t ctas)
{
	struct args_log *a = memory_take(sizeof(*a));

	a->clock = mixture.clock;
	a->order = memory_take(ctas * 4);
	a->sm_of = memory_take(ctas * 4);
	a->runs = memory_take(ctas * 4);
	a->now = memory_take(64);
	a->most = memory_take(64);
	job->log = a;
	return a;
}

static void check_grid(const struct job *job)
{
	for (uint32_t i = 0; i < job->ctas; i++)
		part(job, "CTA", i, job->log->runs[i]);
}

static void start_grid(struct job *job)
{
	uint32_t ctas = 1 + draw(chance(4) ? 300 : 20);

	maybe_task(job, MAY_ALL);
	job->args = make_log(job, ctas);
	job->check = check_grid;
	met(F_GRID);
	launch(job, "note", ctas, (uint16_t)(1 + draw(100)));
}

static void check_sums(const struct job *job)
{
	const uint64_t *sum = ((const struct args_word *)job->args)->word;

	for (uint32_t i = 0; i < job->ctas; i++)
		if (sum[i] || job->state == JOB_MUST)
			assert_int_equal(sum[i], 64u * 64 * i + 63 * 32);
}

static void start_sums(struct job *job)
{
	uint32_t ctas = 1 + draw(40);
	struct args_word *args = job->args = memory_take(sizeof(*args));

	args->word = memory_take(ctas * 8);
	maybe_task(job, MAY_ALL);
	job->check = check_sums;
	met(F_SHARED_MEMORY);
	launch(job, "tree", ctas, 64);
}

static void check_waves(const struct job *job)
{
	const struct args_waves *args = job->args;

	for (uint32_t i = 0; i < job->ctas * args->waves; i++)
		part(job, "wave", i, args->runs[i]);
}

static void start_waves(struct job *job)
{
	uint32_t ctas = 1 + draw(30), waves = 1 + draw(12);
	struct args_waves *args = job->args = memory_take(sizeof(*args));

	*args = (struct args_waves){ .runs = memory_take(ctas * waves * 4), .waves = waves };
	if (job->queue) {
		struct tutti_task_attributes a = draw_attributes(MAY_ALL);

		a.independence = chance(3) ? TUTTI_WAVES_TOGETHER : TUTTI_WAVES_INDEPENDENT;
		if (a.independence == TUTTI_WAVES_INDEPENDENT)
			met(F_INDEPENDENT);
		make_task(job, &a);
	}
	job->check = check_waves;
	met(F_WAVES);
	launch(job, "waves", ctas, (uint16_t)(waves * TUTTI_WAVE_ITEMS));
}

/* ---- CGAs ---- */

static void check_exchange(const struct job *job)
{
	const struct args_cga_sum *args = job->args;

	for (uint32_t i = 0; i < job->ctas; i++)
		assert_int_equal(args->out[i], 0);
	for (uint32_t i = 0; i < job->ctas / 4; i++)
		if (args->out[job->ctas + i] || job->state == JOB_MUST)
			assert_int_equal(args->out[job->ctas + i], 4 * job->items * args->rounds);
}

static void start_exchange(struct job *job)
{
	uint32_t ctas = 4 * (1 + draw(8));
	struct args_cga_sum *args = job->args = memory_take(sizeof(*args));

	*args = (struct args_cga_sum){ .out = memory_take((ctas + ctas / 4) * 8), .rounds = 1 + draw(4) };
	maybe_task(job, 0);
	job->items = 32;
	job->check = check_exchange;
	met(F_CGA);
	launch(job, "cga_exchange", ctas, 32);
}

static void check_look(const struct job *job)
{
	const struct cga_seen *seen = ((const struct args_cga_seen *)job->args)->seen;

	for (uint32_t i = 0; i < job->ctas; i++) {
		part(job, "CTA", i, seen[i].runs);
		if (!seen[i].runs || !seen[i - seen[i].rank].runs)
			continue;
		assert_int_equal(seen[i].ctas, job->items);
		assert_int_equal(seen[i].rank, i % job->items);
		assert_int_equal(seen[i].gpc, seen[i - seen[i].rank].gpc);
	}
}

/* Metadata name the shape of the CGAs. */
static void start_look(struct job *job)
{
	struct args_cga_seen *args;
	struct tutti_task_attributes a;

	if (!job->queue)
		return start_exchange(job);
	a = draw_attributes(MAY_THROTTLE);
	args = job->args = memory_take(sizeof(*args));
	job->items = 2 << draw(2);
	job->ctas = job->items * (1 + draw(8));
	args->seen = memory_take(job->ctas * sizeof(*args->seen));
	a.cga[0] = (struct tutti_cga_shape){ (uint8_t)job->items, 1, 1, TUTTI_CGA_GPC };
	if (job->items == 2 && !a.throttle_sms && chance(2)) {
		a.multicast = true;
		met(F_MULTICAST);
	}
	make_task(job, &a);
	job->check = check_look;
	met(F_CGA_TMD);
	launch(job, "cga_look", job->ctas, 1);
}

/* ---- queue tasks and children ---- */

static void check_items(const struct job *job)
{
	const struct args_items *args = job->args;

	for (uint32_t i = 0; i < job->items; i++)
		part(job, "item", i, args->seen[i]);
}

static void start_items(struct job *job)
{
	struct args_items *args;
	struct tutti_task_attributes a;

	if (!job->queue)
		return start_grid(job);
	a = draw_attributes(MAY_AFFINITY | MAY_THROTTLE);
	args = job->args = memory_take(sizeof(*args));
	assert_int_equal(tutti_work_create(rig->device, 64, 8, &job->work), 0);
	a.work = job->work;
	a.coalesce_min = 1 + draw(8);
	a.coalesce_max = a.coalesce_min + draw(8);
	a.coalesce_us = draw(1000);
	make_task(job, &a);
	*args = (struct args_items){ .tmd = tutti_task_tmd(job->task), .seen = memory_take(ITEMS_MOST * 4),
				     .ctas = memory_take(64), .items = memory_take(64), .least = memory_take(64),
				     .most = memory_take(64) };
	*args->least = ~0ull;
	job->check = check_items;
	met(F_WORK_QUEUE);
	launch(job, "consume", 1, 1);
	for (uint64_t n = draw(ITEMS_MOST / 2); job->items < n; job->items++)
		assert_int_equal(tutti_work_try_push(job->work, &(uint64_t){ job->items }), 0);
}

void job_feed(struct job *job)
{
	uint64_t n = job->items + draw(ITEMS_MOST / 2);

	if (!job->work)
		return;
	for (; job->items < n && !tutti_work_try_push(job->work, &(uint64_t){ job->items }); job->items++)
		;
	tutti_work_close(job->work);
}

static void check_children(const struct job *job)
{
	const struct args_parent *args = job->args;
	uint64_t made = 0;

	for (uint32_t i = 0; i < job->ctas; i++) {
		int64_t left = tutti_signal_load(&args->signal[i]);

		made += !args->result[i];
		if (job->state != JOB_MUST)
			continue;
		if (args->result[i] && args->result[i] != -TUTTI_EBUSY)
			fail_job(job, "creating child %u gave %lld", i, (long long)args->result[i]);
		if (args->wait)
			assert_int_equal(left, !!args->result[i]);
	}
	if (job->state == JOB_MUST && args->wait)
		assert_int_equal(*args->child_runs, made * args->items);
	assert_true(*args->child_runs <= job->ctas * args->items);
}

static void start_parent(struct job *job)
{
	uint32_t ctas = 1 + draw(6);
	struct args_parent *args;

	if (!job->queue)
		return start_grid(job);
	args = job->args = memory_take(sizeof(*args));
	*args = (struct args_parent){ .child = memory_take(ctas * sizeof(struct tutti_tmd)),
				      .signal = memory_take(ctas * sizeof(struct tutti_signal)), .result = memory_take(ctas * 8),
				      .child_runs = memory_take(64), .wait = 1, .items = 1 + draw(80) };
	for (uint32_t i = 0; i < ctas; i++)
		args->signal[i].value = 1;
	maybe_task(job, MAY_AFFINITY);
	job->check = check_children;
	met(F_CHILDREN);
	launch(job, "parent", ctas, 1);
}

/* ---- what has no kernel; recordings ---- */

static void check_fill(const struct job *job)
{
	const uint32_t *words = job->args;

	for (uint32_t i = 0; i < job->items; i++)
		if (words[i] || job->state == JOB_MUST)
			assert_int_equal(words[i], 0x5a5a0000 + job->items);
}

static void start_fill(struct job *job)
{
	job->items = 1 + draw(FILL_BYTES / 4);
	job->args = memory_take(job->items * 4);
	job->check = check_fill;
	met(F_FILL);
	assert_int_equal(tutti_fill_async(mixture.queue[job->queue], job->args, 0x5a5a0000 + job->items, job->items * 4, NULL, 0,
					  job->signal), 0);
}

/* Launches of one kernel, the last of which ends the replay. A task describes one launch at a time. */
static void record(struct job *job, uint32_t launches, struct tutti_recording **recording)
{
	struct tutti_kernel kernel = mixture_kernel("note");
	struct tutti_launch l = make_launch(job, &kernel, job->ctas, 1);
	tutti_signal_t signal = l.signal;

	assert_int_equal(tutti_record_begin(mixture.queue[job->queue]), 0);
	for (uint32_t i = 0; i < launches; i++) {
		l.barrier = job->task || i + 1 == launches || chance(3);
		l.signal = i + 1 == launches ? signal : NULL;
		assert_int_equal(job->task ? tutti_task_dispatch(mixture.queue[job->queue], &l, job->task) :
					     tutti_dispatch(mixture.queue[job->queue], &l), 0);
	}
	assert_int_equal(tutti_record_end(mixture.queue[job->queue], recording), 0);
}

static void start_recording(struct job *job)
{
	static const struct { enum tutti_replay_form form; enum feature feature; } forms[] = {
		{ TUTTI_REPLAY_CONDENSED, F_CONDENSED }, { TUTTI_REPLAY_CONDENSED, F_CONDENSED },
		{ TUTTI_REPLAY_REFERENCE, F_REFERENCE }, { TUTTI_REPLAY_PLAIN, F_REPLAY_PLAIN } };
	uint32_t launches = 1 + draw(12), replays = 1 + draw(4), form = draw(4);
	struct tutti_recording *recording;

	if (!job->queue)
		return start_grid(job);
	maybe_task(job, MAY_ALL);
	job->ctas = 1 + draw(30);
	job->name = "note";
	job->args = make_log(job, job->ctas);
	job->times = launches * replays;
	job->check = check_grid;
	tutti_signal_store(job->signal, replays);
	record(job, launches, &recording);
	job->barrier = false; /* of the launches, not of the first alone */
	assert_int_equal(tutti_recording_form(recording, forms[form].form), 0);
	met(forms[form].feature);
	for (uint32_t i = 0; i < replays; i++)
		assert_int_equal(tutti_replay(recording), 0);
	tutti_recording_destroy(recording);
}

/* ---- the life of a job ---- */

static struct job *new_job(unsigned queue)
{
	struct job *job = &mixture.job[mixture.jobs++];

	assert_true(mixture.jobs <= JOBS_MOST);
	*job = (struct job){ .state = JOB_MUST, .queue = queue, .times = 1, .signal = rig_signal(rig, 1) };
	if (queue == 0)
		met(F_PLAIN_QUEUE);
	if (queue == 2)
		met(F_OVERLAP_QUEUE);
	return job;
}

void job_start(unsigned queue)
{
	static void (*const start[])(struct job *job) = { start_grid, start_grid, start_sums, start_waves, start_exchange, start_look,
							  start_items, start_parent, start_fill, start_recording,
							  start_recording };

	start[draw(sizeof(start) / sizeof(*start))](new_job(queue));
}

static void check_nothing(const struct job *job)
{
}

void job_trap(unsigned queue)
{
	struct job *job = new_job(queue);

	job->state = JOB_MAY;
	job->check = check_nothing;
	launch(job, "trap", 1 + draw(8), 1);
}

/* What has not ended, for those who look for the reason. */
static void say_what_is_left(void)
{
	uint64_t counters[TUTTI_COUNTERS];

	rig_counters(rig, counters);
	print_message("# CTAs issued: %llu, completed: %llu\n", (unsigned long long)counters[TUTTI_COUNTER_CTAS_ISSUED],
		      (unsigned long long)counters[TUTTI_COUNTER_CTAS_COMPLETED]);
	for (const struct job *job = mixture.job; job < mixture.job + mixture.jobs; job++) {
		const struct tutti_tmd *tmd = job->task ? tutti_task_tmd(job->task) : NULL;

		if (job->state != JOB_DONE && tutti_signal_load(job->signal) > 0)
			print_message("# job %u, queue %u: %u CTAs of %s%s%s, flags %x, priority %u, throttle %u\n",
				      (unsigned)(job - mixture.job), job->queue, job->ctas, job->name ? job->name : "fill",
				      job->times > 1 ? ", recorded" : "", job->barrier ? ", barrier" : "",
				      tmd ? tmd->flags : 0, tmd ? tmd->priority : 0, tmd ? tmd->throttle_sms : 0);
		if (job->check == check_children && job->state == JOB_MUST) {
			const struct args_parent *args = job->args;

			print_message("#   its first child: result %lld, signal %lld, items run %llu of %u each\n",
				      (long long)args->result[0], (long long)tutti_signal_load(&args->signal[0]),
				      (unsigned long long)*args->child_runs, args->items);
		}
	}
}

static void say_why(unsigned queue)
{
	struct tutti_fault fault;
	char text[512];

	if (tutti_queue_error(mixture.queue[queue], &fault) > 0) {
		tutti_fault_text(mixture.queue[queue], &fault, text, sizeof(text));
		print_message("# queue %u has stopped: %s\n", queue, text);
	}
}

void job_wait(struct job *job)
{
	int64_t value;
	int error = tutti_signal_wait(rig->device, job->signal, TUTTI_LT, 1, RIG_WAIT, &value);

	if (error) {
		say_why(job->queue);
		say_what_is_left();
		fail_job(job, "%s", tutti_strerror(error));
	}
	if (value && !(job->cancelled && tutti_signal_cancelled(value)))
		fail_job(job, "its signal is %lld", (long long)value);
}

/* No CTA of a job with a barrier has started before one of an earlier job of its queue. */
static void check_barrier(const struct job *job)
{
	uint32_t first = UINT32_MAX;

	if (!job->barrier || !job->log || job->times > 1)
		return;
	for (uint32_t i = 0; i < job->ctas; i++)
		if (job->log->order[i] && job->log->order[i] < first)
			first = job->log->order[i];
	for (const struct job *other = mixture.job; other < job; other++)
		for (uint32_t i = 0; other->queue == job->queue && other->log && i < other->ctas; i++)
			if (other->log->order[i] > first)
				fail_job(job, "it started before CTA %u of job %u", i, (unsigned)(other - mixture.job));
}

void job_check(struct job *job)
{
	job->check(job);
	check_barrier(job);
	if (job->task && job->state == JOB_MUST && job->times == 1 && !job->work) {
		struct tutti_task_counters c;

		assert_int_equal(tutti_task_counters(job->task, &c), 0);
		assert_int_equal(c.state, TUTTI_TMD_FINISHED);
		assert_int_equal(c.completed, c.issued);
	}
	job->cancelled = false;
	job->state = JOB_MAY;
}

void job_end(struct job *job)
{
	tutti_task_destroy(job->task);
	tutti_work_destroy(job->work);
	tutti_signal_destroy(rig->device, job->signal);
	job->state = JOB_DONE;
	job->task = NULL;
	job->work = NULL;
}
