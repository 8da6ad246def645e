package git

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// rule is one thing that git says, and what it means to a person.
type rule struct {
	says   *regexp.Regexp
	code   fault.Code
	what   string // may use groups of says: $1
	remedy string
}

func when(says string, code fault.Code, what, remedy string) rule {
	return rule{regexp.MustCompile(says), code, what, remedy}
}

// rules are tried in order. Git runs in the language C, so that its words are known.
var rules = []rule{
	when(`not a git repository`, fault.NotFound, "the task's directory is in no git repository", "make one with git init, or run the plan inside one"),
	when(`must be run in a work tree`, fault.Invalid, "the repository is bare: it has no files to work on", "run the plan in a clone of it"),
	when(`dubious ownership in repository at '([^']*)'`, fault.Denied, "the repository $1 belongs to another user, and git does not trust it",
		"run as its owner, or make it yours with chown"),
	when(`pathspec '([^']*)' did not match`, fault.NotFound, "there is no file $1 that git could take", "check the path; it is taken from the task's directory"),
	when(`paths are ignored by one of your \.gitignore files:\s*(\S+)`, fault.Invalid, "$1 is ignored by .gitignore", "take it out of paths, or out of .gitignore"),
	when(`is beyond a symbolic link|outside repository`, fault.Denied, "a path leads out of the repository", "name files inside it, not behind a link"),
	when(`empty ident name|Please tell me who you are|unable to auto-detect email|no (?:email|name) was given`, fault.Invalid,
		"nobody is named as the author of the commit",
		"give author: {name, email}, or identity: user to commit as the user, or set user.name and user.email in the repository"),
	when(`Unable to create '([^']*\.lock)'|unable to lock`, fault.Conflict, "another git holds a lock on the repository: $1",
		"wait for it to end and resume; if none runs, delete the lock"),
	when(`cannot lock ref '([^']*)'`, fault.Conflict, "$1 was moved by somebody else meanwhile", "look what happened with git log, then resume"),
	when(`No space left on device`, fault.Failed, "the disk is full", "make room, then resume"),
	when(`Permission denied \(|publickey`, fault.Denied, "the remote refused the key that ssh offered", "load the right key with ssh-add, or push over https with token"),
	when(`Host key verification failed`, fault.Denied, "the remote's host key is not known here, and nobody can be asked", "check it and connect once by hand: ssh HOST"),
	when(`[Pp]ermission denied`, fault.Denied, "git may not change the repository", "change the permissions of its files, or run as who owns them"),
	when(`'([^']+)' is already (?:checked out|used by worktree) at '([^']+)'`, fault.Conflict, "the branch $1 is checked out in $2", "work there, or take another branch"),
	when(`would be overwritten by checkout`, fault.Conflict, "changed files that are not committed are in the way of the switch", "commit them first, or put them away with git stash"),
	when(`Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|HTTP 401|HTTP 403|error: 403|error: 401`, fault.Denied,
		"the remote wants other credentials", `give token: "${secret:NAME}" of somebody who may`),
	when(`does not appear to be a git repository|Could not read from remote|[Rr]epository.* not found|HTTP 404|error: 404`, fault.NotFound,
		"there is no repository at the remote, or it does not show it", "check its address with git remote -v, and the credentials"),
	when(`Could not resolve host(?:name)?:? ?'?([^\s']*)`, fault.Failed, "the name of the remote cannot be resolved: $1", "check the address with git remote -v, and the network"),
	when(`Failed to connect|Connection refused|Connection timed out|Network is unreachable`, fault.Failed, "nobody listens at the remote's address", "check it with git remote -v, and the network"),
	when(`returned error: 5\d\d|HTTP 5\d\d`, fault.Failed, "the remote's server failed", "try again later, or look into its log"),
}

// explain says what a failed command means. What no rule knows is told in git's own words.
func (r repo) explain(verb string, a answer) error {
	for _, rule := range rules {
		if m := rule.says.FindStringSubmatchIndex(a.err); m != nil {
			what := string(rule.says.ExpandString(nil, rule.what, a.err, m))
			return fault.New(rule.code, "%s", strings.TrimRight(what, " :")).Remedy("%s", rule.remedy)
		}
	}
	said := lastLine(a.err)
	if said == "" {
		said = lastLine(string(a.out))
	}
	return fault.New(fault.Failed, "git %s ended with exit status %d: %s", verb, a.exit, said).Remedy("try it by hand in %s", r.dir)
}

// stopped tells a call whose time was over from one that was called off.
func stopped(ctx context.Context, verb string, err error) error {
	cause := context.Cause(ctx)
	switch {
	case cause == nil || !errors.Is(err, cause):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(cause, context.DeadlineExceeded):
		return fault.Wrap(fault.Failed, cause, "git %s was ended because its time was over", verb).Remedy("raise timeout, or find out what it waits for")
	case fault.Is(cause, fault.Failed): // a watchdog's word, which is the task's own failure
		return fault.Wrap(fault.Failed, cause, "git %s was stopped", verb)
	}
	return fault.Wrap(fault.Interrupted, cause, "git %s was stopped", verb)
}

var userinfo = regexp.MustCompile(`://[^/@\s]*@`)

// clean takes what may be a password out of addresses.
func clean(s string) string {
	return userinfo.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "://...@")
}

// lastLine is the last line that says anything.
func lastLine(s string) string {
	const longest = 300
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(s[strings.LastIndexAny(s, "\r\n")+1:])
	return strings.ToValidUTF8(s[:min(len(s), longest)], "")
}
