#include "route/filename.h"

static bool is_extension(struct sv s)
{
	static const char known[] =
		" c h cc cpp cxx hpp hh m mm py pyi ipynb js mjs cjs ts tsx jsx vue svelte go rs "
		"java kt kts scala clj groovy rb php cs fs vb swift dart sh bash zsh fish ps1 bat "
		"cmd pl pm r jl lua zig nim ex exs erl hs ml elm lisp el vim asm s f f90 for cob "
		"cbl cpy jcl pas bas ino sv vhd vhdl md rst adoc org tex bib txt json jsonl yaml "
		"yml toml ini cfg conf properties xml xsd xsl html htm css scss sass less sql db "
		"sqlite csv tsv parquet pdf png jpg jpeg svg gif webp bmp ico psd mp3 mp4 wav ogg "
		"mov mkv doc docx xls xlsx ppt pptx odt ods zip tar gz xz jar war lock log env "
		"proto graphql gradle tf hcl nix cmake mk service ged gpx kml geojson stl obj gltf "
		"epub srt vtt po ics vcf eml bak tmp out diff patch ";
	AUTO_STR word = STR_INIT;
	size_t unused;
	str_addf(&word, " %.*s ", SV_ARG(s));
	return sv_find(sv_make(known, sizeof(known) - 1), str_sv(&word), &unused);
}

struct sv file_subject(struct sv raw)
{
	const char *slash = memrchr(raw.p, '/', raw.n);
	if (slash && slash + 1 < raw.p + raw.n)
		raw = sv_from(raw, (size_t)(slash - raw.p) + 1);
	const char *dot = memrchr(raw.p, '.', raw.n);
	size_t before = dot ? (size_t)(dot - raw.p) : 0;
	if (before > 0 && is_extension(sv_from(raw, before + 1)))
		raw.n = before;
	return raw;
}
