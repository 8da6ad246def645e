package risk

import (
	"slices"
	"strings"
)

const (
	published = "publishes a package, which cannot be called back"
	withdrawn = "withdraws a package that others use"
	mailed    = "sends a message that cannot be called back"
	paid      = "moves money"
)

// Rows about what others get to see: packages, messages, payments.
var publishRules = []rule{
	{verdict{"unpublish", Deletion, Critical, withdrawn}, "npm pnpm yarn bun", "unpublish|deprecate", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "npm pnpm yarn bun", "publish", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "yarn", "npm publish", "", "", nil},
	{verdict{"unpublish", Deletion, Critical, withdrawn}, "cargo gem", "yank", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "cargo", "publish", "", "-n", nil},
	{verdict{"publish", Push, Critical, published}, "twine", "upload", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "poetry uv flit hatch pdm rye maturin", "publish|upload", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "gem", "push", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "pod", "trunk push", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "vsce ovsx lerna changeset jsr dart cabal luarocks stack", "publish|upload", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "mix", "hex.publish", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "dotnet nuget", "nuget|push push|*", "", "", func(c call) bool { return c.verb(0) == "push" || c.verb(1) == "push" }},
	{verdict{"publish", Push, Critical, published}, "mvn mvnw", "", "", "", anyOperand("deploy release:perform")},
	{verdict{"publish", Push, Critical, published}, "gradle gradlew", "", "", "-m", anyOperand("publish publishToMavenCentral uploadArchives publishPlugins")},
	{verdict{"publish", Push, Critical, published}, "helm", "push", "", "", nil},
	{verdict{"publish", Push, Critical, published}, "goreleaser", "release|publish", "", "--snapshot --skip=publish --skip-publish", nil},
	{verdict{"publish", Push, Critical, published}, "semantic-release release-it np standard-version", "", "", "-d --no-publish", nil},
	{verdict{"publish", Push, Critical, published}, "fastlane eas", "release|deliver|supply|submit|upload_to_app_store|beta", "", "", nil},
	{verdict{"deploy-task", Push, Moderate, "runs a task that is named like a deployment or a release"}, "make gmake just task rake mage", "", "", "-n --just-print -p", namedLikeDeploy(0)},
	{verdict{"deploy-task", Push, Moderate, "runs a task that is named like a deployment or a release"}, "npm pnpm yarn bun", "run|run-script", "", "", namedLikeDeploy(1)},
	{verdict{"deploy-task", Push, Moderate, "runs a task that is named like a deployment or a release"}, "yarn pnpm", "deploy|release|ship", "", "", nil},

	{verdict{"mail", Push, Critical, mailed}, "sendmail mail mailx mutt msmtp swaks ssmtp sendemail s-nail", "", "", "-bp -bv -H", nil},
	{verdict{"mail", Push, Critical, mailed}, "twilio", "api:core:messages:create|api:core:calls:create|email:send", "", "", nil},
	{verdict{"mail", Push, Critical, mailed}, "slack slackcat signal-cli telegram-send ntfy", "", "", "", func(c call) bool {
		return !slices.Contains([]string{"sub", "subscribe", "receive", "login", "version", "list"}, c.verb(0))
	}},
	{verdict{"payment", Spending, Dangerous, paid}, "stripe", "", "", "", stripePays},
	{verdict{"payment", Spending, Dangerous, paid}, "paypal braintree square lncli bitcoin-cli", "", "", "", anyOperand(
		"pay charge capture payout payouts send refund sendpayment payinvoice sendtoaddress sendmany payments orders:capture")},
}

// namedLikeDeploy makes a condition: the task at from, or any for 0, is named like a deployment.
func namedLikeDeploy(from int) func(call) bool {
	return func(c call) bool {
		ops := c.operands()
		if from > 0 { // the rest are arguments of the task
			ops = ops[:min(from+1, len(ops))]
		}
		for _, op := range ops[min(from, len(ops)):] {
			for _, w := range strings.FieldsFunc(op.text, func(r rune) bool { return r == ':' || r == '-' || r == '_' || r == '.' || r == '/' }) {
				if w == "deploy" || w == "release" || w == "publish" || w == "ship" || w == "destroy" {
					return true
				}
			}
		}
		return false
	}
}

func stripePays(c call) bool {
	money := []string{"charges", "payment_intents", "payouts", "refunds", "transfers", "invoices", "subscriptions", "topups", "issuing"}
	switch verb := c.verb(0); {
	case slices.Contains(money, verb):
		return slices.Contains([]string{"create", "confirm", "capture", "pay", "finalize_invoice", "cancel", "reverse"}, c.verb(1))
	case verb == "post" || verb == "delete":
		return true
	}
	return false
}
