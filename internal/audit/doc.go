// Package audit proves a journal.
//
// Sealing puts the entries of all plans, in the order of their positions, under one Merkle tree
// (RFC 6962) and signs its head with a key that lies outside the database. So nothing that was
// sealed can be changed, moved or dropped, not even by whoever can rewrite the whole database, hash
// chains included. What was appended after the last signed head is the one thing that cannot be
// proved. A copy of the newest head is kept beside the key: without it, cutting the database back
// to an earlier head would go unnoticed.
//
// Verifying looks at everything, lists every finding and changes nothing.
//
// What was sealed can be proved to somebody who has nothing but a file and a public key: records by the hashes
// beside their way to the root, a journal's growth by RFC 6962's consistency proof, a whole plan by a receipt, which
// holds all of its records and is signed. A key is replaced by a handover that the old one signs, so whoever knows an
// old key is led to the new one. Checking reads the file and nothing else; docs/proofs.md fixes its bytes.
package audit
