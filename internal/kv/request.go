package kv

import (
	"time"

	"github.com/longitude-db/longitude/clock"
)

// Request asks one range to do one thing; exactly one of the pointers is set. Requests are not changed once sent, so a
// transport inside one process may pass them as they are.
type Request struct {
	Range RangeID `msg:"r"`

	Read      *ReadRequest      `msg:"rd,omitempty"`
	Refresh   *RefreshRequest   `msg:"rf,omitempty"`
	Write     *WriteRequest     `msg:"wr,omitempty"`
	EndTxn    *EndTxnRequest    `msg:"et,omitempty"`
	Resolve   *ResolveRequest   `msg:"rs,omitempty"`
	Push      *PushRequest      `msg:"pu,omitempty"`
	Query     *QueryRequest     `msg:"qi,omitempty"`
	Recover   *RecoverRequest   `msg:"rc,omitempty"`
	Heartbeat *HeartbeatRequest `msg:"hb,omitempty"`
	Inline    *InlineRequest    `msg:"in,omitempty"`
	Admin     *AdminRequest     `msg:"ad,omitempty"`
	Locks     *LocksRequest     `msg:"lk,omitempty"`
}

// Response answers a Request; Err, or the pointer that matches the request's, is set.
type Response struct {
	Err *Error `msg:"er,omitempty"`

	Read   *ReadResponse  `msg:"rd,omitempty"`
	Write  *WriteResponse `msg:"wr,omitempty"`
	EndTxn *TxnStatus     `msg:"et,omitempty"` // also answers Push, Heartbeat and Recover
	Query  *QueryResponse `msg:"qi,omitempty"`
	// Resolve is set for a request by span alone.
	Resolve *ResolveResponse `msg:"rs,omitempty"`
	Inline  *InlineResponse  `msg:"in,omitempty"`
	Admin   *AdminResponse   `msg:"ad,omitempty"`
	Locks   *LocksResponse   `msg:"lk,omitempty"`
}

// Batch is what one node asks another in one message: requests to any number of ranges, answered together.
type Batch struct {
	Requests []Request `msg:"q"`
}

// BatchReply answers a Batch, in its order.
type BatchReply struct {
	Responses []Response `msg:"a"`
}

// ReadRequest reads keys and spans as of a timestamp. Spans and keys lie within the range.
type ReadRequest struct {
	Txn   TxnID           `msg:"t"`
	Start clock.Timestamp `msg:"st"` // of the transaction's first attempt: its age in conflicts
	// ReadTS is r; Limit is g, already lowered to what the transaction observed of this node (never below ReadTS).
	ReadTS clock.Timestamp `msg:"r"`
	Limit  clock.Timestamp `msg:"g"`
	// MaxLimit is g itself. What was observed of this node says nothing about a range whose lease came to it later (or
	// came back after a restart), so there the limit is max(Limit, min(MaxLimit, low water of the lease's start)).
	MaxLimit clock.Timestamp `msg:"gg"`
	// CanBump: the transaction has read nothing yet, so the leaseholder may itself move r up to an uncertain version
	// and answer with the new one.
	CanBump bool   `msg:"b,omitempty"`
	Keys    []Key  `msg:"k,omitempty"`
	Spans   []Span `msg:"s,omitempty"`
	MaxRows int    `msg:"m,omitempty"` // over all spans; 0: the server's limit of bytes alone
	Reverse bool   `msg:"v,omitempty"` // spans are read from their end, and in reverse order
	// Lock makes it a locking read: the keys asked for, and the rows found in the spans, are locked, and their newest
	// versions are read. One above ReadTS makes the read uncertain, however far above.
	Lock *ReadLock `msg:"lk,omitempty"`
	// Own is set if the transaction has laid intents already: it sees them.
	Own *Own `msg:"ow,omitempty"`
	// AnyReplica: nothing newer than ReadTS concerns the reader (ReadTS = Limit), so a replica whose closed timestamp has
	// reached it may answer, leaseholder or not.
	AnyReplica bool `msg:"ar,omitempty"`
	// Groups has the rows of the spans counted where they are, instead of returned. In all else it is the same read.
	Groups *Grouping `msg:"gr,omitempty"`
	// Patience, with AnyReplica, is how long a replica may wait for ReadTS to be closed; then it answers ErrNotLeaseholder.
	Patience time.Duration `msg:"pa,omitempty"`
	// Fresh: the leaseholder may place the transaction by its own reading.
	Fresh *Fresh `msg:"fr,omitempty"`
}

