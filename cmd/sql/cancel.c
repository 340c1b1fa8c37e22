/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - receives signals in a thread.
 *
 * SIGTERM and SIGALRM are blocked in all threads, and one thread receives them by sigwait().
 * `cancel` therefore runs in an ordinary thread: it may lock and call a driver. A lock makes
 * cancel_end() wait for a `cancel` that is running. The thread must be waiting before the seccomp
 * filter holds, which refuses what new threads call.
 */
#include "cancel.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	void (*cancel)(void *data);
	void *data;
	void (*expired)(void);
	atomic_bool requested;
} stop = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void fill_signal_set(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGTERM);
	(void)sigaddset(set, SIGALRM);
}

static void take_signal(int signal_number)
{
	if (signal_number == SIGALRM) {
		if (stop.expired != NULL)
			stop.expired();
		return;
	}
	atomic_store(&stop.requested, true);
	if (stop.cancel != NULL)
		stop.cancel(stop.data);
}

static void *wait_for_signal(void *started)
{
	sigset_t set;
	int signal_number;

	(void)sem_post(started);
	fill_signal_set(&set);
	while (sigwait(&set, &signal_number) == 0) {
		(void)pthread_mutex_lock(&stop.lock);
		take_signal(signal_number);
		(void)pthread_mutex_unlock(&stop.lock);
	}
	return NULL;
}

int cancel_watch(struct err *err)
{
	pthread_t thread = 0;
	sigset_t set;
	sem_t started;

	(void)sem_init(&started, 0, 0);
	fill_signal_set(&set);
	errno = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (errno == 0)
		errno = pthread_create(&thread, NULL, wait_for_signal, &started);
	if (errno == 0)
		errno = pthread_detach(thread);
	/* The first calls of a thread are refused once the seccomp filter holds. */
	while (errno == 0 && sem_wait(&started) < 0)
		errno = errno == EINTR ? 0 : errno;
	return errno == 0 ? 0 : err_sys(err, "starting a thread");
}

static void set_cancel(void (*cancel)(void *data), void *data)
{
	(void)pthread_mutex_lock(&stop.lock);
	stop.cancel = cancel;
	stop.data = data;
	(void)pthread_mutex_unlock(&stop.lock);
}

void cancel_begin(void (*cancel)(void *data), void *data)
{
	set_cancel(cancel, data);
}

void cancel_end(void)
{
	set_cancel(NULL, NULL);
}

void cancel_at(unsigned seconds, void (*expired)(void))
{
	(void)pthread_mutex_lock(&stop.lock);
	stop.expired = expired;
	(void)alarm(seconds);
	(void)pthread_mutex_unlock(&stop.lock);
}

bool cancel_requested(void)
{
	return atomic_load_explicit(&stop.requested, memory_order_relaxed);
}

int cancel_fail(struct err *err)
{
	return err_set(err, ERR_CANCELLED, "the query was cancelled");
}
