#include "route/german.h"

static const char *const separable[] = { "ab", "an", "auf", "aus", "bei", "durch", "ein", "fest",
	"her", "heraus", "herunter", "hin", "hinzu", "hoch", "los", "mit", "nach", "raus", "rein",
	"runter", "um", "unter", "vor", "weg", "zu", "zurück", "zusammen" };

bool german_particle(struct sv word)
{
	for (size_t i = 0; i < ARRAY_LEN(separable); i++)
		if (sv_is(word, separable[i]))
			return true;
	return false;
}

static bool ends_with_any(struct sv key, const char *const *ends, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sv_ends(key, sv_of(ends[i])))
			return true;
	return false;
}

bool german_present(struct str *out, struct sv key)
{
	static const char *const participle[] = { "t", "te", "ten", "ter", "tes", "en", "ene",
		"enen" };
	static const char *const infinitive[] = { "en", "ern", "eln" };
	enum { SHORTEST = 4 };
	for (size_t i = 0; i <= ARRAY_LEN(separable); i++) {
		struct sv p = i > 0 ? sv_of(separable[i - 1]) : SV(""), rest = sv_from(key, p.n);
		if (!sv_starts(key, p) || rest.n < 2 + SHORTEST)
			continue;
		bool ge = sv_starts(rest, SV("ge")) &&
			ends_with_any(key, participle, ARRAY_LEN(participle));
		bool zu = p.n > 0 && sv_starts(rest, SV("zu")) &&
			ends_with_any(key, infinitive, ARRAY_LEN(infinitive));
		if (!ge && !zu)
			continue;
		str_add(out, p);
		str_add(out, sv_from(rest, 2));
		return true;
	}
	return false;
}
