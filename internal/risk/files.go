package risk

import (
	"slices"
	"strings"
)

// Rows about files and disks.
var fileRules = []rule{
	{verdict{"rm-root", Deletion, Dangerous, "deletes everything below the root, a home or a system folder"}, "rm", "", "-r -R --recursive", "", removesRoot},
	{verdict{"rm-root", Deletion, Dangerous, "deletes everything below the root, a home or a system folder"}, "rm", "", "--no-preserve-root", "", nil},
	{verdict{"rm-scratch", Deletion, Moderate, "deletes a folder that can be made again"}, "rm", "", "-r -R --recursive", "", removesScratch},
	{verdict{"rm-recursive", Deletion, Critical, "deletes a folder and all that is in it"}, "rm", "", "-r -R --recursive", "", func(c call) bool { return c.fed || c.verb(0) != "" }},
	{verdict{"rm-listed", Deletion, Critical, "deletes whatever a list or a search names"}, "rm unlink", "", "", "", func(c call) bool { return c.fed }},
	{verdict{"rm-all", Deletion, Critical, "deletes all files of a folder"}, "rm", "", "", "", anyOperand("* ./* .* /*")},
	{verdict{"rm-file", Deletion, Moderate, "deletes a file"}, "rm unlink", "*", "", "", nil},
	{verdict{"rm-recursive", Deletion, Critical, "deletes a folder and all that is in it"}, "rmdir rd", "", "", "", anyOperand("/s /S")},
	{verdict{"rm-recursive", Deletion, Critical, "deletes a folder and all that is in it"}, "del erase", "", "", "", anyOperand("/s /S")},
	{verdict{"rm-recursive", Deletion, Critical, "deletes a folder and all that is in it"}, "Remove-Item rimraf", "*", "", "", func(c call) bool {
		return c.name == "rimraf" || c.flag("-Recurse", "-recurse")
	}},
	{verdict{"shred", Deletion, Critical, "overwrites files so that nobody can get them back"}, "shred srm wipe", "*", "", "", nil},
	{verdict{"truncate", Deletion, Critical, "empties a file"}, "truncate", "", "-s --size", "", truncates},
	{verdict{"mkfs", Deletion, Dangerous, "makes a new file system over what a disk holds"}, "mkfs mke2fs mkswap newfs", "*", "", "", nil},
	{verdict{"disk-erase", Deletion, Dangerous, "erases or repartitions a disk"}, "wipefs blkdiscard sgdisk sfdisk parted hdparm", "*", "", "-l -i -I --list --print -p", nil},
	{verdict{"disk-erase", Deletion, Dangerous, "erases or repartitions a disk"}, "diskutil", "eraseDisk|eraseVolume|partitionDisk|zeroDisk|secureErase", "", "", nil},
	{verdict{"disk-erase", Deletion, Dangerous, "erases or repartitions a disk"}, "cryptsetup", "luksFormat|erase|luksErase", "", "", nil},
	{verdict{"volume-destroy", Deletion, Dangerous, "destroys a storage volume"}, "zfs zpool", "destroy", "", "-n", nil},
	{verdict{"volume-destroy", Deletion, Dangerous, "destroys a storage volume"}, "lvremove vgremove pvremove", "*", "", "", nil},
	{verdict{"volume-destroy", Deletion, Dangerous, "destroys a storage volume"}, "btrfs", "subvolume delete", "", "", nil},
	{verdict{"volume-destroy", Deletion, Dangerous, "destroys the copies that a system keeps of itself"}, "vssadmin wbadmin", "delete", "", "", nil},
	{verdict{"chmod-root", Exposure, Dangerous, "changes the rights of everything below the root, a home or a system folder"}, "chmod chown chgrp", "", "-R --recursive", "", changesRoot},
	{verdict{"chmod-open", Exposure, Critical, "lets everyone read and change a folder and all that is in it"}, "chmod", "", "-R --recursive", "", opensAll},
	{verdict{"chmod-open-file", Exposure, Moderate, "lets everyone read and change a file"}, "chmod", "", "", "", opensAll},
	{verdict{"chmod-setuid", Privilege, Critical, "lets a program run with its owner's rights"}, "chmod", "", "", "", setsUser},
	{verdict{"chown-recursive", Privilege, Moderate, "gives a folder and all that is in it to another owner"}, "chown chgrp", "", "-R --recursive", "", nil},
	{verdict{"rsync-delete", Deletion, Critical, "deletes what the source does not have from the target"}, "rsync", "", "--delete --delete-before --delete-after --delete-during --delete-excluded --del --remove-source-files", "-n", nil},
	{verdict{"copy-remote", Push, Moderate, "copies files to another machine"}, "rsync scp", "", "", "-n", copiesOut},
	{verdict{"sync-delete", Deletion, Critical, "deletes files from a remote store"}, "rclone", "delete|purge|sync|move|cleanup|deletefile|rmdirs", "", "-n", nil},
	{verdict{"tar-remove", Deletion, Critical, "deletes files once they are in the archive"}, "tar", "", "--remove-files", "", nil},
}

// find looks at a search that deletes or runs a command for what it finds.
func (s *scan) find(c call) {
	args := c.args()
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-delete":
			s.add(verdict{"find-delete", Deletion, Critical, "deletes every file that a search finds"}, c.words[0].start, args[i].stop)
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			from := i + 1
			for i++; i < len(args) && args[i].text != ";" && args[i].text != "+"; i++ {
			}
			if from < i {
				s.call(call{words: args[from:i], cmd: c.cmd, fed: true, level: c.level + 1})
			}
		}
	}
}

