#include "view/archive.h"

#include "base/clock.h"
#include "ui/format.h"

static void put_size(struct term *t, const char *before, uint64_t bytes, const char *after)
{
	char size[SIZE_TEXT_MAX];

	size_format(bytes, size);
	term_putf(t, "%s%s%s", before, size, after);
}

static void put_count(struct term *t, size_t n, const char *what)
{
	char count[SIZE_TEXT_MAX];

	size_format_count((int64_t)n, count);
	term_putf(t, "%s %s%s", count, what, n == 1 ? "" : "s");
}

void view_archive_run(struct term *t, const struct archive_run *run)
{
	const struct archive_update_stats *s = &run->stats;
	char taken[SIZE_TEXT_MAX];

	size_format_count((int64_t)s->taken, taken);
	term_putf(t, "%s of ", taken);
	put_count(t, s->files, "file");
	term_puts(t, " new or grown");
	if (s->left > 0)
		term_putf(t, ", %zu left", s->left);
	if (s->versions > 0)
		term_putf(t, " (%zu rewritten: what they were stays)", s->versions);
	put_size(t, ", ", s->bytes_read, " read\n");
	if (s->mended > 0) {
		put_count(t, s->mended, "file");
		term_puts(t,
			s->mended == 1
				? " was damaged in the archive and has been taken again\n"
				: " were damaged in the archive and have been taken again\n");
	}
	if (run->damaged > 0) {
		put_count(t, (size_t)run->damaged, "frame");
		term_puts(t,
			" of the archive cannot be read; 'faden archive verify' names the files\n");
	}
	term_puts(t, "The archive has ");
	put_count(t, (size_t)run->figures.files, "file");
	put_size(t, " of ", run->figures.bytes, "");
	put_size(t, " in ", run->figures.stored, " on the disk\n");
	if (run->pruned.files > 0 || run->pruned.over > 0)
		view_archive_pruned(t, &run->pruned);
}

static void put_let_go(struct jw *w, const struct kept_pruned *p)
{
	jw_key(w, "pruned");
	jw_array(w);
	vec_each (&p->old, old) {
		jw_object(w);
		jw_put_cstr(w, "archive_key", old->kept.key);
		jw_put_cstr(w, "session_id", old->kept.session);
		jw_put_cstr(w, "path", old->kept.path);
		jw_put_i64(w, "content_bytes", (int64_t)old->kept.size);
		jw_put_bool(w, "only_copy", old->only);
		jw_end(w);
	}
	jw_end(w);
}

void view_json_archive_run(struct jw *w, const struct archive_run *run)
{
	const struct archive_update_stats *s = &run->stats;

	jw_object(w);
	jw_put_i64(w, "files", (int64_t)s->files);
	jw_put_i64(w, "taken_files", (int64_t)s->taken);
	jw_put_i64(w, "rewritten_files", (int64_t)s->versions);
	jw_put_i64(w, "mended_files", (int64_t)s->mended);
	jw_put_i64(w, "damaged_frames", (int64_t)run->damaged);
	jw_put_i64(w, "read_bytes", (int64_t)s->bytes_read);
	jw_put_i64(w, "troubles", (int64_t)s->troubles);
	jw_put_i64(w, "kept_files", (int64_t)run->figures.files);
	jw_put_i64(w, "content_bytes", (int64_t)run->figures.bytes);
	jw_put_i64(w, "stored_bytes", (int64_t)run->figures.stored);
	jw_put_i64(w, "pruned_files", (int64_t)run->pruned.files);
	put_let_go(w, &run->pruned);
	jw_put_i64(w, "torn_files", (int64_t)run->torn);
	jw_end(w);
}

void view_json_archive_file(
	struct jw *w, const struct archive_file *file, bool there, bool older, const char *title)
{
	char at[CLOCK_TEXT_MAX];

	jw_object(w);
	jw_put_cstr(w, "archive_key", file->key);
	jw_put_cstr(w, "session_id", file->session);
	jw_put_cstr(w, "agent", file->agent[0] ? file->agent : NULL);
	jw_put_cstr(w, "path", file->path);
	jw_put_cstr(w, "title", title);
	jw_put_i64(w, "content_bytes", (int64_t)file->size);
	clock_format_iso(file->first_ms, at);
	jw_put_cstr(w, "first_at", at);
	clock_format_iso(file->kept_ms, at);
	jw_put_cstr(w, "taken_at", at);
	jw_put_bool(w, "gone", !there);
	jw_put_bool(w, "older", older);
	jw_put_bool(w, "frozen", file->frozen);
	jw_put_bool(w, "aside", file->aside);
	jw_end(w);
}

void view_archive_verdict(struct term *t, const struct vault_verdict *v)
{
	put_count(t, (size_t)v->files, "file");
	put_size(t, " of ", v->bytes, " in ");
	put_count(t, (size_t)v->frames, "frame");
	if (v->damaged_frames == 0 && v->damaged_files == 0) {
		term_puts(t, ": every byte is as it was\n");
	} else {
		term_puts(t, ": ");
		put_count(t, (size_t)v->damaged_frames, "frame");
		term_puts(t, " damaged, ");
		put_count(t, (size_t)v->damaged_files, "file");
		put_size(t, " not whole, ", v->lost, " lost\n");
		term_puts(t,
			"'faden archive' takes again what the agents still have; "
			"'faden archive export --partial' writes what is left\n");
	}
	if (v->unused > 0)
		put_size(t, "", v->unused,
			" belong to nobody: a run was killed, or has taken again what was damaged; "
			"the next 'faden archive prune --older-than SPAN' takes them away\n");
}

