package jsonx

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// NameSet finds repeated member names of one object. The zero value is ready
// to use; Reset makes it so again and keeps its memory, unless that is much.
type NameSet struct {
	list  [][]byte
	table []entry // of list, at the slots of their hashes; of use beyond scannedNames
	shift int     // of a hash, which leaves a slot of table
}

// An entry has the hash of a name in its upper half and 1 + its index in the
// list in its lower one; 0 is a free slot. With the hash at hand, other names
// are passed over without a look at them, and growing does not hash again.
type entry uint64

func (e entry) hash() uint32 { return uint32(e >> 32) }
func (e entry) index() int   { return int(uint32(e)) - 1 }

const (
	scannedNames = 16 // so many are found faster by a scan
	keptNames    = 1024
	smallTable   = 8 // bits of a slot in the first table
)

// nameSeed is unknown to those who choose the names.
var nameSeed = maphash.MakeSeed()

func hashOf(name []byte) uint32 { return uint32(maphash.Bytes(nameSeed, name)) }

// Reset empties s.
func (s *NameSet) Reset() {
	if cap(s.list) > keptNames {
		*s = NameSet{}
	}
	if len(s.list) > scannedNames {
		clear(s.table)
	}
	clear(s.list)
	s.list = s.list[:0]
}

// Add records name, which must stay unchanged until Reset, and reports
// whether it is new.
func (s *NameSet) Add(name []byte) bool {
	n := len(s.list)
	if n <= scannedNames {
		for i := range s.list {
			if bytes.Equal(s.list[i], name) {
				return false
			}
		}
		s.list = append(s.list, name)
		if n == scannedNames {
			s.index()
		}
		return true
	}
	hash := hashOf(name)
	at := s.slot(hash)
	for ; s.table[at] != 0; at = s.after(at) {
		if e := s.table[at]; e.hash() == hash && bytes.Equal(s.list[e.index()], name) {
			return false
		}
	}
	if n == cap(s.list) {
		s.list = slices.Grow(s.list, n) // append would copy more often
	}
	s.list = append(s.list, name)
	s.table[at] = newEntry(hash, n)
	if 2*n > len(s.table) {
		s.grow()
	}
	return true
}

func newEntry(hash uint32, index int) entry { return entry(hash)<<32 | entry(uint32(index+1)) }

// index puts the first names into the table, which is empty or not made yet.
func (s *NameSet) index() {
	if s.table == nil {
		s.table = make([]entry, 1<<smallTable)
		s.shift = 32 - smallTable
	}
	for i, name := range s.list {
		s.insert(newEntry(hashOf(name), i))
	}
}

// grow makes the table four times as large. Slots are in the order of their
// hashes, so that memory is read and written nearly in order.
func (s *NameSet) grow() {
	old := s.table
	s.table = make([]entry, 4*len(old))
	s.shift -= 2
	for _, e := range old {
		if e != 0 {
			s.insert(e)
		}
	}
}

// insert puts an entry of a new name into the table.
func (s *NameSet) insert(e entry) {
	at := s.slot(e.hash())
	for s.table[at] != 0 {
		at = s.after(at)
	}
	s.table[at] = e
}

func (s *NameSet) slot(hash uint32) int { return int(hash >> s.shift) }

func (s *NameSet) after(at int) int { return (at + 1) & (len(s.table) - 1) }
