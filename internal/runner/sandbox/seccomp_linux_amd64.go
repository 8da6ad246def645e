package sandbox

import "golang.org/x/sys/unix"

// moreRefused are calls that this architecture has besides.
var moreRefused = []uintptr{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MODIFY_LDT}
