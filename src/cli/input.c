/* cli/input.c: files into memory. */
#include "cli/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define READ_SIZE ((size_t)1 << 16)

static int read_all(int fd, struct input *in, struct err *err)
{
	struct buf b = BUF_INIT;

	for (;;) {
		char *p = buf_reserve(&b, READ_SIZE);
		ssize_t n = read(fd, p, READ_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			buf_fini(&b);
			return err_set(err, ERR_SYSTEM, in->name, "reading: %s", strerror(errno));
		}
		if (n == 0)
			break;
		b.len += (size_t)n;
	}
	in->data = b.data;
	in->len = b.len;
	return 0;
}

static int open_path(const char *path, struct input *in, struct err *err)
{
	struct stat st;
	void *p = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0 || fstat(fd, &st) < 0) {
		rc = err_set(err, ERR_NOT_FOUND, path, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	if (S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p != MAP_FAILED) {
		madvise(p, (size_t)st.st_size, MADV_SEQUENTIAL);
		in->data = p;
		in->len = (size_t)st.st_size;
		in->mapped = true;
	} else {
		rc = read_all(fd, in, err);
	}
	close(fd);
	return rc;
}

int input_open(const char *path, struct input *ret, struct err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;

	*ret = (struct input){ .name = is_stdin ? "(standard input)" : path };
	return is_stdin ? read_all(STDIN_FILENO, ret, err) : open_path(path, ret, err);
}

void input_close(struct input *in)
{
	union {
		const char *in;
		char *out;
	} p = { in->data };

	if (in->mapped)
		munmap(p.out, in->len);
	else
		free(p.out);
	in->data = NULL;
}
