/* SPDX-License-Identifier: Apache-2.0 */
/* target DEVICE PORT FILE: one thread that makes all calls of the API, and sleeps in poll(). */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sta_task.h>

#include "example.h"

void must(doca_error_t result, const char *call)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "target: %s: %s\n", call, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

void submit(struct doca_sta_producer_task_send *task)
{
	doca_error_t rc;

	while ((rc = doca_task_submit(doca_sta_producer_send_task_as_task(task))) ==
	       DOCA_ERROR_AGAIN)
		sched_yield(); /* to the execution unit, which has much to take */
	must(rc, "doca_task_submit");
}

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* On the address that the device has: a request that comes in there is the device's. */
static void start_listening(struct target *t, const char *port)
{
	struct sockaddr_in where = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};

	MUST(doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(t->dev), (uint8_t *)&where.sin_addr,
					sizeof(where.sin_addr)));
	t->cm = rdma_create_event_channel();
	if (!t->cm || fcntl(t->cm->fd, F_SETFL, O_NONBLOCK))
		fail("target: event channel");
	if (rdma_create_id(t->cm, &t->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(t->listener, (struct sockaddr *)&where) || rdma_listen(t->listener, 16))
		fail("target: listener");
	printf("listening on %s:%u\n", inet_ntoa(where.sin_addr),
	       ntohs(rdma_get_src_port(t->listener)));
	fflush(stdout);
}

static void on_request(struct target *t, struct rdma_cm_id *id, uint16_t qid)
{
	if (qid ? ioq_accept(t, id) : admin_accept(id, &t->ctrl))
		return;
	(void)rdma_reject(id, NULL, 0);
	(void)rdma_destroy_id(id);
}

static void on_cm_event(struct target *t)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	uint16_t request[2] = {0, 0}; /* private data: format, queue id */
	struct rdma_cm_id *id;
	struct conn *conn;

	if (rdma_get_cm_event(t->cm, &event))
		return;
	type = event->event;
	id = event->id;
	conn = id->context;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST &&
	    event->param.conn.private_data_len >= sizeof(request))
		memcpy(request, event->param.conn.private_data, sizeof(request));
	/* At once: an id cannot be destroyed while it has an event that is not acknowledged. */
	(void)rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		on_request(t, id, request[1]);
	else if (conn)
		conn->on_event(conn, type == RDMA_CM_EVENT_ESTABLISHED);
	ioq_drop_orphans();
}

static void serve(struct target *t, int signals)
{
	struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
			       {.fd = t->cm->fd, .events = POLLIN},
			       {.events = POLLIN},
			       {.events = POLLIN}};

	MUST(doca_pe_get_notification_handle(t->pe, &fds[2].fd));
	MUST(doca_pe_get_notification_handle(t->io_pe, &fds[3].fd));
	while (!fds[0].revents) {
		MUST(doca_pe_request_notification(t->pe));
		MUST(doca_pe_request_notification(t->io_pe));
		(void)poll(fds, 4, -1);
		MUST(doca_pe_clear_notification(t->pe, fds[2].fd));
		MUST(doca_pe_clear_notification(t->io_pe, fds[3].fd));
		if (fds[1].revents)
			on_cm_event(t);
		while (doca_pe_progress(t->pe) || doca_pe_progress(t->io_pe))
			;
	}
}

int main(int argc, char **argv)
{
	struct target t = {0};
	sigset_t ends;
	int signals;

	if (argc != 4) {
		fputs("usage: target DEVICE PORT FILE\n", stderr);
		return EXIT_FAILURE;
	}
	/* Before there are other threads, which inherit it. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);

	sta_start(&t, argv[1], argv[3]);
	start_listening(&t, argv[2]);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	if (signals < 0)
		fail("target: signalfd");
	serve(&t, signals);

	t.is_stopping = true;
	(void)rdma_destroy_id(t.listener);
	sta_stop(&t);
	admin_close_all();
	rdma_destroy_event_channel(t.cm);
	return EXIT_SUCCESS;
}
