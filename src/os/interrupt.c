#include "os/interrupt.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/attr.h"

int interrupt_begin(struct interrupt *i, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	*i = (struct interrupt){ .fd = -1, .owner = pthread_self() };
	(void)sigemptyset(&i->signals);
	for (size_t k = 0; k < ARRAY_LEN(signals); k++) {
		struct sigaction now;
		/* A blocked signal that is ignored would be told all the same. */
		if (sigaction(signals[k], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(&i->signals, signals[k]);
	}
	(void)pthread_sigmask(SIG_BLOCK, &i->signals, &i->before);
	i->fd = signalfd(-1, &i->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (i->fd >= 0)
		return 0;
	int errnum = errno;
	(void)pthread_sigmask(SIG_SETMASK, &i->before, NULL);
	return err_errno(reterr, errnum, "signalfd");
}

int interrupt_came(struct interrupt *i)
{
	struct signalfd_siginfo info;
	int signo = atomic_load(&i->signo);

	if (signo == 0 && read(i->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		signo = (int)info.ssi_signo;
		atomic_store(&i->signo, signo);
	}
	if (signo != 0 && pthread_equal(pthread_self(), i->owner))
		(void)pthread_sigmask(SIG_UNBLOCK, &i->signals, NULL);
	return signo;
}

void interrupt_end(struct interrupt *i)
{
	if (i->fd < 0)
		return;
	(void)close(i->fd);
	i->fd = -1;
	(void)pthread_sigmask(SIG_SETMASK, &i->before, NULL);
}