// Grouping says which rows of a span count as one group: those whose keys are equal up to the end of the last of Columns,
// which begin behind Prefix bytes. Without Columns all rows are one group.
type Grouping struct {
	Prefix  int    `msg:"p"`
	Columns []byte `msg:"c,omitempty"` // a keys.Shape for each
	// First: the value of each group's first row is wanted.
	First bool `msg:"f,omitempty"`
}

// Fresh, on a request that goes to one range, says that nothing depends yet on the timestamps that the coordinator's reading
// gave the transaction: it has neither read anything nor written outside of this request. So the leaseholder may take a
// reading of its own and lower them to that (package replica, fresh.go), and may wait itself until what the request came to
// is past (rule 2), if it knows that sooner than the coordinator would.
type Fresh struct {
	// Floor: the timestamps are not lowered below this. The transaction was planned with what holds from here on.
	Floor clock.Timestamp `msg:"f"`
	// Back is what the coordinator expects its own earliest to be when the answer arrives, if answering takes no time. From it
	// the leaseholder knows how long the coordinator would have to wait. Zero: it is not to wait in the coordinator's place.
	Back clock.Instant `msg:"b"`
}

// Placed answers Fresh.
type Placed struct {
	Limit clock.Timestamp `msg:"g"` // g as it is now
	// Needed is how far the timestamp that rule 2 is owed for was from past when the request arrived, by the leaseholder's
	// clock, and Waited how long the leaseholder waited for it.
	Needed time.Duration `msg:"n,omitempty"`
	Waited time.Duration `msg:"w,omitempty"`
}

// ReadResponse holds the rows: Values for Keys (empty: absent), Rows for each span.
type ReadResponse struct {
	Values [][]byte `msg:"v,omitempty"`
	Rows   []Rows   `msg:"r,omitempty"`
	// ReadTS differs from the request's if the leaseholder moved it (CanBump, Fresh).
	ReadTS clock.Timestamp `msg:"t"`
	// Newest is the timestamp of the newest version that the answer depends on; rule 2 is owed for it, unless Past: then it
	// was certainly past by the clock of the node that answered.
	Newest clock.Timestamp `msg:"n"`
	Past   bool            `msg:"p,omitempty"`
	Placed *Placed         `msg:"pl,omitempty"` // set if the request was Fresh and was placed
	// Observed is a timestamp no lower than any version that this node's leases had acknowledged when the request came.
	Observed clock.Timestamp `msg:"o"`
	// Bumped counts the uncertain versions that moved ReadTS.
	Bumped int `msg:"b,omitempty"`
	// Skipped are keys that others hold (LockSkip). They count as not read: not among the rows, their values empty.
	Skipped []Key `msg:"k,omitempty"`
}

// Rows are the rows of one span in order. More: reading stopped at a limit, and goes on from after the last row, or from
// Resume where there is none.
//
// With Grouping they are groups: Keys are those of each group's first row, Counts how many rows it has, and Values, only with
// Grouping.First, the first rows'. A group at either end of what was read may go on beyond it.
type Rows struct {
	Keys   []Key    `msg:"k,omitempty"`
	Values [][]byte `msg:"v,omitempty"`
	Counts []int64  `msg:"c,omitempty"`
	More   bool     `msg:"m,omitempty"`
	Resume Span     `msg:"e"` // what is left to read, if More
}

// RefreshRequest asks whether reads at From would have read the same at To: no version and no foreign intent in
// (From, To] on the spans. Yes guarantees it for good. It also forwards the node's Observed to To.
type RefreshRequest struct {
	Txn   TxnID           `msg:"t"`
	Start clock.Timestamp `msg:"st"`
	From  clock.Timestamp `msg:"f"`
	To    clock.Timestamp `msg:"o"`
	Spans []Span          `msg:"s"`
	// Note: nothing is asked. The request only tells the ranges of the spans of To: a coordinator tells all ranges where it has
	// laid an intent below its commit timestamp, before its record says that it is committed.
	Note bool `msg:"n,omitempty"`
}

