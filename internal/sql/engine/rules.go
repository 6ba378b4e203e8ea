package engine

func (e *Engine) addRules() {}
