package risk

import (
	"slices"
	"strings"
)

const (
	stopped  = "stops or disables a service"
	halted   = "turns the machine off or starts it anew"
	firewall = "takes the firewall away"
	account  = "changes who may use this machine, and how"
)

// Rows about the machine itself: power, services, accounts, the network.
var machineRules = []rule{
	{verdict{"power", Outage, Dangerous, halted}, "shutdown reboot halt poweroff", "", "", "-c -w -k --show", nil},
	{verdict{"power", Outage, Dangerous, halted}, "systemctl", "reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|isolate", "", "", nil},
	{verdict{"power", Outage, Dangerous, halted}, "init telinit", "0|1|6|s|S", "", "", nil},
	{verdict{"kill-all", Outage, Dangerous, "ends every process that it may end"}, "kill", "", "", "", killsAll},
	{verdict{"kill-name", Outage, Moderate, "ends every process of a name"}, "killall pkill skill taskkill", "", "", "-l --list", nil},
	{verdict{"service-stop", Outage, Critical, stopped}, "systemctl", "stop|disable|mask|kill|restart|try-restart|reload-or-restart|revert", "", "", nil},
	{verdict{"service-stop", Outage, Critical, stopped}, "service rc-service", "* stop|restart|force-stop", "", "", nil},
	{verdict{"service-stop", Outage, Critical, stopped}, "launchctl", "unload|bootout|disable|remove|stop|kill", "", "", nil},
	{verdict{"service-stop", Outage, Critical, stopped}, "supervisorctl pm2 sc net nssm", "stop|delete|kill|shutdown|remove|restart", "", "", nil},
	{verdict{"crontab-remove", Deletion, Critical, "deletes all timed jobs of a user"}, "crontab", "", "-r", "", nil},
	{verdict{"crontab-replace", Deletion, Moderate, "replaces the timed jobs of a user"}, "crontab", "", "", "-l -e", func(c call) bool { return len(c.args()) > 0 }},
	{verdict{"firewall-off", Exposure, Critical, firewall}, "iptables ip6tables ebtables", "", "-F -X --flush --delete-chain", "", nil},
	{verdict{"firewall-off", Exposure, Critical, firewall}, "iptables ip6tables", "", "-P --policy", "", anyOperand("ACCEPT")},
	{verdict{"firewall-off", Exposure, Critical, firewall}, "nft", "flush|delete", "", "", nil},
	{verdict{"firewall-off", Exposure, Critical, firewall}, "ufw pfctl", "disable|reset", "", "", nil},
	{verdict{"firewall-off", Exposure, Critical, firewall}, "setenforce", "0|Permissive|permissive", "", "", nil},
	{verdict{"network-down", Outage, Critical, "cuts the machine off the network"}, "ip", "link|addr|route|address", "", "", anyOperand("down flush del delete")},
	{verdict{"network-down", Outage, Critical, "cuts the machine off the network"}, "ifconfig ifdown nmcli", "", "", "", func(c call) bool {
		return c.name == "ifdown" || c.verb(1) == "down" || c.verb(1) == "delete" || c.verb(1) == "off"
	}},
	{verdict{"unmount", Outage, Moderate, "takes a file system away"}, "umount swapoff", "", "", "", nil},
	{verdict{"user-delete", Deletion, Critical, "deletes an account of this machine"}, "userdel deluser groupdel delgroup", "*", "", "", nil},
	{verdict{"user-change", Privilege, Critical, account}, "usermod useradd adduser groupadd passwd chpasswd visudo gpasswd chsh setcap", "", "", "-S --status", nil},
	{verdict{"kernel", Privilege, Moderate, "changes the kernel while it runs"}, "sysctl", "", "-w --write", "", nil},
	{verdict{"kernel", Privilege, Moderate, "changes the kernel while it runs"}, "insmod rmmod modprobe kexec", "*", "", "-n --show-depends", nil},
	{verdict{"package-remove", Deletion, Moderate, "removes software from this machine"}, "apt apt-get yum dnf brew apk zypper pacman snap choco winget port", "remove|purge|autoremove|uninstall|erase|del|dist-clean", "", "-s --simulate", nil},
	{verdict{"package-remove", Deletion, Moderate, "removes software from this machine"}, "pacman rpm dpkg", "", "-R -Rs -Rns -e --erase -r --remove -P --purge", "", nil},
	{verdict{"history-clear", Deletion, Moderate, "deletes the record of what was typed"}, "history", "", "-c -d", "", nil},
	{verdict{"key-delete", Deletion, Critical, "deletes a key that cannot be made again"}, "gpg gpg2", "", "--delete-secret-keys --delete-secret-key --delete-secret-and-public-key", "", nil},
	{verdict{"key-delete", Deletion, Critical, "deletes a key that cannot be made again"}, "security", "delete-keychain|delete-generic-password|delete-internet-password|delete-identity|delete-certificate", "", "", nil},
	{verdict{"registry-delete", Deletion, Critical, "deletes settings of the system"}, "reg", "delete", "", "", nil},
	{verdict{"registry-delete", Deletion, Critical, "deletes settings of the system"}, "defaults bcdedit", "delete|/delete", "", "", nil},
	{verdict{"disk-erase", Deletion, Dangerous, "erases or repartitions a disk"}, "format", "", "", "", func(c call) bool {
		return len(c.verb(0)) == 2 && strings.HasSuffix(c.verb(0), ":")
	}},

	{verdict{"reverse-shell", RemoteCode, Dangerous, "ties a shell to a network connection"}, "nc ncat netcat socat", "", "", "", tiesShell},
	{verdict{"serve-files", Exposure, Moderate, "lets others on the network read a folder"}, "http.server SimpleHTTPServer http-server serve", "", "", "", servesOpenly},
	{verdict{"tunnel", Exposure, Critical, "lets the internet reach this machine"}, "ngrok localtunnel lt cloudflared bore frpc", "", "", "", func(c call) bool {
		return len(c.args()) > 0 && !slices.Contains([]string{"version", "update", "config", "help", "login"}, c.verb(0))
	}},
	{verdict{"tunnel", Exposure, Critical, "lets another machine reach this one"}, "ssh autossh", "", "-R", "", nil},
	{verdict{"trust-off", Exposure, Moderate, "stops checking whom it talks to, for good"}, "git", "config", "", "", func(c call) bool {
		return c.verb(1) == "http.sslVerify" && c.verb(2) == "false"
	}},
}

// killsAll reports whether kill aims at everything (-1) or at the first process.
func killsAll(c call) bool {
	args := c.args()
	for i, a := range args {
		switch {
		case i == 0 && isFlag(a.text) && len(args) > 1: // the signal
		case a.text == "-1" || a.text == "1":
			return true
		}
	}
	return false
}

func tiesShell(c call) bool {
	return slices.ContainsFunc(c.args(), func(w word) bool {
		if c.name == "socat" {
			return strings.HasPrefix(strings.ToUpper(w.text), "EXEC:")
		}
		return given(w.text, "-e") || given(w.text, "-c") || given(w.text, "--exec") || given(w.text, "--sh-exec")
	})
}

func servesOpenly(c call) bool {
	for _, w := range c.values("-b", "--bind", "-a", "--host", "-l", "--listen") {
		if strings.HasPrefix(w.text, "127.") || strings.HasPrefix(w.text, "localhost") || w.text == "::1" || strings.HasPrefix(w.text, "tcp://127.") {
			return false
		}
	}
	return true
}
