package redact

// token is a credential that begins with a mark of its own, followed by letters of one set.
type token struct {
	kind   string
	marks  []string
	set    *letters
	least  int  // letters after the mark
	most   int  // 0: as many as follow
	mixed  bool // digits and letters among the first: the mark alone proves little
	keeps  bool // the mark is no secret and stays
	inside bool // the mark may stand in the middle of a word
}

// tokens lists the credentials that can be told by how they begin.
var tokens = []token{
	{kind: "github token", marks: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, set: alnum, least: 36},
	{kind: "github token", marks: []string{"github_pat_"}, set: word, least: 36},
	{kind: "gitlab token", marks: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-"}, set: dotted, least: 20},
	{kind: "aws key id", marks: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, set: bech32, least: 16, most: 16, mixed: true},
	{kind: "google api key", marks: []string{"AIza"}, set: word, least: 35, most: 35},
	{kind: "google oauth secret", marks: []string{"GOCSPX-"}, set: word, least: 28},
	{kind: "google oauth token", marks: []string{"ya29."}, set: dotted, least: 30},
	{kind: "slack token", marks: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xox", "xoxc-", "xoxd-", "xapp-"}, set: dotted, least: 15, mixed: true},
	{kind: "slack webhook", marks: []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"}, set: pathlike, least: 20, keeps: true},
	{kind: "stripe key", marks: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_"}, set: alnum, least: 16},
	{kind: "stripe webhook secret", marks: []string{"whsec_"}, set: base64s, least: 24},
	{kind: "anthropic key", marks: []string{"sk-ant-"}, set: word, least: 20},
	{kind: "openai key", marks: []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"}, set: word, least: 20},
	{kind: "openrouter key", marks: []string{"sk-or-"}, set: word, least: 32},
	{kind: "api key", marks: []string{"sk-"}, set: alnum, least: 32, mixed: true},
	{kind: "groq key", marks: []string{"gsk_"}, set: alnum, least: 40},
	{kind: "xai key", marks: []string{"xai-"}, set: alnum, least: 60},
	{kind: "perplexity key", marks: []string{"pplx-"}, set: alnum, least: 40},
	{kind: "replicate token", marks: []string{"r8_"}, set: word, least: 37, mixed: true},
	{kind: "hugging face token", marks: []string{"hf_", "api_org_"}, set: alnum, least: 34},
	{kind: "twilio key", marks: each("SK", "0123456789abcdef"), set: lowerHex, least: 31, most: 31, mixed: true},
	{kind: "sendgrid key", marks: []string{"SG."}, set: dotted, least: 60, mixed: true},
	{kind: "mailgun key", marks: []string{"key-"}, set: lowerHex, least: 32, most: 32, mixed: true},
	{kind: "npm token", marks: []string{"npm_"}, set: alnum, least: 36},
	{kind: "pypi token", marks: []string{"pypi-"}, set: word, least: 50},
	{kind: "rubygems key", marks: []string{"rubygems_"}, set: lowerHex, least: 48},
	{kind: "nuget key", marks: []string{"oy2"}, set: set("0-9", "a-z"), least: 43, most: 43, mixed: true},
	{kind: "docker token", marks: []string{"dckr_pat_", "dckr_oat_"}, set: word, least: 20},
	{kind: "digitalocean token", marks: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, set: lowerHex, least: 64},
	{kind: "heroku key", marks: []string{"HRKU-"}, set: word, least: 36},
	{kind: "azure storage key", marks: []string{"AccountKey="}, set: base64s, least: 40, keeps: true, inside: true},
	{kind: "azure access key", marks: []string{"SharedAccessKey=", "SharedSecretValue="}, set: base64s, least: 32, keeps: true, inside: true},
	{kind: "azure signature", marks: []string{"&sig=", "?sig="}, set: escaped, least: 40, keeps: true, inside: true},
	{kind: "square token", marks: []string{"sq0atp-", "sq0csp-", "sq0idp-"}, set: word, least: 22},
	{kind: "square token", marks: []string{"EAAA"}, set: word, least: 60, most: 60, mixed: true},
	{kind: "shopify token", marks: []string{"shpat_", "shpss_", "shpca_", "shppa_"}, set: anyHex, least: 32},
	{kind: "databricks token", marks: []string{"dapi"}, set: lowerHex, least: 32, most: 32, mixed: true},
	{kind: "vault token", marks: []string{"hvs.", "hvb.", "hvr."}, set: word, least: 24},
	{kind: "terraform token", marks: []string{".atlasv1."}, set: word, least: 60, inside: true},
	{kind: "linear key", marks: []string{"lin_api_", "lin_oauth_"}, set: alnum, least: 40},
	{kind: "postman key", marks: []string{"PMAK-"}, set: word, least: 59},
	{kind: "age key", marks: []string{"AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"}, set: bech32, least: 58},
	{kind: "discord webhook", marks: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, set: pathlike, least: 40, keeps: true},
	{kind: "teams webhook", marks: []string{".webhook.office.com/webhookb2/"}, set: pathlike, least: 40, keeps: true, inside: true},
	{kind: "grafana token", marks: []string{"glsa_", "glc_"}, set: base64s.and("_"), least: 32},
	{kind: "sentry token", marks: []string{"sntrys_", "sntryu_"}, set: base64s.and("_"), least: 40},
	{kind: "new relic key", marks: []string{"NRAK-", "NRAL-", "NRJS-"}, set: alnum, least: 19},
	{kind: "pulumi token", marks: []string{"pul-"}, set: lowerHex, least: 40, most: 40},
	{kind: "planetscale token", marks: []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, set: dotted, least: 32},
	{kind: "doppler token", marks: []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."}, set: dotted, least: 40},
	{kind: "atlassian token", marks: []string{"ATATT3x", "ATBB", "ATCTT3x"}, set: base64s.and("_-"), least: 32, mixed: true},
	{kind: "figma token", marks: []string{"figd_", "figo_"}, set: word, least: 32},
	{kind: "notion token", marks: []string{"ntn_", "secret_"}, set: alnum, least: 43, mixed: true},
	{kind: "supabase token", marks: []string{"sbp_", "sb_secret_"}, set: word, least: 30},
	{kind: "tailscale key", marks: []string{"tskey-"}, set: word, least: 24, mixed: true},
	{kind: "circleci token", marks: []string{"CCIPAT_", "CCIPRJ_"}, set: word, least: 40},
	{kind: "netlify token", marks: []string{"nfp_", "nfc_", "nfo_"}, set: alnum, least: 36},
	{kind: "buildkite token", marks: []string{"bkua_", "bkat_"}, set: lowerHex, least: 40},
	{kind: "1password token", marks: []string{"ops_eyJ"}, set: base64s.and("_-"), least: 100},
	{kind: "dynatrace token", marks: []string{"dt0c01.", "dt0s01.", "dt0s08.", "dt0s16."}, set: dotted, least: 60},
	{kind: "cloudflare key", marks: []string{"v1.0-"}, set: word, least: 150},
	{kind: "crates.io token", marks: []string{"cio"}, set: alnum, least: 32, most: 32, mixed: true},
}

// each adds one letter of many behind a mark that would be too short to look for.
func each(mark, letters string) (all []string) {
	for _, l := range letters {
		all = append(all, mark+string(l))
	}
	return all
}

// and is the set with more letters.
func (l *letters) and(more string) *letters {
	larger := *l
	for i := range len(more) {
		larger[more[i]] = true
	}
	return &larger
}

// shape makes the general form of a token.
func (k token) shape() shape {
	return shape{kind: k.kind, marks: k.marks, look: k.look, flow: along(k.set)}
}

func (k token) look(t text, at, after int) verdict {
	if !k.inside && !t.starts(at, word) {
		return verdict{}
	}
	from := at
	if k.keeps {
		from = after
	}
	limit := k.least
	if k.most > 0 {
		limit = k.most + 1 // one more, to see that it is too long
	}
	to, open := t.run(after, k.set, limit)
	switch {
	case open:
		return verdict{answer: more, from: from}
	case to-after < k.least, k.most > 0 && (to-after > k.most || to < len(t.b) && word[t.b[to]]):
		return verdict{}
	case k.mixed && !mixed(t.b[after:to]):
		return verdict{}
	case k.most > 0:
		return verdict{answer: yes, from: from, to: to}
	}
	return verdict{answer: flows, from: from, to: to}
}

// mixed reports whether b has letters and several digits, as random text has and words have not.
func mixed(b []byte) bool {
	digit, upper, lower := count(b)
	return digit >= 2 && upper+lower >= 2
}
