// Empty: with it the compiler accepts functions without a body, which midway.go links to.
