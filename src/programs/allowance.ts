/** So much at once, and so much more each second, whoever asks how often. */
export type Allowance = { readonly most: number; readonly rate: number; left: number; at: number };

export const newAllowance = (most: number, rate: number, now: number): Allowance => ({
  most,
  rate,
  left: most,
  at: now,
});

/** What may be taken now. A clock that is set back gives nothing and takes nothing. */
export const leftOf = (allowance: Allowance, now: number): number => {
  const seconds = Math.max(0, now - allowance.at) / 1000;
  allowance.left = Math.min(allowance.most, allowance.left + seconds * allowance.rate);
  allowance.at = now;
  return allowance.left;
};
