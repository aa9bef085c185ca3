/** A token bucket: `most` tokens at once, refilled at `rate` tokens per second. */
export type Allowance = { readonly most: number; readonly rate: number; left: number; at: number };

export const newAllowance = (most: number, rate: number, now: number): Allowance => ({
  most,
  rate,
  left: most,
  at: now,
});

/** Returns the available tokens. A clock that is set back neither adds nor removes tokens. */
export const refill = (allowance: Allowance, now: number): number => {
  const seconds = Math.max(0, now - allowance.at) / 1000;
  allowance.left = Math.min(allowance.most, allowance.left + seconds * allowance.rate);
  allowance.at = now;
  return allowance.left;
};