// Put is one buffered write. A value is never empty: on the wire empty means absent.
type Put struct {
	Key    Key    `msg:"k"`
	Value  []byte `msg:"v,omitempty"`
	Delete bool   `msg:"d,omitempty"`
	// MustNotExist fails the write with ErrCondition if the key has a value.
	MustNotExist bool `msg:"x,omitempty"`
	// Seq and Earlier as in Intent; 0: of a transaction that sends all of its writes at once.
	Seq     uint64    `msg:"q,omitempty"`
	Earlier []Earlier `msg:"e,omitempty"`
}

// WriteRequest lays intents, or with OnePhase commits at once.
type WriteRequest struct {
	Txn      TxnID           `msg:"t"`
	Start    clock.Timestamp `msg:"st"`
	Anchor   Key             `msg:"a"` // where the transaction's record is; one-phase: a key of this range
	ReadTS   clock.Timestamp `msg:"r"`
	CommitTS clock.Timestamp `msg:"c"` // wanted; the writes may land higher
	OnePhase bool            `msg:"p,omitempty"`
	// CanForward: a one-phase commit may land above CommitTS without asking, because nothing outside Refresh was read.
	CanForward bool `msg:"f,omitempty"`
	// Until, if not zero, is the highest timestamp that a one-phase commit may land at, CanForward or not: above it the
	// answer is ErrRetryAt and nothing is written. (What the transaction was planned with is known to hold up to there.)
	Until   clock.Timestamp `msg:"u"`
	Refresh []Span          `msg:"rf,omitempty"` // one-phase: what was read here at ReadTS, refreshed in the same step
	Puts    []Put           `msg:"w"`
	// Laid is the coordinator's earliest when it sent this: expiry of an intent without a record counts from it. Coord is the
	// coordinator's process: the intent is abandoned with it.
	Laid  clock.Instant `msg:"l"`
	Coord Process       `msg:"cp"`
	// Ignored and Marks are of a transaction that lays intents before its commit: what it has taken back, and the
	// marks that it may still go back to, ascending (see Intent.Earlier). Of more than MaxMarks these are the newest.
	Ignored []SeqRange `msg:"ig,omitempty"`
	Marks   []uint64   `msg:"mk,omitempty"`
	// Try numbers the sendings of a transaction's one-phase commits, from 1: a node takes each on once, and what it refuses for
	// a reason that can go away it refuses again, so that a copy of the call does not undo the answer. 0: nobody minds copies.
	Try uint32 `msg:"ty,omitempty"`
	// NotAfter: a one-phase commit without a record is not evaluated any more when this may be past; so nobody has to remember
	// longer that it was refused. Zero: at any time.
	NotAfter clock.Instant `msg:"na"`
	// Owner of the transaction's locks, if it has any; otherwise Txn and Start stand in the queues of keys.
	Owner *LockOwner `msg:"ow,omitempty"`
	// Wait bounds the waiting for locks and for older transactions; then the answer is ErrWaited. 0: as long as the range
	// lets anybody wait.
	Wait time.Duration `msg:"lw,omitempty"`
	// Fresh: the leaseholder may place a one-phase commit by its own reading.
	Fresh *Fresh `msg:"fr,omitempty"`
	// Since: a one-phase commit of this transaction that lands at or above it (and Start) leaves its name in the version at the
	// anchor, one below it a record. All of the transaction's requests say the same. Zero: a record in any case.
	Since clock.Timestamp `msg:"sc"`
}

// WriteResponse says where the writes landed. Past: a commit there was certainly past by the leaseholder's clock when it
// answered, so that rule 2 is paid.
type WriteResponse struct {
	CommitTS clock.Timestamp `msg:"c"`
	Past     bool            `msg:"p,omitempty"`
	Placed   *Placed         `msg:"pl,omitempty"` // set if the request was Fresh and was placed
}

// State of a transaction's record.
type State uint8

// A missing record reads as Pending until somebody aborts it. Staged: the transaction is committed at CommitTS if all of
// its writes have landed there, and whoever cannot know that asks them (package eval, P1 to P4).
const (
	Pending State = iota
	Committed
	Aborted
	Staged
)

func (s State) String() string { return [...]string{"pending", "committed", "aborted", "staged"}[s] }

// Final reports whether the state is a decision, which stays.
func (s State) Final() bool { return s == Committed || s == Aborted }

