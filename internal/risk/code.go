package risk

import "strings"

var (
	treeRemovers = []string{"rmtree(", "rm_rf", "rmSync(", "rmdirSync(", "removeSync(", "remove_tree(", "delete_tree("}
	shellRunners = []string{"system(", "popen(", "execSync(", "shell_exec(", "check_call(", "check_output(", "subprocess.run("}
)

// interpreter looks at code in another language, of which only a few words are known.
func (s *scan) interpreter(c call) {
	s.interpreted(c)
	for _, w := range c.values("-c", "-e", "-r", "--eval") {
		for _, name := range treeRemovers {
			if strings.Contains(w.text, name) {
				s.found(verdict{"code-delete", Deletion, Critical, "runs code that deletes a folder and all that is in it"}, c)
				break
			}
		}
		for _, name := range shellRunners {
			s.handed(w.script, name, c.level+1)
		}
	}
}

// handed reads the commands that code hands to a shell as the first argument of a call.
func (s *scan) handed(code script, name string, level int) {
	for i := 0; ; {
		n := strings.Index(code.text[i:], name)
		if n < 0 {
			return
		}
		i += n + len(name)
		rest := code.text[i:]
		if rest == "" || strings.IndexByte("'\"`", rest[0]) < 0 {
			continue
		}
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return
		}
		s.script(code.slice(i+1, i+1+end), level, false)
		i += end + 2
	}
}
