package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// decoder turns the tree of a text into a Plan. It goes on after a fault, so that one reading
// finds them all, and remembers where each task was written for the checks that follow.
type decoder struct {
	file   string
	faults Faults
	more   int  // faults beyond maxFaults
	trust  bool // the tree is our own canonical form: no expression is looked at, no place kept
	read   func(path string) ([]byte, error)
	open   []string // subplan files being read, outermost first
	scopes []*scope
	scope  *scope // of the task being read, which is its at-th
	at     int
	gates  []source.Node
	tasks  int
	prose  map[string]bool // criteria already told from expressions
}

// Decode reads back what Encode wrote. It trusts the text: nothing but its shape is checked.
func Decode(spec []byte) (*Plan, error) {
	root, problems := source.Read(source.JSON, spec)
	d := &decoder{trust: true}
	d.take(problems)
	p := &Plan{}
	if len(problems) == 0 {
		d.record(root, p)
	}
	if err := d.faults.Err(); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the stored plan cannot be read")
	}
	return p, nil
}

func (d *decoder) take(problems []source.Problem) {
	for _, p := range problems {
		d.add(Fault{Error, p.Code, d.file, p.Line, p.Col, p.Msg, p.Remedy})
	}
}

func (d *decoder) add(f Fault) {
	if len(d.faults) >= maxFaults {
		d.more++
		return
	}
	d.faults = append(d.faults, f)
}

func (d *decoder) fault(n source.Node, code, remedy, format string, args ...any) {
	d.add(Fault{Error, code, d.file, int(n.Line), int(n.Col), fmt.Sprintf(format, args...), remedy})
}

func (d *decoder) warn(n source.Node, code, remedy, format string, args ...any) {
	d.add(Fault{Warning, code, d.file, int(n.Line), int(n.Col), fmt.Sprintf(format, args...), remedy})
}

// wrong reports a value of the wrong kind.
func (d *decoder) wrong(n source.Node, key, want string) {
	d.fault(n, CodeType, "write "+want, "%s is %s, not %s", key, n.Kind, bare(want))
}

// bare is a remedy's example cut off what it says is wanted.
func bare(want string) string {
	s, _, _ := strings.Cut(want, ",")
	return s
}

// record reads a map into the struct that into points to.
func (d *decoder) record(n source.Node, into any) {
	v := reflect.ValueOf(into).Elem()
	r := recordOf(v.Type())
	if n.Kind != source.Map {
		d.wrong(n, d.called(v.Type()), "a map, such as {"+r.fields[0].name+": ...}")
		return
	}
	var seen uint64
	for i := range n.Len() {
		key, value := n.Entry(i)
		at, known := r.keys[key.Text]
		switch {
		case !known && strings.HasPrefix(key.Text, "x-") && r.extra >= 0:
			d.extra(key, value, v.Field(r.extra).Addr().Interface().(*map[string]json.RawMessage))
		case !known:
			if !d.special(key, value, into) {
				d.unknownKey(key, v.Type(), r)
			}
		case value.Kind == source.Null:
		case seen&(1<<at) != 0:
			if first, _ := n.Get(key.Text); first.Line != value.Line || first.Col != value.Col {
				continue // the same key twice was reported with the text
			}
			d.fault(key, CodeDuplicate, "keep one of the two", "%q says again what %s says", key.Text, r.fields[at].name)
		default:
			seen |= 1 << at
			d.value(value, key.Text, v.Field(r.fields[at].index).Addr().Interface())
		}
	}
}

// called names a struct as an author would.
func (d *decoder) called(t reflect.Type) string {
	switch name := strings.ToLower(t.Name()); name {
	case "planartifact":
		return "an artifact"
	case "failuremode":
		return "a failure mode"
	case "approval":
		return "approve"
	case "plan":
		return "the plan"
	case "task":
		return "a task"
	default:
		return name
	}
}

func (d *decoder) unknownKey(key source.Node, t reflect.Type, r *record) {
	remedy := "its keys are " + strings.Join(r.names(), ", ")
	if near := nearest(key.Text, slices.Values(r.spellings())); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", near)
	} else if strings.HasPrefix(key.Text, "x-") {
		remedy = "put it on the task or the plan"
	} else if len(r.fields) > 12 {
		remedy = "put what is your own under a key that begins with x-"
	}
	d.fault(key, CodeKey, remedy, "%s has no key %q", d.called(t), key.Text)
}

// spellings lists the keys, ours first.
func (r *record) spellings() []string {
	out := r.names()
	var others []string
	for k := range r.keys {
		if !slices.Contains(out, k) {
			others = append(others, k)
		}
	}
	slices.Sort(others)
	return append(out, others...)
}

func (d *decoder) extra(key, value source.Node, into *map[string]json.RawMessage) {
	if raw := d.raw(value, key.Text); raw != nil {
		if *into == nil {
			*into = map[string]json.RawMessage{}
		}
		(*into)[key.Text] = raw
	}
}

// raw keeps a value as canonical JSON.
func (d *decoder) raw(n source.Node, key string) json.RawMessage {
	b, err := source.Canonical(nil, n)
	if err != nil {
		d.fault(n, CodeNumber, fault.HintOf(err), "%s: %s", key, err)
		return nil
	}
	return b
}

// criterion tells an expression from prose.
func (d *decoder) criterion(n source.Node, key string) (Criterion, bool) {
	switch n.Kind {
	case source.String:
		if d.trust {
			return Criterion{Says: n.Text}, true
		}
		return Criterion{n.Text, !d.isCEL(n, n.Text)}, true
	case source.Map:
		if n.Len() == 1 {
			k, v := n.Entry(0)
			switch {
			case v.Kind == source.String && k.Text == "judge":
				return Criterion{v.Text, true}, true
			case v.Kind == source.String && (k.Text == "cel" || k.Text == "check"):
				if err := expr.Check(v.Text, expr.Scope{}); err != nil {
					d.cel(v, err)
				}
				return Criterion{Says: v.Text}, true
			}
		}
		d.fault(n, CodeType, "quote the text if it holds a colon, or write {judge: ...}", "%s holds a map that is no criterion", key)
		return Criterion{}, false
	case source.Bool:
		return Criterion{Says: n.Text}, true
	}
	d.wrong(n, key, "an expression or text")
	return Criterion{}, false
}

// isCEL asks once for each text.
func (d *decoder) isCEL(n source.Node, says string) bool {
	if prose, known := d.prose[says]; known {
		return !prose
	}
	cel, broken := expr.Kind(says)
	if broken != nil {
		d.cel(n, broken)
		return true
	}
	if d.prose == nil {
		d.prose = map[string]bool{}
	}
	d.prose[says] = !cel
	return cel
}

func (d *decoder) cel(n source.Node, err error) {
	d.fault(n, CodeCEL, fault.HintOf(err), "%s", err)
}
