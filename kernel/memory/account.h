/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_ACCOUNT_H
#define TUTTI_KERNEL_ACCOUNT_H

#include "base/device.h"

/** struct tutti_account - card memory that an open file has, or all files of a user. All: memory_lock. */
struct tutti_account {
	/** @holders: a file's: the file and its buffers, which may outlive it; a user's: the accounts of files */
	u32 holders;
	/** @user: a file's: the account of who opened it; a user's: NULL */
	struct tutti_account *user;
	kuid_t uid;
	/** @link: a user's: in tutti_device.users */
	struct list_head link;
	u64 card_bytes;
};

struct tutti_account *tutti_account_open(struct tutti_device *tdev);
void tutti_account_close(struct tutti_device *tdev, struct tutti_account *account);
int tutti_account_charge(struct tutti_device *tdev, struct tutti_account *account, u64 card_bytes);
void tutti_account_uncharge(struct tutti_account *account, u64 card_bytes);
u64 tutti_account_file_limit(struct tutti_device *tdev);
u64 tutti_account_user_limit(struct tutti_device *tdev);

#endif
