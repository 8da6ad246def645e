package experience

import "strings"

// senses groups words that people use for one another when they ask for something and when they describe a tool. The
// words are those of everyday English; no group knows of any tool.
var senses = lexicon(
	"search find query inquire inquiry enquire lookup look check retrieve get fetch view see know tell list browse available availability information info detail",
	"book reserve reservation booking order",
	"buy purchase order subscribe",
	"cancel revoke void refund withdraw abort",
	"change modify update edit reschedule adjust alter revise amend replace rename postpone",
	"create add new make set setup establish register open generate compose draft insert",
	"delete remove erase clear discard drop",
	"send notify notification inform message remind reminder email mail sms text alert deliver",
	"pay payment transfer remit remittance charge",
	"write record save store note",
	"read view display show open",
	"arrange schedule plan agenda calendar appointment organize itinerary",
	"recommend suggest advise suggestion advice",
	"translate translation interpret",
	"calculate compute count convert conversion",
	"summarize summary digest abstract outline",
	"classify categorize label detect identify recognize recognition",
	"login log sign authenticate",
	"image picture photo photograph",
	"video film movie clip",
	"audio sound voice speech spoken song music",
	"document file doc report",
	"hotel room accommodation lodging stay",
	"flight airplane plane air airline airport",
	"car vehicle taxi ride",
	"weather forecast temperature rain",
	"doctor hospital medical clinic physician health",
	"meeting conference",
	"restaurant dish food meal dinner lunch",
	"money cash fund balance amount account",
	"house home property apartment rent",
	"repair fix maintenance maintain",
	"job position career recruitment recruit vacancy employment resume",
	"test verify check validate validation",
	"deploy release publish ship rollout",
	"debug diagnose investigate trace troubleshoot",
	"build compile make",
	"analyze analysis examine study inspect",
	"compare comparison contrast diff",
	"question answer ask",
	"track tracking status progress monitor",
	"navigate navigation route direction path map",
	"download fetch save",
	"upload import",
	"extract parse scrape",
)

// idle are words that say nothing about what is wanted.
var idle = words("a an the i me my we our you your he she it its they them this that these those is are am be been was were do doe did have ha had " +
	"will would can could should may might must want need like pleas help and or but if then also so for of to in on at by from with as into onto about " +
	"after befor when while there here what which who whom how all any some each every no not just only very more most than let u us s t please first " +
	"finally next tool tools api servic service use provid support user users variou specif function allow base give given am pm # \"\"")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// lexicon maps the stem of each word to the numbers of its groups.
func lexicon(groups ...string) map[string][]int {
	m := map[string][]int{}
	for n, g := range groups {
		for _, w := range strings.Fields(g) {
			s := stem(w)
			if k := m[s]; len(k) == 0 || k[len(k)-1] != n {
				m[s] = append(k, n)
			}
		}
	}
	return m
}
