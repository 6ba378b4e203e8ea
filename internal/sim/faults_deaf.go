package sim

// deafen lets nothing reach a machine, while what it sends arrives: its advertised address is wrong, its listener is out of
// descriptors, or a firewall lets connections out but not in.
func deafen(w *World, x int) (mend func()) {
	w.event("deaf: nothing reaches %s", w.Machines[x].Name)
	return cutBetween(w, func(a, b int) bool { return b == x })
}

// muffle lets nothing that a machine sends arrive, while it hears all the others.
func muffle(w *World, x int) (mend func()) {
	w.event("mute: nothing comes from %s", w.Machines[x].Name)
	return cutBetween(w, func(a, b int) bool { return a == x })
}
