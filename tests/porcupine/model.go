package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// input is what was asked: of a topic create, delete, set (its config), read (its config); of the ACL of a principal grant,
// revoke, list; allocate, of producer ids; and alter, of a partition with this partition epoch, to an ISR.
type input struct {
	Kind, Name, Value string
	Epoch             int32
}

func (in input) isRead() bool { return in.Kind == "read" || in.Kind == "list" }

// output is what was answered: ok, absent, exists, stale (the partition epoch), or open, where nobody knows. Value: the
// topic's id, or its config; how many ACLs there are, or were revoked; the first of the producer ids; the ISR. Epoch: of the
// partition, afterwards.
type output struct {
	Kind, Value string
	Epoch       int32
}

// state is that of one topic, ACL or partition, or of all producer ids. id: empty where nobody was told; value: of the topic's config,
// empty without one, or the ISR, empty for that of the start; epoch: of the partition; allocated: one above the first of the
// last producer ids.
type state struct {
	present   bool
	id, value string
	epoch     int32
	allocated int64
}

// model is nondeterministic: an open operation has taken effect, or has not.
var model = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byName := map[string][]porcupine.Operation{}
		for _, op := range history {
			name := op.Input.(input).Name
			byName[name] = append(byName[name], op)
		}
		parts := make([][]porcupine.Operation, 0, len(byName))
		for _, part := range byName {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{state{}} },
	Step: func(before, asked, answered any) []any {
		return step(before.(state), asked.(input), answered.(output))
	},
	Equal: func(one, other any) bool { return one == other },
	DescribeOperation: func(asked, answered any) string {
		in, out := asked.(input), answered.(output)
		return fmt.Sprintf("%s %s (%d) → %s %s (%d)", in.Kind, in.Value, in.Epoch, out.Kind, out.Value, out.Epoch)
	},
}).ToModel()

// step gives the states that are possible afterwards: none where the answer cannot be.
func step(before state, asked input, answered output) []any {
	switch asked.Kind {
	case "allocate":
		return allocate(before, answered)
	case "alter":
		return alter(before, asked, answered)
	case "grant", "revoke", "list":
		return stepACL(before, asked, answered)
	}
	after, told := apply(before, asked, answered)
	switch answered.Kind {
	case "open":
		return []any{before, after}
	case told:
	default:
		return nil
	}
	if told != "ok" {
		return []any{before}
	}
	if asked.Kind == "delete" && before.id != "" && before.id != answered.Value {
		return nil
	}
	if asked.Kind == "read" && before.value != answered.Value {
		return nil
	}
	return []any{after}
}

// allocate gives ids above all before. One that is open is not among the operations: it can but leave a gap.
func allocate(before state, answered output) []any {
	first, err := strconv.ParseInt(answered.Value, 10, 64)
	if answered.Kind != "ok" || err != nil || first < before.allocated {
		return nil
	}
	return []any{state{allocated: first + 1}}
}

// alter needs the current partition epoch, and makes the next one where the ISR changes.
func alter(before state, asked input, answered output) []any {
	after, isCurrent := before, asked.Epoch == before.epoch
	// All brokers are in the ISR of the start.
	isSame := asked.Value == before.value || before.value == "" && strings.Count(asked.Value, ",") == brokers-1
	if isCurrent && !isSame {
		after = state{value: asked.Value, epoch: before.epoch + 1}
	}
	switch answered.Kind {
	case "open":
		return []any{before, after}
	case "ok":
		if isCurrent && answered.Value == asked.Value && answered.Epoch == after.epoch {
			return []any{after}
		}
	case "stale":
		if asked.Epoch < before.epoch {
			return []any{before}
		}
	}
	return nil
}

func stepACL(before state, asked input, answered output) []any {
	after := before
	if !asked.isRead() {
		after = state{present: asked.Kind == "grant"}
	}
	if answered.Kind == "open" {
		return []any{before, after}
	}
	count := "0"
	if before.present {
		count = "1"
	}
	if answered.Kind != "ok" || asked.Kind != "grant" && answered.Value != count {
		return nil
	}
	return []any{after}
}

// apply gives the state after the operation, and the answer that it must have had.
func apply(before state, asked input, answered output) (state, string) {
	if asked.Kind == "create" {
		if before.present {
			return before, "exists"
		}
		return state{present: true, id: answered.Value}, "ok"
	}
	if !before.present {
		return before, "absent"
	}
	switch asked.Kind {
	case "delete":
		return state{}, "ok"
	case "set":
		return state{present: true, id: before.id, value: asked.Value}, "ok"
	}
	return before, "ok"
}
