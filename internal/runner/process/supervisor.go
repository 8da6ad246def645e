package process

// SupervisorArg is the first argument with which the engine starts its own binary again. The main of
// every program that runs children, tests included, must then call Supervise and nothing else.
const SupervisorArg = "__supervise"

// Close lets the supervisor go, which ends every child that still runs, as the engine's own end
// would, and returns when it has. The next child starts another.
func Close() { supervisor.close() }
