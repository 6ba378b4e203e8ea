package harness

import "github.com/HdrHistogram/hdrhistogram-go"

// Pool is what slices showed as if they had been one run: operations, time, latencies and counters are put together. Where
// Combine's medians forgive a slice in which the machine was away, this keeps the weight of every operation, and so
// percentiles of slices too short to have any.
func Pool(rs []*Result) *Result {
	out := *rs[0]
	out.Series, out.Violations, out.Classes = nil, nil, nil
	sumUp(&out, rs)
	out.OpsPerSec = 0
	for i, c := range rs[0].Classes {
		sum := ClassResult{Name: c.Name, hist: NewHistogram()}
		ended := 0.0
		for _, r := range rs {
			if h := r.Classes[i].hist; h != nil {
				sum.hist.Merge(h)
			}
			ended += r.Classes[i].OpsPerSec * r.Seconds
		}
		sum.summarize()
		sum.OpsPerSec = ended / out.Seconds
		out.OpsPerSec += sum.OpsPerSec
		out.Classes = append(out.Classes, sum)
	}
	out.setUsage(out.Used)
	return &out
}

// sumUp adds up what is counted, and keeps what was found wrong.
func sumUp(out *Result, rs []*Result) {
	out.ErrorKinds, out.FirstError = map[string]int64{}, ""
	out.Seconds, out.Retries, out.Errors, out.Unserved, out.Counted, out.Used = 0, 0, 0, 0, Stats{}, Usage{}
	out.Verified = true
	for _, r := range rs {
		out.Seconds += r.Seconds
		out.Retries, out.Errors, out.Unserved = out.Retries+r.Retries, out.Errors+r.Errors, out.Unserved+r.Unserved
		out.Counted, out.Used = out.Counted.Add(r.Counted), out.Used.add(r.Used)
		out.Verified = out.Verified && r.Verified
		if len(out.Violations) == 0 {
			out.Violations = r.Violations
		}
		if out.FirstError == "" {
			out.FirstError = r.FirstError
		}
		for k, n := range r.ErrorKinds {
			out.ErrorKinds[k] += n
		}
		if r.Missing != nil {
			out.Missing, out.Txns = r.Missing, nil
		}
	}
	if out.Txns != nil {
		out.setServer(out.Counted)
	}
}

// Encode writes a histogram as the HdrHistogram libraries exchange it (V2, compressed, base64).
func Encode(h *hdrhistogram.Histogram) (string, error) {
	if h == nil {
		return "", nil
	}
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(b), err
}