// TxnStatus is what a record says.
type TxnStatus struct {
	State State `msg:"s"`
	// CommitTS is, for Committed, its timestamp; for Staged, where it commits if all its writes are there; for Pending,
	// what it must not commit below.
	CommitTS clock.Timestamp `msg:"c"`
	// Recover, with Staged: its coordinator has had its time, and whoever pushes may find out for himself, by asking
	// these keys (Query) and reporting the outcome (Recover). Each of them has to be there with this number or a higher one.
	Recover    []Key  `msg:"rk,omitempty"`
	RecoverSeq uint64 `msg:"rq,omitempty"`
	// Ignored, with Committed: writes that the transaction has taken back. Its intents become versions without them.
	Ignored []SeqRange `msg:"ig,omitempty"`
}

// Record is the record of a transaction, kept at its anchor key.
type Record struct {
	State    State           `msg:"s"`
	CommitTS clock.Timestamp `msg:"c"` // as in TxnStatus
	Start    clock.Timestamp `msg:"st"`
	Touched  clock.Instant   `msg:"h"` // last heartbeat or change: expiry and garbage collection count from it
	// Intents are, for Staged, all its writes that had not landed when it was staged, and Seq is the lowest of their numbers.
	// For Committed they are what a collector has to resolve before removing the record.
	Intents []Key  `msg:"i,omitempty"`
	Seq     uint64 `msg:"sq,omitempty"`
	// Spans hold all other keys that the transaction has laid intents on, and keys between them; whatever the state is.
	Spans []Span `msg:"sp,omitempty"`
	// Ignored as in TxnStatus.
	Ignored []SeqRange `msg:"ig,omitempty"`
}

// Intent is a provisional write, kept in the lock table.
type Intent struct {
	Txn    TxnID           `msg:"t"`
	Start  clock.Timestamp `msg:"st"`
	Anchor Key             `msg:"a"`
	TS     clock.Timestamp `msg:"c"` // the transaction will commit at or above it
	Laid   clock.Instant   `msg:"l"`
	Coord  Process         `msg:"cp"`
	Value  []byte          `msg:"v,omitempty"`
	Delete bool            `msg:"d,omitempty"`
	// Seq is the number of this write among those of its transaction, and Earlier are values that the transaction gave the
	// key before, in order, as far as it may go back to them. See own.go.
	Seq     uint64    `msg:"q,omitempty"`
	Earlier []Earlier `msg:"e,omitempty"`
}

// EndTxnRequest writes the decision to the record at the anchor, or stages it. It is idempotent.
type EndTxnRequest struct {
	Txn      TxnID           `msg:"t"`
	Start    clock.Timestamp `msg:"st"`
	Anchor   Key             `msg:"a"`
	Commit   bool            `msg:"m"`
	Stage    bool            `msg:"sg,omitempty"` // instead of Commit: Intents are on their way, each wants CommitTS
	CommitTS clock.Timestamp `msg:"c"`
	// Until, with Commit: the transaction may commit anywhere in [CommitTS, Until], because what it has read holds up to
	// there. Zero: at CommitTS only.
	Until   clock.Timestamp `msg:"u"`
	Intents []Key           `msg:"i,omitempty"`
	Now     clock.Instant   `msg:"n"` // the coordinator's earliest
	// Seq, Spans and Ignored go into the record.
	Seq     uint64     `msg:"sq,omitempty"`
	Spans   []Span     `msg:"sp,omitempty"`
	Ignored []SeqRange `msg:"ig,omitempty"`
}

// ResolveRequest turns a finished transaction's intents into versions, or removes them. Keys without its intent are
// left alone. By spans, a range does a part of it at a time, and answers what is left: one request is one command, and
// others get in between.
type ResolveRequest struct {
	Txn    TxnID     `msg:"t"`
	Status TxnStatus `msg:"s"`
	Keys   []Key     `msg:"k"`
	Spans  []Span    `msg:"sp,omitempty"`
}

// ResolveResponse answers a resolve by spans: those that are left.
type ResolveResponse struct {
	More []Span `msg:"m,omitempty"`
}

// PushKind is what a request that met an intent wants of its transaction.
type PushKind uint8

// PushQuery only asks (and aborts an expired transaction); PushTimestamp moves its commit above To; PushAbort aborts it if
// the pusher is older.
const (
	PushQuery PushKind = iota
	PushTimestamp
	PushAbort
)

