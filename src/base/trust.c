/* SPDX-License-Identifier: Apache-2.0 */
/* Distinguishes files that only the caller and root can have written from others. */
#include "trainprof/base/trust.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* Debian and Fedora give each user a group of the same number, which nobody else is in; files are
 * writable by it under the usual umask there. */
static bool is_private_group(gid_t group, uid_t owner)
{
	struct group entry;
	struct group *found = NULL;
	struct passwd user_entry;
	struct passwd *user = NULL;
	char text[4096];
	char user_text[4096];
	if (group != (gid_t)owner || getgrgid_r(group, &entry, text, sizeof(text), &found) != 0 ||
	    !found || getpwuid_r(owner, &user_entry, user_text, sizeof(user_text), &user) != 0 ||
	    !user)
		return false;
	for (char *const *member = found->gr_mem; *member; member++)
		if (strcmp(*member, user->pw_name) != 0)
			return false;
	return true;
}

static bool is_ours(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

static enum tp_status fail_owner(const char *path, const char *what, uid_t owner,
				 struct tp_error *err)
{
	struct passwd entry;
	struct passwd *user = NULL;
	char text[4096];
	if (getpwuid_r(owner, &entry, text, sizeof(text), &user) != 0)
		user = NULL;
	(void)tp_fail(err, TP_DENIED, "'%s' %s %s (user %u)", path, what,
		      user ? user->pw_name : "another user", (unsigned)owner);
	tp_error_next_word(err, "ls -ld ", path, "   (use a copy of your own)");
	return TP_DENIED;
}

static enum tp_status check(const struct stat *info, const char *path, struct tp_error *err)
{
	if (!is_ours(info->st_uid))
		return fail_owner(path, "belongs to", info->st_uid, err);
	bool group_writes = (info->st_mode & S_IWGRP) != 0 && info->st_gid != 0 &&
			    !is_private_group(info->st_gid, info->st_uid);
	if (!(info->st_mode & S_IWOTH) && !group_writes)
		return TP_OK;
	(void)tp_fail(err, TP_DENIED, "%s may write '%s'",
		      info->st_mode & S_IWOTH ? "everybody" : "others of its group", path);
	tp_error_next_word(err, "chmod go-w ", path, "");
	return TP_DENIED;
}

enum tp_status tp_trust_check(const char *path, struct tp_error *err)
{
	struct stat info;
	if (lstat(path, &info) != 0)
		return tp_fail_errno(err, errno, "cannot open '%s'", path);
	if (S_ISLNK(info.st_mode) && !is_ours(info.st_uid))
		return fail_owner(path, "is a link of", info.st_uid, err);
	if (stat(path, &info) != 0)
		return tp_fail_errno(err, errno, "cannot open '%s'", path);
	return check(&info, path, err);
}

bool tp_trust_is_given(const char *path)
{
	return tp_trust_check(path, NULL) == TP_OK;
}
