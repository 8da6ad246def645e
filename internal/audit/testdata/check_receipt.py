#!/usr/bin/env python3
"""Checks a receipt of cairn without cairn, as docs/proofs.md tells: check_receipt.py FILE [KEY]

It uses the standard library, and the openssl program for Ed25519. Whether every record follows from the facts before it
is the one thing it leaves to cairn: that takes the law by which runs are carried out.
"""
import base64, bisect, gzip, hashlib, json, os, subprocess, sys, tempfile

MARK = "\n\n\u2014 "  # an empty line, and the dash that begins a signature


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def demand(holds, what):
    if not holds:
        print("not sound: " + what)
        sys.exit(5)


def sections(text):
    """The title, and the sections by name, each a list of lines."""
    demand(text.endswith("\n"), "the file was cut short")
    lines = text[:-1].split("\n")
    title, at, found = lines[0], 1, {}
    while at < len(lines):
        demand(lines[at] == "" and lines[at + 1].startswith("== "), "a section does not begin where it has to")
        name, count = lines[at + 1][3:].split(" ")
        at += 2 + int(count)
        demand(at <= len(lines), "section %s was cut short" % name)
        found[name] = lines[at - int(count):at]
    return title, found


def public(verifier):
    """The 32 bytes of an Ed25519 key, and the 4 by which signatures name it."""
    name, short, rest = verifier.split("+", 2)
    key = base64.b64decode(rest, validate=True)
    demand(name == "cairn-journal" and len(key) == 33 and key[0] == 1, "that is no key: " + verifier)
    known_by = sha(name.encode(), b"\n", key)[:4]
    demand(known_by.hex() == short, "the key does not fit its hash: " + verifier)
    return key[1:], known_by


def signed(message, verifier, what):
    """The text of a signed message, if the key signed it."""
    text, mark, line = message.rpartition(MARK)
    demand(mark and line.startswith("cairn-journal ") and line.endswith("\n"), what + " has no signature")
    text += "\n"
    key, known_by = public(verifier)
    signature = base64.b64decode(line[len("cairn-journal "):-1], validate=True)
    demand(len(signature) == 68 and signature[:4] == known_by, what + " was signed by another key")
    with tempfile.TemporaryDirectory() as folder:
        def put(name, content):
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(content)
            return path
        # What precedes the key is the fixed DER header of an Ed25519 public key (RFC 8410).
        der = bytes.fromhex("302a300506032b6570032100") + key
        run = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", put("key", der), "-rawin",
                              "-in", put("text", text.encode()), "-sigfile", put("signature", signature[4:])],
                             capture_output=True)
    demand(run.returncode == 0, "the signature of %s does not fit" % what)
    return text


def handovers(lines, signer):
    """The keys in order, each with the size up to which it answers; the last one always does."""
    keys, last = [], 0
    for at in range(0, len(lines), 9):
        text = signed("\n".join(lines[at:at + 9]) + "\n", lines[at + 4], "a handover").split("\n")
        demand(text[0] == "cairn key v1" and int(text[1]) >= last, "a handover is out of order")
        demand(not keys or keys[-1][2] == text[4], "a handover does not go on where the one before ended")
        last = int(text[1])
        keys.append((text[4], last, text[5]))
    demand(not keys or keys[-1][2] == signer, "the handovers do not lead to the key that signed")
    return [(old, size) for old, size, _ in keys] + [(signer, None)]


def root(lo, n, positions, leaves, proof):
    """The hash over n leaves from position lo on. Those at the positions are in leaves; for the rest, proof has the hashes
    of the largest subtrees without them, from left to right."""
    if bisect.bisect(positions, lo) == bisect.bisect(positions, lo + n):
        demand(proof, "a hash of the tree is missing")
        return proof.pop(0)
    if n == 1:
        return leaves[lo + 1]
    k = 1
    while k * 2 < n:
        k *= 2
    left = root(lo, k, positions, leaves, proof)
    return sha(b"\x01", left, root(lo + k, n - k, positions, leaves, proof))


