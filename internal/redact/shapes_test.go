package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// sample makes letters of a set, digits among them.
func sample(set *letters, n int) string {
	r := rand.New(rand.NewPCG(11, uint64(n)))
	var all []byte
	for c := range set {
		if set[c] && isAlnum(byte(c)) {
			all = append(all, byte(c))
		}
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = all[r.IntN(len(all))]
		switch {
		case i%5 == 1 && set['7']:
			b[i] = '7'
		case i%5 == 2 && set['c']:
			b[i] = 'c'
		case i%5 == 2 && set['C']:
			b[i] = 'C'
		}
	}
	return string(b)
}

// Each mark of each token is found in every surrounding that programs put it in, and not where a letter is missing or it
// is part of a longer word.
func TestTokens(t *testing.T) {
	r := New(nil)
	if len(tokens) < 50 {
		t.Fatalf("%d kinds of token", len(tokens))
	}
	for _, k := range tokens {
		for _, mark := range k.marks {
			token, want := mark+sample(k.set, k.least), "[redacted "+k.kind+"]"
			if k.keeps {
				want = mark + want
			}
			for _, around := range [][2]string{{"", ""}, {"use ", " now"}, {`"`, `"`}, {"x=", "\n"}, {`a\n`, `\nb`}, {"%3D", "&x"}, {"(", ")"}, {"`", "`"}, {"'", "',"}} {
				if got := r.String(around[0] + token + around[1]); got != around[0]+want+around[1] {
					t.Errorf("%s: %q became %q", k.kind, around[0]+token+around[1], got)
				}
			}
			short := token[:len(token)-1]
			if got := r.String("see " + short + " there"); strings.Contains(got, want) {
				t.Errorf("%s: %q is too short, and became %q", k.kind, short, got)
			}
			if got := r.String("see Zz" + token); !k.inside && strings.Contains(got, want) {
				t.Errorf("%s: %q is part of a word, and became %q", k.kind, "Zz"+token, got)
			}
			if long := token + "Zz"; k.most > 0 && strings.Contains(r.String(long), want) {
				t.Errorf("%s: %q is too long, and became %q", k.kind, long, r.String(long))
			}
		}
	}
}

const aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE" // forty letters

