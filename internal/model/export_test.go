package model

// Extract is extract, for tests.
var Extract = extract
