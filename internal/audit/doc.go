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
package audit
