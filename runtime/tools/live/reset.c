/* SPDX-License-Identifier: MIT */
/* tutti reset: the driver's reset by hand. It does not open the card, which may hang. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "tool.h"

#define CARDS "/sys/bus/pci/drivers/tutti/*/card_reset"

/* The card's sysfs folder is @address, or the only one there is. Return: an exit status, after a message. */
static int find_card(const char *address, char *path, size_t bytes)
{
	glob_t cards;
	int error = EXIT_FAILS;

	if (address) {
		snprintf(path, bytes, "/sys/bus/pci/drivers/tutti/%s/card_reset", address);
		if (!strchr(address, '/') && !access(path, F_OK))
			return EXIT_WORKS;
		fprintf(stderr, "tutti reset: the driver tutti serves no card at %s\n", address);
		return EXIT_FAILS;
	}
	if (glob(CARDS, 0, NULL, &cards)) {
		fputs("tutti reset: the driver tutti serves no card here (the emulated card is gone with its program)\n",
		      stderr);
		return EXIT_FAILS;
	}
	if (cards.gl_pathc == 1) {
		snprintf(path, bytes, "%s", cards.gl_pathv[0]);
		error = EXIT_WORKS;
	} else {
		fprintf(stderr, "tutti reset: there are %zu cards; say which by its PCI address\n", cards.gl_pathc);
		error = EXIT_USAGE;
	}
	globfree(&cards);
	return error;
}

static int write_reset(const char *path, const char *what)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, what, strlen(what)) < 0) {
		fprintf(stderr, "tutti reset: %s\n",
			errno == EACCES || errno == EPERM ? "only root may reset a card" : strerror(errno));
		if (file >= 0)
			close(file);
		return EXIT_FAILS;
	}
	close(file);
	return EXIT_WORKS;
}

struct wanted {
	const char *what, *address;
};

static const struct argp_option options[] = {
	{ "device", 'd', "ADDRESS", 0, "PCI address of the card (0000:03:00.0); default: the only one there is", 0 },
	{ "function", 'f', NULL, 0, "reset the PCI function, too: card memory is lost; default: load the firmware anew", 0 },
	{ 0 },
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	if (key == 'f')
		wanted->what = "function";
	if (key == 'd')
		wanted->address = value;
	return key == ARGP_KEY_ARG ? -EINVAL : 0;
}

int command_reset(int argc, char **argv)
{
	static const struct tool_command command = { .name = "reset", .options = options, .take = take, .address = true, .about =
		"Resets a card. What runs on it ends with an error, and programs have to open the card again. Only root may do so." };
	struct wanted wanted = { .what = "firmware" };
	char path[PATH_MAX];
	int status;

	tool_options(&command, argc, argv, &wanted);
	status = find_card(wanted.address, path, sizeof(path));
	return status ? status : write_reset(path, wanted.what);
}
