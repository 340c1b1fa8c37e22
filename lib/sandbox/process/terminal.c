/* SPDX-License-Identifier: MIT */
/*
 * terminal.c - opens ptys and sets their base settings.
 *
 * EXTPROC switches the kernel's echo and line editing off, while ECHO and ICANON stay visible to
 * programs. So getpass() and the like behave as on a real terminal. The slave is opened by
 * TIOCGPTPEER, because the path of a pty in another mount namespace may lead elsewhere.
 */
#include "sandbox/process/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/fd.h"

int terminal_open_slave(int master, struct err *err)
{
	int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (slave < 0)
		return err_sys(err, "opening a terminal's slave");
	return slave;
}

int terminal_open(unsigned short rows, unsigned short columns, int *ret_master, int *ret_slave,
		  struct err *err)
{
	cleanup_fd int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cleanup_fd int slave = -1;

	if (master < 0)
		return err_sys(err, "opening a terminal");
	if (unlockpt(master) < 0)
		return err_sys(err, "unlocking a terminal");
	slave = terminal_open_slave(master, err);
	if (slave < 0 || terminal_reset(slave, rows, columns, err) < 0)
		return -1;
	*ret_master = fd_steal(&master);
	*ret_slave = fd_steal(&slave);
	return 0;
}

static struct termios base_settings(void)
{
	struct termios settings = {
		.c_iflag = ICRNL | IUTF8,
		.c_cflag = CS8 | CREAD | HUPCL,
		.c_lflag = ICANON | ISIG | IEXTEN | ECHO | EXTPROC | NOFLSH,
	};

	/* 0 disables the other characters (_POSIX_VDISABLE), but VMIN is a count. */
	settings.c_cc[VINTR] = 3;
	settings.c_cc[VQUIT] = 28;
	settings.c_cc[VEOF] = 4;
	settings.c_cc[VMIN] = 1;
	(void)cfsetispeed(&settings, B38400);
	(void)cfsetospeed(&settings, B38400);
	return settings;
}

static bool same_settings(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* Reading first is cheaper: setting takes the terminal's locks, and is rarely needed. */
int terminal_reset(int fd, unsigned short rows, unsigned short columns, struct err *err)
{
	const struct winsize size = { .ws_row = rows, .ws_col = columns };
	const struct termios settings = base_settings();
	struct winsize old_size;
	struct termios old;

	if ((tcgetattr(fd, &old) < 0 || !same_settings(&old, &settings)) &&
	    tcsetattr(fd, TCSANOW, &settings) < 0)
		return err_sys(err, "setting a terminal");
	if ((ioctl(fd, TIOCGWINSZ, &old_size) < 0 || old_size.ws_row != rows ||
	     old_size.ws_col != columns) &&
	    ioctl(fd, TIOCSWINSZ, &size) < 0)
		return err_sys(err, "sizing a terminal");
	return 0;
}
