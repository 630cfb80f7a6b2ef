package schema

// bounds keeps the cost of checking in proportion to the value that is
// checked: neither expanding references nor following them through a value
// may multiply (MCP 2026-07-28, Overview › Composition).
func (r *reader) bounds(root *vertex) {
	if len(r.order) > maxNodes {
		r.problem("", "", "the schema has more than %d subschemas", maxNodes)
		return
	}
	c := new(circles)
	for _, v := range r.order {
		if v.number == 0 {
			c.visit(v)
		}
	}
	for _, v := range r.order {
		if keyword := v.endless(v, map[*vertex]bool{}); keyword != "" {
			r.problem(v.pointer, keyword, "refers back to its own schema for the same value, without end")
			return
		}
	}
	for _, v := range r.order {
		if n := v.repeats(); n.members > 1 || n.elements > 1 {
			r.problem(v.pointer, v.branching(), "leads back to its own schema through two branches: checking would double with each level of the value")
			return
		}
	}
	r.measure(root)
	switch {
	case root.depth > maxDepth:
		r.problem("", "", "the schema nests deeper than %d subschemas", maxDepth)
	case root.size > maxNodes:
		r.problem("", "", "the schema has more than %d subschemas with every $ref expanded", maxNodes)
	}
}

// circles finds the subschemas that lead back to themselves: Tarjan's
// algorithm for strongly connected components.
type circles struct {
	count int
	found int
	stack []*vertex
}

func (c *circles) visit(v *vertex) {
	c.count++
	v.number, v.low = c.count, c.count
	c.stack = append(c.stack, v)
	for _, e := range v.edges {
		switch {
		case e.reach == noValue: // a definition applies to nothing by itself
		case e.to.number == 0:
			c.visit(e.to)
			v.low = min(v.low, e.to.low)
		case e.to.circle == 0:
			v.low = min(v.low, e.to.number)
		}
	}
	if v.low != v.number {
		return
	}
	c.found++
	for {
		last := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		last.circle = c.found
		if last == v {
			return
		}
	}
}

// endless returns the keyword by which from reaches v again without going
// into the value, "" if there is none.
func (v *vertex) endless(from *vertex, seen map[*vertex]bool) string {
	for _, e := range from.edges {
		if e.reach != sameValue || e.to.circle != v.circle {
			continue
		}
		if e.to == v {
			return e.key
		}
		if !seen[e.to] {
			seen[e.to] = true
			if v.endless(e.to, seen) != "" {
				return e.key
			}
		}
	}
	return ""
}

// repetition counts how often one part of a value may be checked.
type repetition struct{ members, elements int }

// repeats counts how often one member or one element of a value may be
// checked against the circle that v is in, by v and by what it applies to the
// same value. Two stands for more.
func (v *vertex) repeats() repetition {
	if v.repeated != nil {
		return *v.repeated
	}
	var counts [memberName + 1]int
	var n repetition
	for _, e := range v.edges {
		if e.to.circle != v.circle {
			continue
		}
		counts[e.reach] = min(counts[e.reach]+1, 2)
		if e.reach == sameValue {
			below := e.to.repeats()
			n.members = min(n.members+below.members, 2)
			n.elements = min(n.elements+below.elements, 2)
		}
	}
	n.members += max(min(counts[oneMember], 1)+counts[eachMember], counts[otherMember])
	n.elements += max(min(counts[oneElement], 1), min(counts[otherElement], 1)) + counts[eachElement]
	v.repeated = &n
	return n
}

// branching names the keyword to blame for repeats.
func (v *vertex) branching() string {
	for _, e := range v.edges {
		if e.to.circle == v.circle {
			return e.key
		}
	}
	return ""
}

// measure computes how many subschemas v stands for with references expanded,
// and how deep they nest. What leads back to itself counts once.
func (r *reader) measure(v *vertex) {
	if v.size > 0 {
		return
	}
	v.size, v.depth = 1, 1
	for _, e := range v.edges {
		if e.to.circle == v.circle && isReference(e.key) {
			continue
		}
		r.measure(e.to)
		v.size = min(v.size+e.to.size, maxNodes+1)
		v.depth = max(v.depth, e.to.depth+boolInt(!isReference(e.key)))
	}
}

func isReference(keyword string) bool { return keyword == "$ref" || keyword == "$dynamicRef" }
