/*
 * The half of a recogniser that writes: piece after piece, each by what was heard and what is
 * written already. Whisper's and Moonshine's have the same form: one network whose other branch
 * goes on from what it has kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "onnx/onnx.h"

struct decoder_opts {
	int64_t heads, width; /* of its attention */
	int threads;
};

struct stt_decoder;
/* network: the bytes of its file. */
int decoder_new(struct onnx *onnx, struct sv network, const struct decoder_opts *opts,
	struct stt_decoder **ret, struct err *reterr) MUST_USE;
void decoder_free(struct stt_decoder *d); /* NULL is fine */

/* Begins with what was heard, which must stay until decoder_end(). */
void decoder_begin(struct stt_decoder *d, const struct onnx_tensor *heard);
/* Gives it n pieces, all at once only as the first ones: how likely each of *ret_n comes next, as
 * logarithms, a row for each of the n, until the next call. */
int decoder_step(struct stt_decoder *d, const int64_t *pieces, size_t n, const float **ret,
	size_t *ret_n, struct err *reterr) MUST_USE;
void decoder_end(struct stt_decoder *d);

/* Where it has come to, for going on from there in more than one way. After a step; let go before
 * decoder_end(). */
struct decoder_past;
struct decoder_past *decoder_keep(struct stt_decoder *d);
void decoder_go_back(struct stt_decoder *d, struct decoder_past *past);
void decoder_let_go(struct stt_decoder *d, struct decoder_past *past); /* NULL is fine */
/* From any thread: the step that goes on ends, and so does every later one. */
void decoder_stop(struct stt_decoder *d);

/*
 * Has it begun to say the same again and again? Then it never ends. One copy stays of what repeats
 * at the end of the n pieces: how many that leaves, or n.
 */
size_t decoder_cut_loop(const int64_t *pieces, size_t n);
/* The same for a text that has ended: nothing but some words, of so many pieces at least, over
 * again.
 */
size_t decoder_cut_echo(const int64_t *pieces, size_t n, size_t least);
