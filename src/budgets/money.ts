/** Money is counted in integer nano-USD, so that sums are exact. */

const PER_USD = 1e9;

/** Rounding errors of a cost in USD are below this share of a nano-USD. */
const ERROR = 1e-3;

/** Returns the cost of an inference, rounded up. */
export const nanoOf = (usd: number): number => Math.max(0, Math.ceil(usd * PER_USD - ERROR));

/** Returns a limit of an entry. */
export const nanoLimit = (usd: number): number => Math.round(usd * PER_USD);

export const usdOf = (nano: number): number => nano / PER_USD;