def tree(found, records):
    """Demands that the records stand under the signed head. Answers its size, and the keys that lead to the signer."""
    keys = handovers(found["keys"], found["signer"][0])
    note = "\n".join(found["head"]) + "\n"
    size = int(found["head"][1])
    verifier = next(key for key, upto in keys if upto is None or size <= upto)
    head = signed(note, verifier, "the head").split("\n")
    demand(head[0] == "cairn journal v1", "that is no head")
    positions = []
    for line in found["positions"]:
        first, _, last = line.partition("-")
        positions += range(int(first), int(last or first) + 1)
    demand(len(positions) == len(records) and sorted(set(positions)) == positions, "the positions do not fit the records")
    leaves = {p: sha(b"\x00", sha(r.encode())) for p, r in zip(positions, records)}
    proof = [base64.b64decode(h, validate=True) for h in found["hashes"]]
    demand(root(0, size, positions, leaves, proof) == base64.b64decode(head[2]) and not proof, "the records do not lead to the signed root")
    return size, [key for key, _ in keys]


def chain(records):
    """Demands that each record continues the one before. Answers them as objects."""
    before, out = bytes(32).hex(), []
    for number, line in enumerate(records, 1):
        r = json.loads(line)
        demand(r["seq"] == number and r["prev"] == before and r["plan"] == (out[0] if out else r)["plan"],
               "record %d does not continue the one before" % number)
        before = sha(line.encode()).hex()
        out.append(r)
    return out, before


def act(r):
    a = {"record": r["seq"], "kind": r["kind"], "task": r["task"], "by": r["actor"], "at": r["time"], "says": r["body"]}
    return {k: v for k, v in a.items() if k != "task" or v}


def canonical(v):
    # This is RFC 8785 for what a state holds: text, in the order of UTF-16.
    return json.dumps({k: v[k] for k in sorted(v, key=lambda s: s.encode("utf-16-be"))}, ensure_ascii=False, separators=(",", ":"))


def summary(found, records, head):
    """Demands that the summary says what the records say."""
    s = json.loads("\n".join(found["summary"]))
    specs = [sha(p.encode()).hex() for p in found["plans"]]
    named = [r["body"]["spec"] for r in records if r["kind"] in ("plan.submitted", "plan.revised")]
    demand(specs == named and s["spec"] == specs[-1], "the plan's text is not the one that was handed in")
    demand(s["submitted"] == act(records[0]) and s["plan"] == records[0]["plan"], "who handed the plan in is another")
    decided = [act(r) for r in records if r["kind"] in ("gate.decided", "gate.delegated", "task.judged")]
    demand(s["decisions"] == decided, "the decisions are others than the records tell")
    demand((s["records"]["first"], s["records"]["last"], s["records"]["head"]) == (1, len(records), head), "the range is another")
    tasks = {t["id"]: {k: t[k] for k in ("outputs", "status") if k in t} for t in s["tasks"]}
    state = '{"plan":%s,"tasks":%s}' % (json.dumps(s["state"]), canonical(tasks))
    demand(sha(state.encode()).hex() == s["hash"], "the state hash is not that of the tasks")
    ended = [r["body"] for r in records if r["kind"] == "plan.ended"]
    if s["state"] in ("completed", "failed") and ended:
        demand((ended[-1]["hash"], ended[-1]["state"]) == (s["hash"], s["state"]), "the run ended in another state")
    return s


def main(path, trusted=None):
    with open(path, "rb") as f:
        file = f.read().decode()
    demand(file.startswith("cairn receipt v1\n"), "that is no receipt of version 1")
    title, found = sections(file[:file.rindex(MARK) + 1])
    signer = found["signer"][0]
    signed(file, signer, "the receipt")
    if "records.gz" in found:
        found["records"] = gzip.decompress(base64.b64decode("".join(found["records.gz"]))).decode()[:-1].split("\n")
    size, keys = tree(found, found["records"])
    demand(trusted is None or trusted in keys, "it was signed by %s, which is not the key that you named" % signer)
    records, head = chain(found["records"])
    s = summary(found, records, head)
    print("sound: plan %s is %s, by %d records under a head of %d, signed by %s" % (s["plan"], s["state"], len(records), size, signer))


main(*sys.argv[1:])
