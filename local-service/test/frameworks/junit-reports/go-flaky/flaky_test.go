package flaky

import (
	"os"
	"testing"
)

func TestAdds(t *testing.T) {}

func TestIsFlaky(t *testing.T) {
	name := os.Getenv("TRIES")
	if _, err := os.Stat(name); err != nil {
		os.WriteFile(name, nil, 0o600)
		t.Fatal("first try")
	}
}
