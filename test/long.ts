/** `TROUPE_TEST_LONG=1` asks for the long form of every test that has one; each has variables of its own for more. */
export const LONG = Boolean(process.env.TROUPE_TEST_LONG);

/** How often a race is run: the short form has a third of the rounds, at the same distances. */
export const roundsOf = (all: number): number => (LONG ? all : Math.ceil(all / 3));
