package assembly

import (
	"os"

	"github.com/cairn-plan/cairn/internal/audit"
)

// keyFile names the variable that says where the secret half of the signing key is kept, if not in the home. Its public
// half lies in the home all the same: verifying needs no secret, and so no setting.
const keyFile = "CAIRN_KEY_FILE"

// loadKey reads the key of a home, or makes it.
func loadKey(home string) (*audit.Key, error) {
	if secret := os.Getenv(keyFile); secret != "" {
		return audit.LoadKeyFrom(secret, audit.KeyPath(home))
	}
	return audit.LoadKey(audit.KeyPath(home))
}
