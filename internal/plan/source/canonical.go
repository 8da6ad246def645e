package source

import (
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Canonical appends the RFC 8785 form of a tree. Whole numbers and ASCII keys, which is nearly
// everything, are written at once; the rest is left to the one authority, package digest.
func Canonical(dst []byte, n Node) ([]byte, error) {
	start := len(dst)
	dst, plain := appendJSON(dst, n)
	if plain {
		return dst, nil
	}
	out, err := digest.Canonicalize(dst[start:])
	if err != nil {
		return nil, err
	}
	return append(dst[:start], out...), nil
}

// appendJSON reports whether what it wrote is canonical already.
func appendJSON(dst []byte, n Node) ([]byte, bool) {
	plain := true
	switch n.Kind {
	case Null:
		return append(dst, "null"...), true
	case Bool:
		return append(dst, n.Text...), true
	case Number:
		return append(dst, n.Text...), len(n.Text) < 16 && n.Text != "-0" && strings.Trim(n.Text, "-0123456789") == ""
	case String:
		return digest.AppendString(dst, n.Text), true
	case List:
		dst = append(dst, '[')
		for i, v := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			dst, ok = appendJSON(dst, v)
			plain = plain && ok
		}
		return append(dst, ']'), plain
	}
	dst = append(dst, '{')
	var room [32]int
	for i, at := range sorted(n, room[:0]) {
		if i > 0 {
			dst = append(dst, ',')
		}
		key := n.Items[at].Text
		plain = plain && ascii(key)
		dst = append(digest.AppendString(dst, key), ':')
		var ok bool
		dst, ok = appendJSON(dst, n.Items[at+1])
		plain = plain && ok
	}
	return append(dst, '}'), plain
}

// sorted lists where the keys of a map are, in byte order.
func sorted(n Node, at []int) []int {
	for i := 0; i < len(n.Items); i += 2 {
		at = append(at, i)
	}
	slices.SortFunc(at, func(a, b int) int { return strings.Compare(n.Items[a].Text, n.Items[b].Text) })
	return at
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
