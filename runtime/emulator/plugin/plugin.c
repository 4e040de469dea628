// SPDX-License-Identifier: MIT
#include "emulator/plugin/plugin.h"

const struct tutti_card_plugin tutti_card_plugin = {
    .abi = TUTTI_CARD_PLUGIN_ABI,
    .config_bytes = sizeof(struct tutti_card_config),
    .config_read = tutti_card_config_read,
    .bar_bytes = tutti_card_bar_bytes,
    .create = tutti_card_create,
    .destroy = tutti_card_destroy,
    .bar = tutti_card_bar,
    .kick = tutti_card_kick,
    .run = tutti_card_run,
    .inject_string = tutti_card_inject_string,
    .profile = tutti_card_profile,
    .core = tutti_card_core,
    .kernels = translator_report,
    .translate = translator_fill,
};
