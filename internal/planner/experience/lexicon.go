package experience

import (
	"slices"
	"strings"
)

// deeds and things group words that people use for one another, the one when they ask for something and the other when
// they describe a tool. They are words of everyday English and Korean; no group knows of any tool. Korean is read in
// pairs of letters, so only pairs can be listed.
var (
	deeds = []string{
		"search find query inquire inquiry enquire lookup look check retrieve get fetch view see know tell list browse available availability information info detail 검색 조회 찾아 확인 알려",
		"book reserve reservation booking order 예약 예매",
		"buy purchase order subscribe 구매 주문",
		"cancel revoke void refund withdraw abort 취소 환불",
		"change modify update edit reschedule adjust alter revise amend replace rename postpone 변경 수정 바꿔 고쳐",
		"create add new make set setup establish register open generate compose draft insert 추가 생성 만들 등록 설정",
		"delete remove erase clear discard drop 삭제 지워",
		"send notify notification inform message remind reminder email mail sms text alert deliver 보내 전송 알림 메일 문자",
		"pay payment transfer remit remittance charge 결제 송금 이체",
		"write record save store note 작성 기록 저장",
		"read view display show open 읽어 보여",
		"arrange schedule plan agenda calendar appointment organize itinerary 일정 계획",
		"recommend suggest advise suggestion advice 추천",
		"translate translation interpret 번역 통역",
		"calculate compute count convert conversion 계산 변환",
		"summarize summary digest abstract outline 요약 정리",
		"classify categorize label detect identify recognize recognition 분류 인식",
		"login log sign authenticate",
		"test verify check validate validation 검증",
		"deploy release publish ship rollout 배포",
		"debug diagnose investigate trace troubleshoot",
		"build compile make",
		"analyze analysis examine study inspect 분석",
		"compare comparison contrast diff 비교",
		"question answer ask 질문",
		"track tracking status progress monitor 추적",
		"navigate navigation route direction path map",
		"download fetch save",
		"upload import",
		"extract parse scrape 추출",
		"repair fix maintenance maintain 수리",
	}
	things = []string{
		"image picture photo photograph 사진",
		"video film movie clip 영상 영화",
		"audio sound voice speech spoken song music 음악 음성",
		"document file doc report 문서 파일",
		"hotel room accommodation lodging stay 호텔 숙소",
		"flight airplane plane air airline airport 비행 항공",
		"car vehicle taxi ride 택시",
		"weather forecast temperature rain 날씨",
		"doctor hospital medical clinic physician health 병원",
		"meeting conference 회의",
		"restaurant dish food meal dinner lunch 식당 음식",
		"money cash fund balance amount account 잔액 계좌",
		"house home property apartment rent",
		"job position career recruitment recruit vacancy employment resume 채용",
	}
	senses = lexicon(slices.Concat(deeds, things))
)

// looking is the sense of words that only look.
const looking = 0

// acts reports whether a word says what is to be done.
func acts(form string) bool {
	return slices.ContainsFunc(senses[form], func(n int) bool { return n < len(deeds) })
}

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
func lexicon(groups []string) map[string][]int {
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