// PushRequest goes to the record of the transaction that is in the way.
type PushRequest struct {
	Txn    TxnID           `msg:"t"` // the one in the way
	Start  clock.Timestamp `msg:"st"`
	Anchor Key             `msg:"a"`
	Laid   clock.Instant   `msg:"l"`  // of the intent that was met
	Coord  Process         `msg:"cp"` // of the intent that was met
	TS     clock.Timestamp `msg:"c"`  // of the intent that was met: its transaction will not commit below
	Kind   PushKind        `msg:"k"`
	// Pusher's identity and age; the older one (lower start, then lower id) wins a PushAbort.
	Pusher      TxnID           `msg:"pt"`
	PusherStart clock.Timestamp `msg:"ps"`
	To          clock.Timestamp `msg:"o"`
}

// QueryRequest asks whether writes of a staged transaction have landed at or below TS. What has not will not, ever: that is
// what asking brings about.
type QueryRequest struct {
	Txn  TxnID           `msg:"t"`
	TS   clock.Timestamp `msg:"c"`
	Keys []Key           `msg:"k"`
	Seq  uint64          `msg:"sq,omitempty"` // an intent with a lower number is an earlier write
}

// QueryResponse names a key where the write had not landed; empty: all have.
type QueryResponse struct {
	Missing Key `msg:"m,omitempty"`
}

// RecoverRequest reports what queries about a record that was staged at TS have found; the record decides. Push is the one
// that met the transaction: what it wanted is done if the transaction is not committed.
type RecoverRequest struct {
	Push    PushRequest     `msg:"p"`
	TS      clock.Timestamp `msg:"c"`
	Missing bool            `msg:"m,omitempty"`
}

// HeartbeatRequest keeps a long transaction from being taken for abandoned.
type HeartbeatRequest struct {
	Txn    TxnID           `msg:"t"`
	Start  clock.Timestamp `msg:"st"`
	Anchor Key             `msg:"a"`
	Now    clock.Instant   `msg:"n"`
	Spans  []Span          `msg:"sp,omitempty"` // as in Record
}

// InlineRequest reads or changes unversioned keys (meta and system): if Swap is set, compare and swap on Key; otherwise
// read Span, at most Limit entries.
type InlineRequest struct {
	Swap bool `msg:"w,omitempty"`
	// ID names a swap, and Start is when it was first sent: a copy is answered with what became of the first, by a record beside
	// the key (as that of a transaction), and refused with ErrTooOld when records of that time are gone.
	ID     TxnID           `msg:"i"`
	Start  clock.Timestamp `msg:"st"`
	Key    Key             `msg:"k,omitempty"`
	Expect []byte          `msg:"x,omitempty"` // empty: the key must be absent
	Value  []byte          `msg:"v,omitempty"` // empty: remove it
	Span   Span            `msg:"s"`
	Limit  int             `msg:"l,omitempty"`
}

// InlineResponse holds what a read found, or whether a swap was done (if not, Values[0] is the present value).
type InlineResponse struct {
	Swapped bool     `msg:"w,omitempty"`
	Keys    []Key    `msg:"k,omitempty"`
	Values  [][]byte `msg:"v,omitempty"`
}

// AdminRequest changes the range itself; exactly one field is set, beside Key.
type AdminRequest struct {
	// Key says which range is meant: the one that holds it. Another answers ErrRangeMismatch. Empty: whichever is asked.
	Key           Key     `msg:"k,omitempty"`
	SplitAt       Key     `msg:"sp,omitempty"`
	NewRange      RangeID `msg:"nr,omitempty"` // id for the right half, from the system counter
	TransferLease NodeID  `msg:"tl,omitempty"` // also sets the descriptor's Preferred
	AddReplica    NodeID  `msg:"ar,omitempty"` // returns when the new replica votes
}

// AdminResponse holds the descriptors that resulted.
type AdminResponse struct {
	Descriptors []RangeDescriptor `msg:"d"`
}

// NodeInfo is what nodes tell each other about themselves.
type NodeInfo struct {
	ID       NodeID        `msg:"id"`
	Cluster  ClusterID     `msg:"cl"`
	RPCAddr  string        `msg:"r"`
	SQLAddr  string        `msg:"s"`
	HTTPAddr string        `msg:"h"`
	Started  clock.Instant `msg:"st"` // a higher one replaces a lower one
	Version  string        `msg:"v"`
	Source   string        `msg:"cs"`          // clock source
	Bound    time.Duration `msg:"cb"`          // half width at the last reading
	Fenced   string        `msg:"f,omitempty"` // not empty: why the node fenced itself
	Leases   int           `msg:"le"`
	Replicas int           `msg:"re"`
}
