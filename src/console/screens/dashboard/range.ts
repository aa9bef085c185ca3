export const RANGES = ['15m', '1h', '24h', '7d'] as const;
export type Range = (typeof RANGES)[number];

const USUAL: Range = '24h';

export const rangeOf = (said: string | undefined): Range => RANGES.find((range) => range === said) ?? USUAL;

/** What the address says of it. */
export const rangeText = (range: string): string | undefined => (range === USUAL ? undefined : range);
