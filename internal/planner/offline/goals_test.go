package offline_test

// goals is the table by which the planner is judged. Each row is a goal and its rubric: the method or methods that must
// carry it, whether somebody must be asked before something that cannot be taken back, words that the titles must hold,
// and how many constraints the plan must carry.
var goals = []struct {
	goal    string
	methods string // the first, or a+b
	gate    bool
	says    string // in some title, lower case
	limits  int
}{
	// Code.
	{"Debug the intermittent 500s in the checkout service and add a regression test", "debug+test", false, "regression test", 0},
	{"Fix the crash when a CSV with an empty header is imported", "debug", false, "crash", 0},
	{"Find out why the nightly build fails on Windows and fix it", "research+debug", false, "nightly build", 0},
	{"Build a REST API for managing book loans", "build", false, "book loans", 0},
	{"Add rate limiting to the public API within 2 days", "build", false, "rate limiting", 1},
	{"Implement OAuth login for the admin panel without new dependencies", "build", false, "oauth login", 1},
	{"Write unit tests for the date parser", "test", false, "date parser", 0},
	{"Refactor the order module and remove dead code", "refactor", false, "order module", 0},
	{"Review the pull request for the new auth module", "review", false, "pull request", 0},
	{"Reduce p95 latency of the search endpoint from 800ms to 200ms", "performance", false, "p95 latency", 0},
	{"Speed up the startup of the mobile app", "performance", false, "startup", 0},
	{"Audit the payment service for security vulnerabilities", "security", false, "payment service", 0},
	{"Write a README for the command line tool", "document", false, "readme", 0},
	{"Design and build a plugin system for the editor", "build", false, "plugin system", 0},
	{"Create a CLI tool in Rust that renames photos by date", "build", false, "cli tool", 1},
	// Operations.
	{"Deploy version 2.3 of the billing service to production by Friday", "deploy", true, "billing service", 1},
	{"Migrate the orders database from MySQL to PostgreSQL without downtime", "migrate", true, "orders database", 1},
	{"Publish release 1.4 of the client library", "release", true, "release 1.4", 0},
	{"Set up CI for our repository", "provision", false, "ci", 0},
	{"Set up monitoring and alerting for the web servers", "provision", false, "monitoring", 0},
	{"Delete all customer accounts inactive for 3 years", "purge", true, "customer accounts", 0},
	{"Respond to the outage of the login service and write a postmortem", "incident", false, "outage", 0},
	{"Rotate the API keys of all production services", "access", true, "api keys", 0},
	{"Automate the weekly invoice export", "automate", false, "invoice export", 0},
	{"Upgrade the cluster to Kubernetes 1.31 and verify all services", "migrate", true, "cluster", 0},
	{"Restart the production message broker and check the queues", "", true, "message broker", 0},
	// Data.
	{"Analyze last quarter's sales data and present the main trends", "analysis", false, "sales data", 0},
	{"Build a dashboard of our support KPIs", "dashboard", false, "support kpis", 0},
	{"Train a classifier that detects spam reviews", "model", false, "classifier", 0},
	{"Clean and merge the customer records of both shops", "pipeline", false, "customer records", 0},
	{"Run an A/B test of the new signup page", "experiment", false, "signup page", 0},
	{"Forecast demand for the next 6 months from data/sales.csv", "analysis", false, "demand", 0},
	// Knowledge.
	{"Research the state of the art in battery recycling and write a report", "research", false, "write a report", 0},
	{"Compare three note-taking apps for a small team", "compare", false, "note-taking apps", 0},
	{"Write a blog post about deleting files safely", "write", false, "blog post", 0},
	{"Summarise https://example.com/report.html in Korean", "summarise", false, "example.com", 1},
	{"Translate the user manual into German", "translate", false, "user manual", 0},
	{"Learn the basics of Spanish within 3 months", "learn", false, "spanish", 1},
	{"Prepare a presentation on our hiring process", "present", false, "presentation", 0},
	{"Draft a proposal for a community garden under $500", "write", false, "proposal", 1},
	{"Investigate new data protection regulations in the EU and summarise them", "research+summarise", false, "regulations", 0},
	{"Write the rationale of the impact assessment", "write", false, "rationale", 0},
	// Office.
	{"Hire a senior backend engineer", "hire", true, "backend engineer", 0},
	{"Organize a two-day offsite for 30 people under €9000", "event", true, "offsite", 1},
	{"Schedule a retrospective with the platform team", "meeting", false, "retrospective", 0},
	{"Send a newsletter to all customers about the new prices", "announce", true, "newsletter", 0},
	{"Prepare the onboarding of a new employee", "onboard", false, "onboarding", 0},
	{"Plan the roadmap for next quarter", "project", false, "roadmap", 0},
	{"Gather feedback from users of the beta", "feedback", false, "feedback", 0},
	{"Cut our cloud costs and make a budget for next year", "budget", false, "cloud costs", 0},
	// Travel, home and life.
	{"Plan a 5-day trip to Lisbon for two under $3000", "trip", true, "lisbon", 1},
	{"Book a flight and a hotel for the conference in Oslo", "trip", true, "oslo", 0},
	{"Buy a new laptop for video editing under $1500", "buy", true, "laptop", 1},
	{"Fix the leaking kitchen tap", "household", false, "kitchen tap", 0},
	{"Organise my 20,000 family photos", "organise", false, "family photos", 0},
	{"Cook a three-course dinner for eight people on Saturday", "cook", false, "dinner", 0},
	{"Move to a new apartment in Berlin", "move", false, "apartment", 0},
	{"Start a running habit and prepare for a 10k", "habit", false, "running habit", 0},
	{"Apply for a student visa for Canada", "apply", true, "student visa", 0},
	{"Renovate the bathroom without professional help", "household", false, "bathroom", 1},
	{"Make the world a slightly kinder place", "general", false, "world", 0},
	// Korean.
	{"결제 서비스의 간헐적인 500 오류를 고치고 회귀 테스트를 추가해줘", "debug+test", false, "회귀 테스트", 0},
	{"제주도 3박 4일 가족 여행 계획을 세워줘", "trip", true, "제주도", 0},
	{"고객 만족도 설문 결과를 분석하고 보고서를 작성해줘", "analysis", false, "보고서", 0},
	{"주문 데이터베이스를 중단 없이 PostgreSQL로 이전해줘", "migrate", true, "데이터베이스", 1},
	{"새 버전을 금요일까지 운영 서버에 배포해줘", "deploy", true, "새 버전", 1},
	{"회의록을 요약해서 정리해줘", "summarise", false, "회의록", 0},
	{"영상 편집용 노트북을 150만원 이하로 구매하고 싶어", "buy", true, "노트북", 1},
	{"오래된 로그 파일을 모두 삭제해줘", "purge", true, "로그", 0},
	{"전기차 배터리 시장 동향을 조사해줘", "research", false, "시장", 0},
	{"사용자 매뉴얼을 영어로 번역해줘", "translate", false, "매뉴얼", 1},
	{"신입 백엔드 개발자를 채용해줘", "hire", true, "개발자", 0},
}