func TestShapes(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
	discord := "MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".GAbCdE." + sample(word, 30)
	id := "AKIA" + "ABCDEFGH12345678"
	key := pem("RSA PRIVATE KEY", 700)
	for _, c := range [][2]string{
		{"jwt " + jwt + " end", "jwt [redacted jwt] end"},
		{`{"t":"` + jwt + `"}`, `{"t":"[redacted jwt]"}`},
		{"bot " + discord + "\n", "bot [redacted discord token]\n"},
		{"bot12345678:AA" + sample(word, 33) + "/getMe", "bot12345678:[redacted telegram token]/getMe"},
		{"id abc8Q~" + sample(alnum, 32) + " end", "id abc[redacted azure client secret] end"},
		{id + "\n" + aws + "\n", "[redacted aws key id]\n[redacted aws secret key]\n"},
		{id + " and then\nsecret is " + aws, "[redacted aws key id] and then\nsecret is [redacted aws secret key]"},
		{id + " " + strings.Repeat("word ", 60) + aws, "[redacted aws key id] " + strings.Repeat("word ", 60) + aws},

		{key + "after\n", "[redacted private key]\nafter\n"},
		{"say: " + strings.ReplaceAll(key, "\n", `\n`) + `after"`, `say: [redacted private key]\nafter"`},
		{"  " + strings.ReplaceAll(key, "\n", "\n  ") + "after", "  [redacted private key]\n  after"},
		{"+" + strings.ReplaceAll(key, "\n", "\n+") + "x", "+[redacted private key]\n+x"},
		{"-" + strings.ReplaceAll(key, "\n", "\n-") + "x", "-[redacted private key]\n-x"},
		{pem("OPENSSH PRIVATE KEY", 300), "[redacted private key]\n"},
		{pem("ENCRYPTED PRIVATE KEY", 300), "[redacted private key]\n"},
		{strings.Replace(key, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n", 1), "[redacted private key]\n"},
		{pem("PGP PRIVATE KEY BLOCK", 300), "[redacted private key]\n"},
		{key[:400] + "\nthe log goes on [here]", "[redacted private key] log goes on [here]"},
		{"-----BEGIN PRIVATE KEY----- is how a key begins", "-----BEGIN PRIVATE KEY----- is how a key begins"},
		{`const begin = "-----BEGIN PRIVATE KEY-----"`, `const begin = "-----BEGIN PRIVATE KEY-----"`},
		{pem("CERTIFICATE", 300), pem("CERTIFICATE", 300)},
		{pem("PUBLIC KEY", 300), pem("PUBLIC KEY", 300)},

		{"postgres://app:hunter2@db:5432/app", "postgres://app:[redacted url password]@db:5432/app"},
		{"amqp://app:p@ss:w@mq/", "amqp://app:[redacted url password]@mq/"},
		{"redis://:hunter2@cache", "redis://:[redacted url password]@cache"},
		{"https://" + sample(alnum, 32) + "@git.example/x.git", "https://[redacted url password]@git.example/x.git"},
		{"https://x-access-token:abc123@github.com", "https://x-access-token:[redacted url password]@github.com"},
		{"ssh://git@host:22/x http://h:80/@x https://u@h ftp://u:@h http://u:$PW@h http://u:${PW}@h http://u:***@h", ""},
		{"http://" + strings.Repeat("a", 600) + ":b@c", ""},

		{"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted authorization]"},
		{`"authorization":["Bearer abcdef"]`, `"authorization":["Bearer [redacted authorization]"]`},
		{"curl -H 'AUTHORIZATION: token abcdef123'", "curl -H 'AUTHORIZATION: token [redacted authorization]'"},
		{"Proxy-Authorization: 0123456789abcdef0123", "Proxy-Authorization: [redacted authorization]"},
		{"use Bearer abcdefghij0123456789. ok", "use Bearer [redacted bearer token] ok"},
		{"Authorization: see the documentation. Bearer authentication is basic. authorization is needed; Authorization: Bearer", ""},
		{"the authorization: everything2else", ""},
	} {
		want := c[1]
		if want == "" {
			want = c[0]
		}
		agree(t, c[0], want)
	}
}

var shapesOnly = New(nil)

// agree compares what String makes of text, what it makes of the result, and what a Writer makes of single bytes.
func agree(t *testing.T, text, want string) {
	t.Helper()
	r := shapesOnly
	got := r.String(text)
	if got != want {
		t.Errorf("%q\nbecame %q\nnot    %q", text, got, want)
		return
	}
	if twice := r.String(got); twice != got {
		t.Errorf("%q became %q the second time", got, twice)
	}
	var b strings.Builder
	w := r.Writer(&b)
	for i := range len(text) {
		if _, err := w.Write([]byte{text[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || b.String() != want {
		t.Errorf("byte by byte, %q\nbecame %q\nnot    %q", text, b.String(), want)
	}
}

func TestNamedValues(t *testing.T) {
	for _, c := range [][2]string{
		{"password=hunter2", "password=[redacted password]"},
		{"host=db user=app password=hunter dbname=x", "host=db user=app password=[redacted password] dbname=x"},
		{"Server=db;Uid=app;Pwd=hunter2;Port=1", "Server=db;Uid=app;Pwd=[redacted password];Port=1"},
		{"export DB_PASSWORD='correct-horse1'", "export DB_PASSWORD='[redacted password]'"},
		{"GITHUB_TOKEN=abcdef0123", "GITHUB_TOKEN=[redacted token]"},
		{"?a=1&access_token=abcdef&b=2", "?a=1&access_token=[redacted token]&b=2"},
		{"token%3Dabcdef0123%26", "token%3D[redacted token]"},
		{`{"password": "hunter22", "x": 1}`, `{"password": "[redacted password]", "x": 1}`},
		{`"{\"api_key\": \"abcdef0123\", \"x\"}"`, `"{\"api_key\": \"[redacted api key]\", \"x\"}"`},
		{`password: "pa\"ss1word"`, `password: "[redacted password]"`},
		{"password: hunter22", "password: [redacted password]"},
		{"password = hunter22\n", "password = [redacted password]\n"},
		{"apiKey: 'a1b2c3d4e5'", "apiKey: '[redacted api key]'"},
		{"X-Api-Key: a1b2c3d4e5", "X-Api-Key: [redacted api key]"},
		{"aws_secret_access_key = " + aws, "aws_secret_access_key = [redacted api key]"},
		{"client_secret => 'a1b2c3d4'", "client_secret => '[redacted secret]'"},
		{"mysql --password hunter22 db", "mysql --password [redacted password] db"},
		{"tool --api-key=abcdef1 x", "tool --api-key=[redacted api key] x"},
		{"<password>hunter22</password>", "<password>[redacted password]</password>"},
		{"<a:token>ab12cd34ef</a:token>", "<a:token>ab12cd34ef</a:token>"},
		{"HEROKU_API_KEY=01234567-89ab-cdef-0123-456789abcdef", "HEROKU_API_KEY=[redacted api key]"},
		{"secret: " + strings.Repeat("ab1", 40) + " end", "secret: [redacted secret] end"},
		{`secret: "` + strings.Repeat("a,1", 40) + `" end`, `secret: "[redacted secret]" end`},
		{"token=" + strings.Repeat("ab", 50) + ",x", "token=[redacted token],x"},
	} {
		agree(t, c[0], c[1])
	}
}

func TestWhatIsNoSecret(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	for _, text := range []string{
		// prose
		"The token: identifier expected. A secret: nobody knows. Enter your password: it is required.",
		"unexpected token: } at line 3; password: required; the secret is out, the key - which is long - fits.",
		"Set the api key in the settings, and the access_key too. passphrase: (none)",
		"Basic understanding of Bearer authentication, digest authorization: see RFC 9110.",
		// programs
		`token := lexer.Next()`, `password = user.password`, `if token == "identifier1" {`, `connect(password=password, token=token)`,
		`connect(password=entered, user=u)`, `secret = os.environ["SECRET_1"]`, `Token: cfg.Token2,`, `password: process.env.PASSWORD`,
		`token=$TOKEN2`, `password=${DB_PASSWORD1}`, `secret: {{ .Values.secret1 }}`, `password=<your password>`, `PASSWORD=********`,
		`"password": "Enter 2 your password"`, `"token": "access_token"`, `env = append(env, "PWD="+dir.path)`, `type Token2 struct`, `x.token::y12345678`,
		`TOKEN_KEY = 0xc0406618`, `PrivateKey: testRSA2048PrivateKey`, `rsaPrivateKey = test1024Key`, `max_tokens=2000 tokens: 1500 token_count=12345678`,
		`secret: my-app-secret-v2`, `token: 2026-11-03T10:00:00Z`, `password: /run/secrets/db1`, `PWD=/home/somebody OLDPWD=/tmp/a1b2c3`, `token: https://idp.example/token1`,
		`${secret:DB2_PASSWORD}`, `secrets: {API_KEY1: {file: keys/api1}}`, `curl -H "Bearer ${secret:TOKEN_V2}"`, `run: tool --token ${secret:T1}`, `--secret id=npmrc`, `secret: sha256:abc123abc`,
		`[secret DB_PASSWORD1]`, `[redacted api key]`, `token=[redacted token]`, `password: ./pw1.txt x`, `token=%s12345`, `token=aaaaaaaa`, `passwd: C:\users\me1`,
		// identities
		hash, "sha256:" + hash, "hash=" + hash + " prev=" + hash, "commit " + hash[:40], "index 0123abc..4567def 100644",
		"01234567-89ab-cdef-0123-456789abcdef", "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057", "h1:" + sample(base64s, 43) + "=",
		`{"plan":"p","seq":12,"kind":"task.ended","prev":"` + hash + `","hash":"` + hash + `","task":"build"}`,
		"md5 d41d8cd98f00b204e9800998ecf8427e", "integrity sha512-" + sample(base64s, 86) + "==", "AKIAISNOTANIDOFAKEY AIzaTooShort",
		// data
		sample(base64s, 300), "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "data:image/png;base64," + sample(base64s, 120),
		"eyJ0eXAiOiJub3QgYSBqd3QifQ", "eyJhbGci.short", "a.b.c", "12:AA:BB:CC:DD:EE:FF", "10:AAaa:22", "MTIz.abc.def", "npm_config_registry=https://r.example",
		"task-force risk-based desk-123456789012345678901234567890123456", "sk-spinner sk-circle sk-fade-in-spinner-with-a-very-long-class-name-1",
		"github_path ghp_short xoxb-short SG.short pypi-name dapibus hf_model SKU-1234 hvs.x AGE-SECRET-KEY-1", "a2Q~short", "cio oy2 r8_im",
		"https://hooks.slack.com/services/ is where webhooks are", "https://discord.com/api/webhooks/",
	} {
		agree(t, text, text)
	}
}
