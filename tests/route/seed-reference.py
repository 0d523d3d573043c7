#!/usr/bin/env python3
"""Profile seed against a second implementation: random histories, every field compared.

Usage: seed-reference.py FADEN [HISTORIES] [SEED]. The reference below follows the published
algorithm line by line in Python, whose regular expressions, lower() and split() define it.
"""
import json, os, random, re, subprocess, sys, tempfile

STOP = set("the a an is are was were be been being have has had do does did will would could should may might "
           "shall can to of in for on with at by from it this that these those i you he she we they me him her "
           "us them my your his its our their and or but not no so if then also just now please make go get same "
           "too very really about into".split())
SIGNALS = [re.compile(p, re.I) for p in (
    r"\balso\b", r"\band\s+then\b", r"\band\s+also\b", r"\bcontinue\b", r"\bkeep\s+going\b", r"\bfollow\s*up\b",
    r"\bgoing\s+back\s+to\b", r"\bwhile\s+you'?re\s+at\s+it\b", r"\bin\s+that\s+(same\s+)?file\b",
    r"\bsame\s+thing\b", r"\bone\s+more\s+thing\b", r"\bactually\b", r"\bwait\b", r"\boh\s+and\b")]
EXPIRY, STRONG, MAX = 1800000, 180000, 20


def keywords(text):
    words = (w.strip(".,!?;:'\"()-") for w in text.lower().split())
    return {w for w in words if len(w) > 2 and w not in STOP}


class Store:
    def __init__(self):
        self.convs = {}

    def apply(self, op):
        t, sid, text = op["t_ms"], op["session_id"], op.get("command", "")
        conv = self.convs.get(sid)
        if op["op"] == "register":
            self.convs[sid] = {"status": "idle", "last": t, "words": keywords(text)}
            self.evict(t)
        elif conv and op["op"] == "update":
            conv["words"] |= keywords(text)
            conv.update(last=t, status="idle")
        elif conv:
            conv["status"] = op["op"]

    def evict(self, t):
        for sid in [s for s, c in self.convs.items() if c["last"] < t - EXPIRY]:
            del self.convs[sid]
        by_age = sorted(self.convs, key=lambda s: self.convs[s]["last"])
        for sid in by_age[:max(0, len(by_age) - MAX)]:
            del self.convs[sid]

    def route(self, t, text):
        found = [(s, c) for s, c in self.convs.items() if c["status"] == "idle" and c["last"] > t - EXPIRY]
        if not found:
            return {"action": "new", "session_id": None, "confidence": 1.0, "reason": "No active conversations to resume"}
        signal, words = any(p.search(text) for p in SIGNALS), keywords(text)
        scored = [(sid, *self.score(words, signal, conv, t)) for sid, conv in found]
        scored.sort(key=lambda x: x[1], reverse=True)
        sid, score, reason = scored[0]
        if score >= 0.45:
            return {"action": "resume", "session_id": sid, "confidence": round(score, 4), "reason": reason}
        return {"action": "new", "session_id": None, "confidence": round(1.0 - score, 4),
                "reason": f"Best match score {score:.2f} below threshold 0.45"}

    @staticmethod
    def score(words, signal, conv, t):
        reasons, topic = [], conv["words"]
        overlap = len(words & topic) / len(words | topic) if words and topic else 0.0
        if overlap > 0:
            reasons.append(f"keyword overlap={overlap:.2f}")
        age = (t - conv["last"]) / 1000
        if age <= 180.0:
            recency = 1.0
            reasons.append("very recent")
        else:
            recency = 0.5 ** ((age - 180.0) / 600.0)
            reasons.append(f"recency={recency:.2f}")
        if signal:
            reasons.append("continuation signal")
        total = overlap * 0.4 + recency * 0.3 + (1.0 if signal else 0.0) * 0.3
        if signal and age <= 180.0:
            total = max(total, 0.85)
            reasons.append("strong continuation match")
        return total, "; ".join(reasons)


WORDS = ("hinge oil Lens POLISH straße STRASSE ẞ Ärger ÄRGER İzmir ΟΔΟΣ ὈΔΥΣΣΕΎΣ naïve it's low-level 登录 修复登录错误 "
         "исправь ОШИБКУ the also wait actually continue and then follow up followup keep going KEEP alſo Kelvin one more "
         "thing same oh and, also-ran öl …dots \u201equoted\u201c --dash-- port 8080 x").split()
BLANKS = [" ", " ", " ", "\u00a0", "\u3000", "\n", "\u0085", "\u2003", "  "]


def text(rnd):
    out = "".join(rnd.choice(WORDS) + rnd.choice(BLANKS) for _ in range(rnd.randrange(0, 9)))
    return rnd.choice([out, out.strip(), out.upper(), out.title()])


def history(rnd, n):
    t, ops = 0, []
    for _ in range(rnd.choice([0, 1, 2, 5, 30])):
        t += rnd.choice([0, 1, 1000, 59000, 120000, 700000, 1800000, -5000])
        ops.append({"op": rnd.choice(["register"] * 4 + ["update", "active", "errored"]), "t_ms": t,
                    "session_id": f"s{rnd.randrange(26):02d}", "command": text(rnd)})
    t += rnd.choice([0, 1, 179999, 180000, 180001, 600000, 779999, 780000, 1799999, 1800000])
    return {"id": f"h{n}", "ops": ops, "route": {"t_ms": t, "command": text(rnd)}}


def main():
    faden, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rnd = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    vectors = [history(rnd, i) for i in range(n)]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
        json.dump({"vectors": vectors}, f)
        f.flush()
        env = {"HOME": os.path.dirname(f.name), "PATH": os.environ.get("PATH", "")}
        out = subprocess.run([faden, "route", "--profile", "seed", "--replay", f.name], env=env,
                             stdout=subprocess.PIPE, check=True).stdout.decode()
    lines, bad = [json.loads(line) for line in out.splitlines()], 0
    for vector, got in zip(vectors, lines):
        store = Store()
        for op in vector["ops"]:
            store.apply(op)
        want = dict(store.route(vector["route"]["t_ms"], vector["route"]["command"]), id=vector["id"])
        if got != want:
            bad += 1
            print(f"# {json.dumps(vector, ensure_ascii=False)}\n#  want {want}\n#  got  {got}")
    print(f"{n} histories, {len(lines)} answers, {bad} differ")
    return 1 if bad or len(lines) != n else 0


if __name__ == "__main__":
    sys.exit(main())
