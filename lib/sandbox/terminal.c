/* SPDX-License-Identifier: MIT */
#include "sandbox/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
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

int terminal_reset(int fd, unsigned short rows, unsigned short columns, struct err *err)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };
	struct termios settings = {
		.c_iflag = ICRNL | IUTF8,
		.c_cflag = CS8 | CREAD | HUPCL,
		.c_lflag = ICANON | ISIG | IEXTEN | ECHO | EXTPROC | NOFLSH,
	};

	/* The zero of the other characters is _POSIX_VDISABLE, but VMIN is a count. */
	settings.c_cc[VINTR] = 3;
	settings.c_cc[VQUIT] = 28;
	settings.c_cc[VEOF] = 4;
	settings.c_cc[VMIN] = 1;
	(void)cfsetispeed(&settings, B38400);
	(void)cfsetospeed(&settings, B38400);
	if (tcsetattr(fd, TCSANOW, &settings) < 0)
		return err_sys(err, "setting a terminal");
	if (ioctl(fd, TIOCSWINSZ, &size) < 0)
		return err_sys(err, "sizing a terminal");
	return 0;
}
