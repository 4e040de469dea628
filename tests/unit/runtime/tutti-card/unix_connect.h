/* SPDX-License-Identifier: MIT */
#ifndef UNIX_CONNECT_H
#define UNIX_CONNECT_H

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Connects to the Unix socket at @path. Return: the file descriptor; -1: nobody listens */
static int unix_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

#endif
