/* SPDX-License-Identifier: MIT */
/**
 * DOC: The emulated card as a plug-in of libtutti
 *
 * libtutti does not link against the emulated card, so that programs which use a real card never load it. The emulator
 * transport of libtutti opens libtutti-card.so.0, which exports one symbol, the table below. Programs that are linked
 * with libtutti.a and libtutti-card.a contain the same table and open no file.
 */
#ifndef TUTTI_CARD_PLUGIN_H
#define TUTTI_CARD_PLUGIN_H

#include "emulator/card/card.h"
#include "emulator/translated/translated.h"

/** TUTTI_CARD_PLUGIN_ABI - to be changed with this table and with struct tutti_card_config. */
#define TUTTI_CARD_PLUGIN_ABI	 3u
#define TUTTI_CARD_PLUGIN_FILE	 "libtutti-card.so.0"
#define TUTTI_CARD_PLUGIN_SYMBOL "tutti_card_plugin"

/**
 * struct tutti_card_plugin - what the transport calls; card.h and translated.h describe each function.
 * @abi: TUTTI_CARD_PLUGIN_ABI of the plug-in; the first member of every version
 * @config_bytes: sizeof(struct tutti_card_config) in the plug-in
 */
struct tutti_card_plugin {
	uint32_t abi, config_bytes;
	int (*config_read)(struct tutti_card_config *config, FILE *file);
	size_t (*bar_bytes)(const struct tutti_card_config *config);
	int (*create)(const struct tutti_card_config *config, struct tutti_card **card);
	void (*destroy)(struct tutti_card *card);
	void *(*bar)(struct tutti_card *card);
	void (*kick)(struct tutti_card *card);
	bool (*run)(struct tutti_card *card, bool (*done)(void *), void *context);
	int (*inject_string)(struct tutti_card *card, const char *text);
	size_t (*profile)(struct tutti_card *card, struct tutti_card_function *functions, size_t max);
	const char *(*core)(struct tutti_card *card);
	void (*kernels)(struct translator_report *report);
	int (*translate)(const uint8_t *code, uint64_t bytes);
};

extern __attribute__((visibility("default"))) const struct tutti_card_plugin tutti_card_plugin;

#endif