void view_json_archive_verdict(struct jw *w, const struct vault_verdict *v)
{
	jw_object(w);
	jw_put_bool(w, "sound", v->damaged_frames == 0 && v->damaged_files == 0);
	jw_put_i64(w, "files", (int64_t)v->files);
	jw_put_i64(w, "content_bytes", (int64_t)v->bytes);
	jw_put_i64(w, "frames", (int64_t)v->frames);
	jw_put_i64(w, "damaged_frames", (int64_t)v->damaged_frames);
	jw_put_i64(w, "damaged_files", (int64_t)v->damaged_files);
	jw_put_i64(w, "lost_bytes", (int64_t)v->lost);
	jw_put_i64(w, "unused_bytes", (int64_t)v->unused);
	jw_end(w);
}

void view_archive_pruned(struct term *t, const struct kept_pruned *p)
{
	put_count(t, p->files, "file");
	put_size(t, " of ", p->bytes, p->dry ? " would leave the archive" : " left the archive");
	if (!p->dry)
		put_size(t, ", ", p->freed, " freed");
	term_puts(t, "\n");
	if (p->referred > 0) {
		put_count(t, p->referred, "file");
		term_puts(t, " stay: placeholders of trimmed sessions lead there\n");
	}
	if (p->over > 0) {
		put_size(t, "The limit is not reached, by ", p->over, "");
		if (p->there > 0) {
			term_puts(t, ": ");
			put_count(t, p->there, "file");
			term_putf(t, " %s of sessions that the agents still have ('faden clean')",
				p->there == 1 ? "is" : "are");
		}
		term_puts(t, "\n");
	}
}

void view_json_archive_pruned(struct jw *w, const struct kept_pruned *p)
{
	jw_object(w);
	jw_put_bool(w, "dry_run", p->dry);
	jw_put_i64(w, "files", (int64_t)p->files);
	jw_put_i64(w, "content_bytes", (int64_t)p->bytes);
	jw_put_i64(w, "referred_files", (int64_t)p->referred);
	jw_put_i64(w, "present_files", (int64_t)p->there);
	jw_put_i64(w, "over_bytes", (int64_t)p->over);
	jw_put_i64(w, "freed_bytes", (int64_t)p->freed);
	put_let_go(w, p);
	jw_end(w);
}

void view_archive_written(struct term *t, const struct kept_written *all)
{
	put_count(t, all->written, "file");
	term_putf(t, " written, %zu there already", all->there);
	if (all->failed > 0)
		term_putf(t, ", %zu could not be written", all->failed);
	term_puts(t, "\n");
	if (all->torn > 0) {
		put_count(t, all->torn, "file");
		term_putf(t, " %s than the archive's copy, or damaged; with --replace %s\n",
			all->torn == 1 ? "is shorter" : "are shorter",
			all->torn == 1 ? "that takes its place" : "those take their place");
	}
}

void view_json_archive_written(struct jw *w, const struct kept_written *all)
{
	jw_object(w);
	jw_put_i64(w, "written_files", (int64_t)all->written);
	jw_put_i64(w, "present_files", (int64_t)all->there);
	jw_put_i64(w, "failed_files", (int64_t)all->failed);
	jw_put_i64(w, "torn_files", (int64_t)all->torn);
	jw_end(w);
}

void view_archive_deleted(struct term *t, const struct doomed_stats *d)
{
	put_count(t, d->sessions, "session");
	term_putf(t, " %s (", d->dry ? "would be deleted" : d->forget ? "forgotten" : "deleted");
	put_count(t, d->files, "file");
	put_size(t, ", ", d->bytes, ")");
	if (d->forget && !d->dry) {
		term_puts(t, "; ");
		put_count(t, d->kept, "file");
		put_size(t, " of ", d->kept_bytes, " in the archive");
		put_size(t, " (", d->freed, " on the disk); ");
		put_count(t, d->rows, "row");
		term_puts(t, " of the store, ");
		if (d->lines > 0) {
			put_count(t, d->lines, "line");
			term_puts(t, " of what was typed, ");
		}
		term_puts(t,
			"and what the index had\n"
			"What agents keep beside their sessions, as a list of prompts, is theirs "
			"and stays.\n");
		if (d->others > 0) {
			put_count(t, d->others, "file");
			term_puts(t,
				" of the archive stay: of another session of that id ('faden "
				"archive list' has the paths)\n");
		}
		return;
	}
	if (d->stayed > 0)
		term_putf(t, "; %zu stayed", d->stayed);
	term_puts(t,
		d->forget	 ? "; what archive, index and store have goes too\n"
			: d->dry ? "; the archive keeps a copy\n"
				 : "; 'faden archive restore SESSION' gets one back\n");
}

void view_json_archive_deleted(struct jw *w, const struct doomed_stats *d)
{
	jw_object(w);
	jw_put_bool(w, "dry_run", d->dry);
	jw_put_bool(w, "forgotten", d->forget);
	jw_put_i64(w, "sessions", (int64_t)d->sessions);
	jw_put_i64(w, "files", (int64_t)d->files);
	jw_put_i64(w, "content_bytes", (int64_t)d->bytes);
	jw_put_i64(w, "stayed_sessions", (int64_t)d->stayed);
	jw_put_i64(w, "kept_files", (int64_t)d->kept);
	jw_put_i64(w, "kept_bytes", (int64_t)d->kept_bytes);
	jw_put_i64(w, "other_files", (int64_t)d->others);
	jw_put_i64(w, "store_rows", (int64_t)d->rows);
	jw_put_i64(w, "history_lines", (int64_t)d->lines);
	jw_put_i64(w, "freed_bytes", (int64_t)d->freed);
	jw_end(w);
}
