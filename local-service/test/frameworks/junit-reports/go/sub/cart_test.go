package sub

import "testing"

func TestAdds(t *testing.T) {}

func TestFails(t *testing.T) {
	t.Errorf("got %d, want %q", 1, "<2>")
}

func TestSkipped(t *testing.T) { t.Skip("later") }

func TestTable(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) { t.Fatal("no money below") })
}

func TestPanics(t *testing.T) {
	var cart map[string]int
	cart["apple"] = 1
}
