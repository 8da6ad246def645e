package risk

import (
	"slices"
	"strings"
)

// HTTP reports what a request may do that cannot be taken back. Places in the findings are places in
// the address.
func HTTP(method, url string) []Finding {
	r := &report{text: url}
	for _, v := range requested(method, url) {
		r.add(v, 0, len(url))
	}
	return r.sorted()
}

// endpoint is an address that is known for what it does when something is sent to it.
type endpoint struct {
	host string // the host or its end, after a dot
	path string // part of the path; * stands for one segment
	verdict
}

var (
	sends    = verdict{"http-send", Push, Critical, "sends a message that cannot be called back"}
	pays     = verdict{"http-pay", Spending, Dangerous, "moves money"}
	releases = verdict{"http-release", Push, Critical, "merges, releases or publishes through a server's interface"}
)

var endpoints = []endpoint{
	{"api.stripe.com", "/charges", pays}, {"api.stripe.com", "/payment_intents", pays}, {"api.stripe.com", "/payouts", pays},
	{"api.stripe.com", "/refunds", pays}, {"api.stripe.com", "/transfers", pays}, {"api.stripe.com", "/subscriptions", pays},
	{"api.stripe.com", "/invoices", pays}, {"paypal.com", "/payouts", pays}, {"paypal.com", "/capture", pays}, {"paypal.com", "/payments", pays},
	{"paypal.com", "/orders", pays}, {"braintreegateway.com", "/transactions", pays}, {"squareup.com", "/payments", pays},
	{"adyen.com", "/payments", pays}, {"wise.com", "/transfers", pays}, {"coinbase.com", "/transactions", pays},
	{"api.sendgrid.com", "/mail/send", sends}, {"api.mailgun.net", "/messages", sends}, {"api.postmarkapp.com", "/email", sends},
	{"api.resend.com", "/emails", sends}, {"api.twilio.com", "/Messages", sends}, {"api.twilio.com", "/Calls", sends},
	{"slack.com", "/chat.postMessage", sends}, {"hooks.slack.com", "/services", sends}, {"discord.com", "/webhooks", sends},
	{"api.telegram.org", "/send", sends}, {"webhook.office.com", "/", sends}, {"api.twitter.com", "/tweets", sends}, {"api.x.com", "/tweets", sends},
	{"gmail.googleapis.com", "/send", sends}, {"graph.microsoft.com", "/sendMail", sends}, {"events.pagerduty.com", "/enqueue", sends},
	{"api.github.com", "/merge", releases}, {"api.github.com", "/releases", releases}, {"api.github.com", "/dispatches", releases},
	{"upload.pypi.org", "/", releases}, {"registry.npmjs.org", "/", releases}, {"crates.io", "/api/v1/crates", releases},
}

// requested judges a request by its method, then by whom it is sent to.
func requested(method, url string) (all []verdict) {
	method = strings.ToUpper(method)
	host, path, login := split(url)
	if login {
		all = append(all, verdict{"http-password", Exposure, Moderate, "carries a password in its address, where logs keep it"})
	}
	if host == "169.254.169.254" || host == "metadata.google.internal" || host == "100.100.100.200" {
		all = append(all, verdict{"http-metadata", Exposure, Critical, "asks a cloud for the credentials of this machine"})
	}
	switch method {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND":
		return all
	case "DELETE":
		return append(all, verdict{"http-delete", Deletion, Critical, "asks a server to delete something"})
	}
	for _, e := range endpoints {
		if (host == e.host || strings.HasSuffix(host, "."+e.host)) && strings.Contains(path, e.path) {
			return append(all, e.verdict)
		}
	}
	segments := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '/' || r == '_' || r == '-' || r == ':' })
	for _, w := range segments {
		switch w {
		case "delete", "destroy", "purge", "drop", "truncate", "wipe":
			return append(all, verdict{"http-delete", Deletion, Critical, "asks a server to delete something"})
		case "charge", "charges", "payment", "payments", "payout", "payouts", "refund", "refunds", "checkout", "purchase", "transfer", "transfers":
			return append(all, verdict{"http-pay", Spending, Critical, "asks a server to move money"})
		}
	}
	return append(all, verdict{"http-write", Push, Moderate, "sends data to a server, which keeps what it makes of it"})
}

// split takes an address apart, without its port, and says whether a password is in it. It takes
// anything, also what is no address.
func split(url string) (host, path string, login bool) {
	rest := url
	if i := strings.Index(rest, "://"); i >= 0 {
		rest = rest[i+3:]
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest, path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		_, password, ok := strings.Cut(rest[:i], ":")
		login = ok && password != "" && !strings.HasPrefix(password, "$")
		rest = rest[i+1:]
	}
	if !strings.HasPrefix(rest, "[") {
		rest, _, _ = strings.Cut(rest, ":")
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	return strings.ToLower(rest), path, login
}

// methods are the words that stand for a method in HTTPie's order of arguments.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// request judges a command that makes a request.
func (s *scan) request(c call) {
	if c.flag("--help", "--version") {
		return
	}
	method, urls := "GET", c.operands()
	switch c.name {
	case "curl":
		urls = append(urls, c.values("--url")...)
		method = curlMethod(c)
	case "wget":
		if c.flag("--post-data", "--post-file") {
			method = "POST"
		}
		for _, w := range c.values("--method") {
			method = w.text
		}
	default:
		method, urls = httpieMethod(urls)
	}
	for _, u := range urls {
		for _, v := range requested(method, u.text) {
			s.found(v, c)
		}
	}
	s.sendsSecret(c)
}

func curlMethod(c call) string {
	if m := c.values("-X", "--request"); len(m) > 0 {
		return m[len(m)-1].text
	}
	switch {
	case c.flag("-G", "--get"), c.flag("-I", "--head"):
		return "GET"
	case c.flag("-T", "--upload-file"):
		return "PUT"
	case c.flag("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "-F", "--form", "--form-string"):
		return "POST"
	}
	return "GET"
}

// httpieMethod reads [METHOD] URL [ITEM...]: items that carry data make it a POST.
func httpieMethod(ops []word) (method string, urls []word) {
	if len(ops) == 0 {
		return "GET", nil
	}
	if slices.Contains(methods, ops[0].text) {
		return ops[0].text, ops[1:min(2, len(ops))]
	}
	for _, item := range ops[1:] {
		if strings.Contains(item.text, "=") && !strings.Contains(item.text, "==") {
			return "POST", ops[:1]
		}
	}
	return "GET", ops[:1]
}
