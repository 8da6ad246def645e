package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// What the setting `as` lets people do.
const (
	asRecorded = "recorded" // act under another name; both count for who wrote what
	asTrusted  = "trusted"  // likewise, and are taken for whom they name
)

// setRoles reads the key roles: ROLE: [NAME, ...].
func (c *config) setRoles(path string, value *yaml.Node) error {
	if err := value.Decode(&c.roles); err != nil || value.Kind != yaml.MappingNode {
		return fault.New(fault.Invalid, "%s:%d: roles is no map of roles and names", path, value.Line).Remedy("write roles: {lead: [ann, bob]}")
	}
	for role, names := range c.roles {
		for i, name := range names {
			names[i] = person(name)
		}
		if len(names) == 0 {
			return fault.New(fault.Invalid, "%s:%d: nobody has the role %s", path, value.Line, role).Remedy("name somebody, or take the role out")
		}
	}
	return nil
}

// setAs reads the key as.
func (c *config) setAs(path string, value *yaml.Node) error {
	if c.as = value.Value; c.as != asRecorded && c.as != asTrusted {
		return fault.New(fault.Invalid, "%s:%d: as is %q", path, value.Line, value.Value).
			Remedy("write as: recorded (who acts under another name is recorded, and both names count) or as: trusted (they are taken at their word)")
	}
	return nil
}

// setPolicy reads the key policy, which is that of a plan.
func (c *config) setPolicy(path string, text []byte) error {
	p, faults := plan.ReadPolicy(path, text, "policy")
	c.policy = p
	return faults.Err()
}

// homePolicy reads the policy that a home keeps for all of its plans.
func homePolicy(home string) (*plan.Policy, error) {
	path := filepath.Join(home, "policy.yaml")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "read the home's policy").Remedy("make %s a file that you can read", path)
	}
	p, faults := plan.ReadPolicy(path, text, "")
	return p, faults.Err()
}

// policies are those that hold beside a plan's own.
func (p place) policies() ([]policy.Source, error) {
	home, err := homePolicy(p.home)
	if err != nil {
		return nil, err
	}
	return []policy.Source{{Name: configName, Trusted: true, Policy: p.policy}, {Name: "the home", Trusted: true, Policy: home}}, nil
}

// rules are all that hold for a plan here.
func (p place) rules(of *plan.Plan) (*policy.Set, error) {
	more, err := p.policies()
	if err != nil {
		return nil, err
	}
	return policy.New(append([]policy.Source{{Name: "the plan", Policy: of.Policy}}, more...)...)
}

// Roles implements engine.People.
func (s Site) Roles(actor string) []string {
	var out []string
	for role, names := range s.roles {
		if slices.Contains(names, actor) {
			out = append(out, role)
		}
	}
	slices.Sort(out)
	return out
}

// Trusts implements engine.People.
func (s Site) Trusts() bool { return s.trust }

// identify says who acts. On the command line that is the login; whoever gives another name is recorded beside it, and
// may do so by flag only where the settings allow it.
func identify(c config, named, as, login string) (string, error) {
	own := person(login)
	if as == "" {
		if named == "" {
			named = login
		}
		return gate.Claim(person(named), own), nil
	}
	if c.as == "" {
		return "", fault.New(fault.Denied, "nobody may act under another name here").
			Remedy("to allow it, write as: recorded into %s; both names are recorded then", configName)
	}
	return gate.Claim(person(as), own), nil
}

// strangers finds the roles that a plan asks for and nobody has.
func strangers(p *plan.Plan, set *policy.Set, roles map[string][]string) []string {
	var out []string
	for role, task := range set.Roles(p) {
		if _, ok := roles[role]; !ok {
			out = append(out, task+" waits for "+role)
		}
	}
	slices.Sort(out)
	return out
}

// nobodyHas refuses a plan that waits for people there are not. Where no roles are given at all, that is still to come.
func nobodyHas(p *plan.Plan, set *policy.Set, roles map[string][]string) error {
	missing := strangers(p, set, roles)
	if len(missing) == 0 || len(roles) == 0 {
		return nil
	}
	known := make([]string, 0, len(roles))
	for role := range roles {
		known = append(known, role)
	}
	slices.Sort(known)
	return fault.New(fault.Invalid, "%s, and nobody has that role", strings.Join(missing, "; ")).
		Remedy("give it to somebody in %s, or ask for one of: %s", configName, strings.Join(known, ", "))
}
