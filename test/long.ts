/** `TROUPE_TEST_LONG=1` runs the long form of every test that has one. Some tests also have their own variables. */
export const LONG = Boolean(process.env.TROUPE_TEST_LONG);

/** The number of rounds of a race. The short form has a third of them, at the same intervals. */
export const roundsOf = (all: number): number => (LONG ? all : Math.ceil(all / 3));
