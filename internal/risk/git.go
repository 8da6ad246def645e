package risk

import (
	"slices"
	"strings"
)

const (
	lostWork = "throws away changes that were not committed"
	pushed   = "shows commits to everyone who uses the remote repository"
)

// Rows about git and the places where repositories live.
var gitRules = []rule{
	{verdict{"git-push-delete", Deletion, Critical, "deletes a branch or a tag from the remote repository"}, "git", "push", "-d --delete --prune", "-n", nil},
	{verdict{"git-push-delete", Deletion, Critical, "deletes a branch or a tag from the remote repository"}, "git", "push", "", "-n", refspec(":")},
	{verdict{"git-push-force", Push, Dangerous, "overwrites the history that others have"}, "git", "push", "-f --force --force-with-lease --force-if-includes --mirror", "-n", nil},
	{verdict{"git-push-force", Push, Dangerous, "overwrites the history that others have"}, "git", "push", "", "-n", refspec("+")},
	{verdict{"git-push", Push, Critical, pushed}, "git", "push", "", "-n", nil},
	{verdict{"git-push", Push, Critical, pushed}, "git", "svn dcommit", "", "-n", nil},
	{verdict{"git-push", Push, Critical, pushed}, "git", "lfs push|prune", "", "", nil},
	{verdict{"git-push", Push, Critical, pushed}, "git", "subtree push", "", "", nil},
	{verdict{"git-push", Push, Critical, pushed}, "hg", "push", "", "", nil},
	{verdict{"git-push", Push, Critical, pushed}, "svn", "commit|ci", "", "", nil},
	{verdict{"git-push", Push, Critical, pushed}, "jj", "git push", "", "", nil},
	{verdict{"git-send-email", Push, Critical, "sends patches by mail"}, "git", "send-email", "", "", nil},
	{verdict{"git-reset-hard", Deletion, Critical, lostWork}, "git", "reset", "--hard", "", nil},
	{verdict{"git-clean", Deletion, Critical, "deletes files that git does not keep"}, "git", "clean", "-f --force", "-n", nil},
	{verdict{"git-discard", Deletion, Critical, lostWork}, "git", "checkout|switch", "-f --force --discard-changes", "", nil},
	{verdict{"git-discard", Deletion, Critical, lostWork}, "git", "checkout", "", "", discards},
	{verdict{"git-discard", Deletion, Critical, lostWork}, "git", "restore", "", "-S --staged", nil},
	{verdict{"git-branch-delete", Deletion, Critical, "deletes a branch even if its commits are nowhere else"}, "git", "branch", "-D", "", nil},
	{verdict{"git-branch-delete", Deletion, Critical, "deletes a branch even if its commits are nowhere else"}, "git", "branch", "-d --delete", "", func(c call) bool { return c.flag("-f", "--force") }},
	{verdict{"git-tag-delete", Deletion, Moderate, "deletes a tag"}, "git", "tag", "-d --delete", "", nil},
	{verdict{"git-stash-drop", Deletion, Critical, "throws away changes that were put aside"}, "git", "stash drop|clear", "", "", nil},
	{verdict{"git-rewrite", Deletion, Critical, "rewrites the history of the repository"}, "git", "filter-branch|filter-repo|replace", "", "", nil},
	{verdict{"git-expire", Deletion, Critical, "deletes commits that could still be brought back"}, "git", "reflog expire|delete", "", "-n", nil},
	{verdict{"git-expire", Deletion, Critical, "deletes commits that could still be brought back"}, "git", "gc", "--prune", "", func(c call) bool { return !c.flag("--no-prune") }},
	{verdict{"git-ref-delete", Deletion, Critical, "deletes a reference"}, "git", "update-ref", "-d", "", nil},
	{verdict{"git-worktree-remove", Deletion, Critical, "deletes a working tree with its changes"}, "git", "worktree remove", "-f --force", "", nil},
	{verdict{"git-rm", Deletion, Moderate, "deletes files and has git forget them"}, "git", "rm", "", "-n --cached", nil},

	{verdict{"repo-delete", Deletion, Dangerous, "deletes a whole repository on the server"}, "gh glab", "repo|project delete|archive", "", "", nil},
	{verdict{"repo-public", Exposure, Critical, "shows a repository to everyone"}, "gh", "repo edit|create", "", "", publicly},
	{verdict{"pr-merge", Push, Critical, "merges a pull request"}, "gh glab hub", "pr|mr merge", "", "", nil},
	{verdict{"pr-create", Push, Moderate, "opens a pull request that others see"}, "gh glab hub", "pr|mr|pull-request create|new|comment|review|close|edit|reopen", "", "", nil},
	{verdict{"issue-write", Push, Moderate, "writes where others read it"}, "gh glab", "issue|gist|discussion create|comment|close|edit|delete", "", "", nil},
	{verdict{"release-delete", Deletion, Critical, "deletes a release"}, "gh glab hub", "release delete|delete-asset", "", "", nil},
	{verdict{"release-create", Push, Critical, "publishes a release"}, "gh glab hub", "release create|upload|edit", "", "", nil},
	{verdict{"workflow-run", Push, Critical, "starts a workflow on the server"}, "gh glab", "workflow|ci|pipeline run|enable|disable", "", "", nil},
	{verdict{"secret-write", Privilege, Critical, "changes secrets, keys or variables of a repository"}, "gh glab", "secret|variable|ssh-key|gpg-key|deploy-key set|delete|remove|add", "", "", nil},
	{verdict{"api-write", Push, Critical, "changes something through the server's interface"}, "gh glab", "api", "-X --method -f -F --field --raw-field --input", "", writesAPI},
}

// verb is the operand at i.
func (c call) verb(i int) string {
	if ops := c.operands(); i < len(ops) {
		return ops[i].text
	}
	return ""
}

// refspec makes a condition: what is pushed begins with a sign that forces or deletes.
func refspec(sign string) func(call) bool {
	return func(c call) bool {
		ops := c.operands()
		return len(ops) > 2 && slices.ContainsFunc(ops[2:], func(w word) bool { return strings.HasPrefix(w.text, sign) && len(w.text) > 1 })
	}
}

// discards reports whether git checkout names files, of which the changes are lost, and not a branch.
func discards(c call) bool {
	for i, a := range c.args() {
		if a.text == "--" {
			return i+1 < len(c.args())
		}
	}
	return slices.ContainsFunc(c.operands()[1:], func(w word) bool { return w.text == "." || w.text == ":/" || w.text == "*" })
}

func publicly(c call) bool {
	return c.flag("--public") || slices.ContainsFunc(c.values("--visibility"), func(w word) bool { return w.text == "public" })
}

// writesAPI reports whether gh api does more than read: a method other than GET, or fields, which make
// it a POST.
func writesAPI(c call) bool {
	methods := c.values("-X", "--method")
	if len(methods) == 0 {
		return true
	}
	return !strings.EqualFold(methods[0].text, "GET") && !strings.EqualFold(methods[0].text, "HEAD")
}
