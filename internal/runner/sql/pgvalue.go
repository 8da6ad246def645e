package sql

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// known are the types that PostgreSQL comes with.
var known = sync.OnceValue(pgtype.NewMap)

// knowing guards known, whose lookups fill caches.
var knowing sync.Mutex

func typeOf(oid uint32) *pgtype.Type {
	knowing.Lock()
	defer knowing.Unlock()
	t, ok := known().TypeForOID(oid)
	if !ok {
		return nil
	}
	return t
}

// typeName is the server's name of a type that it comes with; others are "other".
func typeName(oid uint32) string {
	if t := typeOf(oid); t != nil {
		return strings.Replace(t.Name, "_", "array of ", 1)
	}
	return "other"
}

// maxExact is the largest whole number that every reader of JSON keeps.
const maxExact = 1 << 53

// number is a whole number as JSON: as text when a reader of JSON might round it.
func number(n int64) json.RawMessage {
	if n > maxExact || n < -maxExact {
		return asJSON(strconv.FormatInt(n, 10))
	}
	return json.RawMessage(strconv.FormatInt(n, 10))
}

// float is a number as JSON; what JSON has no word for is text.
func float(f float64) json.RawMessage {
	switch {
	case math.IsNaN(f):
		return json.RawMessage(`"NaN"`)
	case math.IsInf(f, 1):
		return json.RawMessage(`"Infinity"`)
	case math.IsInf(f, -1):
		return json.RawMessage(`"-Infinity"`)
	}
	return asJSON(f)
}

// fromPostgres is a value as JSON, from the server's text.
func fromPostgres(v []byte, oid uint32) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	s := string(v)
	switch oid {
	case pgtype.BoolOID:
		return asJSON(s == "t")
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return number(n)
		}
	case pgtype.Float4OID, pgtype.Float8OID:
		if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return json.RawMessage(s)
		}
	case pgtype.JSONOID, pgtype.JSONBOID:
		if json.Valid(v) {
			var b bytes.Buffer
			_ = json.Compact(&b, v) // it is valid
			return b.Bytes()
		}
	case pgtype.ByteaOID:
		if b, err := hex.DecodeString(strings.TrimPrefix(s, `\x`)); err == nil {
			return asJSON(base64.StdEncoding.EncodeToString(b))
		}
	case pgtype.TimestamptzOID, pgtype.TimestampOID:
		return asJSON(rfc3339(s))
	default:
		if list := fromArray(v, oid); list != nil {
			return list
		}
	}
	return asJSON(strings.ToValidUTF8(s, "\uFFFD"))
}

var moment = regexp.MustCompile(`^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?$`)

// rfc3339 is a time of the server, which was told to speak of UTC. One without a zone stays without, and what is
// before Christ or infinite stays as it is spelled.
func rfc3339(s string) string {
	m := moment.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	zone := ""
	if m[3] != "" {
		zone = "Z"
	}
	return m[1] + "T" + m[2] + zone
}

// fromArray reads an array, of any number of dimensions; nil when the type is none.
func fromArray(v []byte, oid uint32) json.RawMessage {
	t := typeOf(oid)
	if t == nil {
		return nil
	}
	codec, ok := t.Codec.(*pgtype.ArrayCodec)
	if !ok {
		return nil
	}
	var a pgtype.Array[*string]
	knowing.Lock()
	err := known().Scan(pgtype.TextArrayOID, pgtype.TextFormatCode, v, &a)
	knowing.Unlock()
	if err != nil {
		return nil
	}
	next := 0
	return nest(a.Dims, func() json.RawMessage {
		e := a.Elements[next]
		next++
		if e == nil {
			return json.RawMessage("null")
		}
		return fromPostgres([]byte(*e), codec.ElementType.OID)
	})
}

func nest(dims []pgtype.ArrayDimension, element func() json.RawMessage) json.RawMessage {
	if len(dims) == 0 {
		return json.RawMessage("[]")
	}
	list := make([]json.RawMessage, dims[0].Length)
	for i := range list {
		if len(dims) == 1 {
			list[i] = element()
		} else {
			list[i] = nest(dims[1:], element)
		}
	}
	return asJSON(list)
}

var errBytes = errors.New("bytes are given as text or as {\"base64\": ...}")

// toPostgres is an argument as the server's text for a parameter of a type.
func toPostgres(raw json.RawMessage, oid uint32) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case string(raw) == "null":
		return nil, nil
	case oid == pgtype.JSONOID || oid == pgtype.JSONBOID:
		return raw, nil
	case len(raw) > 0 && raw[0] == '[':
		return arrayText(raw)
	case len(raw) > 0 && raw[0] == '{':
		b, err := givenBytes(raw)
		if err != nil {
			return nil, err
		}
		return []byte(`\x` + hex.EncodeToString(b)), nil
	}
	return scalar(raw)
}

// givenBytes reads {"base64": ...}.
func givenBytes(raw json.RawMessage) ([]byte, error) {
	var in struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(raw, &in); err != nil || in.Base64 == nil {
		return nil, errBytes
	}
	return base64.StdEncoding.DecodeString(*in.Base64)
}

func scalar(raw json.RawMessage) ([]byte, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		if strings.ContainsRune(s, 0) {
			return nil, errors.New("no text can hold a NUL character")
		}
		return []byte(s), nil
	}
	return raw, nil // a number, true or false
}

// arrayText is a list as the server spells arrays: {"a",NULL,{...}}.
func arrayText(raw json.RawMessage) ([]byte, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	b := []byte{'{'}
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		switch e = bytes.TrimSpace(e); {
		case string(e) == "null":
			b = append(b, "NULL"...)
		case e[0] == '[':
			inner, err := arrayText(e)
			if err != nil {
				return nil, err
			}
			b = append(b, inner...)
		default:
			text, err := toPostgres(e, 0)
			if err != nil {
				return nil, err
			}
			b = append(b, '"')
			b = append(b, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(text))...)
			b = append(b, '"')
		}
	}
	return append(b, '}'), nil
}
