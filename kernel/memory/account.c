// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Who has how much of the card's memory, and how much one may have (spec REL-12). */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/moduleparam.h>

#include "memory/account.h"

static uint file_card_percent = 90;
module_param(file_card_percent, uint, 0644);
MODULE_PARM_DESC(file_card_percent, "most of the card's memory that a file may have without CAP_SYS_RESOURCE (90)");

static uint user_card_percent = 90;
module_param(user_card_percent, uint, 0644);
MODULE_PARM_DESC(user_card_percent,
		 "most of the card's memory that all files of a user may have without CAP_SYS_RESOURCE (90)");

static u64 tutti_account_limit(struct tutti_device *tdev, uint percent)
{
	return PAGE_ALIGN(div_u64(tdev->known.memory_bytes * min(percent, 100u), 100));
}

/** tutti_account_file_limit() - bytes of card memory that a file may have. */
u64 tutti_account_file_limit(struct tutti_device *tdev)
{
	return tutti_account_limit(tdev, READ_ONCE(file_card_percent));
}

/** tutti_account_user_limit() - bytes of card memory that all files of a user may have. */
u64 tutti_account_user_limit(struct tutti_device *tdev)
{
	return tutti_account_limit(tdev, READ_ONCE(user_card_percent));
}

static struct tutti_account *tutti_account_find_user(struct tutti_device *tdev, kuid_t uid)
{
	struct tutti_account *user;

	lockdep_assert_held(&tdev->memory_lock);
	list_for_each_entry(user, &tdev->users, link)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/* @new becomes the user's account unless there is one. */
static struct tutti_account *tutti_account_user(struct tutti_device *tdev, struct tutti_account *new)
{
	struct tutti_account *user;

	mutex_lock(&tdev->memory_lock);
	user = tutti_account_find_user(tdev, new->uid);
	if (!user) {
		user = new;
		list_add(&user->link, &tdev->users);
	}
	user->holders++;
	mutex_unlock(&tdev->memory_lock);
	return user;
}

/** tutti_account_open() - of a file that is being opened; NULL: no memory. */
struct tutti_account *tutti_account_open(struct tutti_device *tdev)
{
	struct tutti_account *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	struct tutti_account *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (!file || !user) {
		kfree(file);
		kfree(user);
		return NULL;
	}
	user->uid = current_euid();
	file->holders = 1;
	file->uid = user->uid;
	file->user = tutti_account_user(tdev, user);
	if (file->user != user)
		kfree(user);
	return file;
}

static void tutti_account_put(struct tutti_account *account)
{
	struct tutti_account *user = account->user;

	if (--account->holders)
		return;
	if (user)
		tutti_account_put(user);
	else
		list_del(&account->link);
	kfree(account);
}

/** tutti_account_close() - the file is closed; its buffers may still be there. */
void tutti_account_close(struct tutti_device *tdev, struct tutti_account *account)
{
	mutex_lock(&tdev->memory_lock);
	tutti_account_put(account);
	mutex_unlock(&tdev->memory_lock);
}

static bool tutti_account_has_room(struct tutti_device *tdev, const struct tutti_account *account, u64 bytes)
{
	return account->card_bytes + bytes <= tutti_account_file_limit(tdev) &&
	       account->user->card_bytes + bytes <= tutti_account_user_limit(tdev);
}

/** tutti_account_charge() - for a new buffer. memory_lock is held. 0, or -EDQUOT: the file or its user has too much. */
int tutti_account_charge(struct tutti_device *tdev, struct tutti_account *account, u64 card_bytes)
{
	lockdep_assert_held(&tdev->memory_lock);
	if (!tutti_account_has_room(tdev, account, card_bytes) && !capable(CAP_SYS_RESOURCE))
		return -EDQUOT;
	account->holders++;
	account->card_bytes += card_bytes;
	account->user->card_bytes += card_bytes;
	return 0;
}

/** tutti_account_uncharge() - the buffer is gone. memory_lock is held. */
void tutti_account_uncharge(struct tutti_account *account, u64 card_bytes)
{
	account->card_bytes -= card_bytes;
	account->user->card_bytes -= card_bytes;
	tutti_account_put(account);
}
