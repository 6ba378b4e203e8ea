package document

import "slices"

// Change gives the document in which f's result stands in the place of the part to which a path without wildcards leads. found: there is one.
func (d *Doc) Change(p Path, f func(*Doc) *Doc) (out *Doc, found bool) {
	if len(p) == 0 {
		return f(d), true
	}
	l, rest := p[0], p[1:]
	switch l.kind {
	case legMember:
		old := d.Member(l.name)
		if old == nil {
			return d, false
		}
		part, found := old.Change(rest, f)
		if !found {
			return d, false
		}
		return d.with(l.name, part), true
	case legCell:
		if d.kind != Array {
			if l.itself() {
				return d.Change(rest, f)
			}
			return d, false
		}
		i := l.from.at(len(d.list))
		if i < 0 || i >= len(d.list) {
			return d, false
		}
		part, found := d.list[i].Change(rest, f)
		if !found {
			return d, false
		}
		list := slices.Clone(d.list)
		list[i] = part
		return NewArray(list), true
	}
	return d, false
}

// with is an object with a member more, or another one of the name.
func (d *Doc) with(name string, part *Doc) *Doc {
	return NewObject(append(slices.Clone(d.members), Member{name, part}))
}

// Has reports whether a path without wildcards leads to a part.
func (d *Doc) Has(p Path) bool {
	_, found := d.Change(p, func(d *Doc) *Doc { return d })
	return found
}

// Put adds a part where the path leads to none yet: a member of an object, or an element of an array; what is no array and gets an
// element becomes one.
func (d *Doc) Put(p Path, part *Doc) *Doc {
	if len(p) == 0 || d.Has(p) {
		return d
	}
	l := p[len(p)-1]
	out, _ := d.Change(p[:len(p)-1], func(parent *Doc) *Doc {
		switch {
		case l.kind == legMember && parent.kind == Object:
			return parent.with(l.name, part)
		case l.kind == legMember:
			return parent
		case parent.kind != Array:
			parent = NewArray([]*Doc{parent})
		}
		return parent.insert(l.from, part)
	})
	return out
}

// insert puts a part before an element of an array; at its end if there are not so many, at its begin if so many are not before the last.
func (d *Doc) insert(at cell, part *Doc) *Doc {
	i := min(max(at.at(len(d.list)), 0), len(d.list))
	return NewArray(slices.Insert(slices.Clone(d.list), i, part))
}

// Replace puts a part in the place of the one to which the path leads, if there is one.
func (d *Doc) Replace(p Path, part *Doc) *Doc {
	out, _ := d.Change(p, func(*Doc) *Doc { return part })
	return out
}

// AppendTo appends a part to the array to which the path leads; what is no array becomes one.
func (d *Doc) AppendTo(p Path, part *Doc) *Doc {
	out, _ := d.Change(p, func(old *Doc) *Doc {
		if old.kind != Array {
			return NewArray([]*Doc{old, part})
		}
		return NewArray(append(slices.Clone(old.list), part))
	})
	return out
}

// InsertInto puts a part into an array, before the element to which the path leads, which ends in a cell. What is no array stays.
func (d *Doc) InsertInto(p Path, part *Doc) *Doc {
	out, _ := d.Change(p[:len(p)-1], func(old *Doc) *Doc {
		if old.kind != Array {
			return old
		}
		return old.insert(p[len(p)-1].from, part)
	})
	return out
}

// Remove takes the part away to which a path leads, which is not the whole document.
func (d *Doc) Remove(p Path) *Doc {
	l := p[len(p)-1]
	out, _ := d.Change(p[:len(p)-1], func(old *Doc) *Doc {
		switch {
		case old.kind == Object && l.kind == legMember:
			i := slices.IndexFunc(old.members, func(m Member) bool { return m.Name == l.name })
			if i >= 0 {
				return &Doc{kind: Object, members: slices.Delete(slices.Clone(old.members), i, i+1)}
			}
		case old.kind == Array && l.kind == legCell:
			if i := l.from.at(len(old.list)); i >= 0 && i < len(old.list) {
				return NewArray(slices.Delete(slices.Clone(old.list), i, i+1))
			}
		}
		return old
	})
	return out
}

// Merge is JSON_MERGE_PRESERVE: objects are merged member by member, all else is put together in arrays.
func Merge(a, b *Doc) *Doc {
	if a.kind == Object && b.kind == Object {
		out := slices.Clone(a.members)
		for _, m := range b.members {
			if old := a.Member(m.Name); old != nil {
				m.Doc = Merge(old, m.Doc)
			}
			out = append(out, m)
		}
		return NewObject(out)
	}
	elements := func(d *Doc) []*Doc {
		if d.kind == Array {
			return d.list
		}
		return []*Doc{d}
	}
	return NewArray(slices.Concat(elements(a), elements(b)))
}

// Patch is JSON_MERGE_PATCH (RFC 7396).
func Patch(target, patch *Doc) *Doc {
	if patch.kind != Object {
		return patch
	}
	if target.kind != Object {
		target = emptyObj
	}
	out := make([]Member, 0, len(target.members)+len(patch.members))
	for _, m := range target.members {
		if patch.Member(m.Name) == nil {
			out = append(out, m)
		}
	}
	for _, m := range patch.members {
		if m.Doc.kind == Null {
			continue
		}
		old := target.Member(m.Name)
		if old == nil {
			old = null
		}
		out = append(out, Member{m.Name, Patch(old, m.Doc)})
	}
	return NewObject(out)
}

// Contains is JSON_CONTAINS: whether all of a candidate is in d.
func (d *Doc) Contains(candidate *Doc) bool {
	switch d.kind {
	case Object:
		if candidate.kind != Object {
			return false
		}
		for _, m := range candidate.members {
			if part := d.Member(m.Name); part == nil || !part.Contains(m.Doc) {
				return false
			}
		}
		return true
	case Array:
		list := []*Doc{candidate}
		if candidate.kind == Array {
			list = candidate.list
		}
		for _, c := range list {
			if !slices.ContainsFunc(d.list, func(e *Doc) bool {
				if e.kind == Array || e.kind == Object {
					return e.Contains(c)
				}
				return Compare(e, c) == 0
			}) {
				return false
			}
		}
		return true
	}
	return Compare(d, candidate) == 0
}

// Overlaps is JSON_OVERLAPS: whether the two have an element or a member in common, or are equal.
func Overlaps(a, b *Doc) bool {
	switch {
	case a.kind == Object && b.kind == Object:
		for _, m := range a.members {
			if other := b.Member(m.Name); other != nil && Compare(m.Doc, other) == 0 {
				return true
			}
		}
		return false
	case a.kind == Array && b.kind == Array:
		have := make(map[string]bool, len(a.list))
		for _, e := range a.list {
			have[e.Key()] = true
		}
		return slices.ContainsFunc(b.list, func(e *Doc) bool { return have[e.Key()] })
	case a.kind == Array:
		return a.HasElement(b)
	case b.kind == Array:
		return b.HasElement(a)
	}
	return Compare(a, b) == 0
}

// HasElement is MEMBER OF: whether a document is an element of the array d, or equal to d, which is none.
func (d *Doc) HasElement(e *Doc) bool {
	if d.kind != Array {
		return Compare(d, e) == 0
	}
	return slices.ContainsFunc(d.list, func(x *Doc) bool { return Compare(x, e) == 0 })
}
