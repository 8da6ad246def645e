package shell

import (
	"bytes"
	"io"
	"os"

	"github.com/cairn-plan/cairn/internal/fault"
)

const inMemory = 64 << 10 // of each stream, what is kept in memory

// spool keeps a stream to be read again, in memory while it is small and in a file when it is not:
// many commands run at once.
type spool struct {
	head bytes.Buffer
	file *os.File
	size int64
}

func (s *spool) Write(b []byte) (int, error) {
	s.size += int64(len(b))
	if s.file == nil && s.head.Len()+len(b) <= inMemory {
		return s.head.Write(b)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "cairn-stream-*")
		if err != nil {
			return 0, err
		}
		s.file = f
		if _, err := f.Write(s.head.Bytes()); err != nil {
			return 0, err
		}
		s.head = bytes.Buffer{}
	}
	return s.file.Write(b)
}

// reader reads what was written, from its beginning.
func (s *spool) reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.head.Bytes())
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// bytes reads all of it, unless it is over limit.
func (s *spool) bytes(limit int64) ([]byte, error) {
	if s.size > limit {
		return nil, fault.New(fault.Failed, "it is %d bytes long, over the %d that an output may have", s.size, limit)
	}
	return io.ReadAll(s.reader())
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