// copies looks at programs that write to the path that they are given.
func (s *scan) copies(c call) {
	targets := c.operands()
	switch {
	case c.name == "dd":
		targets = targets[:0:0]
		for _, a := range c.args() {
			if path, ok := strings.CutPrefix(a.text, "of="); ok {
				a.text = path
				targets = append(targets, a)
			}
		}
	case c.name != "tee" && len(targets) > 0:
		if c.name == "mv" && slices.ContainsFunc(targets[:len(targets)-1], func(w word) bool { return systemFolder(w.text) }) {
			s.found(verdict{"mv-system", Deletion, Dangerous, "moves a system folder away"}, c)
		}
		targets = targets[len(targets)-1:]
	}
	for _, t := range targets {
		switch {
		case isDisk(t.text):
			s.found(rawDisk, c)
		case isAccounts(t.text):
			s.found(accounts, c)
		case c.name == "mv" && t.text == "/dev/null":
			s.found(verdict{"mv-null", Deletion, Dangerous, "moves files into nothing"}, c)
		case c.name == "mv" && systemFolder(t.text):
			s.found(verdict{"mv-system", Deletion, Critical, "moves files over those of the system"}, c)
		}
	}
}

func removesRoot(c call) bool {
	return slices.ContainsFunc(c.operands(), func(w word) bool { return rootLike(w.text, c.known) })
}

func changesRoot(c call) bool {
	ops := c.operands()
	return len(ops) > 1 && slices.ContainsFunc(ops[1:], func(w word) bool { return rootLike(w.text, c.known) })
}

// tops are the folders directly below the root that a system consists of.
var tops = set("bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr var Users System Library Applications Windows")

// rootLike reports whether deleting a path deletes the root, a home, a system folder or, should a
// variable be empty, the root. known are variables that the script itself sets.
func rootLike(path string, known map[string]bool) bool {
	path = strings.TrimSuffix(path, "*")
	bare := strings.TrimRight(path, "/")
	switch bare {
	case "":
		return strings.HasPrefix(path, "/")
	case "~", "$HOME", "${HOME}", "..", "../..", "C:", "c:", "/.":
		return true
	}
	if rest, ok := strings.CutPrefix(bare, "/"); ok {
		return tops[rest] || strings.HasPrefix(rest, "home/") && strings.Count(rest, "/") == 1
	}
	name, ok := variable(bare)
	_, set := known[name]
	return ok && bare != path && !set
}

// variable is the name in a path that is nothing but $NAME or ${NAME}.
func variable(path string) (string, bool) {
	name, ok := strings.CutPrefix(path, "$")
	if !ok {
		return "", false
	}
	if inner, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.TrimSuffix(inner, "}")
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return "", false
		}
	}
	return name, name != ""
}

// scratch are the names that tools give to what they can make again.
var scratch = set("node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nyc_output .parcel-cache .turbo .next htmlcov")

// removesScratch reports whether all that is deleted can be made again.
func removesScratch(c call) bool {
	ops := c.operands()
	return len(ops) > 0 && !c.fed && !slices.ContainsFunc(ops, func(w word) bool { return !isScratch(w.text, c.known) })
}

func isScratch(path string, known map[string]bool) bool {
	if strings.Contains(path, "..") {
		return false
	}
	first, _, _ := strings.Cut(path, "/")
	if name, ok := variable(first); ok && known[name] {
		return true
	}
	for _, below := range []string{"/tmp/", "/var/tmp/", "$TMPDIR/", "${TMPDIR}/", "$RUNNER_TEMP/"} {
		if rest, ok := strings.CutPrefix(path, below); ok && strings.Trim(rest, "*/.") != "" {
			return true
		}
	}
	path = strings.TrimRight(path, "/")
	return !strings.HasPrefix(path, "/") && scratch[path[strings.LastIndexByte(path, '/')+1:]]
}

// core are the folders without which a system does not start.
var core = set("bin boot dev etc lib lib64 sbin sys usr")

func systemFolder(path string) bool {
	rest, ok := strings.CutPrefix(strings.TrimRight(strings.TrimSuffix(path, "*"), "/"), "/")
	return ok && core[rest] || path == "/" || path == "/*"
}

func truncates(c call) bool {
	return slices.ContainsFunc(c.values("-s", "--size"), func(w word) bool { return strings.Trim(w.text, "0KMGTPBkb") == "" })
}

func opensAll(c call) bool {
	ops := c.operands()
	if len(ops) < 2 {
		return false
	}
	mode := ops[0].text
	if strings.Trim(mode, "01234567") == "" {
		last := mode[len(mode)-1]
		return last == '7' || last == '6' || last == '2' || last == '3'
	}
	for _, clause := range strings.Split(mode, ",") {
		who, what, ok := strings.Cut(clause, "+")
		if !ok {
			who, what, ok = strings.Cut(clause, "=")
		}
		if ok && strings.ContainsAny(who, "ao") && strings.Contains(what, "w") {
			return true
		}
	}
	return false
}

func setsUser(c call) bool {
	ops := c.operands()
	if len(ops) < 2 {
		return false
	}
	mode := ops[0].text
	if strings.Trim(mode, "01234567") == "" {
		return len(mode) == 4 && strings.IndexByte("2467", mode[0]) >= 0
	}
	who, what, ok := strings.Cut(mode, "+")
	return ok && strings.Trim(who, "ugoa") == "" && strings.Contains(what, "s")
}

// copiesOut reports whether the last operand is on another machine.
func copiesOut(c call) bool {
	ops := c.operands()
	if len(ops) < 2 {
		return false
	}
	to := ops[len(ops)-1].text
	host, _, ok := strings.Cut(to, ":")
	return ok && len(host) > 1 && !strings.Contains(host, "/")
}
