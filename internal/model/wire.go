package model

import (
	"net/http"
	"regexp"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Wire is how one provider writes requests and answers. It has no state.
type Wire interface {
	// Usual is where the provider's own server is, and the secret that holds its key.
	Usual() (url, key string)
	// Encode writes a request: the path below the address, headers with the key, and the body.
	Encode(s Settings, key string, r Request) (path string, header http.Header, body []byte, err error)
	// Decode reads the body of an answer of status 200. An error says what is missing: the answer may be whole the next time.
	Decode(r Request, body []byte) (Answer, error)
}

const longestToolName = 64

var notInToolName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// ToolName is a capability's id as providers let tools be called.
func ToolName(id string) string {
	name := notInToolName.ReplaceAllString(id, "__")
	if len(name) > longestToolName {
		name = name[:longestToolName-9] + "_" + digest.Sum([]byte(id)).Short()[:8]
	}
	return name
}

// ToolID finds which tool of a request a provider means; a name that is none of them is given back as it is.
func (r Request) ToolID(name string) string {
	for _, t := range r.Tools {
		if ToolName(t.Name) == name {
			return t.Name
		}
	}
	return name
}
